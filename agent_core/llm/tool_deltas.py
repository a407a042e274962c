"""Tool calls out of their streamed pieces.

The format says: a piece names its call by `index`; id and name come once, arguments in fragments. Servers leave the
index out, give all calls index 0, repeat id and name in each piece or invent a new id for each, send empty names
later, interleave calls, or send arguments as an object. The rules, in the order in which they are tried:

1. An index that was seen continues its call, unless the piece clearly opens another one.
2. An index that was not seen opens a call.
3. Without an index an id that was seen, or else the last call, is continued, again unless another one opens.

A piece opens another call where it brings a name and either a different id, a different name, or arguments to a call
whose arguments are already complete. Empty and null never overwrite; id and name are set once.
"""

from dataclasses import dataclass, field
from typing import Final

import orjson

from agent_core.domain.errors import ModelError
from agent_core.domain.model import ToolRequest
from agent_core.llm.surrogates import mended
from skillmesh.conventions import MAX_ARGUMENT_BYTES

MAX_CALLS: Final = 128


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are a whole JSON object; a full parse only where they could be."""
        if not self.fragments or not self.fragments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(orjson.loads(self.arguments), dict)
        except orjson.JSONDecodeError:
            return False


@dataclass(frozen=True, slots=True)
class _Piece:
    index: int | None
    id: str
    name: str
    arguments: str
    whole: bool  # the arguments came as an object, not as a fragment of text

    def opens_another(self, call: _OpenCall) -> bool:
        if not call.name:
            return False
        if self.name:
            if self.id and call.id and self.id != call.id:
                return True
            if self.name != call.name:
                return not (self.id and self.id == call.id and self.index is not None)
            return bool(self.arguments.strip()) and call.complete
        return bool(self.id and call.id and self.id != call.id) and call.complete and bool(self.arguments.strip())


class ToolDeltas:
    """The calls of one reply as they come in."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: dict[str, object], position: int) -> None:
        """`position`: where in its chunk's list the piece stood. Raises ModelError where there is too much."""
        piece = _piece(delta)
        call = self._find(piece, position) or self._open()
        if piece.index is not None:
            self._by_index[piece.index] = call
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        if piece.whole:
            call.fragments.clear()
            call.size = 0
        if piece.arguments:
            call.fragments.append(piece.arguments)
            call.size += len(piece.arguments)
            if call.size > MAX_ARGUMENT_BYTES:
                raise ModelError(f"The model wrote more than {MAX_ARGUMENT_BYTES:,} characters of arguments.")

    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls in the order in which they began; pieces that never named anything are none."""
        return tuple(
            ToolRequest(mended(call.id), mended(call.name), mended(arguments))
            for call in self._calls
            if (arguments := call.arguments).strip() or call.name
        )

    def _find(self, piece: _Piece, position: int) -> _OpenCall | None:
        """The open call that the piece continues; None where it begins one."""
        if piece.index is not None:
            candidate = self._by_index.get(piece.index)
            if candidate is not None and piece.id and candidate.id not in ("", piece.id):
                candidate = self._with_id(piece.id) or candidate
        elif piece.id and (known := self._with_id(piece.id)):
            candidate = known
        else:
            candidate = self._calls[-1] if self._calls else None
            if position and piece.name and candidate is not None and not candidate.id:
                return None  # a server without index and ids, and with all its calls in one chunk
        if candidate is None or piece.opens_another(candidate):
            return None
        return candidate

    def _with_id(self, call_id: str) -> _OpenCall | None:
        return next((call for call in reversed(self._calls) if call.id == call_id), None)

    def _open(self) -> _OpenCall:
        if len(self._calls) == MAX_CALLS:
            raise ModelError(f"The model asked for more than {MAX_CALLS} calls at once.")
        call = _OpenCall()
        self._calls.append(call)
        return call


def _piece(delta: dict[str, object]) -> _Piece:
    function = delta.get("function")
    if not isinstance(function, dict):
        function = delta  # some leave the nesting out
    index, call_id, name = delta.get("index"), delta.get("id"), function.get("name")
    arguments = function.get("arguments")
    whole = isinstance(arguments, dict)
    return _Piece(
        index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        id=call_id if isinstance(call_id, str) else "",
        name=name.strip() if isinstance(name, str) else "",
        arguments=orjson.dumps(arguments).decode() if whole else arguments if isinstance(arguments, str) else "",
        whole=whole,
    )
