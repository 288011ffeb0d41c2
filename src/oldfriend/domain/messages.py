"""Messages: before and in the log, with their trust class; and the people and chats they belong to.

Who is the source of a text decides what it may be used for; code alone decides it:

person     the one whose memory this is; evidence
companion  the companion's own words; context, never sole evidence
other      a known human, as in an imported chat; evidence about themselves
tool       our own records; evidence
outside    fetched, forwarded or pasted; "read in …", never a fact about the person
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import (
    BatchId,
    ChatId,
    CompanionId,
    MessageId,
    PersonId,
    SessionId,
    TurnId,
)
from oldfriend.domain.json import JsonValue

SESSION_IDLE_GAP = 30 * MINUTE
"""A pause longer than this ends a session."""

MAX_SESSION_MESSAGES = 200
MAX_SESSION_TOKENS = 20_000
"""A session that has grown to either limit ends as well."""

SessionCloseReason = Literal["idle", "max_length", "imported", "asked", "shutdown"]

NO_ZONE = "UTC"
"""The zone of a machine that has none of a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A human whose memory is kept here."""

    id: PersonId
    name: str
    is_owner: bool
    language: str | None  # the one they last used, or have chosen to be answered in
    zone: str
    has_chosen_zone: bool = False  # chosen by the person; else it is the zone of their machine
    has_fixed_language: bool = False  # chosen by the person; else it follows what they write in

    @property
    def has_guessed_zone(self) -> bool:
        """Whether times are told by no place's clocks, since nobody has said where they live."""
        return self.zone == NO_ZONE and not self.has_chosen_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """The companion, who remembers."""

    id: CompanionId
    name: str
    introduced_at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A place where a person and others talk: a channel and an address on it."""

    id: ChatId
    person: PersonId
    companion: CompanionId
    channel: str
    address: str
    title: str


Role = Literal["person", "companion", "other", "tool", "system", "marker"]
TrustClass = Literal["person", "companion", "other", "tool", "outside"]

ROLES: frozenset[str] = frozenset(get_args(Role))

TRUST_BY_ROLE: dict[Role, TrustClass] = {
    "person": "person",
    "companion": "companion",
    "other": "other",
    "tool": "outside",
    "system": "outside",
    "marker": "tool",
}
"""The class of what files and programs hand over; a tool's result may be anybody's words."""


def can_be_evidence(trust: TrustClass) -> bool:
    """Return whether texts of this class alone can support a belief about the person."""
    return trust in {"person", "tool"}


ADDRESS_DETAIL = "called"
"""The key, in a message's details, of the words that only address the companion."""
MEDIA_DETAIL: Final = "media"
"""The key of the kind of a file that came with the message."""
UNDECRYPTED_MEDIA: Final = "encrypted"
"""In place of a kind: the message is encrypted, and its key is missing."""
DOCUMENTS_DETAIL: Final = "documents"
"""The key, in a message's details, of the documents that a program has put around its words."""
QUOTED_PART_DETAIL = "picked"
"""The key of the quoted part of the replied-to message: its version, start and end."""
PRESSED_DETAIL: Final = "pressed"
"""The key of the id of our message whose button was pressed, which sent the text."""
PRESS_KEY_PREFIX: Final = "press/"
"""How the external id of what a button on the page says begins; the id of our message follows."""
PROGRAM_DETAIL: Final = "program"
"""The key of the id of the token with which a program sent the message."""
METADATA_DETAIL: Final = "metadata"
"""The key of what a program stored with the message, as a JSON object."""
RECORDING_KEY: Final = "recording"
"""The key of the id by which a platform hands out the recording of a voice message."""
TRANSCRIBED_KEY: Final = "heard"
"""In a message's details: the text is the transcript of the recording."""
DATED: Final = "dated"
"""The key of the date that a file gave a message, where it lies ahead and is not believed."""
MAX_TEXT_CHARS = 1_000_000
"""Characters in one message; far above any channel's own limit."""
MAX_SENTENCE_CHARS = 500
"""Characters of a sentence that are analyzed; some expressions take superlinear time."""
MAX_QUERY_CHARS = 4_000
"""Characters of a message used as a search query; of a longer one, its beginning and end."""
WIDE_CHARS = re.compile("[\u2e80-\U0010ffff]")
"""Characters that are about a token each: CJK and emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnloggedMessage:
    """A message before it is written to the log."""

    role: Role
    speaker: str
    text: str
    at: Micros
    zone: str = "UTC"
    trust: TrustClass
    external_id: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)  # forwarded_from, media, recording …
    author: str | None = None  # the actual author; None: as role and speaker say
    is_searchable: bool = True  # False: a notice such as "Ana joined"; kept, but never found


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One version of a message in the log; only an edit adds a version."""

    id: MessageId
    version: int
    seq: int  # position in the person's log; each version has its own
    person: PersonId
    chat: ChatId
    session: SessionId
    session_name: str  # the external id, else our own
    channel: str
    role: Role
    author: str
    speaker: str
    trust: TrustClass
    text: str
    at: Micros
    zone: str
    language: str
    tokens: int
    turn: TurnId | None
    external_id: str | None
    batch: BatchId | None
    details: Mapping[str, str]
    # Written by a model, or by another assistant; all else is shown as it stands.
    is_markdown: bool = False


