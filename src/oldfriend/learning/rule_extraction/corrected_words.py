"""Corrected words: reads what was said last with the word that was meant instead of another.

"Sorry, I meant 35.", "37 not 36", "no, her name is Mia". Nothing is read again if two words could
be meant.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import chain, islice
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.corrections import PART
from oldfriend.learning.rule_extraction.entity_mentions import is_name, named_in
from oldfriend.learning.rule_extraction.promises import Read
from oldfriend.learning.rule_extraction.pronouns import can_mean, is_by_one, with_name
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.learning.rule_extraction.word_sorts import SORTS, Place, Sort, names_in
from oldfriend.memory.restatement_detection import (
    RestatementWords,
    is_marked_correction,
    load_restatement_words,
    tokenize_statement,
)
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.intent import is_pleasantry

MARK: Final = "*"
ENDS_OF_MARKED: Final = "* .!"
MAX_SMALL_CHARS: Final = 2
"""A word of so many characters tells nothing of its own."""
DENIED: Final = "\N{NOT SIGN}"  # stands for a word that is denied
MAX_HAN_NAME: Final = 4
MAX_OPENINGS: Final = 4
"""Words of correction in a row that a sentence may begin with: "no, sorry, I mean"."""
MAX_STATEMENTS_BACK: Final = 30  # among which the one is looked for that a correction means
QUESTION_MARKS: Final = ("?", "\uff1f")
ENDS: Final = " ,.!:;\N{EN DASH}\N{EM DASH}-\uff0c\u3001\u3002\uff01"
"""What stands around words of correction."""
MIN_ALIKE: Final = 0.6
"""Share of letters, from which a name is another one with other letters: "Anna" for "Ana"."""
MIN_SMALL_TALK: Final = 0.3
"""Probability of small talk from which a word behind a "no" is no name."""

_WORD: Final = re.compile(r"\w+")


def as_meant(read: Sequence[Read], *, before: Sequence[Read] = ()) -> list[Read]:
    """Return sentences in which each word that was corrected at once is replaced by the right one.

    ``before``: what was said just before it, which may be meant, too, and is read elsewhere.
    """
    meant: list[Read] = []
    for sentence, book in read:
        said = (*before, *meant)
        last = find_last_said(sentence, said)
        put_right = None if last is None else with_word(last, sentence, book)
        if last is not None and put_right is None:
            last, put_right = find_denied_before(sentence, book, said)
        if last in meant and put_right is not None:
            meant.remove(last)
        meant.append(put_right or (sentence, book))
    return meant


def find_last_said(sentence: Sentence, said: Sequence[Read]) -> Read | None:
    """Return a speaker's last statement; after a question of theirs, only one its answer quotes."""
    answers: list[str] = []
    has_asked = False
    for each in reversed(said):
        if not is_by_one(each[0], sentence):
            answers.append(each[0].message.text)
        elif each[0].is_question:
            has_asked = True
        elif not has_asked or any(each[0].words in answer for answer in answers):
            return each
    return None


def find_denied_before(
    sentence: Sentence, book: RuleBook, said: Sequence[Read]
) -> tuple[Read | None, Read | None]:
    """Return the statement some turns ago that a sentence corrects, and what it makes of it.

    It denies the wrong word, holds another word of that statement ("wrong, 2 kids"), or calls by
    a pronoun whom only that statement can mean.
    """
    is_last_of_another = False
    for each in islice(reversed(said), MAX_STATEMENTS_BACK):
        if not is_by_one(each[0], sentence) or each[0].is_question:
            continue
        put_right = with_word(each, sentence, book)
        if put_right is not None and (
            is_last_of_another
            or denies(sentence, put_right[0].denied, book)
            or has_shared_word(sentence, each[0], put_right[0].denied, book)
        ):
            return each, put_right
        is_last_of_another = is_of_another_gender(sentence, *each)
    return None, None


def has_shared_word(sentence: Sentence, last: Sentence, wrong: str, book: RuleBook) -> bool:
    """Return whether a correction holds a telling word of a statement beside the wrong one."""
    restated = load_restatement_words(book.language)
    if restated is None:
        return False
    rest = drop_opening(sentence.words, restated, book)
    told, known = ({t.word for t in tokenize_statement(text)} for text in (rest, last.words))
    shared = (told & known) - {wrong.casefold()} - restated.framing_words - restated.copulas
    return rest != sentence.words and any(is_telling(each, book.language) for each in shared)


