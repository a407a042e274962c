"""The stand-in itself: a request to a reply, without state, weights or input and output."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from agent_core.dev.model.chat import Called, ChatRequest, Message
from agent_core.dev.model.found import is_chinese
from agent_core.dev.model.plan import MAX_QUESTION_CHARS, Plan, Step, plan
from agent_core.dev.model.sentences import Sentences
from agent_core.dev.model.wording import Outcome, answer, ask, nothing_fits, unmatched

MAX_CALLS = 16


@dataclass(frozen=True, slots=True)
class Reply:
    """Text or calls, and why it ended as OpenAI says it (`stop`, `tool_calls`)."""

    text: str = ""
    calls: tuple[Called, ...] = ()

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.calls else "stop"


def reply(request: ChatRequest, now: datetime) -> Reply:
    """The same reply to the same request at the same `now`.

    Only the last user message counts as the question. Once there are results for it they are answered, so a
    conversation always ends; with `parallel_tool_calls: false` the calls of a question come one by one first.
    """
    since = request.since_question
    made = [c for m in since for c in m.calls]
    sentences = Sentences(chinese=is_chinese(request.question))
    if len(request.question) > MAX_QUESTION_CHARS:  # half of it would give a wrong answer
        return Reply(sentences.say("too_long", limit=MAX_QUESTION_CHARS))
    planned = _plan(request, now)
    if not made:
        calls = planned.calls[: MAX_CALLS if request.parallel else 1]
        return _call(calls, request) if calls else Reply(_without_calls(request, planned, sentences))
    if not request.parallel and request.choice != "none" and len(made) < len(planned.calls):
        return _call(planned.calls[len(made) : len(made) + 1], request)
    return Reply(_answer(since, planned, sentences))


def _plan(request: ChatRequest, now: datetime) -> Plan:
    tools = [t for t in request.tools if not request.forced or t.name == request.forced]
    if request.choice == "none" or not tools or not request.question.strip():
        return Plan()
    return plan(request.question, tools, now, required=request.choice == "required")


def _call(steps: tuple[Step, ...], request: ChatRequest) -> Reply:
    return Reply(calls=tuple(_called(step, index, request) for index, step in enumerate(steps) if step.tool))


def _called(step: Step, index: int, request: ChatRequest) -> Called:
    name = step.tool.name if step.tool else ""
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    seed = f"{len(request.messages)}\0{index}\0{name}\0{arguments}"
    return Called(f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}", name, arguments)


def _without_calls(request: ChatRequest, planned: Plan, sentences: Sentences) -> str:
    if planned.asks:
        return "\n".join(ask(step, sentences, alone=len(planned.asks) == 1) for step in planned.asks)
    return nothing_fits(request.tools, sentences)


def _answer(since: tuple[Message, ...], planned: Plan, sentences: Sentences) -> str:
    calls = {c.id: c for m in since for c in m.calls}
    outcomes = [
        Outcome(calls[m.replies_to].name, calls[m.replies_to].arguments, m.text)
        for m in since
        if m.role == "tool" and m.replies_to in calls
    ]
    said = [answer(outcomes, sentences)]
    said += [ask(step, sentences, alone=False) for step in planned.asks]
    said += [unmatched(text, sentences) for text in planned.unmatched]
    return "\n".join(said)
