"""Spool replay: stores an offline chat in the database as it happened, in one transaction.

What was forgotten in the meantime does not come back: a reply that may rest on it is stored without
its words, and the model calls behind that reply are left out.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from oldfriend.app.embed_messages import plan_embedding
from oldfriend.config.settings import Settings
from oldfriend.db.database import SqlValue, TableInfo, Transaction
from oldfriend.db.message_numbers import pack_ids, unpack_ids
from oldfriend.db.table_copy import iter_row_batches, write_rows
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, TurnId
from oldfriend.domain.memories import JournalEntry, StoredBelief
from oldfriend.domain.messages import Message, UnloggedMessage
from oldfriend.forgetting.delete import build_redaction_marker
from oldfriend.inbound.accept import ChatContext, build_addressee
from oldfriend.learning.learning_scheduler import enqueue_learning_for_message
from oldfriend.memory.deletion.audit_log import has_all_sources, has_unchanged_versions
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.message_log import (
    WriteTarget,
    get_message,
    list_recent_messages,
    write_message,
)
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import get_companion, lock_person, mark_introduced
from oldfriend.memory.receipts import Receipt, ReceiptItem, find_receipt, write_receipt
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.turn.intent import perceive

MODEL_CALL_TABLE: Final = "model_call"
CALL_TABLES: Final = (MODEL_CALL_TABLE, "tool_call")
REDACTED_VALUES: Final[Mapping[str, SqlValue]] = MappingProxyType(
    {"answer": None, "error": None, "request": "", "arguments": "{}", "result": None}
)
"""The columns of a call that reveal its content, and what replaces them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolTransfer:
    """The source and the target of a replay, with one transaction on each side."""

    source: Transaction
    target: Transaction
    person: PersonId  # the id of the person in the source
    chat_context: ChatContext


async def replay_spool(
    transfer: SpoolTransfer,
    clock: Clock,
    settings: Settings,
    messages: Sequence[Message],
    changes: Sequence[JournalEntry],
    *,
    rewritten: int,
) -> list[Message]:
    """Write what was said offline to the database, and return the messages written.

    What is there already is skipped, since an attempt that was reported as failed may have
    succeeded. ``rewritten`` is the count of deletions when the chat went offline.
    """
    now = clock()
    await lock_person(transfer.target, transfer.chat_context.person.id)
    unknown = await drop_known_messages(transfer.target, transfer.chat_context, messages)
    calls = await load_turn_calls(transfer, list_turns(unknown))
    ours = {*(each.id for each in messages), *(each.object_id for each in changes)}
    tainted = await list_tainted_turns(transfer, unknown, calls, ours, rewritten=rewritten)
    written = await copy_messages(
        transfer.target, settings, transfer.chat_context, unknown, tainted, now=now
    )
    new_ids: dict[str, str] = {before: message.id for before, message in written.items()}
    new_ids |= await copy_notes(transfer.target, changes, written, now=now)
    for turn in list_turns(unknown):
        receipt = await find_receipt(transfer.source, transfer.person, turn)
        if receipt is not None and turn not in tainted:
            await copy_receipt(transfer.target, receipt, written, new_ids)
    await copy_calls(transfer, calls, new_ids, tainted)
    await schedule_follow_up(transfer.source, transfer.target, settings, written, now=now)
    return list(written.values())


async def drop_known_messages(
    tx: Transaction, chat_context: ChatContext, messages: Sequence[Message]
) -> list[Message]:
    """Return the messages of turns of which nothing is in the database yet."""
    recent = await list_recent_messages(
        tx, chat_context.person.id, chat_context.chat.id, limit=len(messages) + 50
    )
    known = {(each.role, each.at, each.text) for each in recent}
    answered = {each.turn for each in messages if (each.role, each.at, each.text) in known}
    return [each for each in messages if each.turn not in answered]


def list_turns(messages: Sequence[Message]) -> list[TurnId]:
    """Return the turns of some messages, each once and in order."""
    return list(dict.fromkeys(each.turn for each in messages if each.turn is not None))


