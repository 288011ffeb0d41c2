"""Group messages: stores what is said in a group in the group's own memory and has it answered.

That memory holds what was said in the group and nothing else: an answer there cannot reveal what
somebody has said in private. Each known member also gets a copy in their own memory, with their own
words as theirs and the rest as that of others.
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import InboundContext
from oldfriend.channels.channel import ChatRef, IncomingMessage, MembershipChange, Reaction, Sender
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain import messages
from oldfriend.domain.clock import Clock
from oldfriend.domain.messages import Person, is_transcribed, is_voice_message
from oldfriend.inbound.accept import (
    ChatContext,
    Intake,
    MessageAuthor,
    MessageSubmission,
    build_intake,
    enqueue_notice,
    find_pending_turn,
    store_and_enqueue,
    store_overheard,
    store_without_reply_tx,
    update_message_text,
)
from oldfriend.inbound.account_linking import choose_name, ensure_group
from oldfriend.inbound.chat_resolver import (
    build_edit_details,
    build_retry,
    ensure_platform_chat,
    find_logged_message,
    find_message_id,
    find_retry_target,
    load_reply_details,
    merge_album,
    resolve_chat,
    stop_current_turn,
)
from oldfriend.inbound.system_replies import (
    SystemReply,
    build_system_reply,
    decline_message,
    find_unread_phrase,
)
from oldfriend.inbound.voice_messages import plan_transcription
from oldfriend.memory.groups import find_group, leave_group, list_members, record_member_left
from oldfriend.memory.identities import find_identity
from oldfriend.memory.people import lock_person
from oldfriend.queues.outbox import clear_chat_blocked, find_block_reason

LINK_COMMANDS: Final = frozenset({"/link", "/unlink", "/join"})
"""What is done in private only: in a group everybody would read the code."""
COMMANDS: Final = frozenset({"/start", "/stop", "/allow", "/disallow", *LINK_COMMANDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext:
    """A group and who speaks in it; a speaker of None is nobody we know."""

    group: Person
    speaker: Person | None
    author: MessageAuthor


async def handle_group_message(
    app: InboundContext, incoming: IncomingMessage
) -> SystemReply | None:
    """Handle a message in a group that the owner allows; of other groups keep nothing."""
    speaker, group = await identify_speaker_and_group(app.db, incoming)
    command = parse_command(incoming)
    if command in {"/allow", "/disallow"} and speaker is not None and speaker.is_owner:
        return await set_group_allowed(
            app.db,
            app.clock,
            app.settings,
            incoming,
            speaker,
            group,
            is_allowed=command == "/allow",
        )
    if group is None and incoming.chat_ref.group_address in app.settings.get_allowed_addresses(
        incoming.chat_ref.channel
    ):
        group = await ensure_group(app.db, app.clock, app.settings, incoming.chat_ref)
    if group is None:
        group_address = incoming.chat_ref.group_address
        return (
            await decline_message(
                app.db, app.clock, incoming, "in_private", limit_address=group_address
            )
            if incoming.is_addressed
            else None
        )
    async with app.db.begin_read() as tx:
        author = await build_author(tx, incoming.chat_ref.channel, incoming.sender, speaker)
    group_ctx = GroupContext(group=group, speaker=speaker, author=author)
    if command in LINK_COMMANDS:
        return build_system_reply(incoming, speaker, "link_elsewhere")
    if command == "/start":
        return build_system_reply(incoming, speaker, "greeting")
    if command == "/stop":
        await stop_current_turn(
            app, await resolve_chat(app.db, app.clock, group, incoming.chat_ref)
        )
        return build_system_reply(incoming, speaker, "stopped")
    return await accept_group_message(app, group_ctx, incoming)


def parse_command(incoming: IncomingMessage) -> str | None:
    """Return the command of a message, or None."""
    words = (
        incoming.text.split(maxsplit=1)[:1]
        if incoming.is_addressed and incoming.is_own_words
        else []
    )
    command = words[0].partition("@")[0].lower() if words else ""
    return command if command in COMMANDS else None


async def identify_speaker_and_group(
    db: Database, incoming: IncomingMessage
) -> tuple[Person | None, Person | None]:
    """Return the speaker and the group, and unblock sending to a group that is heard from again."""
    channel = incoming.chat_ref.channel
    async with db.begin_read() as tx:
        speaker = await find_identity(tx, channel, incoming.sender.address)
        group = await find_group(tx, channel, incoming.chat_ref.group_address)
        is_closed = await find_block_reason(tx, channel, incoming.chat_ref.address) is not None
    if is_closed:
        async with db.begin_write() as tx:
            await clear_chat_blocked(tx, channel, incoming.chat_ref.group_address)
    return speaker, group


async def set_group_allowed(
    db: Database,
    clock: Clock,
    settings: Settings,
    incoming: IncomingMessage,
    owner: Person,
    group: Person | None,
    *,
    is_allowed: bool,
) -> SystemReply:
    """Join or leave a group, as the owner says."""
    if is_allowed:
        await ensure_group(db, clock, settings, incoming.chat_ref)
        await resolve_chat(
            db, clock, owner, replace(incoming.chat_ref, address=incoming.chat_ref.group_address)
        )
    elif group is not None:
        async with db.begin_write() as tx:
            await leave_group(tx, group.id, incoming.chat_ref.channel)
    return build_system_reply(incoming, None, "group_allowed" if is_allowed else "group_left")


async def build_author(
    tx: Transaction, channel: str, sender: Sender, speaker: Person | None
) -> MessageAuthor:
    """Return the speaker as the others know them; no name passes for that of somebody else."""
    if speaker is not None:
        return MessageAuthor(name=speaker.name, id=speaker.id)
    name = await choose_name(tx, channel, sender)
    return MessageAuthor(name=name, id=f"{channel} {sender.address}")


async def accept_group_message(
    app: InboundContext, group_ctx: GroupContext, incoming: IncomingMessage
) -> SystemReply | None:
    """Store a message for all members, and have it answered if it is addressed to us."""
    intake = build_intake(app, incoming.chat_ref.channel)
    async with app.db.begin_write() as tx:
        chat_contexts = await ensure_group_chats(tx, app.clock, group_ctx, incoming.chat_ref)
        pieces = [await merge_album(tx, chat_context, incoming) for chat_context in chat_contexts]
        for chat_context, piece in zip(chat_contexts, pieces, strict=True):
            if piece.is_edit:
                await apply_group_edit(tx, intake, group_ctx, chat_context, piece)
            else:
                await store_for_member(tx, intake, group_ctx, chat_context, piece)
    app.notifier.notify()
    is_unreadable = (
        incoming.is_addressed and not pieces[0].is_edit and not is_readable(intake, incoming)
    )
    return (
        build_system_reply(incoming, group_ctx.speaker, find_unread_phrase(incoming.details))
        if is_unreadable
        else None
    )


def is_readable(intake: Intake, incoming: IncomingMessage) -> bool:
    """Return whether a message has words, or is a recording that can be transcribed."""
    return incoming.is_readable or (intake.can_transcribe and is_voice_message(incoming.details))


async def ensure_group_chats(
    tx: Transaction, clock: Clock, group_ctx: GroupContext, chat_ref: ChatRef
) -> list[ChatContext]:
    """Return the chats in the memories of the group and then of its members, all locked."""
    members = await list_members(tx, chat_ref.channel, chat_ref.group_address)
    known = {each.id: each for each in [*members, *filter(None, [group_ctx.speaker])]}
    for person in sorted([group_ctx.group.id, *known]):
        await lock_person(tx, person)
    if group_ctx.speaker is not None:  # whoever speaks in a topic is in the whole group
        await ensure_platform_chat(
            tx, clock, group_ctx.speaker, replace(chat_ref, address=chat_ref.group_address)
        )
    owners = [group_ctx.group, *known.values()]
    return [await ensure_platform_chat(tx, clock, each, chat_ref) for each in owners]


async def store_for_member(
    tx: Transaction,
    intake: Intake,
    group_ctx: GroupContext,
    chat_context: ChatContext,
    incoming: IncomingMessage,
) -> None:
    """Store a message from the point of view of the person whose memory it goes into."""
    if await find_logged_message(tx, chat_context, incoming) is not None:
        return
    details = {**incoming.details, **await load_reply_details(tx, chat_context, incoming)}
    submission = build_group_message(intake, group_ctx, chat_context, incoming, details)
    if incoming.is_addressed:
        retry_target = await find_retry_target(
            tx, chat_context, incoming, details, author=group_ctx.author.id
        )
        submission = submission if retry_target is None else build_retry(submission, retry_target)
    if not is_readable(intake, incoming):
        await store_without_reply_tx(tx, intake, chat_context, submission)
    elif chat_context.person.id == group_ctx.group.id and (
        incoming.is_addressed or await find_pending_turn(tx, intake, chat_context, submission)
    ):
        await store_and_enqueue(tx, intake, chat_context, submission)
    else:
        stored = await store_overheard(tx, intake, chat_context, submission)
        if stored is not None and chat_context.person.id == group_ctx.group.id:
            await plan_transcription(tx, intake.clock, intake.settings, stored)


def build_group_message(
    intake: Intake,
    group_ctx: GroupContext,
    chat_context: ChatContext,
    incoming: IncomingMessage,
    details: dict[str, str],
) -> MessageSubmission:
    """Build a submission from the point of view of the person whose memory it goes into."""
    is_own = group_ctx.speaker is not None and group_ctx.speaker.id == chat_context.person.id
    is_said = incoming.is_own_words and is_readable(intake, incoming)
    return MessageSubmission(
        text=incoming.text,
        at=incoming.at,
        external_id=incoming.external_id,
        number=incoming.number,
        trust=("person" if is_own else "other") if is_said else "outside",
        details=details,
        author=None if is_own else group_ctx.author,
    )


async def apply_group_edit(
    tx: Transaction,
    intake: Intake,
    group_ctx: GroupContext,
    chat_context: ChatContext,
    incoming: IncomingMessage,
) -> None:
    """Apply an edit to a logged message; if only the edit addresses us, it is answered."""
    logged = await find_logged_message(tx, chat_context, incoming)
    if (
        logged is None
        or logged.text == messages.sanitize_text(incoming.text)
        or is_transcribed(logged.details)
    ):
        return
    if (
        incoming.is_addressed
        and logged.turn is None
        and chat_context.person.id == group_ctx.group.id
    ):
        submission = build_group_message(
            intake,
            group_ctx,
            chat_context,
            incoming,
            {**build_edit_details(logged), **incoming.details},
        )
        await store_and_enqueue(
            tx, intake, chat_context, replace(submission, external_id=incoming.edit_id)
        )
        return
    edited = await update_message_text(
        tx, intake.clock, intake.settings, chat_context.person.id, logged.id, incoming.text
    )
    if edited.turn is not None:
        await enqueue_notice(tx, intake, chat_context.chat, edited, kind="edited")


async def store_group_reaction(app: InboundContext, reaction: Reaction) -> None:
    """Store a reaction in the group's memory, if it has one."""
    async with app.db.begin_read() as tx:
        group = await find_group(tx, reaction.chat_ref.channel, reaction.chat_ref.group_address)
        speaker = await find_identity(tx, reaction.chat_ref.channel, reaction.sender.address)
    if group is None or not reaction.emoji:
        return
    chat_context = await resolve_chat(app.db, app.clock, group, reaction.chat_ref)
    async with app.db.begin_write() as tx:
        target_id = await find_message_id(
            tx, group.id, chat_context.chat.id, reaction.target_external_id
        )
        author = await build_author(tx, reaction.chat_ref.channel, reaction.sender, speaker)
        submission = MessageSubmission(
            text=f"[{reaction.emoji}]",
            at=reaction.at,
            external_id=reaction.external_id,
            trust="other",
            details={} if target_id is None else {"reacts_to": target_id},
            author=author,
        )
        intake = build_intake(app, reaction.chat_ref.channel)
        await store_without_reply_tx(tx, intake, chat_context, submission)


async def record_membership(db: Database, clock: Clock, change: MembershipChange) -> None:
    """Record which known people are in a group that we are part of."""
    chat_ref = change.chat_ref
    async with db.begin_write() as tx:
        if await find_group(tx, chat_ref.channel, chat_ref.group_address) is None:
            return
        for sender in change.members:
            person = await find_identity(tx, chat_ref.channel, sender.address)
            if person is None:
                continue
            if change.has_joined:
                await ensure_platform_chat(
                    tx, clock, person, replace(chat_ref, address=chat_ref.group_address)
                )
            else:
                await record_member_left(
                    tx,
                    person.id,
                    channel=chat_ref.channel,
                    address=chat_ref.group_address,
                    now=clock(),
                )
