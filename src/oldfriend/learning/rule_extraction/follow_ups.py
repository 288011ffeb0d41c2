"""Follow-ups: tracks what the companion said it would ask about, and whether it has asked.

In "I'll ask you about it on Monday", "it" is taken from the person's preceding message, which is
quoted. Other promises of the companion are found by the rules for promises.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oldfriend.domain.clock import get_start_of_day
from oldfriend.domain.memories import MemoryState
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.datetimes import due_in
from oldfriend.learning.rule_extraction.entity_mentions import quote_of
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.turn.quotes import extract_excerpt

LONGEST: Final = 160
"""Characters of what is to be asked about."""
_CONFIDENCE: Final = 0.9


def promised_questions(sentences: Iterable[tuple[Sentence, RuleBook]]) -> Iterator[Claim]:
    """What the companion will ask about on a day that it names."""
    told: Sentence | None = None
    for sentence, book in sentences:
        if sentence.message.role == "person" and not sentence.is_question:
            told = sentence
        if sentence.message.role != "companion" or told is None:
            continue
        due = due_in(sentence.plain, sentence.message, book)
        if due is not None and book.will_ask.search(sentence.plain):
            said = extract_excerpt(told.words, (), max_chars=LONGEST)
            yield Claim(
                kind="commitment",
                text=book.ask_text.format(date=due.text, said=said),
                quotes=(quote_of(sentence),),
                confidence=_CONFIDENCE,
                subject="companion",
                relational=("commitment",),
                importance=0.6,
                due_at=due.at,
            )


def asked_questions(
    sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[MemoryState]
) -> Iterator[Claim]:
    """What the companion had promised to ask and has asked by now, on the day or after it."""
    open_ = [each for each in known if is_to_be_asked(each)]
    for sentence, book in sentences:
        asked = [each for each in open_ if is_asked(each, sentence, book)]
        open_ = [each for each in open_ if each not in asked]
        for each in asked:
            memory = each.memory
            yield Claim(
                kind="commitment",
                text=memory.text,
                quotes=(quote_of(sentence),),
                effect="fulfils",
                target=memory.id,
                confidence=_CONFIDENCE,
                subject="companion",
                due_at=memory.due_at,
            )


def is_to_be_asked(known: MemoryState) -> bool:
    """Whether it is an open promise of the companion."""
    memory = known.memory
    return memory.kind == "commitment" and memory.subject == "companion" and memory.is_live


def is_asked(known: MemoryState, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence is the question that was promised."""
    message, due = sentence.message, known.memory.due_at
    if message.role != "companion" or not sentence.is_question or due is None:
        return False
    if message.at < get_start_of_day(due, message.zone) or message.at <= known.stats.last_seen:
        return False
    matter = extract_content_terms(known.memory.text, book.language)
    return not matter.isdisjoint(extract_content_terms(sentence.words, book.language))
