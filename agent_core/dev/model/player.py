"""Which reply of a script is next."""

from agent_core.dev.model.chat import ChatRequest
from agent_core.dev.model.script import Script, ScriptedReply

_EXHAUSTED = {"status": 500, "error": "The script has no reply left for this request."}


class Player:
    """Plays a script; `served` is the number of requests answered from it."""

    def __init__(self, script: Script) -> None:
        self._otherwise = script.otherwise
        self._matched = [_Matched(r, r.times) for r in script.replies if r.when]
        self._ordered = [r for r in script.replies if not r.when for _ in range(r.times or 1)]
        self._last: ScriptedReply | None = None
        self.served = 0

    def next_reply(self, request: ChatRequest) -> ScriptedReply | None:
        """The reply for `request`; None: the stand-in answers by itself."""
        found = self._take(request)
        if found is None and self._otherwise == "repeat":
            found = self._last
        elif found is None and self._otherwise == "error":
            found = ScriptedReply.model_validate(_EXHAUSTED)
        if found is not None:
            self._last = found
            self.served += 1
        return found

    def _take(self, request: ChatRequest) -> ScriptedReply | None:
        for matched in self._matched:
            if matched.take(request):
                return matched.reply
        return self._ordered.pop(0) if self._ordered else None


class _Matched:
    """A reply with a rule; `left` is how often it may still be played, None without end."""

    def __init__(self, reply: ScriptedReply, left: int | None) -> None:
        self.reply = reply
        self._left = left

    def take(self, request: ChatRequest) -> bool:
        if self._left == 0 or self.reply.when is None or not self.reply.when.fits(request):
            return False
        self._left = None if self._left is None else self._left - 1
        return True
