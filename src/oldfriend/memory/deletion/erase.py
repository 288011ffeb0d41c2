"""Erasure: carries out a deletion plan on the memory tables, in the caller's transaction."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.messages import estimate_tokens
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.journal_redaction import purge_journal
from oldfriend.memory.deletion.memory_snapshot import MessageVersion
from oldfriend.memory.deletion.text_redaction import redact_receipts
from oldfriend.memory.evidence import refresh_evidence_stats
from oldfriend.memory.import_batches import remove_empty_chat
from oldfriend.memory.segments import remove_empty_segments, reopen_segments
from oldfriend.memory.working_memory import clear_working_memory

ROWS_PER_STATEMENT: Final = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionMarker:
    """The text that replaces a redacted reply."""

    text: str
    language: str


async def erase(
    tx: Transaction, plan: DeletionPlan, marker: RedactionMarker, *, now: Micros
) -> None:
    """Erase everything in a plan from memory. The caller holds the person's lock."""
    await clear_working_memory(tx, plan.person)
    reopened = await reopen_affected_segments(tx, plan)
    await redact_receipts(tx, plan)
    await erase_evidence(tx, plan)
    await purge_journal(tx, plan, now=now)
    await erase_messages(tx, plan)
    await erase_core_block_versions(tx, plan)
    await erase_persona_versions(tx, plan)
    await erase_suggestions(tx, plan)
    await erase_transcripts(tx, plan)
    await redact_replies(tx, plan, marker)
    await erase_delivery_records(tx, plan)
    await refresh_segments(tx, plan.person, reopened)
    await refresh_batches(tx, plan)
    await delete_empty_sessions(tx, plan)
    await redact_names(tx, plan)
    remaining = [ObjectId(each) for each in (*plan.remaining_evidence, *plan.orphans)]
    for batch in split_into_batches(remaining):
        await refresh_evidence_stats(tx, plan.person, batch)
    await tx.run(
        "UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=plan.person
    )


async def reopen_affected_segments(tx: Transaction, plan: DeletionPlan) -> list[SegmentId]:
    """Reopen the segments of deleted messages and of those to relearn from; return which."""
    messages = sorted({each.id for each in plan.redacted_versions} | plan.reread_messages)
    reopened: dict[SegmentId, None] = {}
    for batch in split_into_batches([MessageId(each) for each in messages]):
        segments = await reopen_segments(tx, plan.person, batch, is_edit=False)
        reopened |= dict.fromkeys(segments)
    return list(reopened)


async def erase_evidence(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete evidence quoted from deleted messages, and evidence of deleted beliefs."""
    await tx.run_many(
        """DELETE FROM evidence WHERE person = :person AND message = :message
           AND version = :version""",
        [
            {"person": plan.person, "message": each.id, "version": each.version}
            for each in plan.redacted_versions
        ],
    )
    await tx.run_many(
        "DELETE FROM evidence WHERE person = :person AND object = :object",
        [{"person": plan.person, "object": each} for each in sorted(plan.deleted)],
    )


async def erase_messages(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete messages with their vectors and make earlier versions current again."""
    parameters = build_seq_params(plan.person, plan.messages)
    await tx.run_many(
        "DELETE FROM message_vector WHERE person = :person AND seq = :seq", parameters
    )
    await tx.run_many("DELETE FROM message WHERE person = :person AND seq = :seq", parameters)
    remaining_ids = {each.id for each in plan.messages} - plan.deleted_ids
    await tx.run_many(
        """UPDATE message SET replaced_at = NULL WHERE person = :person AND id = :id
           AND version = (SELECT max(m.version) FROM message m
             WHERE m.person = :person AND m.id = :id)""",
        [{"person": plan.person, "id": each} for each in sorted(remaining_ids)],
    )


async def erase_core_block_versions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete earlier versions of core blocks that contain deleted words.

    The current version is the person's own, and is deleted only with everything.
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
            if plan.selection.is_everything
            or (version < newest[name] and plan.has_deleted_text(text))
        ],
    )


async def erase_persona_versions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete earlier versions of the global persona that contain deleted words."""
    rows = await tx.rows("SELECT companion, version, text FROM soul ORDER BY companion, version")
    newest = {companion: version for companion, version, _ in rows}
    await tx.run_many(
        "DELETE FROM soul WHERE companion = :companion AND version = :version",
        [
            {"companion": companion, "version": version}
            for companion, version, text in rows
            if version < newest[companion] and plan.has_deleted_text(text)
        ],
    )


async def erase_suggestions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete suggestions that cite deleted content or contain its words."""
    rows = await tx.rows(
        "SELECT id, text, replaces, reason, cites FROM suggestion WHERE person = :person",
        person=plan.person,
    )
    await tx.run_many(
        "DELETE FROM suggestion WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": name}
            for name, *texts, cites in rows
            if plan.selection.is_everything
            or not plan.deleted_ids.isdisjoint(json.loads(cites))
            or any(map(plan.has_deleted_text, texts))
        ],
    )


