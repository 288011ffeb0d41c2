"""How does what was said aside get into the store? As it was said, once, and in one transaction.

What was forgotten there meanwhile does not come back with it: a reply that may rest on that comes
without its words, and what models gave for it stays behind.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from oldfriend.app.accepting import Line, hearer_of
from oldfriend.app.embedding import plan_embedding
from oldfriend.app.forgetting import marker_for
from oldfriend.app.forming.tending import note_talk
from oldfriend.app.house import House
from oldfriend.db.copying import slices_of, write_rows
from oldfriend.db.database import SqlValue, TableShape, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, TurnId
from oldfriend.domain.memories import Change, Memory
from oldfriend.domain.messages import Message, Spoken
from oldfriend.memory.changes import revision_of
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.forgetting.overtaking import all_are_kept, read_as_before
from oldfriend.memory.log import Place, get_message, list_recent, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import get_companion, lock_person, mark_introduced
from oldfriend.memory.receipts import Receipt, ReceiptItem, find_receipt, write_receipt
from oldfriend.memory.sessions import session_at
from oldfriend.turn.perceive import perceive

OF_MODELS: Final = "model_call"
OF_TURNS: Final = (OF_MODELS, "tool_call")
CONTENT: Final[Mapping[str, SqlValue]] = MappingProxyType(
    {"answer": None, "error": None, "request": "", "shown": "[]", "arguments": "{}", "result": None}
)
"""What of a call tells what was said in it, and what stands there without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """From where to where a talk comes, in one transaction on each side."""

    old: Transaction
    new: Transaction
    person: PersonId  # as they are called aside
    line: Line


async def come_back(
    road: Road, house: House, told: Sequence[Message], changes: Sequence[Change], *, rewritten: int
) -> list[Message]:
    """Write into the store what was said and answered aside; what was written.

    What is there already is passed over: that an earlier attempt failed may have been an error.
    ``rewritten`` is how often something had been forgotten when the talk went aside.
    """
    now = house.clock()
    await lock_person(road.new, road.line.person.id)
    unknown = await without_known(road.new, road.line, told)
    calls = await calls_of(road, turns_of(unknown))
    ours = {*(each.id for each in told), *(each.object for each in changes)}
    taken_back = await resting_on_forgotten(road, unknown, calls, ours, rewritten=rewritten)
    written = await write_again(road.new, house, road.line, unknown, taken_back, now=now)
    names: dict[str, str] = {before: message.id for before, message in written.items()}
    names |= await learn_again(road.new, changes, written, now=now)
    for turn in turns_of(unknown):
        receipt = await find_receipt(road.old, road.person, turn)
        if receipt is not None and turn not in taken_back:
            await write_receipt_again(road.new, receipt, written, names)
    await write_calls_again(road, calls, names, taken_back)
    await follow_up(road.old, road.new, house, written, now=now)
    return list(written.values())


async def without_known(tx: Transaction, line: Line, told: Sequence[Message]) -> list[Message]:
    """What is not in the store yet, of what was said in turns of which nothing is."""
    recent = await list_recent(tx, line.person.id, line.chat.id, limit=len(told) + 50)
    known = {(each.role, each.at, each.text) for each in recent}
    answered = {each.turn for each in told if (each.role, each.at, each.text) in known}
    return [each for each in told if each.turn not in answered]


def turns_of(messages: Sequence[Message]) -> list[TurnId]:
    """The turns that messages belong to, each once, in order."""
    return list(dict.fromkeys(each.turn for each in messages if each.turn is not None))


async def resting_on_forgotten(
    road: Road, told: Sequence[Message], calls: "Calls", ours: Collection[str], *, rewritten: int
) -> set[TurnId]:
    """The turns whose replies may rest on what was forgotten in the store meanwhile.

    ``ours``: ids that are only known aside.
    """
    person = road.line.person.id
    if (await revision_of(road.new, person)).rewritten == rewritten:
        return set()
    taken_back: set[TurnId] = set()
    without_words: set[str] = set()
    for turn in turns_of(told):
        receipt = await find_receipt(road.old, road.person, turn)
        items = () if receipt is None else receipt.items
        seen = {*(item.object for item in items if item.used), *calls.seen_in(turn)}
        seen |= await words_behind(road, seen.intersection(ours))
        saw_one = not seen.isdisjoint(without_words)
        if saw_one or not await is_still_there(road, seen.difference(ours)):
            taken_back.add(turn)
            without_words |= {e.id for e in told if e.turn == turn and e.role == "companion"}
    return taken_back


async def words_behind(road: Road, beliefs: Collection[str]) -> set[str]:
    """The messages on which stands what was learned aside."""
    learned = [MemoryId(ObjectId(each)) for each in beliefs]
    evidence = await list_evidence_of(road.old, road.person, learned)
    return {words.message for of_each in evidence.values() for words in of_each}


async def is_still_there(road: Road, seen: Collection[str]) -> bool:
    """Whether all that was copied of these is in the store, with the words that were copied."""
    if not await all_are_kept(road.new, road.line.person.id, seen):
        return False
    copied: list[Message] = []
    for each in seen:
        with suppress(NotFound):  # a belief
            copied.append(await get_message(road.old, road.person, MessageId(each)))
    return await read_as_before(road.new, road.line.person.id, copied)


