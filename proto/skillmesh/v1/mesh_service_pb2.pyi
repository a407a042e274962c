from skillmesh.v1 import result_pb2 as _result_pb2
from skillmesh.v1 import skill_service_pb2 as _skill_service_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallRequest(_message.Message):
    __slots__ = ("skill", "arguments", "arguments_digest", "call_id", "run_id", "session_id", "principal", "principal_token", "idempotency_key", "depth", "time_zone", "locale", "approval_token")
    SKILL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    skill: str
    arguments: bytes
    arguments_digest: bytes
    call_id: str
    run_id: str
    session_id: str
    principal: _skill_service_pb2.Principal
    principal_token: str
    idempotency_key: str
    depth: int
    time_zone: str
    locale: str
    approval_token: str
    def __init__(self, skill: _Optional[str] = ..., arguments: _Optional[bytes] = ..., arguments_digest: _Optional[bytes] = ..., call_id: _Optional[str] = ..., run_id: _Optional[str] = ..., session_id: _Optional[str] = ..., principal: _Optional[_Union[_skill_service_pb2.Principal, _Mapping]] = ..., principal_token: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., depth: _Optional[int] = ..., time_zone: _Optional[str] = ..., locale: _Optional[str] = ..., approval_token: _Optional[str] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("result", "instance", "attempts", "trace_id")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.Result
    instance: str
    attempts: int
    trace_id: str
    def __init__(self, result: _Optional[_Union[_result_pb2.Result, _Mapping]] = ..., instance: _Optional[str] = ..., attempts: _Optional[int] = ..., trace_id: _Optional[str] = ...) -> None: ...
