"""Measurement store: the numbers that a person keeps, one row for each.

Where a day has one value, each message keeps its own, and the newest counts: a message that is
forgotten takes only what it told.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import sanitize_text
from oldfriend.measurements.measures import get_measure
from oldfriend.memory.deletion.tombstones import (
    fingerprint_measurement,
    has_tombstone,
    save_tombstones,
)

Origin = Literal["told", "tool", "import", "api"]
MAX_NAME_CHARS: Final = 40
MAX_TOLD_LATELY: Final = 100
COLUMNS: Final = """id, person, name, day, measured_at, zone, value, unit, second_value,
    second_unit, origin, message, message_seq"""

VALID_LAST: Final = "CASE WHEN origin = 'import' THEN 0 ELSE 1 END, recorded_at,"
"""The order of values of one day in which the one that counts is the last."""
VALID_FIRST: Final = "CASE WHEN origin = 'import' THEN 1 ELSE 0 END, recorded_at DESC,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value that was measured on a day."""

    id: str
    person: PersonId
    name: str
    day: date
    measured_at: Micros
    zone: str
    value: float
    unit: str = ""  # as it was told
    second_value: float | None = None
    second_unit: str = ""
    origin: Origin = "told"
    message: MessageId | None = None
    message_seq: int | None = None  # of the version of the message

    @property
    def is_finite(self) -> bool:
        """Whether it is made of numbers, without NaN and Infinity."""
        return math.isfinite(self.value) and math.isfinite(self.second_value or 0.0)

    @property
    def slot(self) -> str:
        """What tells it from others of its day: only its message where a day has one value."""
        return self.message or "" if get_measure(self.name).is_daily else self.id


async def save_measurements(
    tx: Transaction, person: PersonId, measured: Sequence[Measurement], *, now: Micros
) -> None:
    """Save values; where a day has one, it replaces the value that its message had told.

    An imported value replaces none that a program gave. What is no finite number is left out: no
    export could tell it.
    """
    await tx.run_many(
        """INSERT INTO measurement (id, person, name, day, slot, measured_at, zone, value, unit,
             second_value, second_unit, origin, message, message_seq, recorded_at)
           VALUES (:id, :person, :name, :day, :slot, :measured_at, :zone, :value, :unit,
             :second_value, :second_unit, :origin, :message, :message_seq, :now)
           ON CONFLICT (person, name, day, slot) DO UPDATE SET
             measured_at = excluded.measured_at, zone = excluded.zone, value = excluded.value,
             unit = excluded.unit, second_value = excluded.second_value,
             second_unit = excluded.second_unit, origin = excluded.origin,
             message = excluded.message, message_seq = excluded.message_seq,
             recorded_at = excluded.recorded_at
           WHERE excluded.origin <> 'import' OR measurement.origin = 'import'""",
        [build_values(each, person, now) for each in measured if each.is_finite],
    )


def build_values(each: Measurement, person: PersonId, now: Micros) -> dict[str, SqlValue]:
    """Return the values of a row."""
    return {
        "id": each.id,
        "person": person,
        "name": sanitize_text(each.name),
        "day": each.day.isoformat(),
        "slot": each.slot,
        "measured_at": each.measured_at,
        "zone": each.zone,
        "value": each.value,
        "unit": sanitize_text(each.unit),
        "second_value": each.second_value,
        "second_unit": sanitize_text(each.second_unit),
        "origin": each.origin,
        "message": each.message,
        "message_seq": each.message_seq,
        "now": now,
    }


async def list_measurements(
    tx: Transaction,
    person: PersonId,
    name: str,
    *,
    first: date = date.min,
    last: date = date.max,
) -> list[Measurement]:
    """Return the values of a measure on some days, both included, oldest first."""
    is_daily = get_measure(name).is_daily
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM measurement
           WHERE person = :person AND name = :name AND day BETWEEN :first AND :last
           ORDER BY day, {VALID_LAST if is_daily else ""} measured_at, id""",
        person=person,
        name=name,
        first=first.isoformat(),
        last=last.isoformat(),
    )
    listed = [parse_row(each) for each in rows]
    return [*{each.day: each for each in listed}.values()] if is_daily else listed


async def find_latest(
    tx: Transaction, person: PersonId, name: str, *, before: date = date.max
) -> Measurement | None:
    """Return the newest value of a measure before a day, if there is one."""
    order = VALID_FIRST if get_measure(name).is_daily else ""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM measurement
           WHERE person = :person AND name = :name AND day < :before
           ORDER BY day DESC, {order} measured_at DESC, id DESC LIMIT 1""",
        person=person,
        name=name,
        before=before.isoformat(),
    )
    return None if row is None else parse_row(row)


