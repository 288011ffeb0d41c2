"""Corrections: "Sorry, I meant 35.", "37 not 36" or "moved to Friday", of what was said or noted.

The statement is read again with the corrected word; nothing is if two words could be meant. "The
interview has been moved to Friday" needs both a match by words and a word for the change; "not
Thursday any more, it's next Monday" only one thing that was to be that Thursday.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, TypeAlias

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import Micros, get_start_of_day
from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.learning.extraction import Claim, ClaimEffect
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.datetimes import Due, day_written, due_in
from oldfriend.learning.rule_extraction.entity_mentions import by_quote, is_name, quote_of
from oldfriend.learning.rule_extraction.promises import Read, matter_of, promised_in
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.memory.notes import normalize_note
from oldfriend.memory.restatement_detection import (
    RestatementWords,
    find_restatement,
    is_marked_correction,
    load_restatement_words,
    tokenize_statement,
)
from oldfriend.search.question_patterns import has_any_word
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues

_CONFIDENCE: Final = 0.9
PART: Final = re.compile("[,\uff0c\u3001;\uff1b]")
"""Between what a sentence denies and what it tells instead."""
MOVED_CONFIDENCE: Final = 0.8


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
MARK: Final = "*"
ENDS_OF_MARKED: Final = "* .!"
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
        put_right = None if last is None else with_word(last, sentence, book)
        if last in meant and put_right is not None:
            meant.remove(last)
        meant.append(put_right or (sentence, book))
    return meant


def is_by_same(one: Sentence, other: Sentence) -> bool:
    """Whether the same speaks in both."""
    return (one.message.role, one.message.speaker) == (other.message.role, other.message.speaker)


def with_word(before: Read, sentence: Sentence, own_book: RuleBook) -> Read | None:
    """What was said last with the word that a sentence gives; None where it gives none.

    A word alone does not tell its language: it is read in that of what was said last.
    """
    last, book = before
    if last.is_question or not sentence.starts:
        return None
    right = find_meant(sentence, book) or find_meant(sentence, own_book)
    put_right = find_put_right(right, last, sentence, book)
    return None if put_right is None else (put_right, book)


def find_put_right(
    right: str, last: Sentence, sentence: Sentence, book: RuleBook
) -> Sentence | None:
    """What was said last with the word that was meant, or is given instead of another."""
    for words in SORTS:
        places = list(words(last.plain, book))
        if len(places) > 1 and any(words(right, book)):
            return None  # which of them?
        if len(places) != 1:
            continue
        begin, end, wrong = places[0]
        now = (
            list_contrasted(words, last, sentence, wrong, book)
            if not right
            else [each[2] for each in words(right, book)]
        )
        if len(now) == 1 and now[0] != wrong:
            return spoken_with(now[0], (begin, end, wrong), last, sentence, book)
    return with_value(right, last, sentence, book) if right else None


def find_meant(sentence: Sentence, book: RuleBook) -> str:
    """What was meant, where a sentence says only that: "*oops* I meant 35", "*Regina"; else ""."""
    words = sentence.words.strip()
    if is_marked_correction(words):
        return words.strip(ENDS_OF_MARKED)
    found = book.instead.meant.match(" ".join(words.replace(MARK, " ").split()))
    return "" if found is None else found["value"]


def with_value(right: str, last: Sentence, sentence: Sentence, book: RuleBook) -> Sentence | None:
    """What was said last with another value, where it tells one thing and can tell this instead."""
    told = [each for each in claims_in(last, book, ()) if last.plain.count(each.value) == 1]
    if len({each.value for each in told}) != 1 or not told[0].value:
        return None
    if has_digits(told[0].value) != has_digits(right):
        return None
    begin = last.plain.index(told[0].value)
    place = begin, begin + len(told[0].value), told[0].value
    meant = spoken_with(right, place, last, sentence, book)
    is_told = any(
        (each.kind, each.key, each.value.casefold())
        == (told[0].kind, told[0].key, right.casefold())
        for each in claims_in(meant, book, ())
    )
    return meant if is_told else None


def has_digits(words: str) -> bool:
    """Whether there is a number in figures among some words."""
    return any(map(str.isdecimal, words))


def spoken_with(
    right: str, place: Place, last: Sentence, sentence: Sentence, book: RuleBook
) -> Sentence:
    """A sentence as what was said last, with one word in the place of another."""
    begin, end, wrong = place
    plain = last.plain[:begin] + right + last.plain[end:]
    starts = tuple(starts_in(plain, book))
    return replace(sentence, plain=plain, starts=starts, denied=wrong, about=last)


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


def put_off(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """The claims; what is said to be at another time takes the place of what it was before."""
    open_ = [each for each in known if each.memory.is_live and is_awaited(each)]
    read = by_quote(sentences)
    told: list[Claim] = []
    for claim in claims:
        found = read.get(claim.quotes[0])
        if found is None:
            told.append(claim)
            continue
        moved = instead_of(claim, *found, open_)
        if moved is not claim or not moved_at_once(claim, *found, told):
            told.append(moved)
    for sentence, book in read.values():
        if sentence.message.role == "person" and not sentence.is_question:
            told = moved_from_day(sentence, book, told, open_)
    yield from told


def moved_from_day(
    sentence: Sentence, book: RuleBook, told: Sequence[Claim], open_: Sequence[MemoryState]
) -> list[Claim]:
    """The claims, with what is not on one day, as a sentence says, but on another.

    It must be the only thing that is to be on the day that is denied.
    """
    days = denied_and_told(sentence, book)
    if days is None:
        return list(told)
    before, after = days
    quote, zone = quote_of(sentence), sentence.message.zone
    if any(quote in each.quotes and each.kind in FUTURE_KINDS for each in told):
        return [  # a day that was put right keeps its hour
            replace(each, due_at=after.at)
            if quote in each.quotes and is_on_day(each.due_at, after, zone)
            else each
            for each in told
        ]
    at_once = [
        each for each in told if each.kind in FUTURE_KINDS and is_on_day(each.due_at, before, zone)
    ]
    taken = {each.target for each in told}
    known = [
        each.memory
        for each in open_
        if is_on_day(each.memory.due_at, before, get_told_zone(each.memory, zone))
        and each.memory.id not in taken
    ]
    candidates: list[Claim | Memory] = [*at_once, *known]
    if len(candidates) != 1:
        return list(told)
    moved = on_day(candidates[0], after, sentence, book)
    if moved is None:
        return list(told)
    return [*(each for each in told if each not in at_once), moved]


def is_on_day(at: Micros | None, due: Due, zone: str) -> bool:
    """Whether a moment, if known, is on the day of another."""
    if at is None:
        return False
    return get_start_of_day(at, zone) == get_start_of_day(due.begins, zone)


def denied_and_told(sentence: Sentence, book: RuleBook) -> tuple[Due, Due] | None:
    """The day that one part of a sentence denies, and the one that another tells, if it does so."""
    cues, message = load_cues(book.language), sentence.message
    denied: list[Due] = []
    said: list[Due] = []
    for part in PART.split(sentence.words):
        due = due_in(part, message, book)
        if due is not None:
            is_denied = cues.not_.search(fold_punctuation(part)) is not None
            (denied if is_denied else said).append(due)
    return (denied[0], said[0]) if len(denied) == len(said) == 1 else None


def on_day(known: Claim | Memory, due: Due, sentence: Sentence, book: RuleBook) -> Claim | None:
    """What is known, on another day; nothing if its own is not written in its text."""
    text = with_day(known, due, sentence, book)
    if text is None:
        return None
    if isinstance(known, Claim):
        quotes = (quote_of(sentence), *known.quotes)
        return replace(known, text=text, due_at=due.at, grain=due.grain, quotes=quotes)
    return Claim(
        kind=known.kind,
        text=text,
        quotes=(quote_of(sentence),),
        confidence=MOVED_CONFIDENCE,
        subject=known.subject,
        importance=known.importance,
        relational=known.relational,
        due_at=due.at,
        grain=due.grain,
        effect="supersedes",
        target=known.id,
        denied_value=known_day(known, sentence, book),
    )


def moved_at_once(claim: Claim, sentence: Sentence, book: RuleBook, told: list[Claim]) -> bool:
    """Whether a claim puts off another of the same segment, which then has its day among ``told``.

    No more than one may be meant, and the new day must be written in place of the old one.
    """
    if not tells_move(claim, sentence, book):
        return False
    same = [
        number
        for number, each in enumerate(told)
        if each.kind in FUTURE_KINDS
        and each.effect == "new"
        and each.due_at not in {None, claim.due_at}
        and each.subject == claim.subject
        and is_same_matter(claim, each, book)
    ]
    due = due_in(sentence.plain, sentence.message, book)
    if len(same) != 1 or due is None:
        return False
    before = told[same[0]]
    text = with_day(before, due, sentence, book)
    if text is None:
        return False
    told[same[0]] = replace(
        before,
        text=text,
        due_at=claim.due_at,
        grain=claim.grain,
        quotes=(*claim.quotes, *before.quotes),
    )
    return True


def tells_move(claim: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a claim with its day may be one that was to be at another time."""
    if claim.kind not in FUTURE_KINDS or claim.due_at is None or claim.target is not None:
        return False
    return bool(sentence.denied) or book.instead.moved.search(sentence.plain) is not None


