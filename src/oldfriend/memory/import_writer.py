"""Import writer: stores new and changed messages that come with times of their own.

They come from exports and from other programs. This module knows nothing of files and formats.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, MessageId, SessionId
from oldfriend.domain.messages import UnloggedMessage, sanitize_text
from oldfriend.domain.people import SESSION_IDLE_GAP, Chat
from oldfriend.memory.deletion.tombstones import (
    NO_TOMBSTONES,
    Tombstones,
    delete_tombstones,
    fingerprint_words,
)
from oldfriend.memory.import_lookup import (
    KnownMessage,
    ensure_session_covering,
    load_known_messages,
    set_version_batch,
)
from oldfriend.memory.messages import WriteTarget, edit_message, write_messages
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import reopen_segments
from oldfriend.memory.sessions import ensure_closed_session, ensure_open_session


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMessage:
    """A message, and the external name of its session if it came in one."""

    message: UnloggedMessage
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """Where messages are written, and which import brings them."""

    chat: Chat
    language: str  # fallback where the text does not tell
    batch: BatchId | None = None  # the import; None: a program, whose texts are current
    tombstones: Tombstones = NO_TOMBSTONES  # deleted content that must not come back


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCounts:
    """What became of the messages."""

    added: int
    changed: int  # existing messages with a new text
    language: str  # of the message that was added last
    forgotten: int = 0  # left out because they were deleted before


async def write_imported_messages(
    tx: Transaction, target: ImportTarget, messages: Sequence[ImportedMessage], *, now: Micros
) -> ImportedCounts:
    """Write the new and changed ones of these messages into a chat.

    A message with a known external id gets a new version if its text has changed, and is left alone
    otherwise. A new message goes into the session it came in. Messages without a session are split
    at pauses of half an hour, in order of time, into closed sessions; but what a program reports
    from within the last half hour continues the open session, as in a conversation.
    """
    await lock_person(tx, target.chat.person)
    offered, messages = len(messages), await drop_forgotten_messages(tx, target, messages)
    ids = [each.message.external_id for each in messages if each.message.external_id is not None]
    known = await load_known_messages(tx, target.chat.person, target.chat.id, ids)
    new = [each for each in messages if each.message.external_id not in known]
    changed = await update_changed_messages(tx, target, messages, known, now=now) if known else 0
    added, language = 0, target.language
    repeated: list[ImportedMessage] = []
    for group in group_by_session(new):
        session = await resolve_session(tx, target, group, now=now)
        write_target = WriteTarget(
            chat=target.chat, session=session, batch=target.batch, language=language
        )
        written = await write_messages(tx, write_target, [each.message for each in group], now=now)
        for each, message in zip(group, written, strict=True):
            if message is None:
                repeated.append(each)
            else:
                added += 1
                language = message.language
    if repeated:  # their ids occur earlier in the same batch, and are known now
        changed += (await write_imported_messages(tx, target, repeated, now=now)).changed
    return ImportedCounts(
        added=added, changed=changed, language=language, forgotten=offered - len(messages)
    )


async def drop_forgotten_messages(
    tx: Transaction, target: ImportTarget, messages: Sequence[ImportedMessage]
) -> list[ImportedMessage]:
    """Drop messages that were deleted before; lift tombstones of what the person says again."""
    tombstones, incoming = target.tombstones, [each.message for each in messages]
    kept_flags = [
        not tombstones.is_message_forgotten(sanitize_text(message.text), said_at=message.at)
        and not tombstones.is_external_id_forgotten(
            target.chat, message.external_id, said_at=message.at
        )
        for message in incoming
    ]
    if tombstones.forgotten_at:
        said_again = {
            fingerprint_words(tombstones.key, sanitize_text(message.text))
            for message, is_kept in zip(incoming, kept_flags, strict=True)
            if is_kept and message.role == "person"
        }
        await delete_tombstones(tx, target.chat.person, said_again & tombstones.forgotten_at.keys())
    return [each for each, is_kept in zip(messages, kept_flags, strict=True) if is_kept]


async def update_changed_messages(
    tx: Transaction,
    target: ImportTarget,
    messages: Sequence[ImportedMessage],
    known: dict[str, KnownMessage],
    *,
    now: Micros,
) -> int:
    """Add versions to the known messages whose text has changed; return how many.

    Their segments wait to be consolidated again.
    """
    changed: list[MessageId] = []
    for message in (each.message for each in messages):
        stored = known.get(message.external_id or "")
        if stored is None or not is_changed(stored, message, is_export=target.batch is not None):
            continue
        edited = await edit_message(
            tx,
            target.chat.person,
            stored.id,
            message.text,
            now=now,
            is_searchable=message.is_searchable,
        )
        if target.batch is not None:
            await set_version_batch(tx, edited, batch=target.batch, details=message.details)
        known[message.external_id or ""] = replace(
            stored,
            text=edited.text,
            texts=stored.texts | {edited.text},
            edited=max(stored.edited, message.details.get("edited", "")),
        )
        changed.append(stored.id)
    await reopen_segments(tx, target.chat.person, changed)
    return len(changed)


def is_changed(known: KnownMessage, message: UnloggedMessage, *, is_export: bool) -> bool:
    """Whether a known message has a new text. An export may be older than what is stored."""
    text = sanitize_text(message.text)
    if not is_export:
        return text != known.text
    return text not in known.texts and message.details.get("edited", "") >= known.edited


def group_by_session(messages: Sequence[ImportedMessage]) -> Iterator[list[ImportedMessage]]:
    """Group messages by the session they came in; those without one are split at long pauses."""
    by_session: dict[str | None, list[ImportedMessage]] = {}
    for each in messages:
        by_session.setdefault(each.session, []).append(each)
    without_session = by_session.pop(None, [])
    yield from by_session.values()
    group: list[ImportedMessage] = []
    for each in sorted(without_session, key=lambda each: each.message.at):
        if group and each.message.at - group[-1].message.at > SESSION_IDLE_GAP:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


async def resolve_session(
    tx: Transaction, target: ImportTarget, messages: Sequence[ImportedMessage], *, now: Micros
) -> SessionId:
    """Return the session for one group of messages, created or extended to cover them."""
    external_id = messages[0].session
    times = [each.message.at for each in messages]
    first, last = min(times), max(times)
    is_live = (
        target.batch is None and now - SESSION_IDLE_GAP <= first <= last <= now + SESSION_IDLE_GAP
    )
    if external_id is not None:
        return await ensure_closed_session(
            tx,
            target.chat,
            external_id=external_id,
            opened_at=first,
            closed_at=last,
            batch=target.batch,
        )
    if is_live:
        return await ensure_open_session(tx, target.chat, first)
    return await ensure_session_covering(
        tx, target.chat, opened_at=first, closed_at=last, batch=target.batch
    )
