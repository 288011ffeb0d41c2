"""What was said in this chat just before? The window of recent messages that a model reads.

The person's own words and the companion's become turns. What others said in the chat is heard,
labelled, and in nobody's role. A reply that rules have written quotes whoever said something: it
is a remark only, since what it quotes comes by recall, under its own label. So do the words of
other chats, which are not looked at here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import PICKED, Message, estimate_tokens, picked_from
from oldfriend.llm.model import Turn
from oldfriend.memory.log import get_message, list_recent
from oldfriend.memory.receipts import count_quoted
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import fitting_in_a_row
from oldfriend.turn.labelling import heard_label, inert, visible, without_tags
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import RULES

MOST_RECENT = 40
"""Messages of a chat that are looked at; few of them are longer than a window together."""
LARGEST_SHARE = 3
"""One earlier message takes at most this part (one third) of the window; its middle is left out."""
TURN_COST = 4
"""Tokens around each message."""

Quoting: TypeAlias = Mapping[MessageId, int]
"""The replies that rules have written, and how many messages each quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier message as it enters a prompt; ``role`` None: in nobody's."""

    message: Message
    role: Literal["person", "companion"] | None
    text: str
    is_remark: bool = False  # of ours, on what the companion did


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of the recent messages that a model reads."""

    turns: tuple[Turn, ...] = ()
    heard: tuple[str, ...] = ()  # labelled, oldest first
    shown: tuple[Message, ...] = ()
    dropped: tuple[Message, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stands in the chat around what is being answered, oldest first."""

    before: tuple[Message, ...] = ()
    waiting: tuple[Message, ...] = ()  # said since, to be answered in turns of their own
    quoting: Quoting = field(default_factory=dict)
    replied_to: tuple[Message, ...] = ()  # which they picked to reply to


NOTHING_SAID = Window()


async def list_around(tx: Transaction, said: Utterance) -> Around:
    """What was said in the chat lately, beside what is being answered."""
    last = said.message
    now_said = {message.id for message in said.messages}
    recent = await list_recent(tx, last.person, last.chat, limit=MOST_RECENT + len(now_said))
    others = [message for message in recent if message.id not in now_said]
    before = tuple(message for message in others if not waits(message, last))
    waiting = tuple(message for message in others if waits(message, last))
    before = before[-MOST_RECENT:]
    replies = [message.id for message in before if message.role == "companion"]
    quoting = await count_quoted(tx, last.person, replies, author=RULES)
    replied_to = await list_replied_to(tx, said)
    return Around(before=before, waiting=waiting, quoting=quoting, replied_to=replied_to)


async def list_replied_to(tx: Transaction, said: Utterance) -> tuple[Message, ...]:
    """The messages to which these are replies; not those that are forgotten by now."""
    replies = {each.details.get("replies_to"): each.details.get(PICKED) for each in said.messages}
    meant: list[Message] = []
    for each, picked in replies.items():
        with suppress(NotFound):
            if each is not None:
                replied = await get_message(tx, said.person.id, MessageId(each))
                meant.append(picked_from(replied, picked))
    return tuple(meant)


def waits(message: Message, answered: Message) -> bool:
    """Whether somebody said this after what is being answered: it has a turn of its own."""
    is_later = message.at > answered.at or message.seq > answered.seq
    return message.role in {"person", "other"} and message.version == 1 and is_later


def window_of(
    before: Sequence[Message], quoting: Quoting, prompt: Prompt, *, budget: int
) -> Window:
    """The newest of the messages that fit into a budget."""
    longest = 4 * budget // LARGEST_SHARE
    newest_first = [
        remark_of(each, quoting[each.id], prompt)
        if each.id in quoting
        else spoken_of(each, prompt, longest)
        for each in before[::-1]
    ]
    costs = [estimate_tokens(each.text) + TURN_COST for each in newest_first]
    count = fitting_in_a_row(costs, budget)
    kept = newest_first[:count][::-1]
    shown = {each.message.id for each in kept}
    return Window(
        turns=turns_of(kept),
        heard=tuple(heard_in(kept, prompt)),
        shown=tuple(each.message for each in kept),
        dropped=tuple(each for each in before if each.id not in shown),
        tokens=sum(costs[:count]),
    )


def remark_of(reply: Message, quoted: int, prompt: Prompt) -> Earlier:
    """A reply that rules have written, without its words."""
    text = prompt.render("by_rules", count=str(quoted))
    return Earlier(message=reply, role="companion", text=text, is_remark=True)


def spoken_of(message: Message, prompt: Prompt, longest: int) -> Earlier:
    """An earlier message as it enters a prompt, in the role that is its own."""
    if message.role == "marker":
        text = prompt.render("marker", text=inert(message.text))
        return Earlier(message=message, role="companion", text=text, is_remark=True)
    if message.role == message.trust == "person":
        return Earlier(message=message, role="person", text=shortened(message, prompt, longest))
    if message.role == "companion":
        own = without_labels(message)
        return Earlier(message=own, role="companion", text=shortened(own, prompt, longest))
    return Earlier(message=message, role=None, text=heard_label(prompt, message))


def without_labels(message: Message) -> Message:
    """The companion's own words without labels that it was shown, and might have repeated."""
    text = without_tags(visible(message.text))
    return message if text == message.text else replace(message, text=text)


def shortened(message: Message, prompt: Prompt, longest: int) -> str:
    """A message's text; of a very long one the beginning and the end."""
    text = message.text
    if len(text) <= longest or message.tokens <= longest // 4:
        return text
    half = longest // 2 if text.isascii() else longest // 8
    gap = prompt.render("left_out", count=f"{len(text) - 2 * half:,}")
    return f"{text[:half]}\n{gap}\n{text[len(text) - half :]}"


def turns_of(kept: Sequence[Earlier]) -> tuple[Turn, ...]:
    """What the two said, from the person's first words on; each side's words in a row are one."""
    turns: list[Turn] = []
    for each in kept:
        if each.role is None or (each.role == "companion" and not turns):
            continue
        if turns and turns[-1].role == each.role:
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n\n{each.text}")
        else:
            turns.append(Turn(role=each.role, text=each.text))
    return tuple(turns)


def heard_in(kept: Sequence[Earlier], prompt: Prompt) -> Iterator[str]:
    """What stands in nobody's role: others' words, and the companion's before the person's."""
    has_begun = False
    for each in kept:
        has_begun = has_begun or each.role == "person"
        if each.role is None:
            yield each.text
        elif not has_begun and not each.is_remark:
            yield heard_label(prompt, each.message)
