"""One run: a question, turns of the model and the calls it asks for, and an answer or the reason why there is none."""

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from opentelemetry.util.types import AttributeValue

from agent_core.agent.channel import Channel
from agent_core.agent.intake import cut_off, take_in
from agent_core.agent.prompt import ToolSpecs, system_message
from agent_core.agent.session import Session
from agent_core.agent.turn_calls import TurnCalls, direct_answer
from agent_core.agent.window import fit, size
from agent_core.domain.call import CallContext
from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.domain.events import (
    FinishReason,
    ModelReplied,
    ReasoningDelta,
    TextDelta,
    TurnStarted,
    Usage,
    Warned,
)
from agent_core.domain.model import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    ReasoningChunk,
    TextChunk,
    UserMessage,
)
from agent_core.domain.ports import CatalogueSource, ChatModel, FanOut, Shortlister
from agent_core.domain.skill import Catalogue, Skill
from agent_core.telemetry.spans import span
from skillmesh import conventions

_log = logging.getLogger(__name__)
_CUT: Final = frozenset({"length", "max_tokens"})
_MAX_CUT_TURNS: Final = 3
_MAX_SHRINKS: Final = 4
_SMALLEST_WINDOW: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """Limits of a run. `run_timeout` is in seconds; bytes are UTF-8.

    `observation_bytes` bounds what the model reads of one call, `context_bytes` the whole request to the model; where
    an endpoint refuses that as too long, the session goes on with less.
    """

    max_turns: int = 8
    run_timeout: float = 120.0
    observation_bytes: int = 16_000
    context_bytes: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What every run works with."""

    model: ChatModel
    catalogue: CatalogueSource
    shortlister: Shortlister
    fan_out: FanOut
    settings: LoopSettings
    specs: ToolSpecs = field(default_factory=ToolSpecs)


@dataclass(frozen=True, slots=True)
class Ending:
    reason: FinishReason
    answer: str = ""
    detail: str = ""


class Run:
    """The state of one run. `deadline` is monotonic time in seconds."""

    def __init__(
        self, parts: Parts, question: str, *, session: Session, context: CallContext, channel: Channel
    ) -> None:
        self._parts = parts
        self._session = session
        self._channel = channel
        self._history = session.history
        self._question = question
        self._current: list[Message] = [UserMessage(question)]
        self._context = context
        self._emit = context.emit
        self._call_ids: set[str] = set()
        self._warned: set[str] = set()
        self._cut_turns = 0
        self.turns = 0
        self.usage = Usage()

    async def finish(self) -> Ending:
        """Run to the end, whatever it is, and keep the exchange in the session. Raises only CancelledError."""
        ending = Ending(FinishReason.CANCELLED, detail="The run was cancelled.")
        try:
            ending = await self._bounded()
        finally:
            answer = ending.answer or f"(There was no answer: {ending.detail})"
            self._session.commit([*self._current, AssistantMessage(answer)])
        return ending

    async def _bounded(self) -> Ending:
        timeout = asyncio.timeout(self._context.deadline - time.monotonic())
        try:
            async with timeout:
                return await self._all_turns()
        except ModelError as error:
            if time.monotonic() >= self._context.deadline:
                return self._out_of_time()
            return Ending(FinishReason.MODEL_FAILED, detail=str(error))
        except Exception as error:  # noqa: BLE001 - the boundary: nobody above a run may get a foreign exception
            if timeout.expired():
                return self._out_of_time()
            _log.exception("run %s failed", self._context.run_id)
            detail = f"The core failed ({type(error).__name__}). Its log says where; please report it."
            return Ending(FinishReason.FAILED, detail=detail)

    def _out_of_time(self) -> Ending:
        detail = f"The time of the run was used up in turn {self.turns}, before there was an answer."
        return Ending(FinishReason.DEADLINE, detail=detail)

    async def _all_turns(self) -> Ending:
        limit = self._parts.settings.max_turns
        for turn in range(1, limit + 1):
            answer = await self._turn(turn, last=turn == limit)
            if answer:
                return Ending(FinishReason.ANSWERED, answer)
        detail = f"The model still asked for skills after {limit} turns (SKILLMESH_MAX_TURNS)."
        return Ending(FinishReason.TURN_LIMIT, detail=detail)

    async def _turn(self, turn: int, *, last: bool) -> str:
        """The answer; empty where the model needs another turn."""
        self.turns = turn
        catalogue = self._parts.catalogue.catalogue
        offered = {} if last else self._offer(catalogue)
        attributes: dict[str, AttributeValue] = {
            conventions.ATTR_RUN_ID: self._context.run_id,
            conventions.ATTR_TURN: turn,
            conventions.ATTR_SHORTLIST: list(offered),
            conventions.ATTR_SHORTLIST_SIZE: len(offered),
            conventions.ATTR_CATALOGUE_AGE: _age(catalogue),
        }
        with span("turn", attributes=attributes):
            self._emit(TurnStarted(run_id=self._context.run_id, turn=turn, shortlist=tuple(offered)))
            reply = await self._ask(turn, offered, last=last)
            if not reply.text and not reply.requests:
                raise ModelError("The model's reply was empty.")
            if not reply.requests or (last and reply.text):
                self._warn_if_cut(reply)
                return reply.text
            return "" if last else await self._act(reply, offered)

    def _offer(self, catalogue: Catalogue) -> dict[str, Skill]:
        shortlist = self._parts.shortlister.shortlist(self._question, catalogue, self._context.principal)
        for note in shortlist.notes:
            self._warn(note)
        return {skill.name: skill for skill in shortlist.skills}

    async def _ask(self, turn: int, offered: dict[str, Skill], *, last: bool) -> ModelReply:
        messages = (system_message(last_turn=last), *self._history, *self._current)
        limit = self._session.context_bytes or self._parts.settings.context_bytes
        for shrinks in range(_MAX_SHRINKS + 1):
            request = ModelRequest(
                messages=fit(messages, limit),
                tools=tuple(self._parts.specs.of(skill) for skill in offered.values()),
                deadline=self._context.deadline,
                conversation_id=self._session.id,
                run_id=self._context.run_id,
                turn=turn,
                emit=self._emit,
            )
            try:
                return await self._stream(request)
            except PromptTooLongError:
                limit = min(limit, size(request.messages)) // 2
                if shrinks == _MAX_SHRINKS or limit < _SMALLEST_WINDOW:
                    raise
                self._session.context_bytes = limit
                self._warn("The conversation did not fit the model's context window; it was shortened.")
        raise AssertionError

    async def _stream(self, request: ModelRequest) -> ModelReply:
        began = time.monotonic()
        run_id = self._context.run_id
        reply: ModelReply | None = None
        async with aclosing(self._parts.model.stream(request)) as chunks:
            async for chunk in chunks:
                match chunk:
                    case TextChunk(text):
                        self._emit(TextDelta(run_id=run_id, text=text))
                    case ReasoningChunk(text):
                        self._emit(ReasoningDelta(run_id=run_id, text=text))
                    case ModelReply():
                        reply = chunk
                if self._channel.full:
                    await self._channel.room()
        if reply is None:
            raise ModelError("The model's reply did not end.")
        self.usage = Usage(
            self.usage.input_tokens + reply.usage.input_tokens, self.usage.output_tokens + reply.usage.output_tokens
        )
        self._emit(
            ModelReplied(
                run_id=run_id,
                turn=request.turn,
                model=reply.model,
                finish_reason=reply.finish_reason,
                usage=reply.usage,
                seconds=time.monotonic() - began,
            )
        )
        return reply

    async def _act(self, reply: ModelReply, offered: dict[str, Skill]) -> str:
        """Run what the reply asks for and keep both; the answer, where the skills' results are meant to be it."""
        if reply.finish_reason in _CUT:
            self._cut_turns += 1
            if self._cut_turns == _MAX_CUT_TURNS:
                raise ModelError(
                    f"The model hit its output limit inside a call {_MAX_CUT_TURNS} times in a row. "
                    "Raise SKILLMESH_MAX_TOKENS."
                )
            intakes = cut_off(reply.requests, taken=self._call_ids)
        else:
            self._cut_turns = 0
            intakes = take_in(reply.requests, offered, run_id=self._context.run_id, taken=self._call_ids)
        calls = TurnCalls(self._parts.fan_out, self._context, intakes, self._parts.settings.observation_bytes)
        try:
            outcomes = await calls.run()
        finally:  # also where the run ends here: what was called stays known
            self._current.append(AssistantMessage(reply.text, tuple(intake.kept for intake in intakes)))
            self._current.extend(calls.messages())
        answer = direct_answer(intakes, outcomes)
        if answer:
            self._emit(TextDelta(run_id=self._context.run_id, text=answer))
        return answer

    def _warn_if_cut(self, reply: ModelReply) -> None:
        if reply.finish_reason in _CUT:
            self._warn("The answer is cut off: the model hit its output limit (SKILLMESH_MAX_TOKENS).")
        elif reply.finish_reason == "content_filter":
            self._warn("The answer is cut off by the model endpoint's content filter.")

    def _warn(self, message: str) -> None:
        """Once a run for each message."""
        if message not in self._warned:
            self._warned.add(message)
            self._emit(Warned(run_id=self._context.run_id, message=message))


def _age(catalogue: Catalogue) -> float:
    """Seconds since the registry last answered; 0 while it does."""
    return 0.0 if catalogue.stale_since is None else max(time.monotonic() - catalogue.stale_since, 0.0)
