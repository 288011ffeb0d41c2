"""In what does one memory differ from another? Counted by kind, each difference with both sides.

Only reads; whatever is in the two, nothing of it is written anywhere.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.app.believing.looking import Belief, list_beliefs, list_names
from oldfriend.app.comparing.matching import match
from oldfriend.background.deciding.attributes import folded
from oldfriend.background.likeness import canonical_hash
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Believed, Entity, Memory, ObjectKind, Summary
from oldfriend.domain.people import Person
from oldfriend.domain.ties import BOTH_WAYS
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.people import list_people
from oldfriend.memory.rows import kind_of

Finding = Literal["same", "only in 1", "only in 2", "said otherwise", "stands otherwise"]
FINDINGS: Final[tuple[Finding, ...]] = (
    "same", "only in 1", "only in 2", "said otherwise", "stands otherwise",
)  # fmt: skip
WORDING: Final = frozenset({"text", "kind"})
"""What only says the same otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """What of two corresponding beliefs is not the same."""

    what: str
    one: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is believed in one memory only, or otherwise in the other."""

    finding: Finding
    kind: ObjectKind
    one: Belief | None
    other: Belief | None
    differs: tuple[Differs, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What two memories believe of one person."""

    person: str
    zone: str
    counts: Mapping[ObjectKind, Mapping[Finding, int]]
    differences: tuple[Difference, ...]


async def compare(
    one: Transaction, other: Transaction, *, person: str | None = None, is_all: bool = False
) -> list[Compared]:
    """What two memories believe differently, person by person; those alike have no differences.

    Of what is believed now, or with ``is_all`` of what was ever believed.
    """
    people = paired(await list_people(one), await list_people(other))
    return [
        compared(
            ours or theirs,
            [] if ours is None else await everything_of(one, ours.id),
            [] if theirs is None else await everything_of(other, theirs.id),
            is_all=is_all,
        )
        for ours, theirs in people
        if person is None or person in {each.name for each in (ours, theirs) if each is not None}
    ]


def paired(
    ones: Sequence[Person], others: Sequence[Person]
) -> Iterator[tuple[Person | None, Person | None]]:
    """The people of two memories, each with themselves: by id, else by name."""
    left = list(others)
    for one in ones:
        same = [each for each in left if each.id == one.id]
        same += [each for each in left if each.name == one.name]
        if same:
            left.remove(same[0])
        yield one, same[0] if same else None
    yield from ((None, each) for each in left)


async def everything_of(tx: Transaction, person: PersonId) -> list[Belief]:
    """All that is or was believed of a person; of summaries those that others are made of."""
    told = [each for each in await list_summaries(tx, person, active=False) if each.level == 1]
    return [
        *await list_beliefs(tx, person, live=False),
        *await list_names(tx, person, live=False),
        *(Belief(what=each) for each in told),
    ]


def compared(
    person: Person | None, ones: Sequence[Belief], others: Sequence[Belief], *, is_all: bool
) -> Compared:
    """What two memories believe of a person, and how often it is the same."""
    assert person is not None
    findings = [
        each
        for each in found_in(ones, others, zone=person.zone)
        if is_all or is_live(each.one) or is_live(each.other)
    ]
    counts: dict[ObjectKind, Counter[Finding]] = {}
    for each in findings:
        counts.setdefault(each.kind, Counter())[each.finding] += 1
    return Compared(
        person=person.name, zone=person.zone, counts=counts,
        differences=tuple(each for each in findings if each.finding != "same"),
    )  # fmt: skip


def is_live(belief: Belief | None) -> bool:
    """Whether something is believed now."""
    return belief is not None and belief.what.ended_at is None


def found_in(
    ones: Sequence[Belief], others: Sequence[Belief], *, zone: str
) -> Iterator[Difference]:
    """Everything in two memories, with what corresponds to it; in the order of the first."""
    matched = match(ones, others)
    for one, other in matched.pairs:
        differs = tuple(differences(one.what, other.what, zone=zone))
        is_wording = {each.what for each in differs} <= WORDING
        finding: Finding = "said otherwise" if is_wording else "stands otherwise"
        yield Difference(
            finding=finding if differs else "same", kind=kind_of(one.what), one=one, other=other,
            differs=differs,
        )  # fmt: skip
    for one in matched.ones:
        yield Difference(finding="only in 1", kind=kind_of(one.what), one=one, other=None)
    for other in matched.others:
        yield Difference(finding="only in 2", kind=kind_of(other.what), one=None, other=other)


def differences(one: Believed, other: Believed, *, zone: str) -> Iterator[Differs]:
    """What of two that correspond is not the same; days are told apart, hours are not."""
    for what, ours, theirs in zip(NAMES, sides(one, zone), sides(other, zone), strict=True):
        is_untold = what == "value" and not (ours and theirs)
        if ours != theirs and not is_untold:
            told, retold = shown(one, what, ours), shown(other, what, theirs)
            yield Differs(what=what, one=told, other=retold)


NAMES: Final = (
    "text", "kind", "value", "status", "names", "happened", "so since", "so until", "due", "pinned",
)  # fmt: skip


def sides(what: Believed, zone: str) -> tuple[str, ...]:
    """All of a belief by which it is told apart from another, under NAMES."""
    if isinstance(what, Summary):
        return (canonical_hash(what.text, what.language), *[""] * 9)
    if isinstance(what, Entity):
        names = ", ".join(sorted(map(folded, (what.name, *what.aliases))))
        told = canonical_hash(what.description, "en")
        return (told, what.kind, "", status_of(what), names, *[""] * 4, yes(what.is_pinned))
    times = (what.happened_at, what.holds_from, what.holds_until, what.due_at)
    return (
        canonical_hash(what.text, what.language), what.kind, value_of(what), status_of(what),
        "", *(day_of(each, zone) for each in times), yes(what.is_pinned),
    )  # fmt: skip


def value_of(what: Memory) -> str:
    """Its value; of a tie that holds both ways none, for which end comes first is chance."""
    is_either_way = what.kind == "triple" and what.key in BOTH_WAYS
    return "" if is_either_way else folded(what.value)


def status_of(what: Memory | Entity) -> str:
    """How it stands, and whether it is believed."""
    if what.ended_at is not None and what.status in {"active", "confirmed", "tentative"}:
        return "ended"
    return what.status


def shown(what: Believed, name: str, value: str) -> str:
    """What differs, to be read."""
    if name == "text":
        return what.description if isinstance(what, Entity) else what.text
    if name == "value" and isinstance(what, Memory):
        return what.value
    return value or "–"


def day_of(at: Micros | None, zone: str) -> str:
    """The day of a moment, if it is known."""
    return "" if at is None else f"{from_micros(at, zone):%Y-%m-%d}"


def yes(flag: bool) -> str:
    """Whether something is so."""
    return "yes" if flag else ""
