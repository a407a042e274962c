"""Scripts: replies played from a file, exactly, chunk by chunk, with faults.

A script is JSON or TOML, or one reply per line (JSONL):

    {
      "otherwise": "stand_in",
      "replies": [
        {"status": 429, "headers": {"Retry-After": "2"}, "error": "slow down"},
        {"when": {"contains": "weather", "after_results": false},
         "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]},
        {"when": {"after_results": true}, "chunks": ["It is ", "cold."], "delay": 0.05},
        {"text": "half an ans", "cut": true},
        {"raw": ["data: {broken", "", "data: [DONE]", ""]}
      ]
    }

A request is answered by the first reply with a `when` that fits it (as often as it fits, or `times`); if none fits,
by the next reply without a `when` (each once, or `times`); if none is left, as `otherwise` says: `stand_in` chooses by
itself, `repeat` plays the last one again, `error` answers 500.

What is sent, one of: `text`; `chunks` (text, one chunk each); `calls`; `deltas` (one chunk each, as written);
`chunk_objects` (whole chunks, as written); `raw` (lines, as written); `body` (a whole JSON body, not streamed);
`status` with `error`; `empty`.
"""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agent_core.dev.model.chat import ChatRequest

MAX_SCRIPT_BYTES = 16 * 1024 * 1024
MAX_SECONDS = 3_600.0

Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]


class ScriptError(Exception):
    """A script that cannot be played; the message names the file, the reply and what is wrong."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class When(_Strict):
    """All that is given must hold: of the last user message, and of whether results follow it."""

    contains: str | None = Field(default=None, description="The last user message has this text, in any case.")
    matches: str | None = Field(default=None, description="A regular expression found in the last user message.")
    after_results: bool | None = Field(default=None, description="Whether tool messages follow the last user message.")

    @field_validator("matches")
    @classmethod
    def _is_expression(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from error
        return value

    def fits(self, request: ChatRequest) -> bool:
        question = request.question
        results = any(m.role == "tool" for m in request.since_question)
        return (
            (self.contains is None or self.contains.lower() in question.lower())
            and (self.matches is None or re.search(self.matches, question) is not None)
            and (self.after_results is None or self.after_results == results)
        )


class ScriptedCall(_Strict):
    name: str
    arguments: dict[str, object] | str = Field(default_factory=dict, description="Text is sent as it is, valid or not.")
    id: str | None = None

    def arguments_text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else orjson.dumps(self.arguments).decode()


class ScriptedReply(_Strict):
    when: When | None = None
    times: int | None = Field(
        default=None, ge=1, description="How often it is played; with `when` unlimited, else once."
    )

    text: str | None = None
    chunks: list[str] | None = None
    calls: list[ScriptedCall] | None = None
    deltas: list[dict[str, object]] | None = None
    chunk_objects: list[dict[str, object]] | None = None
    raw: list[str] | None = None
    body: dict[str, object] | list[object] | str | None = None
    empty: bool = Field(default=False, description="An event stream, or a body, without a byte.")

    status: int = Field(default=200, ge=200, le=599)
    headers: dict[str, str] = Field(default_factory=dict)
    error: str | dict[str, object] | None = Field(default=None, description="Sent as OpenAI's error object.")
    content_type: str | None = Field(default=None, description="In place of the right one.")

    finish_reason: str | None = Field(default=None, description="Default: `tool_calls` with calls, else `stop`.")
    usage: dict[str, int] | bool = Field(default=True, description="False: none, though it was asked for.")
    done: bool = Field(default=True, description="Whether `data: [DONE]` ends the stream.")
    stall: Seconds = Field(default=0.0, description="Before the first byte.")
    stall_after: int | None = Field(
        default=None, ge=0, description="Stall (for `stall` seconds) after so many chunks instead."
    )
    delay: Seconds = Field(default=0.0, description="Before every chunk.")
    cut: bool = Field(default=False, description="Close after the content, without finish and [DONE].")
    cut_after: int | None = Field(default=None, ge=0, description="Close after so many chunks.")
    abort: bool = Field(default=False, description="A cut resets the connection instead of ending the stream.")
    broken_line: bool = Field(default=False, description="A line of invalid JSON after the content.")
    error_chunk: str | dict[str, object] | None = Field(
        None, description="An error object in the stream, after the content."
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> "ScriptedReply":
        contents = [n for n in _CONTENTS if getattr(self, n) not in (None, False)]
        if len(contents) > 1 and set(contents) != {"text", "calls"}:
            raise ValueError(f"has {' and '.join(contents)}; give one of {', '.join(_CONTENTS)}")
        if not contents and self.status == 200:
            raise ValueError(f"says nothing; give one of {', '.join(_CONTENTS)}, or a status")
        return self


_CONTENTS = ("text", "chunks", "calls", "deltas", "chunk_objects", "raw", "body", "error", "empty")


class Script(_Strict):
    replies: list[ScriptedReply]
    otherwise: Literal["stand_in", "repeat", "error"] = "stand_in"


def load_script(path: Path) -> Script:
    """The script in a `.json`, `.jsonl` or `.toml` file. Raises ScriptError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"Script {path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_SCRIPT_BYTES:
        raise ScriptError(f"Script {path} is larger than {MAX_SCRIPT_BYTES} bytes.")
    try:
        return parse_script(data, path.suffix.lower())
    except ScriptError as error:
        raise ScriptError(f"Script {path}: {error}") from error


def parse_script(data: bytes, suffix: str = ".json") -> Script:
    """A script's text; a bare list is its replies. Raises ScriptError."""
    try:
        return Script.model_validate(_parsed(data, suffix))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise ScriptError(f"{where or 'script'}: {first['msg']}") from error


def _parsed(data: bytes, suffix: str) -> object:
    try:
        if suffix == ".toml":
            return tomllib.loads(data.decode())
        if suffix == ".jsonl":
            return {"replies": [orjson.loads(line) for line in data.splitlines() if line.strip()]}
        parsed = orjson.loads(data)
    except ValueError as error:
        raise ScriptError(f"is no valid {suffix.lstrip('.').upper() or 'JSON'}: {error}") from error
    return {"replies": parsed} if isinstance(parsed, list) else parsed