def is_of_another_gender(sentence: Sentence, last: Sentence, book: RuleBook) -> bool:
    """Return whether a correction begins with a pronoun that whom a statement names never has."""
    restated = load_restatement_words(book.language)
    rest = sentence.plain if restated is None else drop_opening(sentence.plain, restated, book)
    found = book.pronoun.match(rest.lstrip(ENDS))
    roles = {tie.value for _, tie in named_in(last, book) if tie is not None} if found else set()
    return bool(roles) and not any(found and can_mean(found, each) for each in roles)


def denies(sentence: Sentence, wrong: str, book: RuleBook) -> bool:
    """Return whether a sentence says of a word that it was wrong: "not Pixel"."""
    restated = load_restatement_words(sentence.message.language) or load_restatement_words(
        book.language
    )
    return restated is not None and DENIED in mark_denied(sentence.words, wrong, restated)


def with_word(before: Read, sentence: Sentence, own_book: RuleBook) -> Read | None:
    """Return the last statement as a sentence corrects it; None if it corrects nothing.

    A word alone does not tell its language: it is read in that of what was said last.
    """
    last, book = before
    if last.is_question or is_asking(sentence, book) or is_of_another_gender(sentence, last, book):
        return None
    told_again = list_told_again(last, sentence, book)
    if told_again:
        again = with_value_of(told_again, last, sentence, book)
        return None if again is None else (again, book)
    right = find_meant(sentence, book) or find_meant(sentence, own_book)
    put_right = find_put_right(right, last, sentence, book)
    return None if put_right is None else (put_right, book)


def is_asking(sentence: Sentence, book: RuleBook) -> bool:
    """Return whether a sentence asks; "is actually called Mia" without a mark puts right."""
    restated = load_restatement_words(book.language)
    if not sentence.is_question or restated is None:
        return sentence.is_question
    words = sentence.words.rstrip()
    return words.endswith(QUESTION_MARKS) or drop_inner_opening(words, restated, book) == words


def list_told_again(last: Sentence, sentence: Sentence, book: RuleBook) -> list[Claim]:
    """Return what a sentence tells of whom the last one tells, behind "no,": "she lives in …".

    It calls them by a pronoun, or leaves them out. Without a key if the pronoun is of another.
    """
    restated = load_restatement_words(book.language)
    rest = sentence.plain if restated is None else drop_opening(sentence.plain, restated, book)
    if rest == sentence.plain and not sentence.denied:
        return []
    roles = {who.name: tie.value for who, tie in named_in(last, book) if tie is not None}
    gap = " " if get_traits(book.language).spaces else ""
    bare = replace(sentence, plain=rest)
    for who in dict.fromkeys(each.key.rpartition(":")[0] for each in list_facts(last, book)):
        if not who:
            continue
        told = with_name(bare, book, (who, roles.get(who, "")), last)
        of_another = None if told else with_name(bare, book, (who, ""), last)
        told = told or of_another or replace(bare, plain=f"{who}{gap}{rest}", starts=(0,))
        claims = [each for each in list_facts(told, book, who) if each.key.startswith(f"{who}:")]
        if claims:
            return [replace(each, key="") for each in claims] if of_another else claims
    return []


def list_facts(sentence: Sentence, book: RuleBook, *known: str) -> list[Claim]:
    """Return what a sentence tells, of whomever it may name, too."""
    named = {each.name for each, _ in named_in(sentence, book)}
    words = {each for each in _WORD.findall(sentence.plain) if is_name(each, book)}
    return list(claims_in(sentence, book, {*named, *words, *known}))


def with_value_of(
    claims: Sequence[Claim], last: Sentence, sentence: Sentence, book: RuleBook
) -> Sentence | None:
    """Return the last statement with the value of a claim in place of another for the same key."""
    for told in list_facts(last, book):
        for now in claims:
            is_other = now.value.casefold() != told.value.casefold()
            is_same_key = (now.kind, now.key) == (told.kind, told.key)
            if now.key and is_same_key and is_other and last.plain.count(told.value) == 1:
                begin = last.plain.index(told.value)
                place = begin, begin + len(told.value), told.value
                return spoken_with(now.value, place, last, sentence, book)
    return None


