"""How is what is believed shown?"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from oldfriend.app.believing.history import Step
from oldfriend.app.believing.leafing import TurnedOut
from oldfriend.app.believing.looking import Belief
from oldfriend.app.believing.showing import by_whom
from oldfriend.domain.memories import Believed, Change, Entity, Evidence, Memory, Standing, Summary
from oldfriend.memory.correcting import merged_into
from oldfriend.memory.moods import Felt
from oldfriend.memory.rows import kind_of
from oldfriend.memory.standing import OF_TIES, USUAL, course_of
from oldfriend.memory.turning import Turned
from oldfriend.web.shapes.memories import (
    BeliefShape,
    DayShape,
    Decided,
    FeltShape,
    PointShape,
    StepShape,
    TurnedShape,
)
from oldfriend.web.showing.chat import message_shape
from oldfriend.web.showing.common import at_or_none, in_zone, words_shape

MOST_POINTS: Final = 60

SOURCES: Final[Mapping[str, Literal["reflection", "slow tick"]]] = {
    "reflect": "reflection", "tick": "slow tick",
}  # fmt: skip
"""By whom something was thought of its own accord."""


def belief_shape(belief: Belief, *, zone: str) -> BeliefShape:
    """Something believed."""
    what = belief.what
    decided = None if isinstance(what, Summary) else what
    common = BeliefShape(
        id=what.id, kind=kind_of(what), text=told(what),
        status=None if decided is None else decided.status,
        is_pinned=decided is not None and decided.is_pinned,
        is_by_person=decided is not None and decided.is_by_person,
        learned_at=in_zone(what.learned_at, zone), ended_at=at_or_none(what.ended_at, zone),
        confidence=None, times_seen=None, etag=None if belief.base is None else tag_of(belief.base),
        words=[words_shape(each) for each in belief.words],
    )  # fmt: skip
    more = {**fields_of(what, zone), **standing_fields(belief.standing, zone)}
    if isinstance(what, Memory) and len(belief.words) > 1:
        more["course"] = course_shapes(what, belief.words, zone=zone)
    return common.model_copy(update=more)


def tag_of(base: int) -> str:
    """By which it shows that something was decided about it since: its newest change, quoted."""
    return f'"{base}"'


def fields_of(what: Believed, zone: str) -> dict[str, Any]:
    """What only some kinds have."""
    if isinstance(what, Summary):
        return {
            "level": what.level, "tags": list(what.topics),
            "happened_at": in_zone(what.from_at, zone), "until_at": in_zone(what.until_at, zone),
        }  # fmt: skip
    if isinstance(what, Entity):
        return {}
    return {
        "key": what.key or None, "value": what.value or None, "impact": what.impact,
        "subject": what.subject, "tags": list(what.tags),
        "happened_at": at_or_none(what.happened_at, zone),
        "until_at": at_or_none(what.happened_until, zone), "due_at": at_or_none(what.due_at, zone),
        "merged_into": merged_into(what),
    }  # fmt: skip


def standing_fields(standing: Standing | None, zone: str) -> dict[str, Any]:
    """How it stands."""
    if standing is None:
        return {}
    has_words = standing.times_seen > 0
    return {
        "confidence": standing.confidence, "times_seen": standing.times_seen,
        "strength": round(standing.strength, 3),
        "first_seen_at": in_zone(standing.first_seen, zone) if has_words else None,
        "last_seen_at": in_zone(standing.last_seen, zone) if has_words else None,
    }  # fmt: skip


def course_shapes(what: Memory, words: Sequence[Evidence], *, zone: str) -> list[PointShape]:
    """How strong it was over time; the last of many."""
    course = course_of(words, OF_TIES if what.kind == "triple" else USUAL)
    return [
        PointShape(at=in_zone(at, zone), strength=round(each.strength, 3),
                   confidence=each.confidence)
        for at, each in course[-MOST_POINTS:]
    ]  # fmt: skip


def told(what: Believed) -> str:
    """What it says, to read."""
    if not isinstance(what, Entity):
        return what.text
    return f"{what.name}: {what.description}" if what.description else what.name


def decided_shape(change: Change, words: Sequence[Evidence], *, zone: str) -> Decided:
    """A decision, with the thing as it was decided."""
    return Decided(
        seq=change.seq, op=change.op, by=by_whom(change.author),
        source=SOURCES.get(change.author.partition("/")[0]), at=in_zone(change.decided_at, zone),
        belief=belief_shape(
            Belief(what=change.after, words=tuple(words), base=change.seq), zone=zone
        ),
    )  # fmt: skip


def turned_shape(turned: TurnedOut, words: Sequence[Evidence], *, zone: str) -> TurnedShape:
    """Something that is not believed on two days alike."""
    decided = decided_shape(turned.change, words, zone=zone)
    return TurnedShape(
        turn=turned.turn, op=decided.op, by=decided.by, at=decided.at, belief=decided.belief,
        before=None if turned.before is None else told(turned.before),
    )  # fmt: skip


def step_shape(step: Step, *, zone: str) -> StepShape:
    """A decision in a history."""
    return StepShape(
        id=step.change.object, op=step.change.op, by=by_whom(step.change.author),
        at=in_zone(step.change.decided_at, zone), until=at_or_none(step.until, zone),
        text=told(step.change.after), because=[message_shape(each) for each in step.because],
    )  # fmt: skip


def day_shape(turned: Turned) -> DayShape:
    """How much was decided on a day."""
    return DayShape(
        day=turned.day.isoformat(), added=turned.added, changed=turned.changed, ended=turned.ended
    )


def felt_shape(felt: Felt, *, zone: str) -> FeltShape:
    """A mood, and when."""
    return FeltShape(
        at=in_zone(felt.at, zone), phrase=felt.mood.phrase, energy=felt.mood.energy,
        signal=felt.mood.signal,
    )  # fmt: skip
