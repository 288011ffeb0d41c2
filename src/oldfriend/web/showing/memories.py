"""How is what is believed shown?"""

from collections.abc import Sequence

from oldfriend.app.believing.history import Step
from oldfriend.app.believing.looking import Belief
from oldfriend.app.believing.showing import by_whom
from oldfriend.domain.memories import Believed, Change, Entity, Evidence, Memory, Summary
from oldfriend.memory.rows import kind_of
from oldfriend.web.shapes.memories import BeliefShape, Decided, StepShape
from oldfriend.web.showing.chat import message_shape
from oldfriend.web.showing.common import at_or_none, in_zone, words_shape


def belief_shape(belief: Belief, *, zone: str) -> BeliefShape:
    """Something believed."""
    what, standing = belief.what, belief.standing
    decided = None if isinstance(what, Summary) else what
    common = BeliefShape(
        id=what.id, kind=kind_of(what), text=told(what),
        status=None if decided is None else decided.status,
        is_pinned=decided is not None and decided.is_pinned,
        is_by_person=decided is not None and decided.is_by_person,
        learned_at=in_zone(what.learned_at, zone), ended_at=at_or_none(what.ended_at, zone),
        confidence=None if standing is None else standing.confidence,
        times_seen=None if standing is None else standing.times_seen,
        words=[words_shape(each) for each in belief.words],
    )  # fmt: skip
    return common.model_copy(update=fields_of(what, zone)) if isinstance(what, Memory) else common


def fields_of(memory: Memory, zone: str) -> dict[str, str | int | None]:
    """What only a memory has."""
    return {
        "key": memory.key or None, "value": memory.value or None, "impact": memory.impact,
        "happened_at": at_or_none(memory.happened_at, zone),
        "due_at": at_or_none(memory.due_at, zone),
    }  # fmt: skip


def told(what: Believed) -> str:
    """What it says, to read."""
    if not isinstance(what, Entity):
        return what.text
    return f"{what.name}: {what.description}" if what.description else what.name


def decided_shape(change: Change, words: Sequence[Evidence], *, zone: str) -> Decided:
    """A decision, with the thing as it was decided."""
    return Decided(
        seq=change.seq, op=change.op, by=by_whom(change.author),
        at=in_zone(change.decided_at, zone),
        belief=belief_shape(Belief(what=change.after, words=tuple(words)), zone=zone),
    )  # fmt: skip


def step_shape(step: Step, *, zone: str) -> StepShape:
    """A decision in a history."""
    return StepShape(
        op=step.change.op, by=by_whom(step.change.author),
        at=in_zone(step.change.decided_at, zone), until=at_or_none(step.until, zone),
        text=told(step.change.after), because=[message_shape(each) for each in step.because],
    )  # fmt: skip
