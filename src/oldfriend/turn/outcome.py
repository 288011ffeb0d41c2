"""What goes into a turn and what comes out of it? Values only.

A turn decides; the shell that runs it writes what it decided, in one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oldfriend.domain.ids import MessageId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import CALLED, Message
from oldfriend.domain.people import Companion, Person
from oldfriend.domain.working import WorkingMemory
from oldfriend.llm.model import Completion
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.turn.perceive import Hearer


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What was said to the companion; it stands in the log already."""

    message: Message  # the last one said
    earlier: tuple[Message, ...] = ()  # said just before it, in the same burst
    person: Person
    companion: Companion
    hearer: Hearer
    first_in_chat: bool
    rewritten: int = 0  # how often something had been forgotten by then
    is_kept: bool = True  # False: in memory alone, until the store can be written again
    given: Mapping[int, Completion] = field(default_factory=dict)  # by models, before a crash

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it, in the order in which it was said."""
        return (*self.earlier, self.message)

    @property
    def text(self) -> str:
        """All of it as one text."""
        return "\n".join(map(words_of, self.messages))

    @property
    def own_words(self) -> str:
        """What of it was said, not only passed on; empty where all of it was passed on."""
        return "\n".join(words_of(each) for each in self.messages if each.trust != "outside")

    @property
    def is_in_group(self) -> bool:
        """Whether it was said among several, to none of whom this memory belongs alone."""
        return self.message.role == "other"

    @property
    def spoken(self) -> str:
        """The same as their own words; in a group with who says each."""
        if not self.is_in_group:
            return self.own_words
        own = (each for each in self.messages if each.trust != "outside")
        return "\n".join(f"{' '.join(each.speaker.split())}: {words_of(each)}" for each in own)


def words_of(message: Message) -> str:
    """What a message says to the companion, without how it calls it."""
    called = message.details.get(CALLED)
    if not called:
        return message.text
    return message.text.replace(called, "").strip(" ,:;\n\t") or message.text


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDecision:
    """A note to be kept: the exact words, the message they stand in, and who decided."""

    text: str
    source: Message
    author: str  # a rule or a prompt, with its version


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is said back, and what it stands on."""

    text: str
    language: str
    items: tuple[ReceiptItem, ...] = ()
    details: Mapping[str, JsonValue]
    introduces: bool = False  # says, once per install, what the companion is

    @property
    def dropped(self) -> tuple[MessageId, ...]:
        """The recent messages that a model was not shown for want of room, oldest first."""
        match self.details:
            case {"context": {"dropped": {"recent": [*ids]}}}:
                return tuple(MessageId(str(each)) for each in ids)
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that a turn decided."""

    reply: Reply
    notes: tuple[NoteDecision, ...]
    language: str | None  # what the person speaks, where this message told
    tells: bool  # there is something in the message to be found later
    working: WorkingMemory | None = None  # what is in mind afterwards; None: as before
    seen: frozenset[str] = frozenset()  # ids of all that it was decided from
    read: tuple[Message, ...] = ()  # what of that was just said in the chat, as it read then
    trouble: str | None = None  # why no model answered, although there is one
