"""Import writer: stores new and changed messages of an export, and finds those already stored.

Messages come from exports and other programs, and are matched by their external ids. This module
knows nothing of files and formats.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros, from_micros, get_credible_time, is_misdated
from oldfriend.domain.ids import BatchId, ChatId, MessageId, PersonId, SessionId, new_id
from oldfriend.domain.messages import (
    DATED,
    METADATA_DETAIL,
    SESSION_IDLE_GAP,
    Chat,
    Message,
    UnloggedMessage,
    sanitize_text,
)
from oldfriend.memory.deletion.tombstones import (
    NO_TOMBSTONES,
    Tombstones,
    delete_tombstones,
    fingerprint_words,
)
from oldfriend.memory.message_log import WriteTarget, edit_message, write_messages
from oldfriend.memory.people import lock_person, parse_chat_row
from oldfriend.memory.segments import reopen_segments
from oldfriend.memory.sessions import ensure_closed_session, ensure_open_session

IDS_PER_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMessage:
    """A stored message with every text it ever had."""

    id: MessageId
    speaker: str
    at: Micros
    text: str  # as it reads now
    texts: frozenset[str]
    edited: str  # when it was last edited, as the channel has it; empty if unknown
    details: Mapping[str, str]  # of the current version


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalIdEntry:
    """The external id of a message, and its chat."""

    message: MessageId
    chat: ChatId
    channel: str
    address: str
    external_id: str


async def list_external_ids(tx: Transaction, person: PersonId) -> list[ExternalIdEntry]:
    """Return the external ids of a person's messages, where they have one."""
    rows = await tx.rows(
        """SELECT m.id, c.id, c.channel, c.address, m.external_id
           FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.person = :person AND m.version = 1 AND m.external_id IS NOT NULL""",
        person=person,
    )
    return [
        ExternalIdEntry(
            message=MessageId(message),
            chat=ChatId(chat),
            channel=channel,
            address=address,
            external_id=external_id,
        )
        for message, chat, channel, address, external_id in rows
    ]


async def load_known_messages(
    tx: Transaction, person: PersonId, chat_id: ChatId, external_ids: Sequence[str]
) -> dict[str, KnownMessage]:
    """Return the messages of a chat with these external ids."""
    found: dict[str, KnownMessage] = {}
    for ids in split_ids(external_ids):
        parameters = {f"id{index}": value for index, value in enumerate(ids)}
        values: dict[str, SqlValue] = {"person": person, "chat": chat_id, **parameters}
        rows = await tx.rows(
            f"""SELECT first.external_id, m.id, m.speaker, m.said_at, m.text, m.details
               FROM message first
               JOIN message m ON m.id = first.id
               WHERE first.person = :person AND first.chat = :chat AND first.version = 1
               AND first.external_id IN ({", ".join(f":{name}" for name in parameters)})
               ORDER BY m.id, m.version""",
            **values,
        )
        for external_id, message, speaker, at, text, details in rows:
            current: dict[str, str] = json.loads(details) if details else {}
            edited = str(current.get("edited", ""))
            earlier = found.get(external_id)
            if earlier is not None:
                edited = max(edited, earlier.edited)
            found[external_id] = KnownMessage(
                id=MessageId(message),
                speaker=speaker,
                at=at,
                text=text,
                edited=edited,
                details=current,
                texts=frozenset({text}) | (earlier.texts if earlier is not None else frozenset()),
            )
    return found


async def list_current_versions(
    tx: Transaction, person: PersonId, chat_id: ChatId, external_ids: Sequence[str]
) -> dict[str, tuple[MessageId, int]]:
    """Return the id and the number of the current version of messages, by their external ids."""
    found: dict[str, tuple[MessageId, int]] = {}
    for ids in split_ids(external_ids):
        parameters = {f"id{index}": value for index, value in enumerate(ids)}
        rows = await tx.rows(
            f"""SELECT first.external_id, m.id, m.seq FROM message first
               JOIN message m ON m.id = first.id AND m.person = first.person
                 AND m.replaced_at IS NULL
               WHERE first.person = :person AND first.chat = :chat AND first.version = 1
               AND first.external_id IN ({", ".join(f":{name}" for name in parameters)})""",
            person=person,
            chat=chat_id,
            **parameters,
        )
        found |= {external_id: (MessageId(message), seq) for external_id, message, seq in rows}
    return found


