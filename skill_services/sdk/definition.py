"""What an author declares of a skill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Required, TypedDict

from skill_services.sdk.hidden import Hidden
from skill_services.sdk.prerequisites import Prerequisite

Access = Literal["observer", "operator", "admin"]
Effect = Literal["read", "idempotent", "write"]
Example = tuple[str, Mapping[str, object]]
"""A request in a user's words, and the arguments that fit it."""


class SkillSettings(TypedDict, total=False):
    """What `@skill(...)` takes; only `version` is required.

    version: Semantic Versioning 2.0.0. Raise it when anything about the skill changes.
    name: what the model sees and calls, `[a-zA-Z0-9_-]{1,64}`. Default: the function's name.
    description: written for the model. First sentence: when to use it; second: what it does; third: how it differs
        from its neighbours. Default: the docstring's text before its sections.
    access: who may run it without asking anybody: `observer` (looks and changes nothing), `operator` (changes
        something within the caller's own reach), `admin`. Say it: without it the skill counts as `admin`.
    effect: what running it twice does: `read` (no effect; retried), `idempotent`, `write` (never sent twice). Say it:
        without it the skill counts as `write`.
    timeout: seconds that one call may take; without it the core's default of 10.
    cache_ttl: seconds that a result may be served again for the same arguments; only for effect `read`.
    scenarios: requests in users' words that the skill serves, in each language they write.
    llm_hint: longer advice, shown to the model only once the skill is a candidate.
    examples: pairs of a request in a user's words and the arguments that fit it.
    owner: the team or person to ask. change_note: what changed in this version, one line.
    prerequisites: what must hold before it can work; see `env_set`, `reachable`, `check`.
    dependencies: names of skills that this one calls. credentials: names of the caller's credentials that it needs.
    exclusive: one call at a time in this process. max_parallel: that many calls at a time; 0: no limit of its own.
    tags: free words to find it by. return_direct: the result is the answer to the user; the model is not asked again.
    """

    version: Required[str]
    name: str
    description: str
    access: Access
    effect: Effect
    timeout: float
    cache_ttl: float
    scenarios: Sequence[str]
    llm_hint: str
    examples: Sequence[Example]
    owner: str
    change_note: str
    prerequisites: Sequence[Prerequisite]
    dependencies: Sequence[str]
    credentials: Sequence[str]
    exclusive: bool
    max_parallel: int
    tags: Sequence[str]
    return_direct: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDefinition:
    """Everything that a skill says of itself; the class form of a skill returns one.

    Fields are those of SkillSettings, and `parameters`: JSON Schema 2020-12 of the arguments, an object schema. Local
    references are inlined. Top-level arguments that it does not name are refused unless it has
    `additionalProperties` or composes schemas. `output`: JSON Schema of the value, None where any value may come.
    `hidden`: parameters that are filled from caller, session or operator and are no part of `parameters`.
    """

    name: str
    version: str
    description: str
    parameters: Mapping[str, object]
    output: Mapping[str, object] | None = None
    hidden: Sequence[Hidden] = ()
    access: Access = "admin"
    effect: Effect = "write"
    timeout: float | None = None
    cache_ttl: float = 0.0
    scenarios: Sequence[str] = ()
    llm_hint: str = ""
    examples: Sequence[Example] = ()
    owner: str = ""
    change_note: str = ""
    prerequisites: Sequence[Prerequisite] = field(default=())
    dependencies: Sequence[str] = ()
    credentials: Sequence[str] = ()
    exclusive: bool = False
    max_parallel: int = 0
    tags: Sequence[str] = ()
    return_direct: bool = False
