"""A skill: a typed function under `@skill(...)`, or a subclass of `BaseSkill` for what a function cannot say."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Generic, ParamSpec, TypeVar, Unpack

from skill_services.sdk.context import SkillContext
from skill_services.sdk.definition import SkillDefinition, SkillSettings
from skill_services.sdk.definition_rules import checked, schema_text
from skill_services.sdk.docstring import read_docstring
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.output_schema import output_schema
from skill_services.sdk.parameters import Parameters, read_parameters
from skill_services.sdk.validation import check_example

P = ParamSpec("P")
R = TypeVar("R")


class BaseSkill(ABC):
    """The class form of a skill: its parameters are a JSON Schema that the author writes.

    Use it where parameters are known only at run time, or where one class serves many skills. Pass instances to
    `serve`.
    """

    @abstractmethod
    def definition(self) -> SkillDefinition:
        """What the skill says of itself; asked once, when its service is built."""

    @abstractmethod
    async def execute(self, arguments: dict[str, object], context: SkillContext) -> object:
        """Run one call. `arguments` fit the schema, and hold the hidden parameters as well.

        Returns what a function under `@skill` may return. Raises SkillError to say no.
        """


class FunctionSkill(BaseSkill, Generic[P, R]):
    """What `@skill(...)` makes of a function; calling it calls the function, unchecked, as a test may wish."""

    def __init__(self, function: Callable[P, R], settings: SkillSettings) -> None:
        update_wrapper(self, function)
        self._function = function
        self._parameters = _read(function, settings)
        self._definition = _define(function, settings, self._parameters)
        self.is_async = inspect.iscoroutinefunction(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def definition(self) -> SkillDefinition:
        return self._definition

    def read(self, data: bytes) -> dict[str, object]:
        """The function's visible arguments from JSON. Raises CallFailedError (INVALID_ARGUMENTS)."""
        return self._parameters.reader.read(self._definition.name, data)

    def call(self, arguments: dict[str, object], context: SkillContext) -> object:
        """Call the function; an async one's value is to be awaited."""
        if self._parameters.context:
            arguments[self._parameters.context] = context
        function: Callable[..., object] = self._function
        return function(**arguments)

    async def execute(self, arguments: dict[str, object], context: SkillContext) -> object:
        value = self.call(arguments, context)
        return await value if inspect.isawaitable(value) else value


def skill(**settings: Unpack[SkillSettings]) -> Callable[[Callable[P, R]], FunctionSkill[P, R]]:
    """Make a skill of a typed function, `async def` or `def`; a plain `def` runs in a thread.

    Parameters come from annotations: plain types, `Annotated[..., Field(description=...)]`, Literal, Enum, Optional,
    dates, pydantic models, lists and dicts. One that is annotated `SkillContext` gets the context; one that is marked
    FromCaller, FromSession or FromOperator is hidden from the model. The docstring becomes the description, its
    `Args:` section the parameters' descriptions. Arguments are checked before the function runs.

    Args:
        **settings: See SkillSettings; `access` and `effect` should always be said.

    Raises:
        SkillDefinitionError: where something about the function or a setting is wrong; it says what to change.
    """

    def declare(function: Callable[P, R]) -> FunctionSkill[P, R]:
        return FunctionSkill(function, settings)

    return declare


def _read(function: Callable[..., object], settings: SkillSettings) -> Parameters:
    name = settings.get("name", getattr(function, "__name__", repr(function)))
    problem = _misuse(function, settings)
    if problem:
        raise SkillDefinitionError(f"Skill {name!r}: {problem}")
    try:
        return read_parameters(function, read_docstring(function.__doc__).parameters)
    except SkillDefinitionError as error:
        raise SkillDefinitionError(f"Skill {name!r}: {error}") from None


def _misuse(function: Callable[..., object], settings: SkillSettings) -> str:
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        return "@skill(...) goes directly above a function; put other decorators below it."
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        return "a skill cannot yield; return the result, and send pieces by context.part(...)."
    unknown = sorted(settings.keys() - SkillSettings.__annotations__.keys())
    if unknown:
        return f"@skill has no setting {unknown[0]!r}; see SkillSettings for those it has."
    missing = SkillSettings.__required_keys__ - settings.keys()
    return "it has no version; write @skill(version='1.0.0', ...)." if missing else ""


def _define(function: Callable[..., object], settings: SkillSettings, parameters: Parameters) -> SkillDefinition:
    said: SkillSettings = {
        "name": function.__name__,
        "description": read_docstring(function.__doc__).description,
        **settings,
    }
    definition = checked(
        SkillDefinition(
            parameters=parameters.schema,
            output=output_schema(function),
            hidden=parameters.hidden,
            **said,
        )
    )
    schema_text(definition.parameters, f"Skill {definition.name!r}: the schema of its parameters")
    for request, arguments in definition.examples:
        check_example(definition.name, request, arguments, partial(parameters.reader.read, definition.name))
    return definition
