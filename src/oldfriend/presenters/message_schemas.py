"""Messages and evidence: what was said, and the words that a belief rests on."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from oldfriend.channels.channel import WEB_CHANNEL
from oldfriend.domain.buttons import Button, find_buttons
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import ChatId, MessageId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence
from oldfriend.domain.messages import (
    PRESSED_DETAIL,
    Message,
    Role,
    TrustClass,
    is_voice_message,
)
from oldfriend.memory.message_metadata import Metadata, parse_metadata
from oldfriend.presenters.base_schema import Schema, describe, format_time, to_one_line
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.quotes import format_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonSchema(Schema):
    """A button below a message."""

    label: str
    command: str = field(metadata=describe("What a press says.", examples=["/yes"]))

    @classmethod
    def from_domain(cls, button: Button) -> Self:
        """Present a button to the API."""
        return cls(label=button.label, command=button.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSchema(Schema):
    """A message in its latest version."""

    id: str
    version: int = field(
        metadata=describe("The version, from 1; higher if the message was edited.")
    )
    role: Role
    speaker: str
    trust: TrustClass
    channel: str = field(
        metadata=describe("The channel on which it was sent.", examples=["web", "telegram"])
    )
    group: str | None = field(
        metadata=describe(
            "The title of the group in which it was said, where the chat lists it; null in private."
        )
    )
    session: str = field(metadata=describe("The session the message belongs to."))
    turn: str | None = field(metadata=describe("The turn, which a message and its reply share."))
    text: str
    at: str
    is_aloud: bool = field(
        metadata=describe("Whether it is a voice message; its text is the transcript.")
    )
    is_markdown: bool = field(
        metadata=describe("Whether the text is Markdown, as models write; else it is plain.")
    )
    has_sound: bool = field(
        metadata=describe("Whether there is a recording to play: GET …/recording.")
    )
    key: str | None = field(metadata=describe("The Idempotency-Key with which it was sent."))
    buttons: tuple[ButtonSchema, ...] = field(
        default=(), metadata=describe("The buttons below it: POST …/press; none on other channels.")
    )
    pressed: str | None = field(
        default=None,
        metadata=describe(
            "The id of the message whose button said it, empty if that is forgotten; "
            "null if it was written."
        ),
    )

    @classmethod
    def from_domain(
        cls,
        message: Message,
        *,
        with_audio: Container[MessageId] = (),
        groups: Mapping[ChatId, str] | None = None,
    ) -> Self:
        """Present a message to the API.

        ``with_audio`` holds the ids of messages with audio, ``groups`` the titles of group chats.
        """
        return cls(
            id=message.id,
            version=message.version,
            role=message.role,
            speaker=message.speaker,
            trust=message.trust,
            channel=message.channel,
            group=(groups or {}).get(message.chat) or None,
            session=message.session,
            turn=message.turn,
            text=message.text,
            at=format_said_at(message),
            is_aloud=is_voice_message(message.details),
            is_markdown=message.is_markdown,
            has_sound=message.id in with_audio,
            key=message.external_id if message.channel == WEB_CHANNEL else None,
            buttons=tuple(map(ButtonSchema.from_domain, find_page_buttons(message))),
            pressed=message.details.get(PRESSED_DETAIL),
        )


def find_page_buttons(message: Message) -> tuple[Button, ...]:
    """Return the buttons that a page shows below a message: those of its own channel."""
    return find_buttons(message.details) if message.channel == WEB_CHANNEL else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message in the memory."""

    id: str
    external_id: str | None  # the id given to ``add``
    session: str
    channel: str
    speaker: str
    role: str
    trust: str  # "outside": forwarded, fetched or pasted, so not the speaker's own words
    at: datetime  # aware, in the zone where it was said
    text: str
    metadata: Metadata = field(default_factory=dict, hash=False)  # what a program stored with it

    @classmethod
    def from_domain(cls, message: Message) -> Self:
        """Present a message to a program, or as JSON."""
        return cls(**build_words_fields(message))

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as JSON."""
        return {
            "message": self.id,
            "external_id": self.external_id,
            "session": self.session,
            "channel": self.channel,
            "speaker": self.speaker,
            "role": self.role,
            "trust": self.trust,
            "at": self.at.isoformat(timespec="seconds"),
            "text": self.text,
            **({"metadata": dict(self.metadata)} if self.metadata else {}),
        }


def build_words_fields(message: Message) -> dict[str, Any]:
    """Return the fields of ``StoredMessage`` for a message."""
    return {
        "id": message.id,
        "external_id": message.external_id,
        "session": message.session_name,
        "channel": message.channel,
        "speaker": message.speaker,
        "role": message.role,
        "trust": message.trust,
        "at": from_micros(message.at, message.zone),
        "text": message.text,
        "metadata": parse_metadata(message.details),
    }


def format_message(message: Message) -> str:
    """Format a message with its speaker, time and channel."""
    return f"  • {format_speaker(message)}, {format_when(message)}: {to_one_line(message.text)}"


def format_when(message: Message) -> str:
    """Format when and on which channel a message was said, as people read it."""
    return f"{format_time_in_words(message.at, message.zone)}, {message.channel}"


def format_time_in_words(at: Micros, zone: str) -> str:
    """Format a time to the minute as people read it, in its own time zone."""
    return format_moment(load_phrases("en"), at, zone)


def format_speaker(message: Message) -> str:
    """Format the speaker of a message, seen from the person."""
    if message.trust == "person":
        return "you"
    return message.speaker or message.channel


def format_said_at(message: Message) -> str:
    """Format when a message was said, in its own time zone, as ISO 8601."""
    return format_time(message.at, message.zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSchema(Schema):
    """A quote for or against a belief."""

    message: str
    quote: str
    role: Role = field(metadata=describe("Who said it, whatever their name was then."))
    speaker: str
    trust: TrustClass
    supports: bool
    at: str
    channel: str | None = field(default=None, metadata=describe("The channel, if it is known."))
    diary_day: str | None = field(
        default=None, metadata=describe("The day of the diary entry that the words are from.")
    )

    @classmethod
    def from_domain(cls, evidence: Evidence) -> Self:
        """Present a piece of evidence to the API."""
        return cls(
            message=evidence.message,
            quote=evidence.quote,
            role=evidence.role,
            speaker=evidence.speaker,
            trust=evidence.trust,
            supports=evidence.stance == "supports",
            at=format_time(evidence.said_at, evidence.zone),
            channel=evidence.channel or None,
            diary_day=None if evidence.diary_day is None else evidence.diary_day.isoformat(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceQuote:
    """A quote for or against a belief."""

    message: str  # id of the message, as in ``StoredMessage``
    text: str
    speaker: str
    at: datetime
    supports: bool

    @classmethod
    def from_domain(cls, evidence: Evidence) -> Self:
        """Present a piece of evidence to a program."""
        return cls(
            message=evidence.message,
            text=evidence.quote,
            speaker=evidence.speaker,
            at=from_micros(evidence.said_at, evidence.zone),
            supports=evidence.stance == "supports",
        )


def evidence_as_json(evidence: Evidence) -> dict[str, JsonValue]:
    """Return one piece of evidence as JSON."""
    return {
        "message": evidence.message,
        "version": evidence.version,
        "quote": evidence.quote,
        "speaker": evidence.speaker,
        "trust": evidence.trust,
        "signal": evidence.signal,
        "stance": evidence.stance,
        "confidence": evidence.confidence,
        "found_by": evidence.extractor,
        "at": format_time(evidence.said_at, evidence.zone),
    }


def evidence_as_text(evidence: Evidence) -> str:
    """Format one piece of evidence."""
    who = "you" if evidence.trust == "person" else evidence.speaker
    said = "said" if evidence.stance == "supports" else "said against it"
    when = format_time_in_words(evidence.said_at, evidence.zone)
    return f"{who} {said}, {when}: “{to_one_line(evidence.quote)}”"
