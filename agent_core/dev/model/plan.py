"""What a question asks of the tools: one call per part that fits one, and what is missing for the others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from agent_core.dev.model.chat import Tool
from agent_core.dev.model.choose import Chooser, left_over
from agent_core.dev.model.fill import fill
from agent_core.dev.model.reading import Reading, read
from agent_core.dev.model.roles import Role, role_of
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.split import Atom, atoms

MAX_QUESTION_CHARS = 4_000
_NEARLY = 0.7  # a tool that scores this much of the best one's and can be filled is preferred to the best that cannot
_ASKS = re.compile(r"\?|\b(?:what|who|when|where|which|why|how)\b|谁|什么|多少|几|哪|怎么|吗|呢", re.IGNORECASE)
_REPEATED = frozenset(
    {Role.EXPRESSION, Role.ZONE, Role.PLACE, Role.FILE, Role.CHOICE, Role.LEVEL, Role.LANGUAGE, Role.UNIT}
)


@dataclass(frozen=True, slots=True)
class Step:
    """What to do for text[start:end]: call `tool`, ask for `missing`, or (no tool) nothing."""

    text: str
    start: int
    end: int
    tool: Tool | None = None
    arguments: dict[str, object] | None = None
    missing: tuple[Parameter, ...] = ()

    @property
    def ready(self) -> bool:
        return self.tool is not None and not self.missing


@dataclass(frozen=True, slots=True)
class Plan:
    """`calls` and `asks` in the order of the question; `unmatched`: the parts that ask for what no tool offers."""

    calls: tuple[Step, ...] = ()
    asks: tuple[Step, ...] = ()
    unmatched: tuple[str, ...] = ()


def plan(question: str, tools: Sequence[Tool], now: datetime, *, required: bool = False) -> Plan:
    """The plan for `question`. `required`: one of `tools` must be called, whether or not it fits well."""
    return _Planner(question[:MAX_QUESTION_CHARS], tools, now).plan(required=required)


@lru_cache(maxsize=8)
def _chooser(tools: tuple[Tool, ...]) -> Chooser:
    """The turns of a conversation offer the same tools."""
    return Chooser(tools)


class _Planner:
    def __init__(self, question: str, tools: Sequence[Tool], now: datetime) -> None:
        self._question = question
        self._tools = tools
        self._now = now
        self._chooser = _chooser(tuple(tools))

    def plan(self, *, required: bool) -> Plan:
        whole = read(self._question, self._now)
        steps: list[Step] = []
        for atom in atoms(whole.folded, whole.protected()):
            self._add(steps, atom)
        if required and not any(s.tool for s in steps) and self._tools:
            steps = [self._forced(whole)]
        calls: list[Step] = []
        for step in steps:
            if step.ready and not any(c.tool is step.tool and c.arguments == step.arguments for c in calls):
                calls.append(step)
        unmatched = tuple(s.text for s in steps if s.tool is None and _ASKS.search(s.text))
        return Plan(tuple(calls), tuple(s for s in steps if s.missing), unmatched)

    def _add(self, steps: list[Step], atom: Atom) -> None:
        """Appends the atom's step or widens the last one by the atom, whichever makes more of the question."""
        step = self._solve(atom.start, atom.end)
        last = steps[-1] if steps else None
        if last is None:
            steps.append(step)
        elif step.ready:
            self._add_ready(steps, last, step, strong=atom.strong)
        else:
            self._add_loose(steps, last, step, strong=atom.strong)

    def _add_ready(self, steps: list[Step], last: Step, step: Step, *, strong: bool) -> None:
        if last.tool is None:
            before = self._carried(step, last)
            wider = self._solve(last.start, step.end) if before is None and not strong else None
            if wider and wider.ready and _says_more(wider, step):  # `if it is 10:00 in Tokyo, what time is it in Oslo`
                steps[-1] = wider
                return
            if before is not None:
                steps[-1] = before
            elif not strong and self._covered(step, last):
                steps[-1] = replace(step, start=last.start)
                return
        elif last.missing or last.tool is step.tool:
            wider = self._filled(last.tool, last.start, step.end)
            if wider.ready and (last.missing or (_extends(wider, last) and _extends(wider, step))):
                steps[-1] = wider
                return
        elif not strong and not _takes_required(step):
            wider = self._solve(last.start, step.end)
            if (
                wider.ready
                and wider.tool is last.tool
                and self._chooser.covers(last.tool, self._read(last.start, step.end))
            ):
                steps[-1] = wider
                return
        steps.append(step)

    def _add_loose(self, steps: list[Step], last: Step, step: Step, *, strong: bool) -> None:
        carried = self._carried(last, step) if last.ready else None
        if carried is not None:
            steps[-1] = self._sharing(last, carried)
            steps.append(carried)
            return
        wider = self._solve(last.start, step.end)
        if last.ready:
            if wider.ready and _extends(wider, last):
                steps[-1] = wider
            elif not strong and step.tool is None and self._covered(last, step):
                steps[-1] = replace(last, end=step.end)
            elif step.tool is not None or strong or _ASKS.search(step.text):
                steps.append(step)
        elif wider.ready or (not strong and wider.tool is last.tool and step.tool in (None, last.tool)):
            steps[-1] = wider
        else:
            steps.append(step)

    def _covered(self, done: Step, loose: Step) -> bool:
        """`the load` of `the load and uptime of the node`: what one call tells, too."""
        reading = self._read(loose.start, loose.end)
        if done.tool is None or not reading.words or left_over(done.tool.parameters, reading):
            return False
        return self._chooser.covers(done.tool, reading)

    def _solve(self, start: int, end: int) -> Step:
        reading = self._read(start, end)
        ranked = self._chooser.rank(reading)
        best: Step | None = None
        for scored in ranked[:4]:
            if scored.score < ranked[0].score * _NEARLY:
                break
            step = self._filled(scored.tool, start, end, reading)
            if step.ready:
                return step
            best = best or step
        return best or Step(reading.text, start, end)

    def _filled(self, tool: Tool, start: int, end: int, reading: Reading | None = None) -> Step:
        reading = reading or self._read(start, end)
        filled = fill(tool, reading)
        return Step(reading.text, start, end, tool, filled.arguments, filled.missing)

    def _read(self, start: int, end: int) -> Reading:
        return read(self._question[start:end].strip(), self._now)

    def _carried(self, done: Step, loose: Step) -> Step | None:
        """`time in Tokyo and in London`: the call of one part with what another plainly puts in its place."""
        if done.tool is None or done.arguments is None or loose.ready:
            return None
        reading = read(loose.text, self._now)
        if left_over(done.tool.parameters, reading):
            return None
        known = {*self._chooser.words_for(done.tool), *read(done.text, self._now).words}
        if len([w for w in reading.words if w not in known]) > 1:  # it says more than values: no mere continuation
            return None
        given = fill(done.tool, reading, guess=False).arguments
        roles = {p.name: role_of(p) for p in done.tool.parameters}
        replaced = [n for n in given if n in done.arguments and given[n] != done.arguments[n] and roles[n] in _REPEATED]
        arguments = {**done.arguments, **given}
        if not replaced or not done.tool.validator.is_valid(arguments):
            return None
        return Step(loose.text, loose.start, loose.end, done.tool, arguments)

    def _sharing(self, done: Step, carried: Step) -> Step:
        """What a continuation adds holds for the part before it, too: `weather in Paris and London tomorrow`."""
        arguments = {**(carried.arguments or {}), **(done.arguments or {})}
        valid = done.tool is not None and done.tool.validator.is_valid(arguments)
        return replace(done, arguments=arguments) if valid else done

    def _forced(self, reading: Reading) -> Step:
        steps = [self._filled(tool, 0, len(self._question), reading) for tool in self._tools]
        return next((s for s in steps if s.ready), steps[0])


def _extends(wider: Step, narrower: Step) -> bool:
    """Whether `wider` keeps every argument of `narrower`, text and lists perhaps longer, and says more."""
    if not wider.ready or wider.tool is not narrower.tool:
        return False
    new, old = wider.arguments or {}, narrower.arguments or {}
    return new != old and all(_keeps(new.get(k), v) for k, v in old.items())


def _keeps(new: object, old: object) -> bool:
    longer_text = isinstance(new, str) and isinstance(old, str) and new.startswith(old)
    return new == old or longer_text or (isinstance(new, list) and isinstance(old, list) and new[: len(old)] == old)


def _says_more(wider: Step, step: Step) -> bool:
    return wider.tool is not step.tool and len(wider.arguments or {}) > len(step.arguments or {})


def _takes_required(step: Step) -> bool:
    return step.tool is not None and any(p.required and p.name in (step.arguments or {}) for p in step.tool.parameters)