def split_ids(external_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many ids at a time as fit into one statement."""
    for start in range(0, len(external_ids), IDS_PER_QUERY):
        yield external_ids[start : start + IDS_PER_QUERY]


async def list_chats(tx: Transaction, person: PersonId, *, channel: str) -> list[Chat]:
    """List a person's chats on a channel, oldest first."""
    rows: list[Row] = await tx.rows(
        """SELECT id, person, companion, channel, address, title FROM chat
           WHERE person = :person AND channel = :channel ORDER BY created_at, id""",
        person=person,
        channel=channel,
    )
    return [parse_chat_row(row) for row in rows]


async def find_chat_span(
    tx: Transaction, person: PersonId, chat_id: ChatId
) -> tuple[Micros, Micros] | None:
    """Return when the first and last messages of a chat were said, or None if there are none."""
    row = await tx.row(
        "SELECT min(said_at), max(said_at) FROM message WHERE chat = :chat AND person = :person",
        chat=chat_id,
        person=person,
    )
    return None if row is None or row[0] is None else (int(row[0]), int(row[1]))


async def ensure_session_covering(
    tx: Transaction, chat: Chat, *, opened_at: Micros, closed_at: Micros, batch_id: BatchId | None
) -> SessionId:
    """Return the closed imported session of a chat near these times, extended to cover them, or a
    new one.
    """
    row = await tx.row(
        """SELECT id, closed_at FROM session WHERE chat = :chat AND person = :person
           AND close_trigger = 'imported' AND external_id IS NULL AND opened_at <= :until
           ORDER BY opened_at DESC LIMIT 1""",
        chat=chat.id,
        person=chat.person,
        until=closed_at + SESSION_IDLE_GAP,
    )
    if row is None or row[1] < opened_at - SESSION_IDLE_GAP:
        session = SessionId(new_id(opened_at))
        await tx.run(
            """INSERT INTO session (id, person, companion, chat, status, opened_at, closed_at,
                 close_trigger, batch)
               VALUES (:id, :person, :companion, :chat, 'closed', :opened_at, :closed_at,
                 'imported', :batch)""",
            id=session,
            person=chat.person,
            companion=chat.companion,
            chat=chat.id,
            opened_at=opened_at,
            closed_at=closed_at,
            batch=batch_id,
        )
        return session
    await tx.run(
        """UPDATE session SET
             opened_at = CASE WHEN :opened_at < opened_at THEN :opened_at ELSE opened_at END,
             closed_at = CASE WHEN :closed_at > closed_at THEN :closed_at ELSE closed_at END
           WHERE id = :id AND person = :person""",
        opened_at=opened_at,
        closed_at=closed_at,
        id=row[0],
        person=chat.person,
    )
    return SessionId(row[0])


async def set_version_batch(
    tx: Transaction, edited: Message, *, batch_id: BatchId, details: Mapping[str, str]
) -> None:
    """Record which import brought a new version of an existing message."""
    await tx.run(
        """UPDATE message SET batch = :batch, details = :details
           WHERE id = :id AND person = :person AND version = :version""",
        batch=batch_id,
        id=edited.id,
        person=edited.person,
        version=edited.version,
        details=json.dumps(dict(details), ensure_ascii=False) if details else None,
    )


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
    tx: Transaction,
    import_target: ImportTarget,
    messages: Sequence[ImportedMessage],
    *,
    now: Micros,
) -> ImportedCounts:
    """Write the new and changed ones of these messages into a chat.

    A message with a known external id gets a new version if its text has changed, and is left alone
    otherwise. A new message goes into the session it came in. Messages without a session are split
    at pauses of half an hour, in order of time, into closed sessions; but what a program reports
    from within the last half hour continues the open session, as in a conversation. A message that
    is dated ahead counts as a day old, so that it is newer than nothing said today.
    """
    await lock_person(tx, import_target.chat.person)
    offered = len(messages)
    messages = await drop_forgotten_messages(tx, import_target, messages, now=now)
    messages = [date_back(each, now) for each in messages]
    ids = [each.message.external_id for each in messages if each.message.external_id is not None]
    known = await load_known_messages(tx, import_target.chat.person, import_target.chat.id, ids)
    new = [each for each in messages if each.message.external_id not in known]
    changed = (
        await update_changed_messages(tx, import_target, messages, known, now=now) if known else 0
    )
    added, language = 0, import_target.language
    repeated: list[ImportedMessage] = []
    for group in group_by_session(new):
        session = await resolve_session(tx, import_target, group, now=now)
        write_target = WriteTarget(
            chat=import_target.chat, session=session, batch=import_target.batch, language=language
        )
        written = await write_messages(tx, write_target, [each.message for each in group], now=now)
        for each, message in zip(group, written, strict=True):
            if message is None:
                repeated.append(each)
            else:
                added += 1
                language = message.language
    if repeated:  # their ids occur earlier in the same batch, and are known now
        changed += (await write_imported_messages(tx, import_target, repeated, now=now)).changed
    return ImportedCounts(
        added=added, changed=changed, language=language, forgotten=offered - len(messages)
    )


