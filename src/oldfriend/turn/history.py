"""What was said in this chat just before? The window of recent messages that a model reads.

The person's own words and the companion's become turns. What others said in the chat is heard,
labelled, and in nobody's role. Other chats are not looked at: their words come by recall.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.llm.model import Turn
from oldfriend.memory.log import list_recent
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import fitting_in_a_row
from oldfriend.turn.labelling import heard_label, inert
from oldfriend.turn.outcome import Utterance

MOST_RECENT = 40
"""Messages of a chat that are looked at; few of them are longer than a window together."""
LARGEST_SHARE = 3
"""One earlier message takes at most this part (one third) of the window; its middle is left out."""
TURN_COST = 4
"""Tokens around each message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier message as it enters a prompt; ``role`` None: in nobody's."""

    message: Message
    role: Literal["person", "companion"] | None
    text: str


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


NOTHING_SAID = Window()


async def list_around(tx: Transaction, said: Utterance) -> Around:
    """What was said in the chat lately, beside what is being answered."""
    last = said.message
    now_said = {message.id for message in said.messages}
    recent = await list_recent(tx, last.person, last.chat, limit=MOST_RECENT + len(now_said))
    others = [message for message in recent if message.id not in now_said]
    before = tuple(message for message in others if not waits(message, last))
    waiting = tuple(message for message in others if waits(message, last))
    return Around(before=before[-MOST_RECENT:], waiting=waiting)


def waits(message: Message, answered: Message) -> bool:
    """Whether the person said this after what is being answered: it has a turn of its own."""
    is_later = message.at > answered.at or message.seq > answered.seq
    return message.role == "person" and message.version == 1 and is_later


def window_of(before: Sequence[Message], prompt: Prompt, *, budget: int) -> Window:
    """The newest of the messages that fit into a budget."""
    newest_first = [spoken_of(each, prompt, 4 * budget // LARGEST_SHARE) for each in before[::-1]]
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


def spoken_of(message: Message, prompt: Prompt, longest: int) -> Earlier:
    """An earlier message as it enters a prompt, in the role that is its own."""
    if message.role == "marker":
        text = prompt.render("marker", text=inert(message.text))
        return Earlier(message=message, role="companion", text=text)
    if message.role == message.trust == "person":
        return Earlier(message=message, role="person", text=shortened(message, prompt, longest))
    if message.role == "companion":
        return Earlier(message=message, role="companion", text=shortened(message, prompt, longest))
    return Earlier(message=message, role=None, text=heard_label(prompt, message))


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
        elif not has_begun:
            yield heard_label(prompt, each.message)
