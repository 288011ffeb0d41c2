"""How does what is forgotten leave the tables of memory? All of it, in the caller's transaction."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.memory.batches import remove_empty_chat
from oldfriend.memory.evidence import refresh_standings
from oldfriend.memory.forgetting.foreseeing import Foreseen
from oldfriend.memory.forgetting.holding import Said
from oldfriend.memory.forgetting.journal import purge_journal
from oldfriend.memory.forgetting.proving import names_any
from oldfriend.memory.segments import remove_empty_segments, reopen_segments
from oldfriend.memory.working import clear_working

AT_ONCE: Final = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What stands in a reply that lost its words."""

    text: str
    language: str


async def remove(tx: Transaction, plan: Foreseen, marker: Marker, *, now: Micros) -> None:
    """Take everything that goes out of memory. The caller holds the person's lock."""
    await clear_working(tx, plan.person)
    reopened = await reopen(tx, plan)
    await remove_receipts(tx, plan)
    await remove_evidence(tx, plan)
    await purge_journal(tx, plan, now=now)
    await remove_messages(tx, plan)
    await remove_blocks(tx, plan)
    await remove_souls(tx, plan)
    await remove_suggestions(tx, plan)
    await remove_transcripts(tx, plan)
    await silence(tx, plan, marker)
    await remove_delivered(tx, plan)
    await tidy_segments(tx, plan.person, reopened)
    await tidy_batches(tx, plan)
    await tidy_places(tx, plan)
    await take_names(tx, plan)
    left = [ObjectId(each) for each in (*plan.keeping, *plan.orphans)]
    for some in in_parts(left):
        await refresh_standings(tx, plan.person, some)
    await tx.run(
        "UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=plan.person
    )


async def reopen(tx: Transaction, plan: Foreseen) -> list[SegmentId]:
    """Have the segments read again in which something goes, or from which it is learned anew."""
    messages = sorted({each.id for each in plan.wordless} | plan.reread)
    reopened: dict[SegmentId, None] = {}
    for some in in_parts([MessageId(each) for each in messages]):
        segments = await reopen_segments(tx, plan.person, some, is_edit=False)
        reopened |= dict.fromkeys(segments)
    return list(reopened)


async def remove_receipts(tx: Transaction, plan: Foreseen) -> None:
    """Take away receipts of what goes, and every trace of it in those of other replies."""
    receipts = await tx.rows(
        "SELECT id, asked, replied, details FROM receipt WHERE person = :person",
        person=plan.person,
    )
    going = [row[0] for row in receipts if row[1] in plan.gone or row[2] in plan.gone]
    items = await tx.rows(
        "SELECT receipt, ordinal, object, version, why FROM receipt_item WHERE person = :person",
        person=plan.person,
    )
    versions = {each.key for each in plan.wordless}
    empty = [
        (receipt, ordinal)
        for receipt, ordinal, object_id, version, why in items
        if object_id in plan.gone or (object_id, version) in versions or plan.holds_words(why)
    ]
    await tx.run_many(
        """DELETE FROM receipt_item WHERE person = :person AND receipt = :receipt
           AND ordinal = :ordinal""",
        [{"person": plan.person, "receipt": r, "ordinal": o} for r, o in empty],
    )
    values = [{"person": plan.person, "id": each} for each in going]
    await tx.run_many("DELETE FROM receipt_item WHERE person = :person AND receipt = :id", values)
    await tx.run_many("DELETE FROM receipt WHERE person = :person AND id = :id", values)
    await tx.run_many(
        "UPDATE receipt SET details = :details WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": each[0], "details": told}
            for each in receipts
            if (told := details_left(each[3], plan)) != each[3]
        ],
    )


def details_left(details: str, plan: Foreseen) -> str:
    """What a receipt tells without what goes: nothing where it says its words, else no id of it."""
    if plan.holds_words(details):
        return "{}"
    if not names_any(details, plan.gone):
        return details
    return json.dumps(without_ids(json.loads(details), plan.gone), ensure_ascii=False)


def without_ids(value: JsonValue, gone: Collection[str]) -> JsonValue:
    """A value in whose lists none of these ids stands."""
    match value:
        case dict():
            return {name: without_ids(each, gone) for name, each in value.items()}
        case list():
            kept = (each for each in value if not (isinstance(each, str) and each in gone))
            return [without_ids(each, gone) for each in kept]
        case _:
            return value