def find_put_right(
    right: str, last: Sentence, sentence: Sentence, book: RuleBook
) -> Sentence | None:
    """Return the last statement with the word that was meant, or that replaces a denied one."""
    for words in SORTS:
        places = list(list_told(words, last, sentence, book))
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
        if len(now) == 1 and now[0] != wrong and not right.startswith(f"{wrong} "):
            return spoken_with(now[0], (begin, end, wrong), last, sentence, book)
    if right:
        return with_value(right, last, sentence, book, is_surely_meant=True)
    values = list_other_values(sentence, book)
    fitting = (
        with_value(each, last, sentence, book, is_surely_meant=False) for each in values if each
    )
    return next((each for each in fitting if each is not None), None)


def list_told(words: Sort, last: Sentence, sentence: Sentence, book: RuleBook) -> Iterator[Place]:
    """Yield the words of a sort in the last statement; of names, the one that may be wrong.

    That is what somebody is called or, of two names, the one that is the value of what is told.
    """
    places = list(words(last.plain, book))
    named = [each for pattern in book.naming for each in pattern.finditer(last.plain)]
    if words is not names_in or not (places or named) or len({each["name"] for each in named}) > 1:
        yield from places
        return
    values = {each.value for each in list_facts(last, book)}
    told = [each for each in places if each[2] in values]  # "lives in Porto"
    others = {each["name"] for each in named} or {each[2] for each in places} - values
    if len(told) == 1 and not any(is_about_name(sentence, each, book) for each in others):
        yield told[0]
    elif named:
        yield named[0].start("name"), named[0].end("name"), named[0]["name"]
    else:
        yield from places


def is_about_name(sentence: Sentence, name: str, book: RuleBook) -> bool:
    """Return whether a correction is of a name: it says so, denies it, or spells it otherwise."""
    restated = load_restatement_words(book.language)
    tokens = [each.word for each in tokenize_statement(sentence.words)]
    framing = frozenset[str]() if restated is None else restated.framing_words
    is_alike = (
        SequenceMatcher(None, each, name.casefold()).ratio() >= MIN_ALIKE
        for each in tokens
        if len(each) > MAX_SMALL_CHARS
    )
    return not framing.isdisjoint(tokens) or any(is_alike)


def find_meant(sentence: Sentence, book: RuleBook) -> str:
    """Return what a sentence that says nothing else says was meant: "*Regina"; else ""."""
    words = sentence.words.strip()
    if is_marked_correction(words):
        return words.strip(ENDS_OF_MARKED)
    found = book.instead.meant.match(" ".join(words.replace(MARK, " ").split()))
    return "" if found is None else found["value"]


def list_other_values(sentence: Sentence, book: RuleBook) -> Iterator[str]:
    """Yield what a sentence may give behind words that something was wrong: "no, it's 13 April".

    Each begins with another of the small words in front of it: "a nurse", "nurse".
    """
    restated = load_restatement_words(book.language)
    right = "" if restated is None else drop_opening(sentence.plain, restated, book)
    if restated is None or right == sentence.plain or is_read(sentence, book):
        return
    tokens = tokenize_statement(right)
    if not restated.negation_words.isdisjoint(t.word for t in tokens):
        return
    for each in tokens:
        yield right[each.start :].strip(ENDS)
        if each.word not in restated.copulas and not is_stop_word(each.word, book.language):
            return


def with_value(
    right: str, last: Sentence, sentence: Sentence, book: RuleBook, *, is_surely_meant: bool
) -> Sentence | None:
    """Return the last statement with another value, if it tells one thing that this value fits.

    Where it may not be meant, only of what has one value at a time.
    """
    told = [each for each in claims_in(last, book, ()) if last.plain.count(each.value) == 1]
    if len({each.value for each in told}) != 1 or not told[0].value:
        return None
    is_single = is_single_valued(told[0])
    if not is_surely_meant and (not is_single or is_small_talk(right, book)):
        return None
    if has_digits(told[0].value) != has_digits(right):
        return None
    begin = last.plain.index(told[0].value)
    if not is_surely_meant:
        right = drop_same_start(right, last.plain[:begin])
        if not is_like(right, told[0].value, book):
            return None
    place = begin, begin + len(told[0].value), told[0].value
    meant = spoken_with(right, place, last, sentence, book)
    is_told = any(
        (each.kind, each.key, each.value.casefold())
        == (told[0].kind, told[0].key, right.casefold())
        for each in claims_in(meant, book, ())
    )
    return meant if is_told else None


