"""Roles: who has taken over a role ("My new boss is Tina."), and who is called by it alone.

There is one boss, therapist or partner at a time; in a plain correction ("No, my boss is Tina.")
that holds for any role, while "No, my brother Tom called" adds a brother. If several holders are
known, or none, nobody is replaced. A role that one person holds at a time, such as "my mother",
gives way to their name if that is known.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import PARTNER_ROLES, RELATION_KEY_SUFFIX
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.ended_states import as_told, is_over
from oldfriend.learning.rule_extraction.entity_mentions import by_quote
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.learning.rule_extraction.simple_statements import says_more
from oldfriend.memory.restatement_detection import has_correction_words, load_restatement_words
from oldfriend.search.question_patterns import has_any_word

ONE_AT_A_TIME: Final = frozenset({"boss", "therapist", "landlord", "landlady", *PARTNER_ROLES})
ALONE: Final = ONE_AT_A_TIME | {"mother", "father"}
"""Parts that one alone plays in a life."""
ENDS: Final = " ,.!\uff0c\u3002\uff01"
"""What stands around words of correction."""
ARTICLES: Final = frozenset({"la", "el", "le", "die", "der", "the"})


def replaced_in(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """For each that is said to be somebody's … instead of another, that the other is so no more."""
    read = by_quote(sentences)
    told = {e.memory.key: (e.stats.last_seen, as_told(e)) for e in known if is_relation(e)}
    for claim in [each for each in claims if each.key.endswith(RELATION_KEY_SUFFIX)]:
        sentence, book = read[claim.quotes[0]]
        same = [(at, each) for at, each in told.values() if each.value == claim.value]
        wrong = [(at, each) for at, each in same if is_denied(each, claim, sentence, book)]
        before = [each for at, each in wrong or same if at < sentence.message.at]
        is_one = len(wrong or same) == len(before) == 1
        is_new = claim.key not in told
        if is_one and (wrong or (is_new and takes_place(sentence, claim, book))):
            over = replace(before[0], quotes=claim.quotes, holds_until=sentence.message.at)
            del told[over.key]
            yield replace(is_over(over, book), denied_value=sentence.denied if wrong else "")
        told[claim.key] = (sentence.message.at, claim)


