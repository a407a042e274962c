"""Run skills in a test as the mesh would: the same checks, limits and conversions, in this process, without a port.

async with SkillTester([calculate]) as mesh:
    result = await mesh.call("calculate", {"expression": "2+2"})
    assert result.value == 4
"""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, Literal, Self

import orjson
from pydantic_core import from_json

from skill_services.sdk.content import Blob, Json, Link, Part, Text
from skill_services.sdk.context import Principal, SkillContext
from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.runtime import Incoming, Runtime, RuntimeOptions
from skill_services.sdk.skill import BaseSkill
from skillmesh.digests import arguments_digest, result_digest
from skillmesh.errors import ErrorKind
from skillmesh.status import Violation
from skillmesh.v1 import skill_pb2
from skillmesh.v1.result_pb2 import ContentPart, Result, ResultStatus
from skillmesh.v1.skill_service_pb2 import InvokeRequest, InvokeStreamResponse
from skillmesh.v1.skill_service_pb2 import Principal as PrincipalMessage

__all__ = ["CallFailedError", "InvalidArguments", "Outcome", "Principal", "SkillTester", "context_for"]

_STATUS: Final[dict[int, Literal["success", "failed", "retryable"]]] = {
    ResultStatus.RESULT_STATUS_SUCCESS: "success",
    ResultStatus.RESULT_STATUS_RETRYABLE: "retryable",
}


class InvalidArguments(CallFailedError):  # noqa: N818  # read in a test: `pytest.raises(InvalidArguments)`
    """The arguments do not fit; `violations` holds every point, each with `path` and `problem`."""

    @property
    def violations(self) -> tuple[Violation, ...]:
        return tuple(self.error.violations)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave. `progress` and `streamed` are what came ahead of the result, in order."""

    status: Literal["success", "failed", "retryable"]
    structured: bytes
    parts: tuple[Part, ...]
    truncated: bool
    progress: tuple[tuple[float | None, str], ...]
    streamed: tuple[Part, ...]

    @property
    def value(self) -> object:
        """The structured value, read from its JSON; None where there is none."""
        return from_json(self.structured) if self.structured else None

    @property
    def text(self) -> str:
        """What the model reads: the parts' text where there are parts, else the structured value's JSON."""
        return "\n".join(map(_shown, self.parts)) if self.parts else self.structured.decode()


class SkillTester:
    """Skills in a process of the mesh, for the length of an `async with`.

    Args:
        skills: What `serve` would get.
        principal: Who asks, unless a call says otherwise.
        session: What the session's owner has set, for parameters marked FromSession; `session_id` and `run_id` count
            as set.
        operator_defaults: `{skill: {parameter: value}}`, for parameters marked FromOperator.
        options: Limits and intervals of the process.

    Raises:
        SkillDefinitionError: where a skill is declared wrongly.
    """

    def __init__(
        self,
        skills: Sequence[BaseSkill],
        *,
        principal: Principal | None = None,
        session: Mapping[str, object] | None = None,
        operator_defaults: Mapping[str, Mapping[str, object]] | None = None,
        options: RuntimeOptions | None = None,
    ) -> None:
        options = options or RuntimeOptions()
        if operator_defaults is not None:
            options = replace(options, operator_defaults=operator_defaults)
        self.runtime = Runtime(skills, options)
        self.changes = 0
        self._principal = principal or Principal("tester")
        self._session = {"session_id": "test-session", "run_id": "test-run", **(session or {})}
        self._ids = itertools.count(1)

    async def __aenter__(self) -> Self:
        await self.runtime.start(self._count_change)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.runtime.stop()

    def describe(self, name: str) -> skill_pb2.SkillDescriptor:
        """The skill as the mesh sees it now. Raises KeyError where there is none of that name."""
        for descriptor in self.runtime.describe().skills:
            if descriptor.name == name:
                return descriptor
        raise KeyError(name)

    def parameters(self, name: str) -> dict[str, object]:
        """The JSON Schema that the model reads."""
        schema: dict[str, object] = orjson.loads(self.describe(name).parameters_schema)
        return schema

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str | bytes | None = None,
        *,
        principal: Principal | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Call a skill; `arguments` are an object, or JSON as a model wrote it. `timeout` is in seconds.

        Raises:
            InvalidArguments: where they do not fit; the skill's code has not run.
            CallFailedError: for anything else that gives no result; `error.kind` says what.
        """
        return await self.invoke(self.request(name, arguments, principal=principal), timeout=timeout)

    def request(
        self,
        name: str,
        arguments: Mapping[str, object] | str | bytes | None = None,
        *,
        principal: Principal | None = None,
    ) -> InvokeRequest:
        """The request as the core would send it, to be changed by a test and passed to `invoke`."""
        data = _json(arguments)
        asking = principal or self._principal
        return InvokeRequest(
            skill=name,
            fingerprint=self._fingerprint(name),
            call_id=f"call-{next(self._ids)}",
            run_id=str(self._session["run_id"]),
            session_id=str(self._session["session_id"]),
            arguments=data,
            arguments_digest=arguments_digest(data),
            principal=PrincipalMessage(subject=asking.subject, roles=asking.roles),
            attempt=1,
            hidden_arguments=orjson.dumps(self._hidden(name, asking)),
        )

    async def invoke(self, request: InvokeRequest, *, timeout: float | None = None) -> Outcome:
        """Send a request as it is; see `call`."""
        progress: list[tuple[float | None, str]] = []
        streamed: list[Part] = []

        def emit(event: InvokeStreamResponse) -> None:
            if event.HasField("part"):
                streamed.append(_part(event.part))
            else:
                said = event.progress
                progress.append((said.fraction if said.HasField("fraction") else None, said.message))

        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            result = await self.runtime.invoke(Incoming(request, deadline, emit))
        except CallFailedError as error:
            if error.error.kind is ErrorKind.INVALID_ARGUMENTS:
                raise InvalidArguments(error.error) from None
            raise
        return _outcome(result, progress, streamed)

    def _hidden(self, name: str, principal: Principal) -> dict[str, object]:
        """What the core fills: values from the caller and from the session, never the operator's."""
        caller = {"subject": principal.subject, "roles": list(principal.roles)}
        values: dict[str, object] = {}
        for descriptor in self.runtime.describe().skills:
            for hidden in descriptor.hidden_parameters if descriptor.name == name else ():
                source: Mapping[str, object] = {}
                if hidden.source == skill_pb2.HIDDEN_SOURCE_CALLER:
                    source = caller
                elif hidden.source == skill_pb2.HIDDEN_SOURCE_SESSION:
                    source = self._session
                if hidden.key in source:
                    values[hidden.name] = source[hidden.key]
        return values

    def _fingerprint(self, name: str) -> str:
        known = {descriptor.name: descriptor.fingerprint for descriptor in self.runtime.describe().skills}
        return known.get(name, "")

    def _count_change(self) -> None:
        self.changes += 1