async def list_tainted_turns(
    transfer: SpoolTransfer,
    messages: Sequence[Message],
    calls: "TurnCalls",
    local_ids: Collection[str],
    *,
    rewritten: int,
) -> set[TurnId]:
    """Return the turns whose replies may rest on what was forgotten in the meantime.

    ``local_ids`` are ids that exist only offline.
    """
    person = transfer.chat_context.person.id
    if (await get_memory_version(transfer.target, person)).rewritten == rewritten:
        return set()
    tainted: set[TurnId] = set()
    redacted: set[str] = set()
    for turn in list_turns(messages):
        receipt = await find_receipt(transfer.source, transfer.person, turn)
        items = () if receipt is None else receipt.items
        seen = {*(item.object for item in items if item.used), *calls.list_shown(turn)}
        seen |= await list_source_messages(transfer, seen.intersection(local_ids))
        used_redacted = not seen.isdisjoint(redacted)
        if used_redacted or not await is_unchanged(transfer, seen.difference(local_ids)):
            tainted.add(turn)
            redacted |= {e.id for e in messages if e.turn == turn and e.role == "companion"}
    return tainted


async def list_source_messages(transfer: SpoolTransfer, beliefs: Collection[str]) -> set[str]:
    """Return the messages that support the beliefs learned offline."""
    learned = [MemoryId(ObjectId(each)) for each in beliefs]
    evidence = await list_object_evidence(transfer.source, transfer.person, learned)
    return {item.message for items in evidence.values() for item in items}


async def is_unchanged(transfer: SpoolTransfer, seen: Collection[str]) -> bool:
    """Return whether everything copied of these ids is still in the database, unchanged."""
    if not await has_all_sources(transfer.target, transfer.chat_context.person.id, seen):
        return False
    messages: list[Message] = []
    for each in seen:
        with suppress(NotFound):  # the id of a belief
            messages.append(await get_message(transfer.source, transfer.person, MessageId(each)))
    return await has_unchanged_versions(transfer.target, transfer.chat_context.person.id, messages)


async def copy_messages(
    tx: Transaction,
    settings: Settings,
    chat_context: ChatContext,
    messages: Sequence[Message],
    tainted: Collection[TurnId],
    *,
    now: Micros,
) -> dict[MessageId, Message]:
    """Write messages as they were said, and return them by their offline ids."""
    marker = build_redaction_marker(chat_context.person, settings)
    addressee = build_addressee(await get_companion(tx), chat_context.person, settings)
    written: dict[MessageId, Message] = {}
    for each in messages:
        session = await ensure_open_session(tx, chat_context.chat, each.at)
        target = WriteTarget(
            chat=chat_context.chat, session=session, turn=each.turn, language=each.language
        )
        unlogged = UnloggedMessage(
            role=each.role,
            speaker=each.speaker,
            at=each.at,
            zone=each.zone,
            trust=each.trust,
            details=each.details,
            text=marker.text if each.role == "companion" and each.turn in tainted else each.text,
        )
        is_searchable = (
            each.role == "person" and not perceive(each.text, addressee).is_only_question
        )
        message = await write_message(tx, target, unlogged, now=now, is_searchable=is_searchable)
        assert message is not None  # it has no external id that could be known already
        written[each.id] = message
    return written


async def copy_receipt(
    tx: Transaction,
    receipt: Receipt,
    written: Mapping[MessageId, Message],
    new_ids: Mapping[str, str],
) -> None:
    """Write a receipt with the new ids, leaving out what is gone."""
    asked, replied = written[receipt.asked], written[receipt.replied]
    items: list[ReceiptItem] = []
    for item in receipt.items:
        new_id = new_ids.get(item.object)
        if new_id is not None or await has_all_sources(tx, asked.person, [item.object]):
            items.append(replace(item, object=new_id or item.object))
    copy = replace(
        receipt,
        person=asked.person,
        asked=asked.id,
        asked_seq=asked.seq,
        replied=replied.id,
        items=tuple(items),
    )
    await write_receipt(tx, copy)


