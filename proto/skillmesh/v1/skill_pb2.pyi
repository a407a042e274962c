import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AccessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_LEVEL_UNSPECIFIED: _ClassVar[AccessLevel]
    ACCESS_LEVEL_OBSERVER: _ClassVar[AccessLevel]
    ACCESS_LEVEL_OPERATOR: _ClassVar[AccessLevel]
    ACCESS_LEVEL_ADMIN: _ClassVar[AccessLevel]

class Effect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_UNSPECIFIED: _ClassVar[Effect]
    EFFECT_READ: _ClassVar[Effect]
    EFFECT_IDEMPOTENT: _ClassVar[Effect]
    EFFECT_WRITE: _ClassVar[Effect]

class HiddenSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HIDDEN_SOURCE_UNSPECIFIED: _ClassVar[HiddenSource]
    HIDDEN_SOURCE_CALLER: _ClassVar[HiddenSource]
    HIDDEN_SOURCE_SESSION: _ClassVar[HiddenSource]
    HIDDEN_SOURCE_OPERATOR: _ClassVar[HiddenSource]
ACCESS_LEVEL_UNSPECIFIED: AccessLevel
ACCESS_LEVEL_OBSERVER: AccessLevel
ACCESS_LEVEL_OPERATOR: AccessLevel
ACCESS_LEVEL_ADMIN: AccessLevel
EFFECT_UNSPECIFIED: Effect
EFFECT_READ: Effect
EFFECT_IDEMPOTENT: Effect
EFFECT_WRITE: Effect
HIDDEN_SOURCE_UNSPECIFIED: HiddenSource
HIDDEN_SOURCE_CALLER: HiddenSource
HIDDEN_SOURCE_SESSION: HiddenSource
HIDDEN_SOURCE_OPERATOR: HiddenSource

class HiddenParameter(_message.Message):
    __slots__ = ("name", "source", "key")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    name: str
    source: HiddenSource
    key: str
    def __init__(self, name: _Optional[str] = ..., source: _Optional[_Union[HiddenSource, str]] = ..., key: _Optional[str] = ...) -> None: ...

class Prerequisite(_message.Message):
    __slots__ = ("name", "met", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MET_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    met: bool
    reason: str
    def __init__(self, name: _Optional[str] = ..., met: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class SkillExample(_message.Message):
    __slots__ = ("request", "arguments")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    request: str
    arguments: bytes
    def __init__(self, request: _Optional[str] = ..., arguments: _Optional[bytes] = ...) -> None: ...

class SkillDescriptor(_message.Message):
    __slots__ = ("name", "version", "owner", "change_note", "description", "scenarios", "llm_hint", "parameters_schema", "output_schema", "examples", "access_level", "effect", "timeout", "cache_ttl", "prerequisites", "dependencies", "exclusive", "max_parallel", "hidden_parameters", "credentials", "tags", "return_direct", "fingerprint")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    CHANGE_NOTE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SCENARIOS_FIELD_NUMBER: _ClassVar[int]
    LLM_HINT_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    CACHE_TTL_FIELD_NUMBER: _ClassVar[int]
    PREREQUISITES_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    MAX_PARALLEL_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    RETURN_DIRECT_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    owner: str
    change_note: str
    description: str
    scenarios: _containers.RepeatedScalarFieldContainer[str]
    llm_hint: str
    parameters_schema: bytes
    output_schema: bytes
    examples: _containers.RepeatedCompositeFieldContainer[SkillExample]
    access_level: AccessLevel
    effect: Effect
    timeout: _duration_pb2.Duration
    cache_ttl: _duration_pb2.Duration
    prerequisites: _containers.RepeatedCompositeFieldContainer[Prerequisite]
    dependencies: _containers.RepeatedScalarFieldContainer[str]
    exclusive: bool
    max_parallel: int
    hidden_parameters: _containers.RepeatedCompositeFieldContainer[HiddenParameter]
    credentials: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    return_direct: bool
    fingerprint: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., owner: _Optional[str] = ..., change_note: _Optional[str] = ..., description: _Optional[str] = ..., scenarios: _Optional[_Iterable[str]] = ..., llm_hint: _Optional[str] = ..., parameters_schema: _Optional[bytes] = ..., output_schema: _Optional[bytes] = ..., examples: _Optional[_Iterable[_Union[SkillExample, _Mapping]]] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., effect: _Optional[_Union[Effect, str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., cache_ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., prerequisites: _Optional[_Iterable[_Union[Prerequisite, _Mapping]]] = ..., dependencies: _Optional[_Iterable[str]] = ..., exclusive: _Optional[bool] = ..., max_parallel: _Optional[int] = ..., hidden_parameters: _Optional[_Iterable[_Union[HiddenParameter, _Mapping]]] = ..., credentials: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., return_direct: _Optional[bool] = ..., fingerprint: _Optional[str] = ...) -> None: ...