def is_small_talk(right: str, book: RuleBook) -> bool:
    """Return whether words behind a "no" only thank or the like; of unspaced ones few tell."""
    if not get_traits(book.language).spaces:
        return is_pleasantry(right)
    return classify_act(right)["smalltalk"] >= MIN_SMALL_TALK


def drop_same_start(right: str, before: str) -> str:
    """Return words without the first if it stands before what they replace: "as a cook"."""
    leading, tokens = tokenize_statement(before)[-1:], tokenize_statement(right)
    is_same = bool(leading) and bool(tokens[1:]) and tokens[0].word == leading[0].word
    return right[tokens[1].start :] if is_same else right


def is_like(right: str, wrong: str, book: RuleBook) -> bool:
    """Return whether a value says no more than another: "no, the bus came late" gives no job."""
    tokens, known = tokenize_statement(right), tokenize_statement(wrong)
    restated = load_restatement_words(book.language)
    told, other = (
        sum(not is_stop_word(each.word, book.language) for each in some) for some in (tokens, known)
    )
    is_clause = restated is not None and any(each.word in restated.copulas for each in tokens)
    return told <= max(other, 1) and not is_clause


def has_digits(words: str) -> bool:
    """Return whether some words hold a number in figures."""
    return any(map(str.isdecimal, words))


def spoken_with(
    right: str, place: Place, last: Sentence, sentence: Sentence, book: RuleBook
) -> Sentence:
    """Return the last statement with one word in the place of another."""
    begin, end, wrong = place
    plain = last.plain[:begin] + right + last.plain[end:]
    starts = tuple(starts_in(plain, book))
    return replace(sentence, plain=plain, starts=starts, denied=wrong, about=last)


def list_contrasted(
    find_words: Sort, last: Sentence, sentence: Sentence, wrong: str, book: RuleBook
) -> list[str]:
    """Return the words of a sort that a sentence gives instead of a wrong one: "37 not 36".

    None where the sentence has words of its own beside, and so tells something else.
    """
    language = sentence.message.language
    restated = load_restatement_words(language) or load_restatement_words(book.language)
    if restated is None:
        return []
    rest = mark_denied(sentence.words, wrong, restated)
    is_denied = DENIED in rest
    right_part = drop_opening(rest, restated, book)
    is_opened, rest = right_part != rest, right_part
    told = {each.word for each in tokenize_statement(rest)}
    if not is_denied and (not is_opened or not restated.negation_words.isdisjoint(told)):
        return []
    known = {each.word for each in tokenize_statement(last.words.replace(wrong, " "))}
    frame = {each for each in known - restated.negation_words if is_telling(each, book.language)}
    if find_words is names_in:
        is_thanks = classify_act(sentence.words)["smalltalk"] >= MIN_SMALL_TALK  # "no, Thanks"
        right = find_other_name(rest, known, restated, book)
        is_name_known = any(each == right for *_, each in names_in(sentence.words, book))
        is_told = is_denied or not is_thanks or is_about_name(sentence, wrong, book)
        is_whole = bool(frame) and frame <= told and is_read(sentence, book)
        is_given = not restated.framing_words.isdisjoint(told)  # "Tom called" gives no town
        is_sound = (
            is_told
            and not is_whole
            and (is_naming(last, wrong, book) or (is_name_known and not is_given))
        )
        return [right] if right and is_sound else []
    others = [each for each in find_words(rest, book) if each[2] != wrong]
    if len(others) != 1:
        return []
    begin, end, right = others[0]
    beside = {each.word for each in tokenize_statement(rest[:begin] + rest[end:])}
    content = {each for each in beside if is_telling(each, language)}
    is_whole = bool(frame) and frame <= content and is_read(sentence, book)
    return [right] if content <= {*known, wrong.casefold()} and not is_whole else []


def is_read(sentence: Sentence, book: RuleBook) -> bool:
    """Return whether a sentence tells something, or names somebody, by itself."""
    told = chain(claims_in(sentence, book, ()), named_in(sentence, book))
    return any(True for _ in told)


