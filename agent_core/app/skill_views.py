"""The catalogue, for people and scripts."""

import difflib
from collections.abc import Iterator

import orjson
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agent_core.app.console import wide_console, write_json
from agent_core.app.exits import complain
from agent_core.app.settings import CoreSettings
from agent_core.app.text import one_line, plain
from agent_core.app.wiring import Core, open_core
from agent_core.domain.errors import CallError
from agent_core.domain.skill import Catalogue, Descriptor, Skill
from skillmesh.errors import ErrorKind


async def list_skills(settings: CoreSettings, *, as_json: bool) -> None:
    """`skillmesh skills`."""
    async with open_core(settings, with_model=False) as core:
        catalogue = core.catalogue.catalogue
    if as_json:
        write_json([_brief(skill) for skill in catalogue.skills.values()])
    else:
        _print_table(catalogue)
    for problem in catalogue.problems:
        complain(f"{problem.service}: {problem.sentence}" if problem.service else problem.sentence)


async def show_skill(settings: CoreSettings, name: str, *, as_json: bool) -> None:
    """`skillmesh skills show`. Raises CallError where there is no such skill."""
    async with open_core(settings, with_model=False) as core:
        skill = find_skill(core, name)
    if as_json:
        write_json(_whole(skill))
        return
    console = Console(highlight=False, soft_wrap=True)
    for key, value in _lines(skill):
        console.print(f"[bold]{key}[/]: {escape(plain(value))}")


def find_skill(core: Core, name: str) -> Skill:
    """Raises CallError `unknown_skill`, with the names that are near."""
    skills = core.catalogue.catalogue.skills
    if name in skills:
        return skills[name]
    near = difflib.get_close_matches(name, skills, n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else "See `skillmesh skills` for those there are."
    raise CallError(ErrorKind.UNKNOWN_SKILL, f"There is no skill {name!r}. {hint}")


def why_unavailable(skill: Skill) -> str:
    """Empty where the skill can be called."""
    if skill.unmet:
        return "; ".join(one.reason or one.name for one in skill.unmet)
    return "" if skill.instances else "no healthy instance"


def _print_table(catalogue: Catalogue) -> None:
    console = wide_console()
    if not catalogue.skills:
        console.print("There are no skills: no healthy skill service is registered. See `skillmesh doctor`.")
        return
    table = Table("skill", "service", "version", "access", "effect", "instances", "use", box=None, pad_edge=False)
    for skill in catalogue.skills.values():
        descriptor = skill.descriptor
        reason = why_unavailable(skill)
        use = f"[red]unavailable: {escape(one_line(reason))}[/]" if reason else escape(_first_sentence(descriptor))
        table.add_row(
            skill.name, skill.service, escape(one_line(descriptor.version)), descriptor.access, descriptor.effect,
            str(len(skill.instances)), use,
        )  # fmt: skip
    console.print(table)


def _first_sentence(descriptor: Descriptor) -> str:
    return one_line(descriptor.description.partition(". ")[0])


def _brief(skill: Skill) -> dict[str, object]:
    return {
        "name": skill.name,
        "service": skill.service,
        "version": skill.descriptor.version,
        "description": skill.descriptor.description,
        "access": skill.descriptor.access,
        "effect": skill.descriptor.effect,
        "instances": [one.id for one in skill.instances],
        "available": not why_unavailable(skill),
        "unavailable_because": why_unavailable(skill),
    }


def _whole(skill: Skill) -> dict[str, object]:
    descriptor = skill.descriptor
    return {
        **_brief(skill),
        "owner": descriptor.owner,
        "change_note": descriptor.change_note,
        "scenarios": descriptor.scenarios,
        "llm_hint": descriptor.llm_hint,
        "parameters": orjson.loads(descriptor.parameters),
        "output": orjson.loads(descriptor.output) if descriptor.output else None,
        "examples": [
            {"request": one.request, "arguments": orjson.loads(one.arguments or b"{}")} for one in descriptor.examples
        ],
        "timeout_seconds": descriptor.timeout,
        "cache_ttl_seconds": descriptor.cache_ttl,
        "prerequisites": [{"name": p.name, "met": p.met, "reason": p.reason} for p in descriptor.prerequisites],
        "dependencies": descriptor.dependencies,
        "exclusive": descriptor.exclusive,
        "max_parallel": descriptor.max_parallel,
        "hidden": [{"name": h.name, "source": h.source, "key": h.key} for h in descriptor.hidden],
        "credentials": descriptor.credentials,
        "tags": descriptor.tags,
        "return_direct": descriptor.return_direct,
        "fingerprint": descriptor.fingerprint,
        "targets": {one.id: one.target for one in skill.instances},
    }


def _lines(skill: Skill) -> Iterator[tuple[str, str]]:
    """What a person wants to read, the important first; what is empty is left out."""
    for key, value in _whole(skill).items():
        if key == "unavailable_because" and value:
            yield "unavailable because", str(value)
        elif key in ("available", "unavailable_because") or value in ("", None, (), [], {}, 0, False):
            continue
        elif isinstance(value, dict | list):
            yield key.replace("_", " "), orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        elif isinstance(value, tuple):
            yield key.replace("_", " "), " · ".join(str(one) for one in value)
        else:
            yield key.replace("_", " "), str(value)