async def erase_transcripts(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete transcripts of reflections that were shown deleted content or contain its words."""
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
            if not plan.deleted_ids.isdisjoint(json.loads(shown))
            or plan.has_deleted_text(transcript)
        ],
    )


async def redact_replies(tx: Transaction, plan: DeletionPlan, marker: RedactionMarker) -> None:
    """Replace the text of the redacted replies by a marker."""
    parameters = build_seq_params(plan.person, plan.redacted_replies)
    await tx.run_many(
        "DELETE FROM message_vector WHERE person = :person AND seq = :seq", parameters
    )
    await tx.run_many(
        """UPDATE message SET text = :text, language = :language, tokens = :tokens,
             imprint = :imprint, details = NULL WHERE person = :person AND seq = :seq""",
        [
            {
                **version,
                "text": marker.text,
                "language": marker.language,
                "imprint": b"",
                "tokens": estimate_tokens(marker.text),
            }
            for version in parameters
        ],
    )


async def erase_delivery_records(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete the delivery records of deleted and redacted replies, which stay on the platforms."""
    replies = sorted(plan.deleted_ids | {each.id for each in plan.redacted_replies})
    await tx.run_many(
        "DELETE FROM delivered WHERE person = :person AND reply = :reply",
        [{"person": plan.person, "reply": each} for each in replies],
    )


async def refresh_segments(
    tx: Transaction, person: PersonId, reopened: Iterable[SegmentId]
) -> None:
    """Count the messages of reopened segments again and clear their outcome; delete empty ones."""
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


async def refresh_batches(tx: Transaction, plan: DeletionPlan) -> None:
    """Count again what imports have brought; one with nothing left loses its file name and
    options.
    """
    rows = await tx.rows(
        """SELECT b.id, count(m.id), sum(CASE WHEN m.version = 1 THEN 1 ELSE 0 END)
           FROM import_batch b LEFT JOIN message m ON m.batch = b.id AND m.person = b.person
           WHERE b.person = :person GROUP BY b.id""",
        person=plan.person,
    )
    for batch, remaining, added in rows:
        await tx.run(
            """UPDATE import_batch SET added = :added
               WHERE person = :person AND id = :id AND added > :added""",
            added=int(added or 0),
            person=plan.person,
            id=batch,
        )
        if not remaining or batch in plan.selection.batches:
            await tx.run(
                """UPDATE import_batch SET status = 'undone', file = '', me = '', sha256 = ''
                   WHERE person = :person AND id = :id""",
                person=plan.person,
                id=batch,
            )


async def delete_empty_sessions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete closed sessions without messages, and chats without sessions."""
    await tx.run(
        """DELETE FROM session WHERE person = :person AND status = 'closed'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.session = session.id)
           AND NOT EXISTS (SELECT 1 FROM segment g WHERE g.session = session.id)""",
        person=plan.person,
    )
    for chat in sorted({each.chat for each in plan.messages}):
        await remove_empty_chat(tx, plan.person, chat)


async def redact_names(tx: Transaction, plan: DeletionPlan) -> None:
    """Remove deleted names from the titles and addresses of chats and from import files, and
    external ids that contain deleted words.
    """
    chats = await tx.rows(
        "SELECT id, channel, title, address FROM chat WHERE person = :person", person=plan.person
    )
    await tx.run_many(
        """UPDATE chat SET title = :title, address = :address
           WHERE person = :person AND id = :id""",
        [
            {
                "person": plan.person,
                "id": chat,
                "title": channel if plan.has_deleted_name(title) else title,
                "address": chat if plan.has_deleted_name(address) else address,
            }
            for chat, channel, title, address in chats
            if plan.has_deleted_name(title) or plan.has_deleted_name(address)
        ],
    )
    for table in ("session", "message"):
        ids = await tx.rows(
            f"""SELECT id, external_id FROM {table}
               WHERE person = :person AND external_id IS NOT NULL""",
            person=plan.person,
        )
        await tx.run_many(
            f"UPDATE {table} SET external_id = NULL WHERE person = :person AND id = :id",
            [
                {"person": plan.person, "id": each}
                for each, text in ids
                if plan.has_deleted_text(text)
            ],
        )
    batches = await tx.rows(
        "SELECT id, format, file FROM import_batch WHERE person = :person", person=plan.person
    )
    await tx.run_many(
        "UPDATE import_batch SET file = :file WHERE person = :person AND id = :id",
        [
            {"person": plan.person, "id": batch, "file": import_format}
            for batch, import_format, file in batches
            if plan.has_deleted_name(file)
        ],
    )


def count_deletions(plan: DeletionPlan) -> dict[str, int]:
    """Count what is deleted and redacted, without content."""
    kinds = Counter(type(entry.after).__name__.lower() for entry in plan.deleted.values())
    plurals = {"memory": "memories", "entity": "entities", "summary": "summaries"}
    return {
        "messages": len({each.id for each in plan.messages}),
        **{plural: kinds[singular] for singular, plural in plurals.items()},
        "replies": len({each.id for each in plan.redacted_replies}),
        "orphans": len(plan.orphans),
    }


def build_seq_params(
    person: PersonId, messages: Iterable[MessageVersion]
) -> list[dict[str, SqlValue]]:
    """Return the statement parameters for some message versions."""
    return [{"person": person, "seq": each.seq} for each in messages]


def split_into_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield as many values at a time as fit into one statement."""
    for start in range(0, len(values), ROWS_PER_STATEMENT):
        yield values[start : start + ROWS_PER_STATEMENT]
