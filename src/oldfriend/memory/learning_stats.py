"""Learning statistics: outcomes of consolidation and reply metrics over all people.

They are for the owner of the machine: counts, times and scores, without names or texts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.codec import unpack_items
from oldfriend.domain.ids import PersonId, build_min_id
from oldfriend.domain.json import JsonValue
from oldfriend.memory.segments import SEGMENT_COLUMNS, Segment, parse_segment_row

MAX_REPLIES: Final = 1_000
MAX_SIMILARITIES: Final = 1_000
"""The newest are enough for a trend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTiming:
    """The latency of one reply, and whether it was retrieved without an embedder."""

    latency_s: float  # since the message was accepted
    is_without_embedder: bool  # its sources were searched without an embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningStats:
    """The outcome of some consolidations."""

    learned: int  # new beliefs
    joined: int  # already known, with more evidence added
    refused: Mapping[str, int]  # rejected candidates by reason, the most frequent first
    missed_peaks: int  # consolidations that by a model's judgement missed something heavy or happy


def compute_learning_stats(segments: Iterable[Segment]) -> LearningStats:
    """Sum the outcomes stored with some segments."""
    learned, refused = Counter[str](), Counter[str]()
    joined = missed = 0
    for each in segments:
        learned += parse_counts(each.outcome.get("learned"))
        refused += parse_counts(each.outcome.get("rejected"))
        refused += parse_counts(each.outcome.get("refused"))
        joined += parse_count(each.outcome.get("joined"))
        missed += parse_count(each.outcome.get("missed_peak"))
    return LearningStats(
        learned=learned.total(),
        joined=joined,
        refused=dict(refused.most_common()),
        missed_peaks=missed,
    )


def parse_counts(value: JsonValue) -> Counter[str]:
    """Parse stored counts by name; anything else gives none."""
    if not isinstance(value, dict):
        return Counter()
    return Counter({name: parse_count(each) for name, each in value.items()})


def parse_count(value: JsonValue) -> int:
    """Parse a stored count; anything but an integer gives 0."""
    return value if isinstance(value, int) else 0


async def list_segments_ended_since(tx: Transaction, *, since: Micros) -> list[Segment]:
    """List everybody's segments whose consolidation succeeded or failed since a moment."""
    rows = await tx.rows(
        f"SELECT {SEGMENT_COLUMNS} FROM segment WHERE ended_at >= :since", since=since
    )
    return [parse_segment_row(row) for row in rows]


async def count_entries_by_op(tx: Transaction, *, since: Micros) -> dict[str, int]:
    """Count everybody's decisions since a moment by operation; entities and summaries are left
    out.
    """
    rows = await tx.rows(
        """SELECT c.op, count(*) FROM person p
           JOIN change c ON c.person = p.id AND c.learned_at >= :since
           WHERE c.kind NOT IN ('entity', 'summary') GROUP BY c.op""",
        since=since,
    )
    return {op: int(count) for op, count in rows}


async def list_reply_timings(tx: Transaction, *, since: Micros) -> list[ReplyTiming]:
    """List the timings of everybody's newest replies since a moment, newest first."""
    rows = await tx.rows(
        """SELECT r.made_at - m.written_at,
             CASE WHEN r.details LIKE '%"degraded":true%'
                  OR r.details LIKE '%"degraded": true%' THEN 1 ELSE 0 END
           FROM receipt r JOIN message m ON m.person = r.person AND m.seq = r.asked_seq
           WHERE r.id >= :first ORDER BY r.id DESC LIMIT :most""",
        first=build_min_id(since),
        most=MAX_REPLIES,
    )
    return [
        ReplyTiming(latency_s=max(0, latency) / SECOND, is_without_embedder=bool(is_degraded))
        for latency, is_degraded in rows
    ]


async def list_similarities(tx: Transaction, *, since: Micros) -> list[float]:
    """List the cosine similarities of the sources of replies since a moment, newest first.

    Sources found by words alone have none.
    """
    rows = await tx.rows(
        """SELECT t.items, t.terms FROM receipt_trace t
           WHERE t.receipt >= :first ORDER BY t.receipt DESC LIMIT :most""",
        first=build_min_id(since),
        most=MAX_REPLIES,
    )
    similarities = (
        reason.strength
        for items, terms in rows
        for item in unpack_items(items, terms)
        for reason in item.reasons
        if item.is_used and reason.cause == "meaning"
    )
    return list(islice(similarities, MAX_SIMILARITIES))


async def count_read_messages(
    tx: Transaction, person: PersonId, *, by: str, not_in: Sequence[str]
) -> int:
    """Count a person's messages in other languages that an author so named has read."""
    languages = {f"language{number}": code for number, code in enumerate(not_in)}
    row = await tx.row(
        f"""SELECT count(*) FROM segment g JOIN message m ON m.session = g.session
             AND m.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.person = :person AND m.person = :person AND g.author LIKE :reader
           AND m.role = 'person' AND m.replaced_at IS NULL
           AND m.language NOT IN ({", ".join(f":{name}" for name in languages)})""",
        person=person,
        reader=f"{by}%",
        **languages,
    )
    return 0 if row is None else int(row[0])