def is_voice_message(details: Mapping[str, str]) -> bool:
    """Return whether a message with these details is a recording."""
    return RECORDING_KEY in details


def is_transcribed(details: Mapping[str, str]) -> bool:
    """Return whether a recording has been transcribed."""
    return TRANSCRIBED_KEY in details


def is_untranscribed(details: Mapping[str, str]) -> bool:
    """Return whether a message is a recording without a transcript."""
    return is_voice_message(details) and not is_transcribed(details)


def select_quoted_part(message: Message, part: str | None) -> Message:
    """Return a message reduced to the quoted part; whole if it was edited since."""
    version, _, span = (part or "").partition(":")
    if version != str(message.version):
        return message
    start, _, end = span.partition(":")
    return replace(message, text=message.text[int(start) : int(end)])


def truncate_middle(text: str, max_chars: int) -> str:
    """Return a text of at most ``max_chars`` characters, or the two ends of a longer one."""
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]}\n{text[len(text) - half :]}"


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model would count: a quarter of the characters.

    CJK characters count one each. Never uses the network.
    """
    wide = 0 if text.isascii() else len(WIDE_CHARS.findall(text))
    return (len(text) - wide + 3) // 4 + wide


BIDI_CONTROLS: Final = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Characters that set the direction of the text after them, also beside the name that has them."""


def sanitize_text(text: str) -> str:
    """Replace what no database can store (lone surrogates, NUL) by U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_name(name: str) -> str:
    """Return a name as it can be stored, without what turns round the text beside it."""
    return sanitize_text(name).translate(BIDI_CONTROLS)


def is_single_line(text: str) -> bool:
    """Return whether a text has no line break; every name is such a text."""
    return text.splitlines() in ([], [text])


def sanitize_json(value: JsonValue) -> JsonValue:
    """Replace what no database can store in every text of a JSON value."""
    if isinstance(value, str):
        return sanitize_text(value)
    if isinstance(value, list):
        return [sanitize_json(each) for each in value]
    if isinstance(value, dict):
        return {sanitize_text(key): sanitize_json(each) for key, each in value.items()}
    return value


def format_quote(before: str, quoted: str, after: str) -> str:
    """Return a text in which a part is quoted: in lines of its own that begin with "> "."""
    lines = "\n".join(f"> {line}" for line in quoted.strip("\n").split("\n"))
    above = "" if not before or before.endswith("\n") else "\n"
    below = "" if not after or after.startswith("\n") else "\n"
    return f"{before}{above}{lines}{below}{after}"
