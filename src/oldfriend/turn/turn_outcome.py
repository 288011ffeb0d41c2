"""Turn outcome: the input and result values of a turn.

A turn decides; its caller writes the decision in one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oldfriend.domain.buttons import Button
from oldfriend.domain.ids import MessageId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import ADDRESS_DETAIL, Companion, Message, Person
from oldfriend.llm.model import Completion
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.working_memory import WorkingMemory
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.turn.intent import Addressee
from oldfriend.turn.store_change import StoreChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """The messages to be answered, which are in the log already."""

    message: Message  # the last one
    earlier: tuple[Message, ...] = ()  # just before it, in the same burst
    person: Person
    companion: Companion
    addressee: Addressee
    chat_language: str | None = None  # the prevailing one of this chat lately
    is_first_in_chat: bool
    # The first in this chat in a language that nothing here was trained to read.
    is_first_unlearned: bool = False
    deletion_count: int = 0  # number of deletions by then
    is_persisted: bool = True  # False: only in memory, while the store cannot be written
    # By number, from before a crash.
    recorded_completions: Mapping[int, Completion] = field(default_factory=dict)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return all messages, in order."""
        return (*self.earlier, self.message)

    @property
    def text(self) -> str:
        """Return all messages as one text."""
        return "\n".join(map(strip_mention, self.messages))

    @property
    def own_words(self) -> str:
        """Return the text without what was only forwarded; empty if all of it was."""
        return "\n".join(strip_mention(each) for each in self.messages if each.trust != "outside")

    @property
    def system_language(self) -> str:
        """Return the language of system texts in this chat, such as errors."""
        return choose_language(self.chat_language, self.message.language, self.person.language)

    @property
    def is_in_group(self) -> bool:
        """Tell whether it was said in a group, whose memory belongs to no member alone."""
        return self.message.role == "other"

    @property
    def text_with_speakers(self) -> str:
        """Return the text without what was forwarded; in a group, with each speaker's name."""
        if not self.is_in_group:
            return self.own_words
        own = (each for each in self.messages if each.trust != "outside")
        return "\n".join(f"{' '.join(each.speaker.split())}: {strip_mention(each)}" for each in own)


def strip_mention(message: Message) -> str:
    """Return a message's text without the mention that addresses the companion."""
    mention = message.details.get(ADDRESS_DETAIL)
    if not mention:
        return message.text
    return message.text.replace(mention, "").strip(" ,:;\n\t") or message.text


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDecision:
    """A note to be stored: the exact words, the message that holds them, and who decided."""

    text: str
    source: Message
    author: str  # a rule or a prompt, with its version


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is said back and what it rests on."""

    text: str
    language: str
    items: tuple[ReceiptItem, ...] = ()
    details: Mapping[str, JsonValue]
    is_introduction: bool = False  # says what the companion is, once per install
    is_from_model: bool = False  # no quotes by rules, and no notice
    buttons: tuple[Button, ...] = ()  # below it, where the channel has them

    @property
    def dropped_message_ids(self) -> tuple[MessageId, ...]:
        """Return the ids of recent messages that did not fit into the prompt, oldest first."""
        match self.details:
            case {"context": {"dropped": {"recent": [*ids]}}}:
                return tuple(MessageId(str(each)) for each in ids)
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that a turn decided."""

    reply: Reply
    notes: tuple[NoteDecision, ...]
    language: str | None  # the person's, if this message tells
    is_informative: bool  # the message holds something worth finding later
    working_memory: WorkingMemory | None = None  # None: unchanged
    seen_ids: frozenset[str] = frozenset()  # ids of everything it was decided from
    read_messages: tuple[Message, ...] = ()  # the recent messages among them, as they read then
    failure_kind: str | None = None  # why the configured model did not answer
    changes: tuple[StoreChange, ...] = ()  # what the person asked for and tools decided
