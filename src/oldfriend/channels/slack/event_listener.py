"""Event listener: handles what comes over one socket after the other, and what was missed between.

Slack tells nothing of what it could not deliver for long, so it is read from the history of each
conversation, from how far that was read; in a new process, from where our cursor stands.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    ChannelEvent,
    ChatAvailability,
    Cursors,
    HandleEvent,
    PressAnswer,
)
from oldfriend.channels.json_fields import JsonFields, find_fields, find_text, list_json_objects
from oldfriend.channels.slack.event_mapping import (
    TIMESTAMP,
    EventMapper,
    build_external_id,
    format_timestamp,
    is_private,
    parse_timestamp,
)
from oldfriend.channels.slack.rendering import drop_buttons, escape
from oldfriend.channels.slack.slack_errors import (
    TEMPORARY,
    TOKEN_REFUSED,
    SlackRefusal,
    SlackUnreachable,
    TooManyPages,
)
from oldfriend.channels.slack.socket_mode import AfterAcknowledgement, Envelope
from oldfriend.channels.slack.web_api import SlackApi, SlackIdentity

THREAD_LOOKBACK_S: Final = 24 * 60 * 60.0
"""How long before the last message heard a thread may begin whose new replies are caught up."""
BEGAN: Final = "began"
"""The scope of the cursor that says since when conversations are heard."""
MAX_KEYS: Final = 4_000


class SlackEventListener:
    """What is heard over one socket after the other, and how far that is."""

    def __init__(
        self,
        api: SlackApi,
        bot: SlackIdentity,
        handle_event: HandleEvent,
        cursors: Cursors,
        handled: BoundedMap[str, None],
        read_to: dict[str, str],
    ) -> None:
        """Take what handles events; ``handled`` are the keys of those that were handled lately,
        ``read_to`` is how far the history of each conversation was read.
        """
        self._api = api
        self._mapper = EventMapper(api, bot)
        self._team_id = bot.team_id
        self._handle_event = handle_event
        self._cursors = cursors
        self._handled = handled
        self._read_to = read_to
        self._positions: dict[str, str] = {}
        self._began = ""

    async def begin(self) -> None:
        """Note since when conversations are heard. Raises StoreError."""
        found = await self._cursors.find(BEGAN)
        self._began = found or format_timestamp(time.time())
        if found is None:
            await self._cursors.save(BEGAN, self._began)

    async def handle(self, envelope: Envelope) -> AfterAcknowledgement | None:
        """Handle an envelope; when this returns, it is durable. Raises StoreError."""
        if not envelope.is_for(self._team_id):
            return None
        match envelope.kind:
            case "events_api":
                event_id = find_text(envelope.payload, "event_id")
                await self._handle_once(f"event:{event_id}" if event_id else "", envelope.event)
            case "slash_commands":
                said = await self._mapper.map_slash_command(envelope.payload)
                if said is not None:
                    await self._handle_event(said)
            case "interactive":
                press = await self._mapper.map_press(envelope.payload)
                if press is not None:
                    answer = await self._handle_event(press)
                    return PressReply(self._api, envelope.payload, answer)
        return None

    async def catch_up(self, conversation: str) -> None:
        """Handle what was said in a conversation since it was last heard. Raises StoreError."""
        since = self._read_to.get(conversation) or await self._cursors.find(conversation)
        if since is None and not is_private(conversation):
            # The bot may have been added today; what was said there before is none of its business.
            await self._save_position(conversation, format_timestamp(time.time()))
            return
        since = since or self._began
        try:
            missed = await self._list_missed(conversation, since)
        except SlackRefusal as refusal:
            if refusal.code in TEMPORARY | TOKEN_REFUSED:
                raise
            return  # the bot may not read there
        for event in missed:
            await self._handle_once("", event)
            if is_later(timestamp := find_text(event, "ts"), since):
                since = timestamp
        self._read_to[conversation] = since

    async def _list_missed(self, conversation: str, since: str) -> list[JsonFields]:
        """Return the events of the messages after a position and of edits since, in order."""
        oldest = format_timestamp(max(float(since) - THREAD_LOOKBACK_S, 0.0))
        found: dict[str, JsonFields] = {}
        with suppress(TooManyPages):  # the latest of them
            async for each in self._api.list_history(conversation, oldest=oldest, is_patient=True):
                found[find_text(each, "ts")] = each
        for parent in list(found.values()):
            if is_later(find_text(parent, "latest_reply"), since):
                thread = find_text(parent, "ts")
                with suppress(TooManyPages):
                    async for each in self._api.list_history(
                        conversation, oldest=since, thread=thread, is_patient=True
                    ):
                        found[find_text(each, "ts")] = each
        events: list[JsonFields] = []
        for timestamp, message in sorted(found.items()):
            if is_later(timestamp, since):
                events.append({**message, "type": "message", "channel": conversation})
            if is_later(find_text(find_fields(message, "edited"), "ts"), since):
                events.append(build_edit_event(conversation, message))
        return events

    async def _handle_once(self, key: str, event: JsonFields) -> None:
        """Handle an event, unless it was handled lately, and save how far that is."""
        keys = [each for each in (key, build_message_key(event)) if each]
        if not any(each in self._handled for each in keys):
            mapped = await self._mapper.map_event(event)
            if mapped is not None:
                await self._handle_event(mapped)
                await self._record_position(event, mapped)
        for each in keys:
            self._handled[each] = None

    async def _record_position(self, event: JsonFields, mapped: ChannelEvent) -> None:
        """Save how far a conversation was heard: to a message, or to when the bot joined."""
        conversation = find_text(event, "channel")
        timestamp = find_text(event, "ts") if is_new_message(event) else ""
        if isinstance(mapped, ChatAvailability) and mapped.is_available:
            timestamp = find_text(event, "event_ts")
        if conversation and TIMESTAMP.fullmatch(timestamp):
            await self._save_position(conversation, timestamp)

    async def _save_position(self, conversation: str, timestamp: str) -> None:
        """Save a position, unless a later one is saved. Raises StoreError."""
        if conversation not in self._positions:
            self._positions[conversation] = await self._cursors.find(conversation) or ""
        if is_later(timestamp, self._positions[conversation]):
            await self._cursors.save(conversation, timestamp)
            self._positions[conversation] = timestamp


@dataclass(frozen=True, slots=True)
class PressReply:
    """What the one who pressed a button is told, once the press is acknowledged."""

    api: SlackApi
    payload: JsonFields
    answer: PressAnswer | None

    async def __call__(self) -> None:
        """Tell it, and take used buttons away; if that fails, a second press does no harm."""
        container = find_fields(self.payload, "container")
        message = find_fields(self.payload, "message")
        channel, timestamp = find_text(container, "channel_id"), find_text(container, "message_ts")
        if self.answer is not None and self.answer.text:
            with suppress(SlackRefusal, SlackUnreachable):
                await self.api.tell(
                    "chat.postEphemeral",
                    channel=channel,
                    user=find_text(find_fields(self.payload, "user"), "id"),
                    thread_ts=find_text(message, "thread_ts") or None,
                    text=escape(self.answer.text),
                )
        if self.answer is not None and self.answer.is_used:
            with suppress(SlackRefusal, SlackUnreachable):
                await self.api.tell(
                    "chat.update",
                    channel=channel,
                    ts=timestamp,
                    text=find_text(message, "text"),
                    blocks=drop_buttons(
                        [dict(each) for each in list_json_objects(message, "blocks")]
                    ),
                )


def is_later(timestamp: str, than: str) -> bool:
    """Tell whether a timestamp is one, and later than another, or than none."""
    if not TIMESTAMP.fullmatch(timestamp):
        return False
    return not than or parse_timestamp(timestamp) > parse_timestamp(than)


def is_new_message(event: JsonFields) -> bool:
    """Tell whether an event is a message, and not what has become of one."""
    subtypes = {"message_changed", "message_deleted", "message_replied"}
    return (
        find_text(event, "type") in {"message", "app_mention"}
        and find_text(event, "subtype") not in subtypes
    )


def build_message_key(event: JsonFields) -> str:
    """Return the key of a new message or an edit, which we may be told twice; "" for all else."""
    channel, timestamp = find_text(event, "channel"), find_text(event, "ts")
    if find_text(event, "subtype") == "message_changed":
        message = find_fields(event, "message")
        edited = find_text(find_fields(message, "edited"), "ts")
        parts = (find_text(message, "ts"), edited, find_text(message, "subtype"))
        timestamp = "/".join(parts) if edited else ""
    elif not is_new_message(event):
        timestamp = ""
    return build_external_id(channel, timestamp) if channel and timestamp else ""


def build_edit_event(conversation: str, raw_message: JsonFields) -> JsonFields:
    """Return the event that tells of an edit."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "channel": conversation,
        "message": dict(raw_message),
    }
