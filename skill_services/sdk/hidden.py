"""Parameters that the model never sees: where their values come from, and how a call gets them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from skill_services.sdk.content import ABSENT
from skill_services.sdk.errors import SkillDefinitionError, failed
from skillmesh.errors import ErrorKind
from skillmesh.v1.skill_service_pb2 import InvokeRequest

Source = Literal["caller", "session", "operator"]
CALLER_KEYS: Final = ("subject", "roles", "time_zone", "locale")


@dataclass(frozen=True, slots=True)
class FromCaller:
    """Marks a parameter that is filled from who asks, and hides it from the model.

    `key` is `subject`, `roles` (a list), `time_zone` or `locale`; empty: the parameter's own name.
    Example: `user: Annotated[str, FromCaller("subject")]`.
    """

    key: str = ""


@dataclass(frozen=True, slots=True)
class FromSession:
    """Marks a parameter that is filled from the session, and hides it from the model.

    `key` is `session_id`, `run_id` or a name that the session's owner has set; empty: the parameter's own name.
    """

    key: str = ""


@dataclass(frozen=True, slots=True)
class FromOperator:
    """Marks a parameter that the service's operator sets, and hides it from the model and from every caller.

    The value comes from `SKILLMESH_SKILL_DEFAULTS`: `{"<skill>": {"<parameter>": <value>}}`.
    """


Marker = FromCaller | FromSession | FromOperator


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """One hidden parameter. `type` is what its value must be; `default` is ABSENT where there must be a value."""

    name: str
    source: Source
    key: str = ""
    type: Any = object
    default: object = ABSENT


def hidden_by(marker: Marker, name: str, annotation: object, default: object) -> Hidden:
    """The hidden parameter that a marker on `name` declares."""
    if isinstance(marker, FromOperator):
        return Hidden(name=name, source="operator", key=name, type=annotation, default=default)
    key = marker.key or name
    if isinstance(marker, FromSession):
        return Hidden(name=name, source="session", key=key, type=annotation, default=default)
    if key not in CALLER_KEYS:
        raise SkillDefinitionError(
            f"Parameter {name!r}: a caller has no {key!r}; write FromCaller(key) with one of {', '.join(CALLER_KEYS)}."
        )
    return Hidden(name=name, source="caller", key=key, type=annotation, default=default)


class HiddenValues:
    """Fills the hidden parameters of one skill. Operator values are read and checked once, when it is made."""

    def __init__(self, skill: str, parameters: tuple[Hidden, ...], operator: Mapping[str, object]) -> None:
        self._skill = skill
        self._operator: dict[str, object] = {}
        self._per_call: list[tuple[Hidden, TypeAdapter[object]]] = []
        self.unset: tuple[str, ...] = ()
        known = {parameter.name for parameter in parameters if parameter.source == "operator"}
        unknown = sorted(operator.keys() - known)
        if unknown:
            raise SkillDefinitionError(
                f"The operator defaults name {skill}.{unknown[0]}, which is not a FromOperator parameter of that skill."
            )
        for parameter in parameters:
            adapter = TypeAdapter(parameter.type)
            if parameter.source != "operator":
                self._per_call.append((parameter, adapter))
            elif parameter.name in operator:
                self._operator[parameter.name] = self._checked_default(adapter, parameter, operator[parameter.name])
            elif parameter.default is not ABSENT:
                self._operator[parameter.name] = parameter.default
            else:
                self.unset += (parameter.name,)

    def for_call(self, request: InvokeRequest) -> dict[str, object]:
        """The values by parameter name.

        Raises CallFailedError (PREREQUISITE_UNMET) where one is missing or unfit: the model cannot mend that.
        """
        values = dict(self._operator)
        if not self._per_call:
            return values
        sent = self._sent(request)
        for parameter, adapter in self._per_call:
            value = sent.get(parameter.name, ABSENT)
            if value is ABSENT:
                value = _from_request(parameter, request)
            if value is ABSENT:
                values[parameter.name] = self._default(parameter)
                continue
            try:
                values[parameter.name] = adapter.validate_python(value)
            except ValidationError as error:
                raise failed(ErrorKind.PREREQUISITE_UNMET, self._unfit(parameter, error)) from None
        return values

    def _sent(self, request: InvokeRequest) -> dict[str, object]:
        try:
            sent = from_json(request.hidden_arguments or b"{}", allow_inf_nan=False)
        except ValueError:
            sent = None
        if not isinstance(sent, dict):
            problem = "The call's hidden arguments are not a JSON object; whoever sends them must mend that."
            raise failed(ErrorKind.PREREQUISITE_UNMET, problem)
        return sent

    def _default(self, parameter: Hidden) -> object:
        if parameter.default is not ABSENT:
            return parameter.default
        if parameter.key == "time_zone":
            return "UTC"  # what the wire means by an empty time zone
        raise failed(
            ErrorKind.PREREQUISITE_UNMET,
            f"Skill {self._skill!r} needs {parameter.key!r} from the {parameter.source}, which did not come with the "
            f"call. The model cannot supply it; the {_OWNERS[parameter.source]} must.",
        )

    def _unfit(self, parameter: Hidden, error: ValidationError) -> str:
        return (
            f"Skill {self._skill!r} cannot use {parameter.key!r} from the {parameter.source}: "
            f"{error.errors(include_input=False, include_url=False)[0]['msg']}."
        )

    def _checked_default(self, adapter: TypeAdapter[object], parameter: Hidden, value: object) -> object:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]["msg"]
            raise SkillDefinitionError(
                f"The operator default {self._skill}.{parameter.name} does not fit its parameter: {problem}."
            ) from None


_OWNERS: Final = {"caller": "client that signed the user in", "session": "owner of the session", "operator": "operator"}


def _from_request(parameter: Hidden, request: InvokeRequest) -> object:
    """What the request itself says, for a caller that left `hidden_arguments` empty."""
    if parameter.source == "session":
        known = {"session_id": request.session_id, "run_id": request.run_id}
        return known.get(parameter.key) or ABSENT
    if parameter.key == "roles":
        return list(request.principal.roles)
    known = {"subject": request.principal.subject, "time_zone": request.time_zone, "locale": request.locale}
    return known[parameter.key] or ABSENT