async def write_again(
    tx: Transaction, house: House, line: Line, told: Sequence[Message],
    taken_back: Collection[TurnId], *, now: Micros,
) -> dict[MessageId, Message]:  # fmt: skip
    """Write messages as they were said; by the ids that they had aside."""
    marker = marker_for(line.person, house)
    hearer = hearer_of(await get_companion(tx), line.person, house.settings)
    written: dict[MessageId, Message] = {}
    for each in told:
        session = await session_at(tx, line.chat, each.at)
        place = Place(chat=line.chat, session=session, turn=each.turn, language=each.language)
        spoken = Spoken(
            role=each.role, speaker=each.speaker, at=each.at, zone=each.zone, trust=each.trust,
            details=each.details,
            text=marker.text if each.role == "companion" and each.turn in taken_back else each.text,
        )  # fmt: skip
        tells = each.role == "person" and not perceive(each.text, hearer).only_asks
        message = await write_message(tx, place, spoken, now=now, findable=tells)
        assert message is not None  # it has no name by which it could be known
        written[each.id] = message
    return written


async def write_receipt_again(
    tx: Transaction, receipt: Receipt, written: Mapping[MessageId, Message],
    names: Mapping[str, str],
) -> None:  # fmt: skip
    """Write why a reply was given, about things as they are called now, and what is kept."""
    asked, replied = written[receipt.asked], written[receipt.replied]
    items: list[ReceiptItem] = []
    for item in receipt.items:
        name = names.get(item.object)
        if name is not None or await all_are_kept(tx, asked.person, [item.object]):
            items.append(replace(item, object=name or item.object))
    again = replace(
        receipt, person=asked.person, asked=asked.id, asked_seq=asked.seq, replied=replied.id,
        items=tuple(items),
    )  # fmt: skip
    await write_receipt(tx, again)


async def learn_again(
    tx: Transaction, changes: Sequence[Change], written: Mapping[MessageId, Message], *, now: Micros
) -> dict[str, str]:
    """Keep the notes that were made, by what each is called now; all else is learned by reading."""
    names: dict[str, str] = {}
    for each in changes:
        sources = [written[cause.message] for cause in each.causes if cause.message in written]
        if isinstance(each.after, Memory) and each.after.kind == "note" and each.op == "learned":
            for source in sources:
                note = await learn_note(
                    tx, each.after.text, source=source, author=each.author, now=now
                )
                names[each.object] = note.id
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What models and tools were asked in some turns, as it is kept."""

    tables: Mapping[str, tuple[TableShape, list[dict[str, SqlValue]]]]

    def seen_in(self, turn: TurnId) -> set[str]:
        """What the models were shown in a turn."""
        _, calls = self.tables[OF_MODELS]
        shown = (json.loads(str(call["shown"])) for call in calls if call["turn"] == turn)
        return {each for ids in shown for each in ids}


async def calls_of(road: Road, turns: Sequence[TurnId]) -> Calls:
    """All calls of these turns."""
    tables: dict[str, tuple[TableShape, list[dict[str, SqlValue]]]] = {}
    for table in [each for each in await road.old.tables() if each.name in OF_TURNS]:
        calls: list[dict[str, SqlValue]] = []
        async for rows in slices_of(road.old, table, of=("person", road.person)):
            calls += (dict(zip(table.columns, row, strict=True)) for row in rows)
        tables[table.name] = table, [call for call in calls if call["turn"] in turns]
    return Calls(tables=tables)


async def write_calls_again(
    road: Road, calls: Calls, names: Mapping[str, str], taken_back: Collection[TurnId]
) -> None:
    """Keep what was asked meanwhile, and what it has cost, with the ids that messages have now.

    Else what is forgotten later would not be found in it.
    """
    for table, rows in calls.tables.values():
        for row in rows:
            row["person"] = road.line.person.id
            if table.name == OF_MODELS:
                row["shown"] = json.dumps(
                    [names.get(each, each) for each in json.loads(str(row["shown"]))]
                )
                row["asked"] = renamed(row["asked"], names)
            if row["turn"] in taken_back:
                row.update({column: empty for column, empty in CONTENT.items() if column in row})
        await write_rows(
            road.new, table, [tuple(row[column] for column in table.columns) for row in rows]
        )


def renamed(asked: SqlValue, names: Mapping[str, str]) -> str | None:
    """Which message versions a turn answers, by their ids of now."""
    if asked is None:
        return None
    versions = (each.partition("@") for each in str(asked).split())
    return " ".join(f"{names.get(each, each)}@{version}" for each, _, version in versions)


async def follow_up(
    old: Transaction, tx: Transaction, house: House, written: dict[MessageId, Message], *,
    now: Micros,
) -> None:  # fmt: skip
    """Have what was written embedded, and read once it is ripe; nobody is introduced twice."""
    if not written:
        return
    last = list(written.values())[-1]
    companion = await get_companion(tx)
    if companion.introduced_at is None and (await get_companion(old)).introduced_at is not None:
        await mark_introduced(tx, companion.id, now=now)
    await plan_embedding(tx, now=now)
    await note_talk(tx, house, last.person, last.session, now=now)
    await tx.wake()