async def remove_evidence(tx: Transaction, plan: Foreseen) -> None:
    """Take away what was quoted from what goes, and what bore on it."""
    await tx.run_many(
        """DELETE FROM evidence WHERE person = :person AND message = :message
           AND version = :version""",
        [
            {"person": plan.person, "message": each.id, "version": each.version}
            for each in plan.wordless
        ],
    )
    await tx.run_many(
        "DELETE FROM evidence WHERE person = :person AND object = :object",
        [{"person": plan.person, "object": each} for each in sorted(plan.objects)],
    )


async def remove_messages(tx: Transaction, plan: Foreseen) -> None:
    """Take away the words, and what search keeps of them."""
    places = places_of(plan.person, plan.messages)
    await tx.run_many("DELETE FROM message_vector WHERE person = :person AND seq = :seq", places)
    await tx.run_many("DELETE FROM message WHERE person = :person AND seq = :seq", places)
    partly = {each.id for each in plan.messages} - plan.gone
    await tx.run_many(
        """UPDATE message SET replaced_at = NULL WHERE person = :person AND id = :id
           AND version = (SELECT max(m.version) FROM message m
             WHERE m.person = :person AND m.id = :id)""",
        [{"person": plan.person, "id": each} for each in sorted(partly)],
    )


async def remove_blocks(tx: Transaction, plan: Foreseen) -> None:
    """Take away earlier versions of what people wrote about who is who, where they hold words.

    What reads so now is the person's own, and goes only with everything.
    """
    rows = await tx.rows(
        "SELECT name, version, text FROM core_block WHERE person = :person", person=plan.person
    )
    newest = {name: version for name, version, _ in sorted(rows)}
    await tx.run_many(
        "DELETE FROM core_block WHERE person = :person AND name = :name AND version = :version",
        [
            {"person": plan.person, "name": name, "version": version}
            for name, version, text in rows
            if plan.chosen.is_everything or (version < newest[name] and plan.holds_words(text))
        ],
    )


async def remove_souls(tx: Transaction, plan: Foreseen) -> None:
    """Take away earlier versions of who the companion is to everybody, where they hold words."""
    rows = await tx.rows("SELECT companion, version, text FROM soul ORDER BY companion, version")
    newest = {companion: version for companion, version, _ in rows}
    await tx.run_many(
        "DELETE FROM soul WHERE companion = :companion AND version = :version",
        [
            {"companion": companion, "version": version}
            for companion, version, text in rows
            if version < newest[companion] and plan.holds_words(text)
        ],
    )


async def remove_suggestions(tx: Transaction, plan: Foreseen) -> None:
    """Take away what was suggested for a block because of what goes, or in its words."""
    rows = await tx.rows(
        "SELECT id, text, replaces, reason, cites FROM suggestion WHERE person = :person",
        person=plan.person,
    )
    await tx.run_many(
        "DELETE FROM suggestion WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": name}
            for name, *texts, cites in rows
            if plan.chosen.is_everything or not plan.gone.isdisjoint(json.loads(cites))
            or any(map(plan.holds_words, texts))
        ],
    )  # fmt: skip


async def remove_transcripts(tx: Transaction, plan: Foreseen) -> None:
    """Take away what it said to itself where it was shown what goes, or says its words."""
    rows = await tx.rows(
        """SELECT id, shown, transcript FROM tick
           WHERE person = :person AND transcript IS NOT NULL""",
        person=plan.person,
    )
    await tx.run_many(
        "UPDATE tick SET transcript = NULL, shown = '[]' WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": each}
            for each, shown, transcript in rows
            if not plan.gone.isdisjoint(json.loads(shown)) or plan.holds_words(transcript)
        ],
    )


async def silence(tx: Transaction, plan: Foreseen, marker: Marker) -> None:
    """Put a marker in the place of what the companion said of it."""
    places = places_of(plan.person, plan.replies)
    await tx.run_many("DELETE FROM message_vector WHERE person = :person AND seq = :seq", places)
    await tx.run_many(
        """UPDATE message SET text = :text, language = :language, tokens = :tokens,
             imprint = :imprint, details = NULL WHERE person = :person AND seq = :seq""",
        [
            {**place, "text": marker.text, "language": marker.language, "imprint": b"",
             "tokens": estimate_tokens(marker.text)}
            for place in places
        ],
    )  # fmt: skip


