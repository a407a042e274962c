"""Leave: what the policy does not allow does not run."""

from opentelemetry import trace

from agent_core.domain.call import CallContext, Invoke, Layer, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.ports import Policy, Verdict
from skillmesh.conventions import ATTR_DECISION
from skillmesh.errors import ErrorKind


def authorized(policy: Policy) -> Layer:
    """Raises CallError `approval_required` or `permission_denied`, which say what would allow the call."""

    def layer(inner: Invoke) -> Invoke:
        async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
            decision = policy.decide(call, context)
            trace.get_current_span().set_attribute(ATTR_DECISION, decision.verdict.value)
            if decision.verdict is Verdict.ALLOW:
                return await inner(call, context)
            label = call.skill.label
            if decision.verdict is Verdict.APPROVAL:
                raise CallError(
                    ErrorKind.APPROVAL_REQUIRED,
                    f"{decision.reason}.",
                    for_model=f"{label} needs an approval that has not been given, and did not run. Tell the user so.",
                )
            raise CallError(
                ErrorKind.PERMISSION_DENIED,
                f"{label} is not allowed: {decision.reason}.",
                for_model=f"{label} is not allowed for this user and did not run. Tell the user so.",
            )

        return invoke

    return layer
