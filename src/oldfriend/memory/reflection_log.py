"""Reflection log: records of the companion's reflections, and the thoughts they left.

The results of reflections are beliefs and stand in the journal. Transcripts are kept for a limited
time, so that people can read them, and are never shown to a model.

A thought is a belief like any other; its evidence is maintained elsewhere.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, MAX_CLOCK_SKEW, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.expiry import BY_CLOCK
from oldfriend.memory.journal import record_decision

ReflectionKind = Literal["reflection", "slow tick", "description"]
ReflectionTrigger = Literal["shock", "correction", "timer", "news", "events"]
"""What triggered a reflection: strong feelings, a correction by the person, a day that has passed,
new beliefs, or enough events to describe an entity.
"""

TRANSCRIPT_TTL: Final = 14 * DAY
REFLECTION_COLUMNS: Final = """id, person, kind, why, ran_at, tokens_in, tokens_out, outcome,
           error, shown,
    transcript"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionTranscript:
    """What a model was shown, in brief, and its one or two answers."""

    shown: tuple[str, ...]
    answered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionRecord:
    """One reflection."""

    id: str
    person: PersonId
    kind: ReflectionKind
    why: ReflectionTrigger
    ran_at: Micros
    tokens_in: int = 0
    tokens_out: int = 0
    outcome: Mapping[str, JsonValue] = field(default_factory=dict)  # counts only
    error: str | None = None  # the name of the error; None: the answer could be parsed
    shown: tuple[str, ...] = ()  # ids of what was shown
    transcript: ReflectionTranscript | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionUsage:
    """The number of reflections and the tokens they took."""

    runs: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


async def save_reflection_record(tx: Transaction, record: ReflectionRecord) -> None:
    """Store the record of one reflection."""
    await tx.run(
        """INSERT INTO tick (id, person, kind, why, ran_at, tokens_in, tokens_out, outcome, error,
             shown, transcript)
           VALUES (:id, :person, :kind, :why, :ran_at, :tokens_in, :tokens_out, :outcome, :error,
             :shown, :transcript)""",
        id=record.id,
        person=record.person,
        kind=record.kind,
        why=record.why,
        ran_at=record.ran_at,
        tokens_in=record.tokens_in,
        tokens_out=record.tokens_out,
        outcome=json.dumps(dict(record.outcome)),
        error=record.error,
        shown=json.dumps(record.shown if record.transcript else ()),
        transcript=None if record.transcript is None else format_transcript(record.transcript),
    )


async def find_last_reflection(
    tx: Transaction, person: PersonId, kind: ReflectionKind
) -> ReflectionRecord | None:
    """Return the last successful reflection of a kind."""
    row = await tx.row(
        f"""SELECT {REFLECTION_COLUMNS} FROM tick WHERE person = :person AND kind = :kind AND
           error IS NULL
           ORDER BY ran_at DESC, id DESC LIMIT 1""",
        person=person,
        kind=kind,
    )
    return None if row is None else parse_reflection_row(row)


async def list_reflections(
    tx: Transaction, person: PersonId, *, since: Micros
) -> list[ReflectionRecord]:
    """List all reflections since a moment, newest first."""
    rows = await tx.rows(
        f"""SELECT {REFLECTION_COLUMNS} FROM tick WHERE person = :person AND ran_at >= :since
           ORDER BY ran_at DESC, id DESC""",
        person=person,
        since=since,
    )
    return [parse_reflection_row(row) for row in rows]


async def sum_reflection_usage(
    tx: Transaction, person: PersonId, kind: ReflectionKind, since: Micros
) -> ReflectionUsage:
    """Sum the usage of a kind of reflection since a moment, including failed ones."""
    row = await tx.row(
        """SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM tick
           WHERE person = :person AND kind = :kind AND ran_at > :since""",
        person=person,
        kind=kind,
        since=since,
    )
    assert row is not None
    return ReflectionUsage(runs=int(row[0]), tokens_in=int(row[1]), tokens_out=int(row[2]))