def in_other_part(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """The claims; who is said to be another's … after all was wrongly called what they were before.

    "No, Lena is my sister" after "my cousin Lena"; a friend may be a colleague, too, where nothing
    says that it was wrong.
    """
    read = by_quote(sentences)
    told = {each.memory.key: each.memory.value for each in known if is_relation(each)}
    for claim in claims:
        before = told.get(claim.key, "")
        found = read.get(claim.quotes[0])
        is_part = claim.key.endswith(RELATION_KEY_SUFFIX) and claim.ended_claim is None
        if is_part and claim.holds_until is None:
            told[claim.key] = claim.value
        is_other = is_part and bool(before) and before != claim.value
        is_wrong = found is not None and has_correction_words(found[0].words, found[1].language)
        yield replace(claim, denied_value=before) if is_other and is_wrong else claim


def is_denied(told: Claim, claim: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence says of whoever was told of that it is not they: "Mizo, not Miso".

    Only where it says who plays the part, and nothing else: in "my sister Ana is coming, not Eva"
    both are sisters.
    """
    name = told.key.removesuffix(RELATION_KEY_SUFFIX)
    is_other = sentence.denied and has_any_word(frozenset({name.casefold()}), sentence.denied)
    return bool(is_other) and says_who(claim.key.removesuffix(RELATION_KEY_SUFFIX), sentence, book)


def is_relation(known: MemoryState) -> bool:
    """Whether it tells what somebody is to the person now."""
    memory = known.memory
    return memory.kind == "fact" and memory.is_live and memory.key.endswith(RELATION_KEY_SUFFIX)


def list_roles(known: Iterable[MemoryState]) -> dict[str, str]:
    """List what people are to the person, by their names."""
    ties = [each.memory for each in known if is_relation(each)]
    return {each.key.removesuffix(RELATION_KEY_SUFFIX): each.value for each in ties}


def takes_place(sentence: Sentence, claim: Claim, book: RuleBook) -> bool:
    """Whether the words put right who it is, or tell of a new one where there is but one."""
    if puts_right(sentence, claim.key.removesuffix(RELATION_KEY_SUFFIX), book):
        return True
    is_one = claim.value in ONE_AT_A_TIME
    return is_one and book.instead.new_one.search(sentence.plain) is not None


def puts_right(sentence: Sentence, name: str, book: RuleBook) -> bool:
    """Whether a sentence says that it was wrong, and who it is, and nothing besides."""
    wrong = book.instead.put_right.search(sentence.plain)
    if wrong is not None:
        return says_who(name, sentence, book, since=wrong.end())
    rest = without_closing_correction(sentence.plain, book)
    return rest != sentence.plain and says_who(name, replace(sentence, plain=rest), book)


def without_closing_correction(text: str, book: RuleBook) -> str:
    """Return a text without words at its end that say something was wrong: ", actually"."""
    restated = load_restatement_words(book.language)
    found = list(restated.correction.finditer(text.lower())) if restated is not None else []
    is_last = bool(found) and found[-1].start() > 0 and not says_more(text[found[-1].end() :])
    return text[: found[-1].start()].rstrip(ENDS) if is_last else text


def says_who(name: str, sentence: Sentence, book: RuleBook, *, since: int = 0) -> bool:
    """Whether a sentence says from a place on who plays a part, and nothing besides."""
    named = (each.finditer(sentence.plain, since) for each in book.naming)
    return any(
        found["name"] == name
        and book.instead.is_called.search(found[0]) is not None
        and is_all(found, since, sentence)
        for found in chain.from_iterable(named)
    )


def is_all(found: re.Match[str], since: int, sentence: Sentence) -> bool:
    """Whether what was found is a whole clause, the last one of a sentence."""
    before, after = sentence.plain[since : found.start()], sentence.plain[found.end() :]
    begins = found.start() in sentence.starts or not says_more(before)
    return begins and not says_more(after)


def under_names(
    claims: Iterable[Claim],
    relations: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """The claims; those about whom a name is known for are told, and filed, under it.

    But where something of the same was filed under the part before, it stays the place for it.
    """
    names = names_of_parts(relations, known)
    read = by_quote(sentences)
    for claim in claims:
        _, book = read[claim.quotes[0]]
        named = under_name(claim, names, book)
        was = of_part(named, names, known)
        yield named if was is None else replace(named, key=was.memory.key)


def names_of_parts(relations: Iterable[Claim], known: Sequence[MemoryState]) -> dict[str, str]:
    """The one name of each who plays a part alone; a part with several names is not in it."""
    told = {(each.key, each.value) for each in relations}
    told |= {(each.memory.key, each.memory.value) for each in known if each.memory.is_live}
    names: dict[str, set[str]] = {}
    for key, part in told:
        if key.endswith(RELATION_KEY_SUFFIX) and part in ALONE:
            names.setdefault(part, set()).add(key.removesuffix(RELATION_KEY_SUFFIX))
    return {part: name for part, (name, *more) in names.items() if not more}


def under_name(claim: Claim, names: dict[str, str], book: RuleBook) -> Claim:
    """A claim about whoever plays a part, as one about them by name, if that is known."""
    kin, _, key = claim.key.rpartition(":")
    name = names.get(part_of(kin, book)) if claim.kind == "fact" else None
    if not name or claim.ended_claim is not None:
        return claim
    at = claim.text.casefold().find(kin.casefold())
    if at < 0:
        return claim
    text = claim.text[:at] + name + claim.text[at + len(kin) :]
    return replace(claim, key=f"{name}:{key}", text=text, names=(name,))


def of_part(
    claim: Claim, names: dict[str, str], known: Sequence[MemoryState]
) -> MemoryState | None:
    """What is known of the same, told of the part alone, where nothing is under the name."""
    name, _, key = claim.key.rpartition(":")
    parts = {part for part, each in names.items() if each == name}
    live = [each for each in known if each.memory.is_live and each.memory.kind == claim.kind]
    if not parts or not is_single_valued(claim):
        return None
    if any(each.memory.key == claim.key for each in live):
        return None
    for each in live:
        kin, _, other = each.memory.key.rpartition(":")
        language = each.memory.language
        if (
            other == key
            and language in list_languages("rules")
            and part_of(kin, load_rule_book(language)) in parts
        ):
            return each
    return None


def part_of(kin: str, book: RuleBook) -> str:
    """The part that words for one of theirs mean ("la madre"); "" where they say more of them."""
    word = kin.lower().rpartition(" ")[2]
    is_plain = word == kin.lower() or kin.lower().partition(" ")[0] in ARTICLES
    return book.part_called(word).relation if is_plain and word in book.parts else ""
