"""What stands in a lane? Letters as rows: read in the lane's order, written, parked, removed.

Inbox and outbox keep their order whatever happens: behind a letter that is not due yet, all
later ones wait. On the agenda each letter becomes due by itself. The letters of a group (the
messages of a turn, the parts of a reply) are never told apart by what goes wrong. Knows nothing
of who holds a lane; ``lanes`` does.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter, Queue
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying

MOST_CLAIMED = 50
LONGEST_ERROR = 2000
CLOCKS_DIFFER = MINUTE
"""What was put further ahead than this was put before the house's clock was set back."""

COLUMNS = """queue, lane, seq, person, key, "group", body, put_at, due_at, attempts, error,
    parked_at"""
ORDER: Final = MappingProxyType[Queue, str](
    {"inbox": "seq", "outbox": "seq", "agenda": "due_at, seq"}
)


async def write_letter(tx: Transaction, letter: Letter) -> None:
    """Add a letter to its lane."""
    await tx.run(
        """INSERT INTO letter (queue, lane, seq, person, key, "group", body, put_at, due_at)
           VALUES (:queue, :lane, :seq, :person, :key, :group, :body, :put_at, :due_at)""",
        queue=letter.queue, lane=letter.lane, seq=letter.seq, person=letter.person,
        key=letter.key, group=letter.group, body=json.dumps(letter.body),
        put_at=letter.put_at, due_at=letter.due_at,
    )  # fmt: skip


async def first_due(tx: Transaction, queue: Queue, lane: str) -> Micros | None:
    """When something is to be done in a lane; None: nothing waits there."""
    row = await tx.row(first_due_in(queue), queue=queue, lane=lane)
    return None if row is None else int(row[0])


def first_due_in(queue: Queue) -> str:
    """The question when something is to be done in a lane; to be asked alone, or within another."""
    return f"""SELECT due_at FROM letter WHERE queue = :queue AND lane = :lane
        AND parked_at IS NULL ORDER BY {ORDER[queue]} LIMIT 1"""


async def find_first(tx: Transaction, queue: Queue, lane: str) -> Letter | None:
    """The open letter of a lane that is next, due or not."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM letter
           WHERE queue = :queue AND lane = :lane AND parked_at IS NULL
           ORDER BY {ORDER[queue]} LIMIT 1""",
        queue=queue,
        lane=lane,
    )
    return None if row is None else letter_from(row)


async def due_letters(
    tx: Transaction, queue: Queue, lane: str, *, now: Micros
) -> tuple[Letter, ...]:
    """The open letters of a lane that can be worked on now, oldest first, in whole groups."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM letter
           WHERE queue = :queue AND lane = :lane AND parked_at IS NULL
           ORDER BY {ORDER[queue]} LIMIT :most""",
        queue=queue,
        lane=lane,
        most=MOST_CLAIMED,
    )
    return in_whole_groups(
        tuple(takewhile(lambda letter: is_due(letter, now=now), map(letter_from, rows)))
    )


def is_due(letter: Letter, *, now: Micros) -> bool:
    """Whether a letter's time has come; so it has, if it was put by a clock that went wrong."""
    return letter.due_at <= now or letter.put_at > now + CLOCKS_DIFFER


def in_whole_groups(letters: tuple[Letter, ...]) -> tuple[Letter, ...]:
    """As many letters as are handed out at once, without a last group that may go on."""
    if len(letters) < MOST_CLAIMED or letters[-1].group is None:
        return letters
    return tuple(letter for letter in letters if letter.group != letters[-1].group) or letters


async def due_letters_after(
    tx: Transaction, queue: Queue, lane: str, *, seq: int, now: Micros
) -> tuple[Letter, ...]:
    """The open letters that were put after one and are due by themselves, in whole groups."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM letter WHERE queue = :queue AND lane = :lane AND seq > :seq
           AND parked_at IS NULL AND (due_at <= :now OR put_at > :ahead)
           ORDER BY seq LIMIT :most""",
        queue=queue, lane=lane, seq=seq, now=now, ahead=now + CLOCKS_DIFFER, most=MOST_CLAIMED,
    )  # fmt: skip
    return in_whole_groups(tuple(map(letter_from, rows)))


async def last_letters(tx: Transaction, queue: Queue, lane: str) -> tuple[Letter, ...]:
    """The open letters of a lane that were put last, newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM letter
           WHERE queue = :queue AND lane = :lane AND parked_at IS NULL
           ORDER BY seq DESC LIMIT :most""",
        queue=queue,
        lane=lane,
        most=MOST_CLAIMED,
    )
    return tuple(map(letter_from, rows))


async def get_group(tx: Transaction, queue: Queue, lane: str, seq: int) -> tuple[Letter, ...]:
    """A letter, with all of its group. Raises NotFound."""
    letter = await find_letter(tx, queue, lane, seq)
    if letter is None:
        raise NotFound(saying("letter_gone", f"There is no letter {seq} in {queue} {lane}."))
    return await group_of(tx, letter)


async def group_of(tx: Transaction, letter: Letter) -> tuple[Letter, ...]:
    """What shares a letter's fate: its group, or it alone."""
    if letter.group is None:
        return (letter,)
    return await letters_of_group(tx, letter.queue, letter.lane, letter.group)