async def find_next_transcript_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the next transcript expires, or None if there is none."""
    row = await tx.row(
        "SELECT min(ran_at) FROM tick WHERE person = :person AND transcript IS NOT NULL",
        person=person,
    )
    return None if row is None or row[0] is None else int(row[0]) + TRANSCRIPT_TTL


async def clamp_future_reflections(tx: Transaction, person: PersonId, *, now: Micros) -> int:
    """Set reflections dated in the future by a wrong clock to now; return how many.

    Otherwise the companion would not reflect again, nor delete transcripts, before that time.
    """
    return await tx.run(
        "UPDATE tick SET ran_at = :now WHERE person = :person AND ran_at > :ahead",
        now=now,
        ahead=now + MAX_CLOCK_SKEW,
        person=person,
    )


async def delete_expired_transcripts(tx: Transaction, person: PersonId, *, now: Micros) -> int:
    """Delete expired transcripts and return how many."""
    return await tx.run(
        """UPDATE tick SET transcript = NULL, shown = '[]'
           WHERE person = :person AND transcript IS NOT NULL AND ran_at <= :before""",
        person=person,
        before=now - TRANSCRIPT_TTL,
    )


def format_transcript(transcript: ReflectionTranscript) -> str:
    """Format a transcript as it is stored."""
    parts = {"shown": transcript.shown, "answered": transcript.answered}
    return json.dumps(parts, ensure_ascii=False)


def parse_reflection_row(row: Row) -> ReflectionRecord:
    """Parse a row of REFLECTION_COLUMNS."""
    transcript = None if row[10] is None else json.loads(row[10])
    return ReflectionRecord(
        id=row[0],
        person=PersonId(row[1]),
        kind=row[2],
        why=row[3],
        ran_at=row[4],
        tokens_in=row[5],
        tokens_out=row[6],
        outcome=json.loads(row[7]),
        error=row[8],
        shown=tuple(json.loads(row[9])),
        transcript=transcript
        and ReflectionTranscript(
            shown=tuple(transcript["shown"]), answered=tuple(transcript["answered"])
        ),
    )


QUESTION_KEY: Final = "question"
"""The key of a thought that is a question."""
MAX_ABOUT_PERSON, MAX_ABOUT_COMPANION = 10, 5
"""The numbers of thoughts that are in every prompt."""
MAX_QUESTIONS: Final = 3
"""The number of questions among them."""
QUESTION_TTL: Final = 14 * DAY
"""An unanswered question expires after this time."""


def select_thoughts(thoughts: Sequence[MemoryState]) -> list[MemoryState]:
    """Select the live thoughts for every prompt: the newest and strongest about the person, then
    about the companion.
    """
    return [
        *rank_thoughts(filter_by_subject(thoughts, "person"), MAX_ABOUT_PERSON),
        *rank_thoughts(filter_by_subject(thoughts, "companion"), MAX_ABOUT_COMPANION),
    ]


def filter_by_subject(thoughts: Iterable[MemoryState], subject: str) -> list[MemoryState]:
    """Return the thoughts about one subject."""
    return [each for each in thoughts if each.memory.subject == subject]


def rank_thoughts(thoughts: Sequence[MemoryState], limit: int) -> list[MemoryState]:
    """Return the newest and the strongest thoughts alternately, each once."""
    questions = [each for each in thoughts if is_question(each.memory)]
    candidates = [each for each in thoughts if not is_question(each.memory)]
    candidates += sorted(questions, key=get_recency_key, reverse=True)[:MAX_QUESTIONS]
    newest = sorted(candidates, key=get_recency_key, reverse=True)
    strongest = sorted(candidates, key=get_strength_key, reverse=True)
    alternating = chain.from_iterable(zip_longest(newest, strongest))
    distinct = {each.memory.id: each for each in alternating if each is not None}
    return list(distinct.values())[:limit]


def get_recency_key(known: MemoryState) -> tuple[Micros, str]:
    """Return the sort key for recency."""
    return known.memory.learned_at, known.memory.id


def get_strength_key(known: MemoryState) -> tuple[bool, int, float, Micros]:
    """Return the sort key for strength: pinned, impact, strength of evidence, then recency."""
    memory = known.memory
    return memory.is_pinned, abs(memory.impact), known.stats.strength, memory.learned_at


def is_question(memory: StoredBelief) -> bool:
    """Whether a thought is a question."""
    return memory.kind == "thought" and memory.key == QUESTION_KEY


async def expire_questions(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Expire old unanswered questions and return the ids. The caller holds the person's lock."""
    expired: list[MemoryId] = []
    for known in await list_memories(tx, person, kinds=["thought"]):
        is_old = known.memory.learned_at + QUESTION_TTL <= now
        if is_question(known.memory) and is_old and not known.memory.is_pinned:
            after = replace(known.memory, status="expired", ended_at=now)
            await record_decision(
                tx, after, op="expired", base=known.base_seq, provenance=BY_CLOCK, now=now
            )
            expired.append(known.memory.id)
    return expired
