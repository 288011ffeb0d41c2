"""Small talk: recognizes talk of mere questions and greetings, which a model need not read.

By learned message acts, and only in the languages that they were learned from: elsewhere everything
is read.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act, is_in_learned_language
from oldfriend.learning.validation.cue_words import fold_characters, list_all_cue_words

MIN_PROBABILITY: Final = 0.8
"""Of 847 messages of thirteen lives that tell facts, none is as likely a question or small talk."""
MIN_QUESTION_PROBABILITY: Final = 0.5
QUESTION_MARKS: Final = frozenset("?\uff1f\u061f\u037e")
MAX_CHARS: Final = 80
"""A longer question may tell something beside what it asks."""


def is_small_talk(messages: Sequence[Message]) -> bool:
    """Return whether nobody states anything in a segment; the companion's words do not count."""
    before: Message | None = None
    for message in messages:
        if message.role == "marker":
            continue
        if message.role != "companion" and not is_empty(message, before):
            return False
        before = message
    return True


def is_empty(message: Message, before: Message | None) -> bool:
    """Return whether a message only asks, greets or thanks.

    What follows a question of the companion may be its answer, however short, and a lone word of
    grief or joy is read by itself. A message whose language nobody has recognized is said to be in
    that of its chat, so its words are asked, too.
    """
    if (
        message.trust != "person"
        or not get_traits(message.language).has_learned_acts
        or len(message.text) > MAX_CHARS
        or not is_in_learned_language(message.text)
    ):
        return False
    folded = fold_characters(message.text)
    if any(cue_words.strong_feeling.search(folded) for cue_words in list_all_cue_words()):
        return False
    acts = classify_act(message.text)
    is_answer = before is not None and before.role == "companion" and is_asking(before)
    phatic = 0.0 if is_answer else acts["smalltalk"]
    return acts["question"] + phatic >= MIN_PROBABILITY


def is_asking(message: Message) -> bool:
    """Return whether a message of the companion may be a question."""
    return not QUESTION_MARKS.isdisjoint(message.text) or (
        classify_act(message.text)["question"] >= MIN_QUESTION_PROBABILITY
    )
