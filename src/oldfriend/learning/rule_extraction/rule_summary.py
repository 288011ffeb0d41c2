"""Rule summary: summarizes a segment by its most informative sentences and distinctive words."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Claim, EntityMention
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.search.tokenizer import is_stop_word, is_unspaced

LONGEST_SUMMARY: Final = 200
MOST_TOPICS: Final = 5
_SENTENCES: Final = 2
_SHORTEST_WORD: Final = 4
_LONGEST_TOPIC: Final = 30


def summary_of(sentences: Sequence[tuple[Sentence, RuleBook]], claims: Iterable[Claim]) -> str:
    """The best one or two sentences of the person, in their order."""
    telling = Counter(quote.text for claim in claims for quote in claim.quotes)
    own = [
        (sentence, book)
        for sentence, book in sentences
        if sentence.message.role == "person"
        and not sentence.is_question
        and len(sentence.words) <= LONGEST_SUMMARY
    ]
    ranked = sorted(range(len(own)), key=lambda at: (-_weight(own[at][0], own[at][1], telling), at))
    chosen: list[int] = []
    for at in ranked[:_SENTENCES]:
        if len(_told(own, [*chosen, at])) <= LONGEST_SUMMARY:
            chosen.append(at)
    return _told(own, chosen)


def topics_of(
    claims: Iterable[Claim], names: Iterable[EntityMention], sentences: Iterable[Sentence]
) -> tuple[str, ...]:
    """Names first, then what was claimed, then the words that come again."""
    values = (
        claim.value
        for claim in claims
        if claim.kind in ATTRIBUTE_KINDS and claim.subject == "person"
    )
    found = [*(named.name for named in names), *values, *_frequent(sentences)]
    short = (topic for topic in found if 0 < len(topic) <= _LONGEST_TOPIC)
    return tuple({topic.casefold(): topic for topic in short}.values())[:MOST_TOPICS]


def _told(own: Sequence[tuple[Sentence, RuleBook]], chosen: Collection[int]) -> str:
    texts = dict.fromkeys(own[at][0].words for at in sorted(chosen))
    return " ".join(ended(" ".join(text.split())) for text in texts)


def ended(sentence: str) -> str:
    """A sentence with a mark at its end, that another may follow."""
    if not sentence or not sentence[-1].isalnum():
        return sentence
    return f"{sentence}{'。' if is_unspaced(sentence[-1]) else '.'}"


def _weight(sentence: Sentence, book: RuleBook, telling: Counter[str]) -> float:
    is_felt = bool(book.feeling.search(sentence.plain))
    length = min(len(sentence.words), 80) / 80
    return 2 * telling[sentence.words] + is_felt + length


def _frequent(sentences: Iterable[Sentence]) -> list[str]:
    words = Counter(
        word
        for sentence in sentences
        if sentence.message.role == "person" and not get_traits(sentence.message.language).is_cjk
        for word in sentence.plain.lower().split()
        if len(word) >= _SHORTEST_WORD
        and word.isalpha()
        and not is_stop_word(word, sentence.message.language)
    )
    return [word for word, count in words.most_common() if count > 1]
