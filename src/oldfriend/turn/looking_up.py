"""What is looked up for a reply by rules that asks for no search? Exact things, with their words.

Who the person is, what is open, what the last reply stood on, what was believed on a day, what
forgetting somebody would take. Reads, and writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros, to_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Known, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import get_known
from oldfriend.memory.changes import believed_at
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.forgetting.choosing import Wish, choose
from oldfriend.memory.forgetting.foreseeing import foresee
from oldfriend.memory.log import get_message, list_recent
from oldfriend.memory.receipts import Receipt, find_receipt
from oldfriend.memory.search import named_in
from oldfriend.memory.search.dates import Span, spans_in
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.recall import Remembered, offset_at, what_is_behind
from oldfriend.turn.receipting import WRITTEN
from oldfriend.turn.written import written_about

LOOKED_BACK = 6
"""Messages before what was said, among which the last reply is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a reply stood on."""

    beliefs: tuple[Remembered, ...] = ()
    messages: tuple[Message, ...] = ()
    written: str = ""  # what the person has written about themselves, as it was told
    written_for: str = ""  # the message that was answered by it

    @property
    def are_none(self) -> bool:
        """Whether it stood on nothing that is remembered."""
        return not (self.beliefs or self.messages or self.written)


NO_GROUNDS = Grounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What was believed at the end of a day, or of another span of time."""

    at: Micros
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldGo:
    """What forgetting somebody would take away."""

    name: str
    messages: int
    beliefs: int


async def with_their_words(
    tx: Transaction, person: PersonId, known: Sequence[Known]
) -> tuple[Remembered, ...]:
    """Beliefs that were not searched for, each with the words it rests on."""
    grounds = await what_is_behind(tx, person, [each.memory for each in known])
    return tuple(
        Remembered(
            known=each, score=1.0, why=(), words=grounds[each.memory.id].words,
            set_at=grounds[each.memory.id].set_at,
        )
        for each in known
    )  # fmt: skip


async def what_it_stood_on(tx: Transaction, said: Utterance) -> Grounds:
    """What the last reply in this chat used: beliefs with their words, and messages."""
    person = said.person.id
    recent = await list_recent(tx, person, said.message.chat, limit=LOOKED_BACK)
    replies = [message.id for message in recent if message.role == "companion"]
    receipt = await find_receipt(tx, person, replies[-1]) if replies else None
    if receipt is None:
        return NO_GROUNDS
    used = [item for item in receipt.items if item.used]
    known = [await found_known(tx, person, item.object) for item in used if item.kind == "memory"]
    beliefs = await with_their_words(tx, person, [each for each in known if each is not None])
    messages = [
        await found_message(tx, person, item.object) for item in used if item.kind == "message"
    ]
    asked = str(receipt.details.get(WRITTEN) or "")
    return Grounds(
        beliefs=beliefs, messages=tuple(each for each in messages if each is not None),
        written=await written_told(tx, receipt, asked), written_for=asked,
    )  # fmt: skip


async def written_told(tx: Transaction, receipt: Receipt, question: str) -> str:
    """What the person has written about themselves that answers a message, as it reads now."""
    asked = await found_message(tx, receipt.person, question) if question else None
    if asked is None:
        return ""
    blocks = await list_blocks(tx, receipt.person)
    return written_about(asked.text, str(receipt.details.get("language")), blocks)


async def found_known(tx: Transaction, person: PersonId, memory: str) -> Known | None:
    """A belief, if it is there still."""
    try:
        return await get_known(tx, person, MemoryId(ObjectId(memory)))
    except NotFound:
        return None


async def found_message(tx: Transaction, person: PersonId, message: str) -> Message | None:
    """A message as it reads now, if it is there still."""
    try:
        return await get_message(tx, person, MessageId(message))
    except NotFound:
        return None


async def believed_then(tx: Transaction, said: Utterance) -> Then | None:
    """What was believed at the end of the time that the words name; None where they name none."""
    message = said.message
    offset_s = offset_at(message.at, message.zone)
    spans = spans_in(said.text, asked_at=message.at, zone_offset_s=offset_s)
    if not spans:
        return None
    at = end_of(spans[0], offset_s, now=message.at)
    decided = [change.after for change in await believed_at(tx, said.person.id, at)]
    live = [each for each in decided if isinstance(each, Memory) and each.is_live]
    return Then(at=at, memories=tuple(each for each in live if each.kind != "note"))


def end_of(span: Span, offset_s: int, *, now: Micros) -> Micros:
    """The last moment of a span that is over; of one that goes on, now."""
    end = span.end if to_micros(midnight(span.first)) <= now else last_year(span.end)
    return min(now, to_micros(midnight(end)) - offset_s * SECOND - 1)


def midnight(day: date) -> datetime:
    """When a day begins, by UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def last_year(day: date) -> date:
    """The same day a year before, nearly."""
    return day - timedelta(days=365)


async def would_go(tx: Transaction, said: Utterance, entities: Sequence[Entity]) -> WouldGo | None:
    """What would go if the one were forgotten whom the words name; None: they name nobody."""
    named = named_in(said.text, entities)
    if not named:
        return None
    person, name = said.person.id, named[0].name
    plan = await foresee(tx, person, await choose(tx, person, Wish(about=name)))
    beliefs = sum(isinstance(change.after, Memory) for change in plan.objects.values())
    messages = len({each.id for each in plan.messages})
    return WouldGo(name=name, messages=messages, beliefs=beliefs)
