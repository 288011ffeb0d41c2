"""Corrections: applies "Sorry, I meant 35." or "37 not 36" to what was said before, and to notes.

The statement is read again with the corrected word; nothing is if two words could be meant.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.memories import MemoryState
from oldfriend.learning.extraction import Claim, ClaimEffect
from oldfriend.learning.rule_extraction.entity_mentions import is_name, quote_of
from oldfriend.learning.rule_extraction.fulfilled_promises import Read
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.memory.notes import normalize_note
from oldfriend.memory.restatement_detection import (
    RestatementWords,
    find_restatement,
    load_restatement_words,
    tokenize_statement,
)
from oldfriend.search.tokenizer import is_stop_word

_CONFIDENCE: Final = 0.9


def notes_put_right(sentences: Iterable[Sentence], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """For each known note the last sentence after it that puts it right, as what is noted now."""
    notes = [each for each in known if each.memory.kind == "note"]
    mended: dict[str, Claim] = {}
    for sentence in sentences:
        for note in notes if is_statement(sentence) else ():
            is_after = sentence.message.at > note.stats.last_seen
            words = find_restatement(sentence.words, note.memory.text, note.memory.language)
            if is_made_of(note, sentence):
                mended[note.memory.id] = claim_about(note, note.memory.text, sentence, "reinforces")
            elif is_after and words:
                mended[note.memory.id] = claim_about(note, words, sentence, "supersedes")
    yield from mended.values()


def is_statement(sentence: Sentence) -> bool:
    """Whether the person tells something in it."""
    return sentence.message.role == "person" and not sentence.is_question


def is_made_of(note: MemoryState, sentence: Sentence) -> bool:
    """Whether a note that has put another right stands in the words of a sentence."""
    is_mended = any(link.kind == "supersedes" for link in note.memory.relations)
    return is_mended and normalize_note(sentence.words).endswith(normalize_note(note.memory.text))


def claim_about(note: MemoryState, text: str, sentence: Sentence, bearing: ClaimEffect) -> Claim:
    """What a sentence says of a note."""
    return Claim(
        kind="note",
        text=text,
        quotes=(quote_of(sentence),),
        effect=bearing,
        target=note.memory.id,
        confidence=_CONFIDENCE,
    )


Place = tuple[int, int, str]
"""Where in a text a word stands, and which."""
Sort: TypeAlias = Callable[[str, RuleBook], Iterator[Place]]
"""Finds the words of one sort in a text."""
MAX_SMALL_CHARS: Final = 2
"""A word of at most so many characters tells nothing of its own."""

_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"\d+|[^\W\d]+")
"""Figures, or a word that may be a number."""


def as_meant(read: Sequence[Read], *, before: Sequence[Read] = ()) -> list[Read]:
    """The sentences of some talk; what was put right at once is read as it was meant.

    ``before``: what was said just before it, which may be meant, too, and is read elsewhere.
    """
    meant: list[Read] = []
    for sentence, book in read:
        said = (*before, *meant)
        last = next((each for each in reversed(said) if is_by_same(each[0], sentence)), None)
        put_right = None if last is None else with_word(last[0], sentence, book)
        if last in meant and put_right is not None:
            meant.remove(last)
        meant.append((put_right or sentence, book))
    return meant


def is_by_same(one: Sentence, other: Sentence) -> bool:
    """Whether the same speaks in both."""
    return (one.message.role, one.message.speaker) == (other.message.role, other.message.speaker)


def with_word(last: Sentence, sentence: Sentence, book: RuleBook) -> Sentence | None:
    """What was said last with the word that a sentence gives; None where it gives none."""
    if last.is_question or not sentence.starts:
        return None
    found = book.instead.meant.match(sentence.plain)
    for words in SORTS:
        before = list(words(last.plain, book))
        if len(before) != 1:
            continue
        begin, end, wrong = before[0]
        now = (
            list_contrasted(words, last, sentence, wrong, book)
            if found is None
            else [each[2] for each in words(found["value"], book)]
        )
        if len(now) == 1 and now[0] != wrong:
            plain = last.plain[:begin] + now[0] + last.plain[end:]
            return replace(
                sentence,
                plain=plain,
                starts=tuple(starts_in(plain, book)),
                denied=wrong,
                about=last,
            )
    return None


def list_contrasted(
    find_words: Sort, last: Sentence, sentence: Sentence, wrong: str, book: RuleBook
) -> list[str]:
    """The words of a sort that a sentence gives instead of a wrong one: "no, 37"; "37 not 36".

    None where the sentence has words of its own beside, and so tells something else.
    """
    text, language = sentence.words, sentence.message.language
    restated = load_restatement_words(language)
    opener = book.instead.put_right.search(text.lower())
    others = [each for each in find_words(text, book) if each[2] != wrong]
    if restated is None or len(others) != 1:
        return []
    begin, end, right = others[0]
    after = text[opener.end() if opener and opener.end() <= begin else 0 : begin] + text[end:]
    told = [each.word for each in tokenize_statement(after)]
    known = {each.word for each in tokenize_statement(last.words)}
    is_denied = is_after_negation(wrong.casefold(), told, restated)
    if is_denied:
        known |= {wrong.casefold(), *restated.negation_words}
    elif opener is None or not restated.negation_words.isdisjoint(told):
        return []
    content, frame = (
        {each for each in words if len(each) > MAX_SMALL_CHARS and not is_stop_word(each, language)}
        for words in (told, known - {wrong.casefold(), *restated.negation_words})
    )
    is_whole = bool(frame) and frame <= content  # it is read by itself
    return [right] if content <= known and not is_whole else []


def is_after_negation(word: str, told: Sequence[str], restated: RestatementWords) -> bool:
    """Whether a word is denied: "not 36"."""
    place = told.index(word) if word in told else 0
    return not restated.negation_words.isdisjoint(told[max(place - 2, 0) : place])


def days_in(text: str, book: RuleBook) -> Iterator[Place]:
    """The days of the week that are named."""
    for day in book.weekdays:
        for found in day.finditer(text):
            yield bare_day(found, day)


def numbers_in(text: str, book: RuleBook) -> Iterator[Place]:
    """The numbers, in figures or words."""
    for found in _NUMBER.finditer(text):
        if found[0].isdecimal() or book.counts.get(found[0].lower(), 0) > 1:
            yield found.start(), found.end(), found[0]


def names_in(text: str, book: RuleBook) -> Iterator[Place]:
    """The words that can be names, but for the first of several."""
    for found in _WORD.finditer(text):
        is_first = not text[: found.start()].strip() and len(text) > len(found[0])
        if found[0][:1].isupper() and not is_first and is_name(found[0], book):
            yield found.start(), found.end(), found[0]


SORTS: Final[tuple[Sort, ...]] = (
    days_in,
    numbers_in,
    names_in,
)
"""The sorts of words of which one may have been meant for another."""


def bare_day(found: re.Match[str], day: LazyPattern) -> Place:
    """The name of a weekday alone, without the small words before and behind it."""
    for word in _WORD.finditer(found[0]):
        if day.fullmatch(word[0]):
            return found.start() + word.start(), found.start() + word.end(), word[0]
    return found.start(), found.end(), found[0]
