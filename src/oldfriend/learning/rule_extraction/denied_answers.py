"""Denied answers: "That's wrong." to what was answered, and in the next message how it is.

"In Bonn." is then read as if both were one sentence: "That's wrong, in Bonn."
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.learning.rule_extraction.corrected_words import as_meant, is_read
from oldfriend.learning.rule_extraction.promises import Read
from oldfriend.learning.rule_extraction.pronouns import is_by_one
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.turn.later_messages import is_denial

ENDS: Final = " .!…。！"


def as_answered(read: Sequence[Read], *, before: Sequence[Read] = ()) -> list[Read]:
    """Return sentences as they were meant, also where a message before says that it was wrong."""
    denial: Sentence | None = None
    opened: list[Read] = []
    joined: dict[int, Sentence] = {}
    for number, (sentence, book) in enumerate((*before, *read)):
        if is_denied(sentence):
            denial = sentence
            continue
        is_own = denial is not None and is_by_one(denial, sentence)
        is_heard = number >= len(before)
        if denial is not None and is_own and is_heard and not is_read(sentence, book):
            whole = join(denial, sentence)
            joined[id(whole)] = sentence
            sentence = whole
        denial = None if is_own else denial
        opened.append((sentence, book))
    said = sum(not is_denied(each) for each, _ in before)
    meant = as_meant(opened[said:], before=opened[:said])
    return [(with_own_words(sentence, joined), book) for sentence, book in meant]


def is_denied(sentence: Sentence) -> bool:
    """Return whether a sentence of the person's says that something was wrong, and nothing else."""
    message = sentence.message
    return message.role == "person" and is_denial(sentence.words, message.language)


def join(denial: Sentence, sentence: Sentence) -> Sentence:
    """Return a sentence with the words before it that something was wrong."""
    opening = denial.words.rstrip(ENDS)
    return replace(
        sentence,
        words=f"{opening}, {sentence.words}",
        plain=f"{opening}, {sentence.plain}",
    )


def with_own_words(sentence: Sentence, joined: dict[int, Sentence]) -> Sentence:
    """Return a sentence with the words of its own message only; as it was, if nothing changed."""
    if id(sentence) in joined:
        return joined[id(sentence)]
    same = (
        each
        for each in joined.values()
        if each.message.id == sentence.message.id and sentence.words.endswith(f", {each.words}")
    )
    own = next(same, None)
    return sentence if own is None else replace(sentence, words=own.words)
