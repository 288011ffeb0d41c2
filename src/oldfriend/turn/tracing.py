"""How did a reply come about? What its receipt says of the model, the prompt and the tools."""

from collections.abc import Sequence

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Completion
from oldfriend.turn.act import Actions
from oldfriend.turn.inner_life import InnerLife
from oldfriend.turn.sight import Sight


def details_of(actions: Actions, sight: Sight) -> dict[str, JsonValue]:
    """What is kept of how a model was asked, also where it failed; only what there is."""
    details: dict[str, JsonValue] = {}
    if actions.briefing is not None:
        details["prompt"] = actions.briefing.request.prompt
        details["context"] = actions.briefing.trace
    if actions.completions:
        details["model"] = model_of(actions.completions)
    if actions.uses:
        details["tools"] = [{"name": use.asked.name, "ending": use.ending} for use in actions.uses]
    if actions.trouble is not None:
        details["trouble"] = {"kind": actions.trouble, "error": actions.error}
    if sight.inner.understanding is not None:
        details["understood"] = understood(sight.inner)
    if sight.failure is not None:
        details["recall_failed"] = sight.failure
    return details


def understood(inner: InnerLife) -> JsonValue:
    """What the message was taken to need, and in which manner it was answered."""
    judged, manner = inner.understanding, inner.manner
    assert judged is not None
    told: dict[str, JsonValue] = {
        "by": judged.by, "complexity": judged.complexity, "emotion": judged.emotion,
        "goal": judged.goal, "signal": judged.signal, "searched": judged.searches,
    }  # fmt: skip
    if judged.error:
        told["error"] = judged.error
    if manner is not None:
        told["style"] = manner.style
    if manner is not None and manner.kept_from is not None:
        told["kept_from"] = manner.kept_from  # it would have jarred after the turns before
    return told


def model_of(completions: Sequence[Completion]) -> JsonValue:
    """Who answered, in how many calls, and what they took; the cost is None if any is unknown."""
    costs = [each.cost for each in completions]
    known = [cost for cost in costs if cost is not None]
    return {
        "name": completions[-1].model,
        "calls": len(completions),
        "tokens_in": sum(each.usage.input for each in completions),
        "tokens_cached": sum(each.usage.cached for each in completions),
        "tokens_out": sum(each.usage.output for each in completions),
        "cost": sum(known) if len(known) == len(costs) else None,
    }