def drop_opening(text: str, restated: RestatementWords, book: RuleBook) -> str:
    """Return a text without the words it begins with that say something was wrong: "no wait, ".

    Without such words it stays as it is: a dash or a comma alone corrects nothing.
    Those may be several, and may stand behind words that tell nothing: "is actually called Mia".
    Any other correction further on is not one that it begins with.
    """
    rest = bare = text.lstrip(ENDS)
    for _ in range(MAX_OPENINGS):
        lowered = rest.lower()
        begins = (words.search(lowered) for words in (book.instead.put_right, restated.correction))
        found = next(
            (each for each in begins if each and not lowered[: each.start()].strip(ENDS)), None
        )
        if found is None:
            rest = drop_inner_opening(rest, restated, book)
            break
        rest = rest[found.end() :].lstrip(ENDS)
    return text if rest == bare else rest


def drop_inner_opening(text: str, restated: RestatementWords, book: RuleBook) -> str:
    """Return a text without a word of correction behind words that tell nothing of their own."""
    found = restated.correction.search(text.lower())
    if found is None:
        return text
    around = {*restated.framing_words, *restated.copulas}
    before = [each.word for each in tokenize_statement(text[: found.start()])]
    is_bare = all(each in around or is_stop_word(each, book.language) for each in before)
    rest = text[found.end() :].lstrip(ENDS)
    return f"{text[: found.start()]}{rest}" if before and is_bare and rest else text


def is_telling(word: str, language: str) -> bool:
    """Return whether a word is no function word, and not very short."""
    return len(word) > MAX_SMALL_CHARS and not is_stop_word(word, language)


def is_naming(last: Sentence, name: str, book: RuleBook) -> bool:
    """Return whether a sentence says whose name something is."""
    return any(found["name"] == name for each in book.naming for found in each.finditer(last.plain))


def mark_denied(text: str, wrong: str, restated: RestatementWords) -> str:
    """Return a text with a mark in place of a word that it denies: "not 36"."""
    is_spaced = not any(map(is_han, wrong))
    pattern = rf"\b{re.escape(wrong)}\b" if is_spaced else re.escape(wrong)
    for found in re.finditer(pattern, text, re.IGNORECASE):
        before = tokenize_statement(text[: found.start()])[-2:]
        denying = [
            each
            for each in before
            if each.word in restated.negation_words
            and not PART.search(text, each.start, found.start())  # "no, Lena is my sister"
        ]
        if denying:
            return text[: denying[0].start] + DENIED + text[found.end() :]
    return text


def find_other_name(
    text: str, known: Collection[str], restated: RestatementWords, book: RuleBook
) -> str:
    """Return the one name that a text gives if it gives nothing else, "her name is Mia"; else "".

    It stands beside one that is denied, if any is. A word in small letters is a name where one is
    denied, or where it is said to be one.
    """
    around = {*restated.framing_words, *restated.copulas}
    tokens = tokenize_statement(text)
    place = text.find(DENIED)
    content = [
        each
        for each in tokens
        if each.word not in around and not is_stop_word(each.word, book.language)
    ]
    free = [each for each in content if each.word not in known]
    beside = (
        *[each for each in content if each.start < place][-1:],
        *[each for each in content if each.start > place][:1],
    )
    if place >= 0 and not set(beside) & set(free):
        return ""
    if not free or len(free) > (MAX_HAN_NAME if is_han(free[0].word) else 1):
        return ""
    is_given = place >= 0 or any(each.word in restated.framing_words for each in tokens)
    if not is_given and any(
        each.word not in around for each in tokens[tokens.index(free[-1]) + 1 :]
    ):
        return ""  # "Paul came"
    begin, end = free[0].start, free[-1].start + len(free[-1].written)
    name = text[begin:end]
    if is_han(name[0]):
        next_to = [each.word for each in tokens if each.start in {begin - 1, end}]
        is_apart = all(each in around for each in next_to)
        return name if is_apart and is_given and len(name) == len(free) else ""
    name = name[:1].upper() + name[1:] if is_given else name
    is_part = name.lower() in book.parts  # "no Lena is my sister"
    return name if is_name(name, book) and not is_part else ""


def is_han(character: str) -> bool:
    """Return whether a character is Chinese; no spaces part its words."""
    return "\u3400" <= character <= "\u9fff"
