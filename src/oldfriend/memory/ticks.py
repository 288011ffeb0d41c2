"""When did the companion think between conversations, and what did it say to itself?

What came of it is believed, and stands in the journal; this is a record of the thinking. Its
transcripts are kept for a while, so that somebody can read them, and never shown to a model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue

TickKind = Literal["reflection", "slow tick", "description"]
TickWhy = Literal["shock", "correction", "timer", "news", "events"]
"""Which gate was open: it was felt strongly, the person set something right, a day has passed,
something was learned, there is enough to tell of somebody."""

TRANSCRIPTS_LAST: Final = 14 * DAY
"""ACCEPTANCE G17."""
COLUMNS: Final = """id, person, kind, why, ran_at, tokens_in, tokens_out, outcome, error, shown,
    transcript"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was shown in brief, and what was answered, once or twice."""

    shown: tuple[str, ...]
    answered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One time of thinking."""

    id: str
    person: PersonId
    kind: TickKind
    why: TickWhy
    ran_at: Micros
    tokens_in: int = 0
    tokens_out: int = 0
    outcome: Mapping[str, JsonValue] = field(default_factory=dict)  # counts only
    error: str | None = None  # the condition's name; None: it gave something that could be read
    shown: tuple[str, ...] = ()  # ids
    transcript: Transcript | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """How often it thought, and what that took."""

    cycles: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


async def write_tick(tx: Transaction, tick: Tick) -> None:
    """Keep the record of one time of thinking."""
    await tx.run(
        """INSERT INTO tick (id, person, kind, why, ran_at, tokens_in, tokens_out, outcome, error,
             shown, transcript)
           VALUES (:id, :person, :kind, :why, :ran_at, :tokens_in, :tokens_out, :outcome, :error,
             :shown, :transcript)""",
        id=tick.id, person=tick.person, kind=tick.kind, why=tick.why, ran_at=tick.ran_at,
        tokens_in=tick.tokens_in, tokens_out=tick.tokens_out,
        outcome=json.dumps(dict(tick.outcome)), error=tick.error,
        shown=json.dumps(tick.shown if tick.transcript else ()),
        transcript=None if tick.transcript is None else to_json(tick.transcript),
    )  # fmt: skip


async def find_last_tick(tx: Transaction, person: PersonId, kind: TickKind) -> Tick | None:
    """When it last thought in this way, and something could be read of it."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM tick WHERE person = :person AND kind = :kind AND error IS NULL
           ORDER BY ran_at DESC, id DESC LIMIT 1""",
        person=person,
        kind=kind,
    )
    return None if row is None else tick_from(row)


async def list_ticks(tx: Transaction, person: PersonId, *, since: Micros) -> list[Tick]:
    """Every time it thought since a moment, the last first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM tick WHERE person = :person AND ran_at >= :since
           ORDER BY ran_at DESC, id DESC""",
        person=person,
        since=since,
    )
    return [tick_from(row) for row in rows]


async def thinking_since(
    tx: Transaction, person: PersonId, kind: TickKind, since: Micros
) -> Thinking:
    """How often it has thought in this way since a moment, also in vain."""
    row = await tx.row(
        """SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM tick
           WHERE person = :person AND kind = :kind AND ran_at > :since""",
        person=person,
        kind=kind,
        since=since,
    )
    assert row is not None
    return Thinking(cycles=int(row[0]), tokens_in=int(row[1]), tokens_out=int(row[2]))


async def next_fading(tx: Transaction, person: PersonId) -> Micros | None:
    """When the next transcript is to be let go; None: there is none."""
    row = await tx.row(
        "SELECT min(ran_at) FROM tick WHERE person = :person AND transcript IS NOT NULL",
        person=person,
    )
    return None if row is None or row[0] is None else int(row[0]) + TRANSCRIPTS_LAST


async def let_transcripts_go(tx: Transaction, person: PersonId, *, now: Micros) -> int:
    """Take away the transcripts that are old enough; how many those were."""
    return await tx.run(
        """UPDATE tick SET transcript = NULL, shown = '[]'
           WHERE person = :person AND transcript IS NOT NULL AND ran_at <= :before""",
        person=person,
        before=now - TRANSCRIPTS_LAST,
    )


def to_json(transcript: Transcript) -> str:
    """A transcript as it is stored."""
    parts = {"shown": transcript.shown, "answered": transcript.answered}
    return json.dumps(parts, ensure_ascii=False)


def tick_from(row: Row) -> Tick:
    """A time of thinking from the columns in COLUMNS."""
    told = None if row[10] is None else json.loads(row[10])
    return Tick(
        id=row[0], person=PersonId(row[1]), kind=row[2], why=row[3], ran_at=row[4],
        tokens_in=row[5], tokens_out=row[6], outcome=json.loads(row[7]), error=row[8],
        shown=tuple(json.loads(row[9])),
        transcript=told and Transcript(
            shown=tuple(told["shown"]), answered=tuple(told["answered"])
        ),
    )  # fmt: skip
