"""What happened in the first database, so that it can happen again in the second? Step by step.

Each stretch of talk is read once, as it reads now, at the moment at which it was read first; what
the person decided stands where they decided it; it is tidied, folded and thought about when it
was then.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from oldfriend.app.believing.looking import Belief
from oldfriend.app.forming.means import By
from oldfriend.app.forming.tending import is_by_rules, is_read
from oldfriend.background import adjudicating, compacting, merging
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Believed, Change, Evidence, Memory, Summary
from oldfriend.memory.changes import list_changes
from oldfriend.memory.correcting import BY_PERSON
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.expiring import CLOCK
from oldfriend.memory.forgetting.journal import FORGOT, ORPHANED
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.memory.ticks import Tick, TickKind, list_ticks
from oldfriend.memory.withdrawing import UNDONE

Kind = Literal["read", "carry", "uphold", "tidy", "fold", "think"]
Reader = Literal["as then", "rules", "model"]
"""Who reads: whoever has read it then, rules or a model; rules all of it; a model all of it."""

TIDYING: Final = frozenset({merging.RULE, adjudicating.PROMPT, CLOCK.author})
FOLDING: Final = frozenset({compacting.RULE, compacting.PROMPT})
FOLLOWING: Final = frozenset({UNDONE, FORGOT})
"""What followed from something that was taken back."""
DECIDED: Final = frozenset({
    "pinned", "unpinned", "confirmed", "rejected", "unrejected", "corrected", "learned", "merged",
    "separated",
})  # fmt: skip
"""What a person does; what else stands under their name follows from it."""

AFTERWARDS: Final = 1 << 62
"""It is thought about what was just read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the first database knows of a person's decisions, readings and thoughts."""

    journal: Sequence[Change]
    evidence: Mapping[ObjectId, Sequence[Evidence]]
    segments: Sequence[Segment]
    ticks: Sequence[Tick]  # the last first
    histories: Mapping[ObjectId, Sequence[Change]]  # the journal by what it is about

    def decided(self, seq: int) -> Change | None:
        """The decision with a number, unless it is forgotten."""
        place = bisect_left(self.journal, seq, key=lambda each: each.seq)
        found = self.journal[place] if place < len(self.journal) else None
        return found if found is not None and found.seq == seq else None

    def before(self, object_id: ObjectId, seq: int) -> Belief:
        """How something was believed just before a decision. Raises NotFound."""
        for change in reversed(self.histories.get(object_id, ())):
            if change.seq < seq:
                return Belief(what=change.after, words=tuple(self.evidence.get(object_id, ())))
        raise NotFound(f"What {object_id} was before is forgotten.")


async def past_of(tx: Transaction, person: PersonId) -> Past:
    """Everything that happened to a person's memory."""
    journal = await list_changes(tx, person)
    return Past(
        journal=journal, histories=histories_in(journal), evidence=await list_evidence(tx, person),
        segments=await list_segments(tx, person), ticks=await list_ticks(tx, person, since=0),
    )  # fmt: skip


