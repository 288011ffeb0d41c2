"""How does memory do? What became of what was told; for everybody together, what since a moment.

That is for the owner of the machine: counts, times and scores, no names and nobody's words.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import first_id
from oldfriend.domain.json import JsonValue
from oldfriend.memory.receipts import reasons_from_json
from oldfriend.memory.segments import COLUMNS, Segment, segment_from

MOST_REPLIES: Final = 1_000
MOST_FINDS: Final = 1_000
"""The newest are enough to tell how it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """How one reply came to be."""

    seconds: float  # since its message was accepted
    by_words_alone: bool  # what it stands on was searched without an embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of all that was told in some readings."""

    learned: int  # new
    joined: int  # known already, and had more words added
    refused: Mapping[str, int]  # not believed, by reason, the most frequent first
    missed_peaks: int  # readings of which a model said that it missed something heavy or happy


def tally(segments: Iterable[Segment]) -> Tally:
    """What became of what was told in segments, as their readings have counted it."""
    learned, refused = Counter[str](), Counter[str]()
    joined = missed = 0
    for each in segments:
        learned += counted_in(each.outcome.get("learned"))
        refused += counted_in(each.outcome.get("rejected"))
        refused += counted_in(each.outcome.get("refused"))
        joined += number_in(each.outcome.get("joined"))
        missed += number_in(each.outcome.get("missed_peak"))
    return Tally(
        learned=learned.total(), joined=joined, refused=dict(refused.most_common()),
        missed_peaks=missed,
    )  # fmt: skip


def counted_in(value: JsonValue) -> Counter[str]:
    """Counts as they were kept."""
    if not isinstance(value, dict):
        return Counter()
    return Counter({name: number_in(each) for name, each in value.items()})


def number_in(value: JsonValue) -> int:
    """A count as it was kept; 0 for none."""
    return value if isinstance(value, int) else 0


async def list_ended(tx: Transaction, *, since: Micros) -> list[Segment]:
    """The segments of everybody that were read at a moment or since, also in vain."""
    rows = await tx.rows(f"SELECT {COLUMNS} FROM segment WHERE ended_at >= :since", since=since)
    return [segment_from(row) for row in rows]


async def count_decisions(tx: Transaction, *, since: Micros) -> dict[str, int]:
    """What was decided about everybody's memories at a moment or since, by what it was."""
    rows = await tx.rows(
        """SELECT c.op, count(*) FROM person p
           JOIN change c ON c.person = p.id AND c.learned_at >= :since
           WHERE c.kind NOT IN ('entity', 'summary') GROUP BY c.op""",
        since=since,
    )
    return {op: int(count) for op, count in rows}


async def list_replied(tx: Transaction, *, since: Micros) -> list[Replied]:
    """How everybody's newest replies since a moment came to be, newest first."""
    rows = await tx.rows(
        """SELECT r.made_at - m.written_at,
             CASE WHEN r.details LIKE '%"degraded": true%' THEN 1 ELSE 0 END
           FROM receipt r JOIN message m ON m.person = r.person AND m.seq = r.asked_seq
           WHERE r.id >= :first ORDER BY r.id DESC LIMIT :most""",
        first=first_id(since),
        most=MOST_REPLIES,
    )
    return [
        Replied(seconds=max(0, took) / SECOND, by_words_alone=bool(alone)) for took, alone in rows
    ]


async def list_closeness(tx: Transaction, *, since: Micros) -> list[float]:
    """How close in meaning those things were that replies since a moment stand on, newest first.

    Cosines; of what was found by its words alone, there is none.
    """
    rows = await tx.rows(
        """SELECT i.why FROM receipt_item i
           WHERE i.receipt >= :first AND i.used = 1 AND i.why LIKE '%"meaning"%'
           ORDER BY i.receipt DESC LIMIT :most""",
        first=first_id(since),
        most=MOST_FINDS,
    )
    reasons = (reason for (why,) in rows for reason in reasons_from_json(why))
    return [reason.strength for reason in reasons if reason.cause == "meaning"]
