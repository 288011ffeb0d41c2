"""What has the companion said it will ask about, and has it? "I'll ask you about it on Monday."

What "it" is, the person's last words before that tell; they are quoted. Whatever else it promises
is found by the rules for promises.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.moments import due_in
from oldfriend.background.rules.naming import quote_of
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.clock import start_of_day
from oldfriend.domain.memories import Known
from oldfriend.memory.search.topics import terms_of_matter
from oldfriend.turn.quoting import excerpt

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
            said = excerpt(told.words, (), longest=LONGEST)
            yield Claim(
                kind="commitment", text=book.ask_text.format(date=due.text, said=said),
                quotes=(quote_of(sentence),), confidence=_CONFIDENCE, subject="companion",
                relational=("commitment",), importance=0.6, due_at=due.at,
            )  # fmt: skip


def asked_questions(
    sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known]
) -> Iterator[Claim]:
    """What the companion had promised to ask and has asked by now, on the day or after it."""
    open_ = [each for each in known if is_to_be_asked(each)]
    for sentence, book in sentences:
        asked = [each for each in open_ if is_asked(each, sentence, book)]
        open_ = [each for each in open_ if each not in asked]
        for each in asked:
            memory = each.memory
            yield Claim(
                kind="commitment", text=memory.text, quotes=(quote_of(sentence),),
                bearing="fulfils", target=memory.id, confidence=_CONFIDENCE, subject="companion",
                due_at=memory.due_at,
            )  # fmt: skip


def is_to_be_asked(known: Known) -> bool:
    """Whether it is an open promise of the companion."""
    memory = known.memory
    return memory.kind == "commitment" and memory.subject == "companion" and memory.is_live


def is_asked(known: Known, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence is the question that was promised."""
    message, due = sentence.message, known.memory.due_at
    if message.role != "companion" or not sentence.is_question or due is None:
        return False
    if message.at < start_of_day(due, message.zone) or message.at <= known.standing.last_seen:
        return False
    matter = terms_of_matter(known.memory.text, book.language)
    return not matter.isdisjoint(terms_of_matter(sentence.words, book.language))
