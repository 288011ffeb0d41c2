"""To which chat does a file belong? One that is here, or a new one.

Phones name an export after the contact, and files get copied and renamed: so a chat is known
again by the messages it holds, then by its name. Words that were sent to two groups in the same
minute must not make one chat of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.people import Chat, Companion, Person
from oldfriend.memory.known import known_messages, list_chats, span_of
from oldfriend.memory.people import ensure_chat
from oldfriend.transfer.inspecting import ChatPreview, Sample

FEWEST_SHARED = 3
"""Fewer common messages may be a greeting sent to everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far a chat that is here holds the messages of a file."""

    same: int  # held with the same words
    different: int  # held under the same id with other words
    expected: int  # from the time that the chat covers

    def is_same_chat(self) -> bool:
        """Whether the messages alone tell that it is the same chat."""
        return self.same >= FEWEST_SHARED and 2 * self.same > self.expected

    def may_be_same_chat(self) -> bool:
        """Whether it can be the same chat, if the name says so."""
        is_strange = self.same == 0 and self.expected >= FEWEST_SHARED
        return self.different <= self.same and not is_strange


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
            return max(holding, key=lambda pair: pair[0].same)[1]
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
        return Agreement(same=0, different=0, expected=0)
    known = await known_messages(
        tx, held.person, held.id, [sample.external_id for sample in samples]
    )
    common = [
        sample.text_print in {hash(text) for text in known[sample.external_id].texts}
        for sample in samples
        if sample.external_id in known
    ]
    within = sum(span[0] <= sample.at <= span[1] for sample in samples)
    return Agreement(
        same=sum(common), different=len(common) - sum(common), expected=max(within, len(common))
    )


def free_address(key: str, here: Sequence[Chat]) -> str:
    """The key itself, or with a number if another chat has it."""
    taken = {chat.address for chat in here}
    candidates = (key if number == 1 else f"{key} ({number})" for number in range(1, len(here) + 2))
    return next(address for address in candidates if address not in taken)
