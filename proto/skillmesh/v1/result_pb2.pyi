from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResultStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_STATUS_UNSPECIFIED: _ClassVar[ResultStatus]
    RESULT_STATUS_SUCCESS: _ClassVar[ResultStatus]
    RESULT_STATUS_FAILED: _ClassVar[ResultStatus]
    RESULT_STATUS_RETRYABLE: _ClassVar[ResultStatus]
RESULT_STATUS_UNSPECIFIED: ResultStatus
RESULT_STATUS_SUCCESS: ResultStatus
RESULT_STATUS_FAILED: ResultStatus
RESULT_STATUS_RETRYABLE: ResultStatus

class ContentPart(_message.Message):
    __slots__ = ("text", "json", "blob", "link", "mime_type")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    BLOB_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    text: str
    json: bytes
    blob: bytes
    link: ResourceLink
    mime_type: str
    def __init__(self, text: _Optional[str] = ..., json: _Optional[bytes] = ..., blob: _Optional[bytes] = ..., link: _Optional[_Union[ResourceLink, _Mapping]] = ..., mime_type: _Optional[str] = ...) -> None: ...

class ResourceLink(_message.Message):
    __slots__ = ("uri", "name", "mime_type")
    URI_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    uri: str
    name: str
    mime_type: str
    def __init__(self, uri: _Optional[str] = ..., name: _Optional[str] = ..., mime_type: _Optional[str] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("status", "structured", "parts", "truncated", "replayed", "digest")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    status: ResultStatus
    structured: bytes
    parts: _containers.RepeatedCompositeFieldContainer[ContentPart]
    truncated: bool
    replayed: bool
    digest: bytes
    def __init__(self, status: _Optional[_Union[ResultStatus, str]] = ..., structured: _Optional[bytes] = ..., parts: _Optional[_Iterable[_Union[ContentPart, _Mapping]]] = ..., truncated: _Optional[bool] = ..., replayed: _Optional[bool] = ..., digest: _Optional[bytes] = ...) -> None: ...