def date_back(imported: ImportedMessage, now: Micros) -> ImportedMessage:
    """Return a message with a possible date; the one that was given is kept in its details."""
    message = imported.message
    if not is_misdated(message.at, now):
        return imported
    details = {**message.details, DATED: from_micros(message.at, message.zone).isoformat()}
    return replace(
        imported, message=replace(message, at=get_credible_time(message.at, now), details=details)
    )


async def drop_forgotten_messages(
    tx: Transaction,
    import_target: ImportTarget,
    messages: Sequence[ImportedMessage],
    *,
    now: Micros,
) -> list[ImportedMessage]:
    """Drop messages that were deleted before; lift tombstones of what the person says again.

    A date ahead does not show that a message was said after it was deleted.
    """
    tombstones, incoming = import_target.tombstones, [each.message for each in messages]
    kept_flags = [
        not tombstones.is_message_forgotten(sanitize_text(message.text), said_at=at)
        and not tombstones.is_external_id_forgotten(
            import_target.chat, message.external_id, said_at=at
        )
        for message in incoming
        for at in [0 if is_misdated(message.at, now) else message.at]
    ]
    if tombstones.forgotten_at:
        said_again = {
            fingerprint_words(tombstones.key, sanitize_text(message.text))
            for message, is_kept in zip(incoming, kept_flags, strict=True)
            if is_kept and message.role == "person"
        }
        await delete_tombstones(
            tx, import_target.chat.person, said_again & tombstones.forgotten_at.keys()
        )
    return [each for each, is_kept in zip(messages, kept_flags, strict=True) if is_kept]


async def update_changed_messages(
    tx: Transaction,
    import_target: ImportTarget,
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
        if stored is None or not is_changed(
            stored, message, is_export=import_target.batch is not None
        ):
            continue
        edited = await edit_message(
            tx,
            import_target.chat.person,
            stored.id,
            message.text,
            now=now,
            is_searchable=message.is_searchable,
            details={**stored.details, **message.details} if import_target.batch is None else None,
        )
        if import_target.batch is not None:
            await set_version_batch(
                tx, edited, batch_id=import_target.batch, details=message.details
            )
        known[message.external_id or ""] = replace(
            stored,
            text=edited.text,
            details=edited.details,
            texts=stored.texts | {edited.text},
            edited=max(stored.edited, message.details.get("edited", "")),
        )
        changed.append(stored.id)
    await reopen_segments(tx, import_target.chat.person, changed)
    return len(changed)


def is_changed(known: KnownMessage, message: UnloggedMessage, *, is_export: bool) -> bool:
    """Whether a known message has a new text, or new metadata of a program.

    An export may be older than what is stored.
    """
    text = sanitize_text(message.text)
    if not is_export:
        metadata = message.details.get(METADATA_DETAIL)
        return text != known.text or metadata not in (None, known.details.get(METADATA_DETAIL))
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
    tx: Transaction,
    import_target: ImportTarget,
    messages: Sequence[ImportedMessage],
    *,
    now: Micros,
) -> SessionId:
    """Return the session for one group of messages, created or extended to cover them."""
    external_id = messages[0].session
    times = [each.message.at for each in messages]
    first, last = min(times), max(times)
    is_live = (
        import_target.batch is None
        and now - SESSION_IDLE_GAP <= first <= last <= now + SESSION_IDLE_GAP
    )
    if external_id is not None:
        return await ensure_closed_session(
            tx,
            import_target.chat,
            external_id=external_id,
            opened_at=first,
            closed_at=last,
            batch_id=import_target.batch,
        )
    if is_live:
        return await ensure_open_session(tx, import_target.chat, first)
    return await ensure_session_covering(
        tx, import_target.chat, opened_at=first, closed_at=last, batch_id=import_target.batch
    )