def with_day(known: Claim | Memory, due: Due, sentence: Sentence, book: RuleBook) -> str | None:
    """What is known with another day in its text; nothing if its own is not written there."""
    before = known_day(known, sentence, book)
    return known.text.replace(before, due.text) if before and before in known.text else None


def known_day(known: Claim | Memory, sentence: Sentence, book: RuleBook) -> str:
    """The day on which something is to be, as it was written when it was said."""
    zone = sentence.message.zone
    told_zone = get_told_zone(known, zone) if isinstance(known, Memory) else zone
    return day_written(known.due_at, told_zone, book) if known.due_at else ""


def is_awaited(known: MemoryState) -> bool:
    """Whether it is to be: at a time, or promised."""
    memory = known.memory
    return memory.kind in FUTURE_KINDS and (
        memory.due_at is not None or memory.kind == "commitment"
    )


def instead_of(
    claim: Claim, sentence: Sentence, book: RuleBook, open_: Sequence[MemoryState]
) -> Claim:
    """A claim as what takes the place of the one that it puts off, if it does."""
    if not tells_move(claim, sentence, book):
        return claim
    same = [
        each
        for each in open_
        if each.memory.subject == claim.subject
        and each.stats.last_seen < sentence.message.at
        and each.memory.due_at != claim.due_at
        and is_same_matter(claim, each.memory, book)
    ]
    if len(same) != 1:
        return claim
    return in_its_words(claim, same[0], sentence, book)