async def list_of_message(
    tx: Transaction, person: PersonId, message_id: MessageId
) -> list[Measurement]:
    """Return the values that came with a message, in any of its versions."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM measurement
           WHERE person = :person AND message = :message ORDER BY day, name, id""",
        person=person,
        message=message_id,
    )
    return [parse_row(each) for each in rows]


async def list_told_lately(
    tx: Transaction, person: PersonId, *, since: Micros
) -> list[Measurement]:
    """Return the values that messages told since a moment, the last told first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM measurement
           WHERE person = :person AND recorded_at >= :since AND message IS NOT NULL
           ORDER BY recorded_at DESC, id DESC LIMIT :limit""",
        person=person,
        since=since,
        limit=MAX_TOLD_LATELY,
    )
    return [parse_row(each) for each in rows]


async def list_told_since(
    tx: Transaction, person: PersonId, name: str, *, since: Micros
) -> list[Measurement]:
    """Return the values of a measure that were taken in and measured since a moment, or that day.

    Of a day that has one value, the one that counts.
    """
    rows = await tx.rows(
        """SELECT id FROM measurement
           WHERE person = :person AND name = :name AND recorded_at >= :since""",
        person=person,
        name=name,
        since=since,
    )
    told = {row[0] for row in rows}
    listed = await list_measurements(tx, person, name) if told else []
    return [
        each
        for each in listed
        if each.id in told and each.day >= from_micros(since, each.zone).date()
    ]


async def list_kept_measures(tx: Transaction, person: PersonId) -> list[tuple[str, int, date]]:
    """Return what a person keeps numbers of: the name, how many, and the newest day."""
    rows = await tx.rows(
        """SELECT name, count(*), count(DISTINCT day), max(day) FROM measurement
           WHERE person = :person GROUP BY name ORDER BY max(day) DESC, name""",
        person=person,
    )
    return [
        (name, int(days if get_measure(name).is_daily else count), date.fromisoformat(day))
        for name, count, days, day in rows
    ]


async def delete_message_measurements(
    tx: Transaction, person: PersonId, message_ids: Sequence[MessageId]
) -> None:
    """Delete the values that came with some messages, in any of their versions."""
    await tx.run_many(
        "DELETE FROM measurement WHERE person = :person AND message = :message",
        [{"person": person, "message": each} for each in message_ids],
    )


async def delete_measurements_by_id(tx: Transaction, person: PersonId, ids: Sequence[str]) -> None:
    """Delete values, such as those that are read anew."""
    await tx.run_many(
        "DELETE FROM measurement WHERE person = :person AND id = :id",
        [{"person": person, "id": each} for each in ids],
    )


async def delete_measurement(
    tx: Transaction, person: PersonId, measurement: str, *, now: Micros
) -> bool:
    """Delete one value, and what it had replaced; return whether there was one.

    What was read from elsewhere leaves a print, so that it is not read in again.
    """
    found = await tx.row(
        "SELECT name, day FROM measurement WHERE person = :person AND id = :id",
        person=person,
        id=measurement,
    )
    if found is None:
        return False
    name, day = found
    is_daily = get_measure(name).is_daily
    rows = await tx.rows(
        """SELECT id, origin FROM measurement
           WHERE person = :person AND name = :name AND day = :day""",
        person=person,
        name=name,
        day=day,
    )
    gone = [(each, origin) for each, origin in rows if is_daily or each == measurement]
    read = [fingerprint_measurement(each) for each, origin in gone if origin == "import"]
    await save_tombstones(tx, person, read, now=now)
    await delete_measurements_by_id(tx, person, [each for each, _ in gone])
    return True


async def drop_deleted_measurements(
    tx: Transaction, person: PersonId, measured: Sequence[Measurement]
) -> list[Measurement]:
    """Return what is read in anew without what the person has deleted."""
    return [
        each
        for each in measured
        if not await has_tombstone(tx, person, fingerprint_measurement(each.id))
    ]


def parse_row(row: Row) -> Measurement:
    """Build a value from its row."""
    return Measurement(
        id=row[0],
        person=PersonId(row[1]),
        name=row[2],
        day=date.fromisoformat(row[3]),
        measured_at=row[4],
        zone=row[5],
        value=float(row[6]),
        unit=row[7],
        second_value=None if row[8] is None else float(row[8]),
        second_unit=row[9],
        origin=row[10],
        message=None if row[11] is None else MessageId(row[11]),
        message_seq=row[12],
    )