async def remove_delivered(tx: Transaction, plan: Foreseen) -> None:
    """Take away where the parts of replies stand whose words went; there they still stand."""
    replies = sorted(plan.gone | {each.id for each in plan.replies})
    await tx.run_many(
        "DELETE FROM delivered WHERE person = :person AND reply = :reply",
        [{"person": plan.person, "reply": each} for each in replies],
    )


async def tidy_segments(tx: Transaction, person: PersonId, reopened: Iterable[SegmentId]) -> None:
    """Let segments say what they hold now; those without messages go."""
    await remove_empty_segments(tx, person)
    await tx.run_many(
        """UPDATE segment SET outcome = NULL, error = NULL,
             mood_phrase = '', mood_energy = NULL, mood_signal = NULL,
             messages = (SELECT count(*) FROM message m WHERE m.person = :person
               AND m.session = segment.session AND m.version = 1
               AND m.seq BETWEEN segment.first_seq AND segment.last_seq),
             tokens = (SELECT sum(m.tokens) FROM message m WHERE m.person = :person
               AND m.session = segment.session AND m.version = 1
               AND m.seq BETWEEN segment.first_seq AND segment.last_seq)
           WHERE person = :person AND id = :id""",
        [{"person": person, "id": each} for each in reopened],
    )


async def tidy_batches(tx: Transaction, plan: Foreseen) -> None:
    """Let imports count what they brought that is left; one with nothing left tells nothing."""
    brought = await tx.rows(
        """SELECT b.id, count(m.id), sum(CASE WHEN m.version = 1 THEN 1 ELSE 0 END)
           FROM import_batch b LEFT JOIN message m ON m.batch = b.id AND m.person = b.person
           WHERE b.person = :person GROUP BY b.id""",
        person=plan.person,
    )
    for batch, left, added in brought:
        await tx.run(
            """UPDATE import_batch SET added = :added
               WHERE person = :person AND id = :id AND added > :added""",
            added=int(added or 0), person=plan.person, id=batch,
        )  # fmt: skip
        if not left or batch in plan.chosen.batches:
            await tx.run(
                """UPDATE import_batch SET status = 'undone', file = '', me = '', sha256 = ''
                   WHERE person = :person AND id = :id""",
                person=plan.person,
                id=batch,
            )


async def tidy_places(tx: Transaction, plan: Foreseen) -> None:
    """Take away closed sessions in which nothing is said any more, and chats without any."""
    await tx.run(
        """DELETE FROM session WHERE person = :person AND status = 'closed'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.session = session.id)
           AND NOT EXISTS (SELECT 1 FROM segment g WHERE g.session = session.id)""",
        person=plan.person,
    )
    for chat in sorted({each.chat for each in plan.messages}):
        await remove_empty_chat(tx, plan.person, chat)


async def take_names(tx: Transaction, plan: Foreseen) -> None:
    """Let no chat and no import be called by the name of somebody who goes."""
    chats = await tx.rows(
        "SELECT id, channel, title, address FROM chat WHERE person = :person", person=plan.person
    )
    await tx.run_many(
        """UPDATE chat SET title = :title, address = :address
           WHERE person = :person AND id = :id""",
        [
            {"person": plan.person, "id": chat,
             "title": channel if plan.bears_name(title) else title,
             "address": chat if plan.bears_name(address) else address}
            for chat, channel, title, address in chats
            if plan.bears_name(title) or plan.bears_name(address)
        ],
    )  # fmt: skip
    batches = await tx.rows(
        "SELECT id, format, file FROM import_batch WHERE person = :person", person=plan.person
    )
    await tx.run_many(
        "UPDATE import_batch SET file = :file WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": batch, "file": form}
            for batch, form, file in batches if plan.bears_name(file)
        ],
    )  # fmt: skip


def counts_of(plan: Foreseen) -> dict[str, int]:
    """How much goes, and how much is rewritten; content-free."""
    kinds = Counter(type(change.after).__name__.lower() for change in plan.objects.values())
    names = {"memory": "memories", "entity": "entities", "summary": "summaries"}
    return {
        "messages": len({each.id for each in plan.messages}),
        **{many: kinds[one] for one, many in names.items()},
        "replies": len({each.id for each in plan.replies}),
        "orphans": len(plan.orphans),
    }


def places_of(person: PersonId, messages: Iterable[Said]) -> list[dict[str, SqlValue]]:
    """Where some message versions stand in the log."""
    return [{"person": person, "seq": each.seq} for each in messages]


def in_parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many at a time as fit into one statement."""
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]