async def copy_notes(
    tx: Transaction,
    changes: Sequence[JournalEntry],
    written: Mapping[MessageId, Message],
    *,
    now: Micros,
) -> dict[str, str]:
    """Write notes made offline and return their new ids; everything else is learned again."""
    new_ids: dict[str, str] = {}
    for each in changes:
        sources = [written[cause.message] for cause in each.causes if cause.message in written]
        if (
            isinstance(each.after, StoredBelief)
            and each.after.kind == "note"
            and each.op == "learned"
        ):
            for source in sources:
                note = await learn_note(
                    tx, each.after.text, source=source, author=each.author, now=now
                )
                new_ids[each.object_id] = note.id
    return new_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCalls:
    """The model and tool calls of some turns, as they are stored."""

    tables: Mapping[str, tuple[TableInfo, list[dict[str, SqlValue]]]]
    shown: Mapping[SqlValue, Sequence[str]]  # by the id of a model call

    def list_shown(self, turn_id: TurnId) -> set[str]:
        """Return what the models were shown in a turn."""
        _, calls = self.tables[MODEL_CALL_TABLE]
        return {
            each for call in calls if call["turn"] == turn_id for each in self.shown[call["id"]]
        }


async def load_turn_calls(transfer: SpoolTransfer, turns: Sequence[TurnId]) -> TurnCalls:
    """Load all calls of some turns."""
    tables: dict[str, tuple[TableInfo, list[dict[str, SqlValue]]]] = {}
    for table in [each for each in await transfer.source.list_tables() if each.name in CALL_TABLES]:
        calls: list[dict[str, SqlValue]] = []
        async for rows in iter_row_batches(
            transfer.source, table, owner=("person", transfer.person)
        ):
            calls += (dict(zip(table.columns, row, strict=True)) for row in rows)
        tables[table.name] = table, [call for call in calls if call["turn"] in turns]
    _, model_calls = tables[MODEL_CALL_TABLE]
    shown = {
        call["id"]: await unpack_ids(transfer.source, transfer.person, get_shown(call))
        for call in model_calls
    }
    return TurnCalls(tables=tables, shown=shown)


def get_shown(call: Mapping[str, SqlValue]) -> bytes:
    """Return the packed ids that a call was shown."""
    shown = call["shown"]
    assert isinstance(shown, bytes)
    return shown


async def copy_calls(
    transfer: SpoolTransfer,
    calls: TurnCalls,
    new_ids: Mapping[str, str],
    tainted: Collection[TurnId],
) -> None:
    """Copy the calls and their costs, with the new ids of messages.

    With the old ids a later deletion would not find what they contain.
    """
    for table, rows in calls.tables.values():
        for row in rows:
            row["person"] = transfer.chat_context.person.id
            if table.name == MODEL_CALL_TABLE:
                row["asked"] = remap_asked(row["asked"], new_ids)
                shown = () if row["turn"] in tainted else calls.shown[row["id"]]
                new_shown = [new_ids.get(each, each) for each in shown]
                row["shown"] = await pack_ids(
                    transfer.target, transfer.chat_context.person.id, new_shown
                )
            if row["turn"] in tainted:
                row.update(
                    {column: empty for column, empty in REDACTED_VALUES.items() if column in row}
                )
        await write_rows(
            transfer.target, table, [tuple(row[column] for column in table.columns) for row in rows]
        )


def remap_asked(asked: SqlValue, new_ids: Mapping[str, str]) -> str | None:
    """Replace ids in the list of message versions that a turn answers."""
    if asked is None:
        return None
    versions = (each.partition("@") for each in str(asked).split())
    return " ".join(f"{new_ids.get(each, each)}@{version}" for each, _, version in versions)


async def schedule_follow_up(
    source_tx: Transaction,
    tx: Transaction,
    settings: Settings,
    written: dict[MessageId, Message],
    *,
    now: Micros,
) -> None:
    """Schedule embedding and learning, and take over that the companion has been introduced."""
    if not written:
        return
    last = list(written.values())[-1]
    companion = await get_companion(tx)
    if (
        companion.introduced_at is None
        and (await get_companion(source_tx)).introduced_at is not None
    ):
        await mark_introduced(tx, companion.id, now=now)
    await plan_embedding(tx, now=now)
    await enqueue_learning_for_message(tx, settings, last.person, last.session, now=now)
    await tx.notify()