def is_same_matter(claim: Claim, known: Claim | Memory, book: RuleBook) -> bool:
    """Whether all that one is about the other is about, too; of a promise, also to whom."""
    if known.kind == "expectation" and is_of_another(claim.text, known.text, book):
        return False
    told = known.text if known.kind == "commitment" else promised_in(known.text, book.language)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    other = matter_of(told, book.language)
    one = frozenset(uninflected(each, other) for each in one)  # "Uwes Umzug"
    return bool(one and other) and (one <= other or other <= one)


def uninflected(word: str, words: Collection[str]) -> str:
    """A word without the s of a genitive, where it stands so among others."""
    return word[:-1] if word.endswith("s") and word[:-1] in words else word


def is_of_another(told: str, known: str, book: RuleBook) -> bool:
    """Whether one is of somebody of whom the other says nothing: "my sister's interview"."""
    parts = frozenset(word for word in book.parts if has_any_word(frozenset({word}), told))
    owner = _load_owner(book.language)
    owners = frozenset(owner.findall(told)) if owner is not None else frozenset[str]()
    return any(each and not has_any_word(each, known) for each in (parts, owners))


@cache
def _load_owner(language: str) -> re.Pattern[str] | None:
    """The expression for whose something is, by name, where that is said before it."""
    source = load_language_pack(language).read("endings").get("owner")
    return None if source is None else re.compile(source)


def in_its_words(claim: Claim, known: MemoryState, sentence: Sentence, book: RuleBook) -> Claim:
    """What was put off, as it was known, with its new day; as it is told now, if that says more."""
    memory, due = known.memory, due_in(sentence.plain, sentence.message, book)
    told = replace(claim, effect="supersedes", target=memory.id)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    if memory.language != book.language or due is None:
        return told
    if memory.kind == claim.kind and not one < matter_of(memory.text, book.language):
        return told
    text = with_day(memory, due, sentence, book)
    if text is None:
        return told
    return replace(
        told,
        kind=memory.kind,
        text=text,
        relational=memory.relational,
        importance=memory.importance,
    )