def context_for(
    *, principal: Principal | None = None, timeout: float = 10.0, run_id: str = "test-run", time_zone: str = "UTC"
) -> SkillContext:
    """What a skill's context parameter needs where a test calls the function itself."""
    asking = principal or Principal("tester")
    request = InvokeRequest(
        skill="test",
        call_id="call-1",
        run_id=run_id,
        principal=PrincipalMessage(subject=asking.subject, roles=asking.roles),
        attempt=1,
        time_zone=time_zone,
    )
    return SkillContext(request, time.monotonic() + timeout)


def _json(arguments: Mapping[str, object] | str | bytes | None) -> bytes:
    if isinstance(arguments, bytes):
        return arguments
    return arguments.encode() if isinstance(arguments, str) else orjson.dumps(dict(arguments or {}))


def _outcome(result: Result, progress: list[tuple[float | None, str]], streamed: list[Part]) -> Outcome:
    if result.digest != result_digest(result):
        raise AssertionError("The result's digest does not fit its content.")
    return Outcome(
        status=_STATUS.get(result.status, "failed"),
        structured=result.structured,
        parts=tuple(map(_part, result.parts)),
        truncated=result.truncated,
        progress=tuple(progress),
        streamed=tuple(streamed),
    )


def _part(part: ContentPart) -> Part:
    match part.WhichOneof("content"):
        case "text":
            return Text(part.text)
        case "json":
            return Json(from_json(part.json))
        case "blob":
            return Blob(part.blob, part.mime_type)
        case _:
            return Link(part.link.uri, part.link.name, part.link.mime_type)


def _shown(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case Json(value):
            return orjson.dumps(value).decode()
        case Blob(data, mime_type):
            return f"[{mime_type}, {len(data)} bytes]"
        case Link(uri, name, _):
            return f"{name}: {uri}" if name else uri
