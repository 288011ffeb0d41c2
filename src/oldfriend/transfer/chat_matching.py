"""To which chat does a file belong? One that is here, or a new one.

Phones name an export after the contact, and files get copied and renamed: so a chat is known
again by the messages it holds, then by its name. Words that were sent to two groups in the same
minute must not make one chat of them.

An id alone tells nothing: "1" and "m1" come again in every file. But one that the file gives,
by the same speaker at the same moment, is one message, however it reads now: even a file of that
one message belongs to the chat that holds it, and what reads otherwise becomes a new version. A
file breaks this where it gives the same id to another moment or speaker, or where three
messages or more are there and every one reads otherwise: that is another talk made after the
same pattern, with times that were counted, not measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import or_

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.people import Chat, Companion, Person
from oldfriend.memory.known import KnownMessage, known_messages, list_chats, span_of
from oldfriend.memory.people import ensure_chat
from oldfriend.transfer.inspecting import ChatPreview, Sample

FEWEST_SHARED = 3
"""Fewer common messages may be a greeting sent to everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far a chat that is here holds the messages of a file."""

    same: int  # held with the same words
    edited: int  # held with other words, by their own id, speaker and moment
    proven: int  # of both, those with their own id, speaker and moment
    different: int  # held under the same id, and another message
    expected: int  # from the time that the chat covers

    @property
    def shared(self) -> int:
        """How many messages are in both."""
        return self.same + self.edited

    def is_same_chat(self) -> bool:
        """Whether the messages alone tell that it is the same chat."""
        is_proven = self.proven > 0 and self.different == 0
        is_likely = self.same >= FEWEST_SHARED and 2 * self.shared > self.expected
        return (is_proven or is_likely) and not self.is_strange()

    def may_be_same_chat(self) -> bool:
        """Whether it can be the same chat, if the name says so."""
        return self.different <= self.same and not self.is_strange()

    def is_strange(self) -> bool:
        """Whether nothing is as it should be if it were the same chat."""
        is_unknown = self.shared == 0 and self.expected >= FEWEST_SHARED
        is_rewritten = self.same == 0 and self.edited >= FEWEST_SHARED
        return is_unknown or is_rewritten


async def chat_for(
    tx: Transaction, person: Person, companion: Companion, chat: ChatPreview, *, channel: str,
    has_id: bool, now: Micros,
) -> Chat:  # fmt: skip
    """The chat that a chat of a file belongs to; made if it is new."""
    address = chat.key
    if not has_id:
        here = await list_chats(tx, person.id, channel=channel)
        agreements = [(await agreement_with(tx, held, chat.samples), held) for held in here]
        holding = [pair for pair in agreements if pair[0].is_same_chat()]
        if holding:
            return max(holding, key=lambda pair: pair[0].shared)[1]
        named = [
            held
            for agreement, held in agreements
            if called_alike(held, chat) and agreement.may_be_same_chat()
        ]
        if named:
            return named[0]
        address = free_address(chat.key, here)
    return await ensure_chat(
        tx, person, companion, channel=channel, address=address, title=chat.title, now=now
    )


def called_alike(held: Chat, chat: ChatPreview) -> bool:
    """Whether a chat here bears the name of one in a file."""
    return held.address == chat.key or held.title == chat.title


async def agreement_with(tx: Transaction, held: Chat, samples: Sequence[Sample]) -> Agreement:
    """Compare a chat that is here with samples of one in a file."""
    span = await span_of(tx, held.person, held.id)
    if span is None:
        return Agreement(same=0, edited=0, proven=0, different=0, expected=0)
    known = await known_messages(
        tx, held.person, held.id, [sample.external_id for sample in samples]
    )
    pairs = [(known[each.external_id], each) for each in samples if each.external_id in known]
    alike = [reads_alike(message, sample) for message, sample in pairs]
    proven = [is_proven(message, sample) for message, sample in pairs]
    same, either = sum(alike), sum(map(or_, alike, proven))
    within = sum(span[0] <= sample.at <= span[1] for sample in samples)
    return Agreement(
        same=same, edited=either - same, proven=sum(proven), different=len(pairs) - either,
        expected=max(within, len(pairs)),
    )  # fmt: skip


def reads_alike(held: KnownMessage, sample: Sample) -> bool:
    """Whether a message that is here has, or had, the words of a sample."""
    return sample.text_print in {hash(text) for text in held.texts}


def is_proven(held: KnownMessage, sample: Sample) -> bool:
    """Whether a sample that bears the id of a message here is that message, however it reads."""
    return sample.has_own_id and (held.speaker, held.at) == (sample.speaker, sample.at)


def free_address(key: str, here: Sequence[Chat]) -> str:
    """The key itself, or with a number if another chat has it."""
    taken = {chat.address for chat in here}
    candidates = (key if number == 1 else f"{key} ({number})" for number in range(1, len(here) + 2))
    return next(address for address in candidates if address not in taken)
