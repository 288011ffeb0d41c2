"""Which of the person's words are a note? Found in what they said, so that it stands on evidence.

Whoever quotes may change case, spacing or the form of a quotation mark; what is noted is what
stands in the message.
"""

from typing import NamedTuple

from oldfriend.domain.messages import Message
from oldfriend.domain.trust import may_be_evidence
from oldfriend.memory.notes import same_words
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import EDGES, ONE_WIDTH, SHORTEST_NOTE


class Words(NamedTuple):
    """Exact words of a message."""

    words: str
    source: Message


def find_words(said: Utterance, wanted: str) -> Words | None:
    """These words as the person has just said them; None if they did not, or say too little."""
    for message in said.messages[::-1]:
        words = found_in(message.text, wanted.strip())
        if words is not None and may_be_evidence(message.trust):
            return Words(words, message)
    return None


def found_in(text: str, wanted: str) -> str | None:
    """The stretch of a text that says the wanted words, as it stands there."""
    place = folded(text).find(folded(wanted))
    if place < 0:
        wanted = wanted.strip(EDGES)
        place = folded(text).find(folded(wanted))
    words = text[place : place + len(wanted)]
    width = sum(2 if character >= "\u2e80" else 1 for character in words)
    return words if place >= 0 and width > SHORTEST_NOTE else None


def folded(text: str) -> str:
    """A text as it is compared: a character for each character."""
    lower = text.lower()
    return (lower if len(lower) == len(text) else text).translate(FOLDED)


FOLDED = ONE_WIDTH | str.maketrans({"\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-"})


def is_same_note(one: str, other: str) -> bool:
    """Whether two notes of the same message say the same: one holds the other."""
    first, second = same_words(one), same_words(other)
    return first in second or second in first
