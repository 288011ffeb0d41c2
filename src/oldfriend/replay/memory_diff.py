"""Memory diff: the differences between two memories, counted by kind and shown with both sides.

Read-only in both databases.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.beliefs.queries import BeliefDetails, list_beliefs, list_entity_beliefs
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity, JournalObject, ObjectKind, StoredBelief, Summary
from oldfriend.domain.messages import Person
from oldfriend.domain.relations import SYMMETRIC
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.similarity import compute_canonical_hash
from oldfriend.memory.belief_views import get_kind, list_summaries
from oldfriend.memory.people import list_people
from oldfriend.replay.alignment import align_beliefs

DiffStatus = Literal["same", "only in 1", "only in 2", "said otherwise", "stands otherwise"]
DIFF_STATUSES: Final[tuple[DiffStatus, ...]] = (
    "same",
    "only in 1",
    "only in 2",
    "said otherwise",
    "stands otherwise",
)
WORDING_FIELDS: Final = frozenset({"text", "kind"})
"""Fields in which a difference is only one of wording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field in which two corresponding beliefs differ."""

    field_name: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefDifference:
    """A belief of only one memory, or one that differs between the two."""

    status: DiffStatus
    kind: ObjectKind
    first: BeliefDetails | None
    second: BeliefDetails | None
    field_differences: tuple[FieldDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDiff:
    """The differences between two memories of one person."""

    person: str
    zone: str
    counts: Mapping[ObjectKind, Mapping[DiffStatus, int]]
    differences: tuple[BeliefDifference, ...]


async def diff_memories(
    first: Transaction,
    second: Transaction,
    *,
    person: str | None = None,
    include_ended: bool = False,
) -> list[PersonDiff]:
    """Return the differences between two memories, person by person, empty where they agree.

    Compares current beliefs, or with ``include_ended`` also past ones.
    """
    people = pair_people(await list_people(first), await list_people(second))
    return [
        build_person_diff(
            ours or theirs,
            [] if ours is None else await list_all_beliefs(first, ours.id),
            [] if theirs is None else await list_all_beliefs(second, theirs.id),
            include_ended=include_ended,
        )
        for ours, theirs in people
        if person is None or person in {each.name for each in (ours, theirs) if each is not None}
    ]


def pair_people(
    first: Sequence[Person], second: Sequence[Person]
) -> Iterator[tuple[Person | None, Person | None]]:
    """Yield the people of two memories in pairs, matched by id, else by name."""
    unmatched = list(second)
    for one in first:
        same = [each for each in unmatched if each.id == one.id]
        same += [each for each in unmatched if each.name == one.name]
        if same:
            unmatched.remove(same[0])
        yield one, same[0] if same else None
    yield from ((None, each) for each in unmatched)


async def list_all_beliefs(tx: Transaction, person: PersonId) -> list[BeliefDetails]:
    """Return all current and past beliefs of a person, with only the lowest level of summaries."""
    summaries = [each for each in await list_summaries(tx, person, active=False) if each.level == 1]
    return [
        *await list_beliefs(tx, person, live=False),
        *await list_entity_beliefs(tx, person, live=False),
        *(BeliefDetails(content=each) for each in summaries),
    ]


def build_person_diff(
    person: Person | None,
    first: Sequence[BeliefDetails],
    second: Sequence[BeliefDetails],
    *,
    include_ended: bool,
) -> PersonDiff:
    """Build the differences of a person, with counts."""
    assert person is not None
    findings = [
        each
        for each in compare_beliefs(first, second, zone=person.zone)
        if include_ended or is_live(each.first) or is_live(each.second)
    ]
    counts: dict[ObjectKind, Counter[DiffStatus]] = {}
    for each in findings:
        counts.setdefault(each.kind, Counter())[each.status] += 1
    return PersonDiff(
        person=person.name,
        zone=person.zone,
        counts=counts,
        differences=tuple(each for each in findings if each.status != "same"),
    )


def is_live(belief: BeliefDetails | None) -> bool:
    """Return whether something is believed now."""
    return belief is not None and belief.content.ended_at is None


def compare_beliefs(
    first: Sequence[BeliefDetails], second: Sequence[BeliefDetails], *, zone: str
) -> Iterator[BeliefDifference]:
    """Yield every belief of two memories with its counterpart, in the order of the first."""
    alignment = align_beliefs(first, second)
    for one, other in alignment.pairs:
        differences = tuple(diff_fields(one.content, other.content, zone=zone))
        is_wording = {each.field_name for each in differences} <= WORDING_FIELDS
        finding: DiffStatus = "said otherwise" if is_wording else "stands otherwise"
        yield BeliefDifference(
            status=finding if differences else "same",
            kind=get_kind(one.content),
            first=one,
            second=other,
            field_differences=differences,
        )
    for one in alignment.unmatched_first:
        yield BeliefDifference(
            status="only in 1", kind=get_kind(one.content), first=one, second=None
        )
    for other in alignment.unmatched_second:
        yield BeliefDifference(
            status="only in 2", kind=get_kind(other.content), first=None, second=other
        )


def diff_fields(
    first: JournalObject, second: JournalObject, *, zone: str
) -> Iterator[FieldDifference]:
    """Yield the fields in which two beliefs differ; times are compared by day."""
    for name, ours, theirs in zip(
        FIELD_NAMES, to_comparable(first, zone), to_comparable(second, zone), strict=True
    ):
        is_untold = name == "value" and not (ours and theirs)
        if ours != theirs and not is_untold:
            first_text, second_text = (
                format_field(first, name, ours),
                format_field(second, name, theirs),
            )
            yield FieldDifference(field_name=name, first=first_text, second=second_text)


FIELD_NAMES: Final = (
    "text",
    "kind",
    "value",
    "status",
    "names",
    "happened",
    "so since",
    "so until",
    "due",
    "pinned",
)


def to_comparable(belief: JournalObject, zone: str) -> tuple[str, ...]:
    """Return the values by which beliefs are compared, in the order of FIELD_NAMES."""
    if isinstance(belief, Summary):
        return (compute_canonical_hash(belief.text, belief.language), *[""] * 9)
    if isinstance(belief, Entity):
        names = ", ".join(sorted(map(fold_value, (belief.name, *belief.aliases))))
        description_hash = compute_canonical_hash(belief.description, "en")
        return (
            description_hash,
            belief.kind,
            "",
            normalize_status(belief),
            names,
            *[""] * 4,
            format_flag(belief.is_pinned),
        )
    times = (belief.happened_at, belief.holds_from, belief.holds_until, belief.due_at)
    return (
        compute_canonical_hash(belief.text, belief.language),
        belief.kind,
        normalize_value(belief),
        normalize_status(belief),
        "",
        *(format_optional_date(each, zone) for each in times),
        format_flag(belief.is_pinned),
    )


def normalize_value(memory: StoredBelief) -> str:
    """Return the value to compare; empty for a symmetric relation, whose direction is arbitrary."""
    is_either_way = memory.kind == "triple" and memory.key in SYMMETRIC
    return "" if is_either_way else fold_value(memory.value)


def normalize_status(belief: StoredBelief | Entity) -> str:
    """Return the status, with "ended" for one that is no longer believed."""
    if belief.ended_at is not None and belief.status in {"active", "confirmed", "tentative"}:
        return "ended"
    return belief.status


def format_field(belief: JournalObject, name: str, value: str) -> str:
    """Return a field for display."""
    if name == "text":
        return belief.description if isinstance(belief, Entity) else belief.text
    if name == "value" and isinstance(belief, StoredBelief):
        return belief.value
    return value or "–"


def format_optional_date(at: Micros | None, zone: str) -> str:
    """Return the day of a moment, or an empty text."""
    return "" if at is None else f"{from_micros(at, zone):%Y-%m-%d}"


def format_flag(flag: bool) -> str:
    """Return "yes" or an empty text."""
    return "yes" if flag else ""