def histories_in(journal: Iterable[Change]) -> dict[ObjectId, list[Change]]:
    """For each thing all that was decided about it, in order."""
    histories: defaultdict[ObjectId, list[Change]] = defaultdict(list)
    for change in journal:
        histories[change.object].append(change)
    return histories


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happens again, at its own time."""

    kind: Kind
    at: Micros
    change: int = 0  # the seq of the decision that is carried over or upheld
    segment: SegmentId | None = None  # what is read …
    by: By = "either"  # … and by whom
    thinking: TickKind | None = None  # in which way it is thought

    def as_json(self) -> dict[str, JsonValue]:
        """As it is put down until it is done."""
        return {
            "kind": self.kind, "at": self.at, "change": self.change, "segment": self.segment,
            "by": self.by, "thinking": self.thinking,
        }  # fmt: skip


def steps_of(past: Past, *, reader: Reader, since: Micros | None) -> list[Step]:
    """Everything that happens again since a moment (None: all of it), in order."""
    changes, segments = past.journal, past.segments
    first = first_changes(changes)
    placed = [
        (step.at, step.change, step)
        for step in (
            *carryings(past, since=since), *upholdings(changes),
            *moments(changes, TIDYING, "tidy"), *moments(changes, FOLDING, "fold"),
        )
    ] + [
        (at, seq, Step(kind="read", at=at, segment=segment.id, by=by_whom(segment, reader)))
        for segment in segments
        if segment.status != "taken back"
        for at, seq in [place_of(segment, first, since=since)]
    ] + [
        (tick.ran_at, AFTERWARDS, Step(kind="think", at=tick.ran_at, thinking=tick.kind))
        for tick in reversed(past.ticks)
    ]  # fmt: skip
    order = sorted(placed, key=lambda each: each[:2])
    return [step for at, _, step in order if since is None or at >= since]


def first_changes(changes: Sequence[Change]) -> dict[SegmentId, Change]:
    """The first decision that came of each segment."""
    return {
        change.segment: change for change in reversed(changes) if change.segment is not None
    }  # fmt: skip


def place_of(
    segment: Segment, first: Mapping[SegmentId, Change], *, since: Micros | None
) -> tuple[Micros, int]:
    """When a segment was read first, and after which decision.

    What was read before ``since`` keeps what was found then, unless it was read again since.
    """
    began = first.get(segment.id)
    is_new = segment.generation == 1
    at = segment.ended_at if is_new and segment.ended_at is not None else segment.cut_at
    if began is not None:
        at = began.decided_at
    if since is not None and at < since and not is_new:
        return segment.ended_at or segment.cut_at, 0
    return at, 0 if began is None else began.seq


def by_whom(segment: Segment, reader: Reader) -> By:
    """Who is to read a segment."""
    if reader != "as then":
        return reader
    if not is_read(segment) and segment.author is None:
        return "either"
    return "rules" if is_by_rules(segment) else "model"


def carryings(past: Past, *, since: Micros | None) -> Iterator[Step]:
    """What is carried over as it was decided, for no words can teach it anew.

    Notes; and beliefs that were kept when the words behind them were forgotten. Of what stood
    before ``since`` also what followed from something that was taken back after it.
    """
    changes, supported = past.journal, past.evidence.keys()
    there = {segment.id for segment in past.segments}
    orphans = {change.object for change in changes if change.author == ORPHANED}
    orphans |= left_standing(changes, supported)
    standing = {each.object for each in changes if since is not None and each.decided_at < since}
    known: set[ObjectId] = set()
    for change in changes:
        is_new = change.object not in known
        if (
            is_note(change)
            or (change.object in standing and change.author in FOLLOWING)
            or (change.object in orphans and (is_new or is_kept(change, there)))
        ):
            known.add(change.object)
            at = change.after.learned_at if is_new else change.decided_at
            yield Step(kind="carry", at=at, change=change.seq)


def left_standing(changes: Sequence[Change], supported: Collection[ObjectId]) -> set[ObjectId]:
    """What is or was so, though the words from which it was read are gone."""
    newest = {change.object: change.after for change in changes}
    return {
        change.object
        for change in changes
        if change.base == 0 and change.segment is not None and not change.causes
        and change.object not in supported and was_so(newest[change.object])
    }  # fmt: skip


def was_so(what: Believed) -> bool:
    """Whether something is believed, or was until it was over."""
    is_over = isinstance(what, Memory) and what.status in {"fulfilled", "expired", "superseded"}
    return not isinstance(what, Summary) and (what.ended_at is None or is_over)


def is_kept(change: Change, there: set[SegmentId]) -> bool:
    """Whether a decision about an orphan rests on talk that is gone, or keeps it."""
    is_gone = change.segment is not None and change.segment not in there
    return is_gone or change.author == ORPHANED


def is_note(change: Change) -> bool:
    """Whether a decision is about something that the person asked to be remembered."""
    return isinstance(change.after, Memory) and change.after.kind == "note"


def upholdings(changes: Sequence[Change]) -> Iterator[Step]:
    """What the person has decided about all else; once where two decisions are one."""
    theirs = [each for each in changes if each.author == BY_PERSON.author]
    before: Change | None = None
    for change in theirs:
        is_second = before is not None and is_one_separation(before, change)
        if change.op in DECIDED and not is_note(change) and not is_second:
            yield Step(kind="uphold", at=change.decided_at, change=change.seq)
        before = None if is_second else change


def is_one_separation(one: Change, other: Change) -> bool:
    """Whether two decisions keep the same two apart."""
    return one.op == other.op == "separated" and one.seq + 1 == other.seq


def moments(changes: Iterable[Change], authors: frozenset[str], kind: Kind) -> Iterator[Step]:
    """When something was done in the background that shows."""
    done = [each for each in changes if each.author in authors and shows(each)]
    for before, change in pairwise([None, *done]):
        assert change is not None
        if before is None or before.decided_at != change.decided_at:
            yield Step(kind=kind, at=change.decided_at, change=change.seq)


def shows(change: Change) -> bool:
    """Whether a decision shows by itself that it was tidied or folded then."""
    if isinstance(change.after, Summary):
        return change.op == "learned"
    return change.op in {"merged", "deprecated", "expired"}