async def letters_of_group(
    tx: Transaction, queue: Queue, lane: str, group: str
) -> tuple[Letter, ...]:
    """The letters of a lane that are parts of the same, open or parked, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM letter
           WHERE queue = :queue AND lane = :lane AND "group" = :group ORDER BY seq""",
        queue=queue,
        lane=lane,
        group=group,
    )
    return tuple(map(letter_from, rows))


async def list_people_in(tx: Transaction, queue: Queue, lanes: str) -> list[PersonId]:
    """For whom something waits in the lanes whose names are like this (``%``: anything)."""
    rows = await tx.rows(
        """SELECT DISTINCT person FROM letter WHERE queue = :queue AND lane LIKE :lanes
           AND person IS NOT NULL AND parked_at IS NULL ORDER BY person""",
        queue=queue,
        lanes=lanes,
    )
    return [PersonId(row[0]) for row in rows]


async def count_open(tx: Transaction, queue: Queue, person: PersonId) -> int:
    """How many open letters of a person wait in all lanes."""
    row = await tx.row(
        """SELECT count(*) FROM letter
           WHERE queue = :queue AND person = :person AND parked_at IS NULL""",
        queue=queue,
        person=person,
    )
    assert row is not None
    return int(row[0])


async def find_letter(tx: Transaction, queue: Queue, lane: str, seq: int) -> Letter | None:
    """One letter, open or parked."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM letter WHERE queue = :queue AND lane = :lane AND seq = :seq",
        queue=queue,
        lane=lane,
        seq=seq,
    )
    return None if row is None else letter_from(row)


async def write_body(tx: Transaction, letter: Letter, body: Mapping[str, JsonValue]) -> None:
    """Have a letter say more than when it was put."""
    await tx.run(
        "UPDATE letter SET body = :body WHERE queue = :queue AND lane = :lane AND seq = :seq",
        body=json.dumps(dict(body)),
        **place_of(letter),
    )


async def count_attempt(tx: Transaction, letter: Letter) -> None:
    """Note that somebody begins to work on a letter, before it can take them down."""
    await tx.run(
        """UPDATE letter SET attempts = attempts + 1
           WHERE queue = :queue AND lane = :lane AND seq = :seq""",
        queue=letter.queue, lane=letter.lane, seq=letter.seq,
    )  # fmt: skip


async def put_off(
    tx: Transaction, letter: Letter, *, attempts: int, error: str, now: Micros,
    due_at: Micros | None,
) -> None:  # fmt: skip
    """Note what went wrong with a letter, and when it is due again; None: as before."""
    await tx.run(
        """UPDATE letter SET attempts = :attempts, error = :error,
             due_at = coalesce(:due_at, due_at),
             put_at = CASE WHEN put_at > :now THEN :now ELSE put_at END
           WHERE queue = :queue AND lane = :lane AND seq = :seq""",
        queue=letter.queue, lane=letter.lane, seq=letter.seq, attempts=attempts,
        error=as_error(error), due_at=due_at, now=now,
    )  # fmt: skip


async def park(tx: Transaction, letter: Letter, *, error: str, now: Micros) -> tuple[Letter, ...]:
    """Set a letter aside, with all of its group, until somebody looks at it; those."""
    parked = tuple(
        replace(each, is_parked=True, error=as_error(why_parked(each, letter, error)))
        for each in await group_of(tx, letter)
        if not each.is_parked
    )
    await tx.run_many(
        """UPDATE letter SET parked_at = :now, error = :error
           WHERE queue = :queue AND lane = :lane AND seq = :seq""",
        [{**place_of(each), "now": now, "error": each.error} for each in parked],
    )
    return parked


def why_parked(letter: Letter, because_of: Letter, error: str) -> str:
    """Why a letter is set aside, of whose group one failed."""
    return error if letter.seq == because_of.seq else f"with letter {because_of.seq}: {error}"


async def unpark(tx: Transaction, letters: Iterable[Letter], *, now: Micros) -> None:
    """Open parked letters again, with a clean slate, in their old places."""
    await tx.run_many(
        """UPDATE letter SET parked_at = NULL, attempts = 0, error = NULL, due_at = :now
           WHERE queue = :queue AND lane = :lane AND seq = :seq AND parked_at IS NOT NULL""",
        [{**place_of(letter), "now": now} for letter in letters],
    )


async def remove(tx: Transaction, letters: Iterable[Letter]) -> None:
    """Take letters out of their lane for good."""
    await tx.run_many(
        "DELETE FROM letter WHERE queue = :queue AND lane = :lane AND seq = :seq",
        [place_of(letter) for letter in letters],
    )


def place_of(letter: Letter) -> dict[str, str | int]:
    """What identifies a letter."""
    return {"queue": letter.queue, "lane": letter.lane, "seq": letter.seq}


def as_error(error: str) -> str:
    """What went wrong, as it can be kept."""
    return storable(error)[:LONGEST_ERROR]


def letter_from(row: Row) -> Letter:
    """A letter from its COLUMNS."""
    queue, lane, seq, person, key, group, body, put_at, due_at, attempts, error, parked_at = row
    return Letter(
        queue=queue, lane=lane, seq=seq, person=None if person is None else PersonId(person),
        key=key, group=group, body=json.loads(body), put_at=put_at, due_at=due_at,
        attempts=attempts, error=error, is_parked=parked_at is not None,
    )  # fmt: skip
