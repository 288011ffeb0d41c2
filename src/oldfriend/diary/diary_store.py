"""Diary store: what a person wrote into their diary, apart from what was said in chats."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId, PersonId

Origin = Literal["told", "tool", "import", "api"]
COLUMNS: Final = """id, person, text, day, written_at, zone, created_at, modified_at, place, city,
    weather, tags, media, origin, message, message_seq"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryEntry:
    """One entry; its vector is that of the message with which it came."""

    id: str
    person: PersonId
    text: str
    written_at: Micros
    zone: str
    created_at: Micros
    modified_at: Micros
    place: str = ""
    city: str = ""
    weather: str = ""
    tags: tuple[str, ...] = ()
    media: Mapping[str, int] = field(default_factory=dict)  # how many photos, videos and so on
    origin: Origin = "told"
    message: MessageId | None = None
    message_seq: int | None = None

    @property
    def day(self) -> date:
        """The day on which it was written, in its zone."""
        return from_micros(self.written_at, self.zone).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryFilter:
    """Which entries are meant; days are included at both ends."""

    first: date = date.min
    last: date = date.max
    tags: tuple[str, ...] = ()  # any of them
    city: str = ""  # whatever its case

    def matches(self, entry: DiaryEntry) -> bool:
        """Tell whether an entry has one of the tags and is of the city."""
        wanted = {each.casefold() for each in self.tags}
        has_tag = not wanted or not wanted.isdisjoint(each.casefold() for each in entry.tags)
        return has_tag and (not self.city or self.city.casefold() == entry.city.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryStats:
    """How many entries there are."""

    entries: int
    words: int
    days: int
    first: date | None
    last: date | None
    by_year: Mapping[int, int]


async def save_entries(tx: Transaction, person: PersonId, entries: Sequence[DiaryEntry]) -> None:
    """Save entries; one that is known by its id gets its new words."""
    await tx.run_many(
        """INSERT INTO diary_entry (id, person, text, day, written_at, zone, created_at,
             modified_at, place, city, weather, tags, media, origin, message, message_seq)
           VALUES (:id, :person, :text, :day, :written_at, :zone, :created_at, :modified_at,
             :place, :city, :weather, :tags, :media, :origin, :message, :message_seq)
           ON CONFLICT (id) DO UPDATE SET text = excluded.text, day = excluded.day,
             written_at = excluded.written_at, modified_at = excluded.modified_at,
             place = excluded.place, city = excluded.city, weather = excluded.weather,
             tags = excluded.tags, media = excluded.media, message = excluded.message,
             message_seq = excluded.message_seq
           WHERE diary_entry.person = excluded.person""",
        [build_values(each, person) for each in entries],
    )


def build_values(entry: DiaryEntry, person: PersonId) -> dict[str, SqlValue]:
    """Return the values of a row."""
    return {
        "id": entry.id,
        "person": person,
        "text": entry.text,
        "day": entry.day.isoformat(),
        "written_at": entry.written_at,
        "zone": entry.zone,
        "created_at": entry.created_at,
        "modified_at": entry.modified_at,
        "place": entry.place,
        "city": entry.city,
        "weather": entry.weather,
        "tags": json.dumps(list(entry.tags), ensure_ascii=False),
        "media": json.dumps(dict(entry.media)),
        "origin": entry.origin,
        "message": entry.message,
        "message_seq": entry.message_seq,
    }


async def find_entry(tx: Transaction, person: PersonId, entry: str) -> DiaryEntry | None:
    """Return an entry by its id, if there is one."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM diary_entry WHERE person = :person AND id = :id",
        person=person,
        id=entry,
    )
    return None if row is None else parse_row(row)


async def list_entries(
    tx: Transaction, person: PersonId, wanted: DiaryFilter, *, limit: int | None = None
) -> list[DiaryEntry]:
    """Return the entries that are meant, oldest first; of more than ``limit``, the newest."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM diary_entry
           WHERE person = :person AND day BETWEEN :first AND :last
           ORDER BY written_at, id""",
        person=person,
        first=wanted.first.isoformat(),
        last=wanted.last.isoformat(),
    )
    entries = [entry for each in rows if wanted.matches(entry := parse_row(each))]
    return entries if limit is None else entries[-limit:]


@dataclass(frozen=True, slots=True)
class EntryPosition:
    """Where a page of entries ends."""

    at: Micros
    id: str


async def list_entry_page(
    tx: Transaction,
    person: PersonId,
    *,
    first: date | None = None,
    last: date | None = None,
    tag: str | None = None,
    before: EntryPosition | None = None,
    limit: int,
) -> tuple[list[DiaryEntry], bool]:
    """Return the entries of some days before a position, newest first; and whether more follow."""
    entries: list[DiaryEntry] = []
    wanted = DiaryFilter(tags=() if tag is None else (tag,))
    while len(entries) <= limit:
        rows = await tx.rows(
            f"""SELECT {COLUMNS} FROM diary_entry
               WHERE person = :person AND day BETWEEN :first AND :last
               AND (:at IS NULL OR written_at < :at OR (written_at = :at AND id < :before))
               ORDER BY written_at DESC, id DESC LIMIT :count""",
            person=person,
            first=(first or date.min).isoformat(),
            last=(last or date.max).isoformat(),
            at=None if before is None else before.at,
            before=None if before is None else before.id,
            count=limit + 1,
        )
        found = [parse_row(each) for each in rows]
        entries += [each for each in found if wanted.matches(each)]
        if len(found) <= limit:
            break
        before = EntryPosition(found[-1].written_at, found[-1].id)
    return entries[:limit], len(entries) > limit


async def list_entries_of_message(
    tx: Transaction, person: PersonId, message_id: MessageId
) -> list[DiaryEntry]:
    """Return the entries that came with a message, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM diary_entry WHERE person = :person AND message = :message
           ORDER BY written_at, id""",
        person=person,
        message=message_id,
    )
    return [parse_row(each) for each in rows]


async def delete_entry(tx: Transaction, person: PersonId, entry: str) -> bool:
    """Delete an entry; return whether there was one."""
    deleted = await tx.run(
        "DELETE FROM diary_entry WHERE person = :person AND id = :id", person=person, id=entry
    )
    return deleted > 0


async def list_on_this_day(
    tx: Transaction, person: PersonId, month: int, day: int, *, limit: int
) -> list[DiaryEntry]:
    """Return the newest entries of a day of the year, in all years, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM diary_entry WHERE person = :person AND day LIKE :ending
           ORDER BY written_at DESC, id DESC LIMIT :most""",
        person=person,
        ending=f"%-{month:02d}-{day:02d}",
        most=limit,
    )
    return [parse_row(each) for each in reversed(rows)]


async def list_tags(tx: Transaction, person: PersonId) -> list[tuple[str, int]]:
    """Return the tags and how many entries have each, the most frequent first."""
    rows = await tx.rows("SELECT tags FROM diary_entry WHERE person = :person", person=person)
    counts = Counter(tag for (tags,) in rows for tag in json.loads(tags))
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


async def compute_stats(tx: Transaction, person: PersonId, wanted: DiaryFilter) -> DiaryStats:
    """Count the entries that are meant."""
    entries = await list_entries(tx, person, wanted)
    days = sorted({each.day for each in entries})
    return DiaryStats(
        entries=len(entries),
        words=sum(len(each.text.split()) for each in entries),
        days=len(days),
        first=days[0] if days else None,
        last=days[-1] if days else None,
        by_year=dict(sorted(Counter(each.day.year for each in entries).items())),
    )


def parse_row(row: Row) -> DiaryEntry:
    """Build an entry from its row."""
    return DiaryEntry(
        id=row[0],
        person=PersonId(row[1]),
        text=row[2],
        written_at=row[4],
        zone=row[5],
        created_at=row[6],
        modified_at=row[7],
        place=row[8],
        city=row[9],
        weather=row[10],
        tags=tuple(json.loads(row[11])),
        media=json.loads(row[12]),
        origin=row[13],
        message=None if row[14] is None else MessageId(row[14]),
        message_seq=row[15],
    )
