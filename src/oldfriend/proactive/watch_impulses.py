"""Watch impulses: what a person wanted to be told of, once it was seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.measurements.measurement_store import list_told_since
from oldfriend.measurements.number_source import PREFIX, NumberSource
from oldfriend.proactive.impulse_store import drop_impulses
from oldfriend.proactive.policy import Impulse

OPEN_FOR: Final = 60 * DAY
"""So long it waits for a chat in which it can be told."""
MAX_WATCHES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWatch:
    """A watch by which something was seen, as another package keeps it."""

    id: str
    seen_at: Micros
    passing: str = ""  # of a limit that may be passed again: which one it was


async def list_seen_watches(
    tx: Transaction, person: PersonId, *, now: Micros
) -> tuple[SeenWatch, ...]:
    """Return the watches of which there is something to tell, the newest first."""
    rows = await tx.rows(
        """SELECT id, changed_at, CASE WHEN status = 'active' THEN seen ELSE '' END
           FROM watch WHERE person = :person AND (status IN ('fired', 'lost')
             OR (status = 'active' AND seen <> '' AND url LIKE :source))
           AND changed_at > :since
           ORDER BY changed_at DESC, id LIMIT :limit""",
        person=person,
        source=f"{PREFIX}%",
        since=now - OPEN_FOR,
        limit=MAX_WATCHES,
    )
    return tuple(SeenWatch(id=row[0], seen_at=int(row[1]), passing=row[2]) for row in rows)


async def fire_number_watches(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Note which limits of a person's numbers are passed now, so that each passing is told.

    What was not told yet is told no more once a value is within the limit again.
    """
    rows = await tx.rows(
        """SELECT id, url, condition, threshold, created_at, seen FROM watch
           WHERE person = :person AND status = 'active' AND url LIKE :source LIMIT :limit""",
        person=person,
        source=f"{PREFIX}%",
        limit=MAX_WATCHES,
    )
    for watch, url, condition, threshold, created_at, seen in rows:
        number = NumberSource.parse(url)
        if number is None:
            continue
        told = await list_told_since(tx, person, number.name, since=created_at)
        passed = number.find_passing(told, threshold, is_above=condition == "above")
        if seen != ("" if passed is None else passed.key):
            await tx.run(
                """UPDATE watch SET seen = :seen, amount = :value, changed_at = :now
                   WHERE person = :person AND id = :watch""",
                seen="" if passed is None else passed.key,
                value=None if passed is None else passed.value,
                now=now,
                person=person,
                watch=watch,
            )


def collect_watches(person: Person, watches: Sequence[SeenWatch]) -> Iterator[Impulse]:
    """Yield what was seen of each watch, and each passing of a limit, once."""
    for watch in watches:
        yield Impulse(
            person=person.id,
            kind="watch",
            key=f"watch:{watch.id}:{watch.passing}" if watch.passing else f"watch:{watch.id}",
            sources=(watch.id,),
            not_before=watch.seen_at,
            expires_at=watch.seen_at + OPEN_FOR,
            urgency=0.9,
        )


async def cover_passings(
    tx: Transaction, person: Person, watches: Sequence[str], *, now: Micros
) -> None:
    """Note that a reply tells of the limits of some watches, so that no message does."""
    await fire_number_watches(tx, person.id, now=now)
    seen = await list_seen_watches(tx, person.id, now=now)
    covered = [each for each in collect_watches(person, seen) if {*each.sources} & {*watches}]
    await drop_impulses(tx, person.id, covered, "covered", now=now)
