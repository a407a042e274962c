from skillmesh.v1 import result_pb2 as _result_pb2
from skillmesh.v1 import skill_pb2 as _skill_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("skills", "fingerprint")
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    fingerprint: str
    def __init__(self, skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ..., fingerprint: _Optional[str] = ...) -> None: ...

class Principal(_message.Message):
    __slots__ = ("subject", "roles")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    subject: str
    roles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, subject: _Optional[str] = ..., roles: _Optional[_Iterable[str]] = ...) -> None: ...

class InvokeRequest(_message.Message):
    __slots__ = ("skill", "fingerprint", "call_id", "run_id", "session_id", "arguments", "arguments_digest", "principal", "principal_token", "idempotency_key", "attempt", "depth", "mesh_endpoint", "time_zone", "locale", "approval_token", "hidden_arguments")
    SKILL_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    MESH_ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    skill: str
    fingerprint: str
    call_id: str
    run_id: str
    session_id: str
    arguments: bytes
    arguments_digest: bytes
    principal: Principal
    principal_token: str
    idempotency_key: str
    attempt: int
    depth: int
    mesh_endpoint: str
    time_zone: str
    locale: str
    approval_token: str
    hidden_arguments: bytes
    def __init__(self, skill: _Optional[str] = ..., fingerprint: _Optional[str] = ..., call_id: _Optional[str] = ..., run_id: _Optional[str] = ..., session_id: _Optional[str] = ..., arguments: _Optional[bytes] = ..., arguments_digest: _Optional[bytes] = ..., principal: _Optional[_Union[Principal, _Mapping]] = ..., principal_token: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., attempt: _Optional[int] = ..., depth: _Optional[int] = ..., mesh_endpoint: _Optional[str] = ..., time_zone: _Optional[str] = ..., locale: _Optional[str] = ..., approval_token: _Optional[str] = ..., hidden_arguments: _Optional[bytes] = ...) -> None: ...

class InvokeResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.Result
    def __init__(self, result: _Optional[_Union[_result_pb2.Result, _Mapping]] = ...) -> None: ...

class InvokeStreamRequest(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: InvokeRequest
    def __init__(self, request: _Optional[_Union[InvokeRequest, _Mapping]] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("fraction", "message")
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    fraction: float
    message: str
    def __init__(self, fraction: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class InvokeStreamResponse(_message.Message):
    __slots__ = ("progress", "part", "result")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: Progress
    part: _result_pb2.ContentPart
    result: _result_pb2.Result
    def __init__(self, progress: _Optional[_Union[Progress, _Mapping]] = ..., part: _Optional[_Union[_result_pb2.ContentPart, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.Result, _Mapping]] = ...) -> None: ...
