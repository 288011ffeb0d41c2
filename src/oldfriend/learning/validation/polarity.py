"""Polarity: rejects a claim that says the opposite of the words it rests on, or swaps a part."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.relations import PET_ROLES, RELATION_BY_ROLE
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.critical_tokens import (
    LIKING,
    CriticalTokens,
    extract_critical_tokens,
    extract_numbers,
    fold_case,
    is_text_negated,
    load_critical_token_words,
)
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.rule_extraction.sentences import statements_in
from oldfriend.learning.validation.cue_words import fold_characters, get_cue_words
from oldfriend.learning.validation.grounding import (
    ADDITIVE_EFFECTS,
    NO_TARGET,
    get_claim_language,
    is_date_number,
    iter_computed_numbers,
    iter_time_numbers,
)
from oldfriend.learning.validation.matching_clauses import split_clause_bounds
from oldfriend.learning.validation.modality import is_stated_negatively
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase
from oldfriend.learning.validation.speech_acts import find_answered_question
from oldfriend.learning.validation.word_overlap import (
    Term,
    extract_terms,
    find_relatives,
    find_shared_terms,
)
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for
from oldfriend.turn.attribution.spans import find_sentences

MIN_CLOSE_SHARE: Final = 0.67
"""Share of a claim's words that a clause has which alone decides whether they are denied."""
MIN_DENIED_SHARE: Final = 0.6
"""The same, from which a claim that denies them has to be denied there, too."""
MIN_CLAUSE_TERMS: Final = 2
"""Words of a claim of which a clause may have all: "Raisins, I hate them." has them in two."""
KIN: Final = "kin"
"""The axis of relatives, whose roles are compared one by one."""
WAY: Final = "way"
"""Coming and leaving: "left" is also a side of the body, and one may come off a bike."""
VAGUE_ROLES: Final = frozenset({"partner", "friend", "colleague", "pet", "pets"})
"""Roles that another one may stand for."""


def check_polarity(case: ValidationCase) -> RejectionReason | None:
    """Return "opposite" if the cited words say the reverse of a claim, or name another in it."""
    claim = case.claim
    if claim.effect in ADDITIVE_EFFECTS or claim.denied_value or claim.subject == "companion":
        return None
    language, texts = get_claim_language(case), [*_iter_sources(case)]
    is_reversed = (
        _is_denial_added(case, texts, language)
        or _is_owning_denied(case, texts, language)
        or _is_reading_denied(case, language)
        or _is_denial_dropped(case, texts, language)
        or _is_part_swapped(case, texts, language)
        or _has_other_object(case, texts, language)
    )
    return "opposite" if is_reversed else None


def is_plainly_reversed(case: ValidationCase) -> bool:
    """Return whether a free retelling denies the very words of its sources, or swaps a part."""
    language, texts = get_claim_language(case), [*_iter_sources(case)]
    _, share = _list_closest_clauses(case, texts, language)
    is_liking = LIKING in extract_critical_tokens(case.claim.text, language).polarities
    may_be_denied = share == 1 or is_liking
    return (may_be_denied and _is_denial_added(case, texts, language)) or _is_part_swapped(
        case, texts, language
    )


def _is_part_swapped(case: ValidationCase, texts: Sequence[str], language: str) -> bool:
    """Return whether a claim has another relative, name, side of an axis or number in a place."""
    claimed = extract_critical_tokens(case.claim.text, language)
    said = [extract_critical_tokens(each, _detect(each, case)) for each in texts]
    return (
        _has_swapped_relative(case, texts, language)
        or _has_swapped_names(case, texts, language)
        or _is_on_other_side(claimed, said)
        or _is_number_swapped(case, claimed, said)
    )


def _iter_sources(case: ValidationCase) -> Iterator[str]:
    """Yield the sentences around the quotes, and the questions that they answer."""
    for span in case.spans:
        near = [
            each
            for each in find_sentences(span.message.text)
            if each.start < span.end and span.start < each.end
        ]
        yield span.message.text[near[0].start : near[-1].end] if near else span.text
        question = find_answered_question(span, case.view)
        if question is not None:
            yield question.text


def _detect(text: str, case: ValidationCase) -> str:
    return detect_language(text, fallback=case.view.language)


def _is_denial_added(case: ValidationCase, texts: Sequence[str], language: str) -> bool:
    """Return whether a claim denies something, and nothing in its sources does.

    Where a clause has all words of the claim, that clause has to deny it. A dislike may be told in
    other words ("it tastes of soap"), but not by liking.
    """
    claim = case.claim
    if not is_text_negated(claim.text, language):
        return False
    claimed = extract_critical_tokens(claim.text, language).polarities
    said = [extract_critical_tokens(each, _detect(each, case)).polarities for each in texts]
    if LIKING in claimed and not any(LIKING in each for each in said):
        return False
    clauses, share = _list_closest_clauses(case, texts, language)
    if share is not None and share < MIN_DENIED_SHARE and LIKING not in claimed:
        return False  # much is denied in other words: who is allergic to nuts cannot eat them
    may_deny = _is_denied if clauses and share == 1 else _may_deny
    return not any(may_deny(each, _detect(each, case)) for each in clauses or texts)


def _is_owning_denied(case: ValidationCase, texts: Sequence[str], language: str) -> bool:
    """Return whether a claim denies that somebody has what a clause says that they have."""
    claim, owning = case.claim, get_cue_words(language).ownership
    plain = fold_characters(claim.text)
    if not is_text_negated(claim.text, language) or owning.search(plain) is None:
        return False
    things = [
        each
        for each in extract_terms(owning.sub(" ", plain), language)
        if not _is_denied(each.word, language)
    ]
    return bool(things) and any(
        _tells_owning(text[start:end], things, language)
        for text in texts
        for cues in load_cues_for(text, _detect(text, case))[:1]
        for start, end in split_clause_bounds(fold_punctuation(text), cues)
    )


def _tells_owning(clause: str, things: Sequence[Term], language: str) -> bool:
    """Return whether a clause says that somebody has something, and denies nothing."""
    is_owned = get_cue_words(language).ownership.search(fold_characters(clause)) is not None
    if not is_owned or _may_deny(clause, language):
        return False
    return len(find_shared_terms(things, extract_terms(clause, language), language)) == len(things)


def _is_reading_denied(case: ValidationCase, language: str) -> bool:
    """Return whether a claim denies, or tells the end of, just what rules read in its sentences.

    "I moved to Berlin" says that somebody lives there, and no more than that.
    """
    claim = case.claim
    is_ended = claim.holds_until is not None or claim.ended_claim is not None
    if not is_ended and not is_text_negated(claim.text, language):
        return False
    said = extract_terms(claim.text, language)
    return any(_denies_reading(claim, read, said, language) for read in _iter_readings(case))


def _denies_reading(claim: Claim, read: Claim, said: Sequence[Term], language: str) -> bool:
    """Return whether a claim that denies has all words of a state, or its only value at a time."""
    is_state = read.kind in ATTRIBUTE_KINDS and read.holds_until is None
    if not is_state or read.ended_claim is not None or read.denied_value:
        return False
    is_slot = read.key == claim.key and is_single_valued(read)
    terms = extract_terms(read.value if is_slot else read.text, language)
    has_all = bool(terms) and len(find_shared_terms(terms, said, language)) == len(terms)
    return has_all and not is_text_negated(read.text, language)


def _iter_readings(case: ValidationCase) -> Iterator[Claim]:
    """Yield what rules read in the cited sentences of the person."""
    for span in case.spans:
        message = span.message
        if message.role != "person" or message.language not in list_languages("rules"):
            continue
        book = load_rule_book(message.language)
        for sentence in statements_in(message, book):
            if sentence.words in span.sentence_text or span.text in sentence.words:
                yield from claims_in(sentence, book, ())


def _is_denial_dropped(case: ValidationCase, texts: Sequence[str], language: str) -> bool:
    """Return whether every clause with all words of a change denies what the claim states.

    New claims are checked for this where words are matched with them.
    """
    claim = case.claim
    is_ended = claim.holds_until is not None or claim.ended_claim is not None
    if claim.effect == "new" or is_ended or is_stated_negatively(claim):
        return False
    if _is_denied(claim.text, language) or _is_denied(claim.value, language):
        return False
    clauses, share = _list_closest_clauses(case, texts, language)
    return share == 1 and all(is_text_negated(each, _detect(each, case)) for each in clauses)


def _list_closest_clauses(
    case: ValidationCase, texts: Iterable[str], language: str
) -> tuple[list[str], float | None]:
    """Return the clauses with most words of a claim, if with enough; and with what share of them.

    The share is None where the claim has too few words. Neither the words that deny nor the
    person's name count, who says "I".
    """
    own = {each.word for each in extract_terms(case.view.inputs.person.name, language)}
    terms = [
        each
        for each in extract_terms(case.claim.text, language)
        if each.word not in own and not _is_denied(each.word, language)
    ]
    if len(terms) < MIN_CLAUSE_TERMS:
        return [], None
    found: list[tuple[int, str]] = []
    for text in texts:
        for cues in load_cues_for(text, _detect(text, case))[:1]:
            for start, end in split_clause_bounds(fold_punctuation(text), cues):
                words = extract_terms(text[start:end], language)
                found.append((len(find_shared_terms(terms, words, language)), text[start:end]))
    most = max((n for n, _ in found), default=0)
    is_close = most > 0 and most >= MIN_CLOSE_SHARE * len(terms)
    return [clause for n, clause in found if n == most and is_close], most / len(terms)


def _is_denied(text: str, language: str) -> bool:
    """Return whether a text denies something; always where the language's negations are unknown."""
    words = load_critical_token_words(language)
    if words.negations is None or (words.may_negate and words.may_negate.search(fold_case(text))):
        return True
    plain = fold_punctuation(text)
    return (
        is_text_negated(text, language)
        or any(each.negation.search(plain) for each in load_cues_for(text, language)[:1])
        or get_cue_words(language).negation.search(fold_characters(text)) is not None
    )


def _may_deny(text: str, language: str) -> bool:
    """Return whether a text contains any word that denies, ends or reverses something."""
    cue_words, plain = get_cue_words(language), fold_characters(text)
    if (
        _is_denied(text, language)
        or cue_words.change_of_state.search(plain)
        or cue_words.grief.search(plain)
    ):
        return True
    sides = extract_critical_tokens(text, language).polarities
    return any(side > 0 for axis in sides.keys() - {KIN} for side in sides[axis])


def _is_on_other_side(claimed: CriticalTokens, said: Iterable[CriticalTokens]) -> bool:
    """Return whether a claim is on one side of an axis, and its sources are only on others.

    Words of dislike are negations themselves: hate is the opposite of love, but not of "not love".
    """
    said = list(said)
    for axis in claimed.polarities.keys() - {KIN, WAY}:
        there = [each for each in said if axis in each.polarities]
        if there and all(
            each.polarities[axis].isdisjoint(claimed.polarities[axis])
            and (each.is_negated != claimed.is_negated) == (axis == LIKING)
            for each in there
        ):
            return True
    return False


def _has_swapped_relative(case: ValidationCase, texts: Iterable[str], language: str) -> bool:
    """Return whether a claim is of a relative or pet where its sources name only another one."""
    claimed = find_relatives(case.claim.text, language)
    said = frozenset[str]().union(*(find_relatives(each, _detect(each, case)) for each in texts))
    added, left_out = claimed - said, said - claimed
    if not added or not left_out or not VAGUE_ROLES.isdisjoint(added | left_out):
        return False
    return _are_alike(added, left_out) and added.isdisjoint(_find_known_relatives(case, language))


def _has_swapped_names(case: ValidationCase, texts: Iterable[str], language: str) -> bool:
    """Return whether a claim begins with the name that its sources end with, and the reverse.

    And says the same between both: "Ines, the daughter of Jonah" is what "Jonah has a daughter,
    Ines" says.
    """
    claimed = extract_terms(case.claim.text, language)
    for text in texts:
        said = extract_terms(text, language)
        if not claimed or not said or said[0].word == claimed[0].word:
            continue
        is_said = len(find_shared_terms(claimed, said, language)) == len(claimed)
        between = _list_until(said[0], claimed), _list_until(claimed[0], said)
        if is_said and None not in between and between[0] == between[1]:
            return True
    return False


def _has_other_object(case: ValidationCase, texts: Iterable[str], language: str) -> bool:
    """Return whether a claim of two words shares one with a clause that goes on with another.

    As "Bought a piano." of "I bought a guitar.", if no piano was spoken of.
    """
    own = {each.word for each in extract_terms(case.view.inputs.person.name, language)}
    claimed = [each for each in extract_terms(case.claim.text, language) if each.word not in own]
    if case.claim.value or len(claimed) != MIN_CLAUSE_TERMS or get_traits(language).is_cjk:
        return False
    told = [each.text for each in case.view.all_messages if each.trust == "person"]
    known = [each.text for each in case.view.known.values()]
    spoken_of = [term for each in (*told, *known) for term in extract_terms(each, language)]
    if find_shared_terms(claimed, spoken_of, language) != claimed[:1]:
        return False
    return any(
        find_shared_terms(claimed[:1], [first], language)
        for text in texts
        for cues in load_cues_for(text, _detect(text, case))[:1]
        for start, end in split_clause_bounds(fold_punctuation(text), cues)
        for first, _ in pairwise(extract_terms(text[start:end], language))
    )


def _list_until(name: Term, terms: Sequence[Term]) -> frozenset[str] | None:
    """List the words between the first of some terms and a later one that is a name, if any is."""
    for place, each in enumerate(terms[1:]):
        if each.word == name.word and each.is_name:
            return frozenset(term.word for term in terms[1 : place + 1])
    return None


def _are_alike(added: frozenset[str], left_out: frozenset[str]) -> bool:
    """Return whether roles are all of animals, or all relatives of the same kind."""
    if added | left_out <= PET_ROLES:
        return True
    relations = {RELATION_BY_ROLE.get(each) for each in added | left_out}
    return len(relations) == 1 and None not in relations


def _find_known_relatives(case: ValidationCase, language: str) -> frozenset[str]:
    """Return the roles in what the person said around, and in what is known."""
    texts = [
        *(each.text for each in case.view.all_messages if each.trust == "person"),
        *(f"{each.text} {each.value}" for each in case.view.known.values()),
    ]
    return frozenset[str]().union(*(find_relatives(each, language) for each in texts))


def _is_number_swapped(
    case: ValidationCase, claimed: CriticalTokens, said: Iterable[CriticalTokens]
) -> bool:
    """Return whether a claim has a number that its sources lack, while they have another one."""
    given = frozenset[str]().union(*(each.numbers for each in said))
    added = claimed.numbers - given
    if claimed.times:
        added = frozenset(each for each in added if each.isdecimal() and not is_date_number(each))
    return bool(added) and not given <= claimed.numbers and not added <= _list_known_numbers(case)


def _list_known_numbers(case: ValidationCase) -> frozenset[str]:
    """Return the numbers in the dates and times of a claim, and in the belief that it changes."""
    known = case.view.known.get(case.claim.target or NO_TARGET)
    messages = [span.message for span in case.spans]
    computed = iter_computed_numbers(case.claim, messages, get_claim_language(case))
    numbers = frozenset((*iter_time_numbers(case.claim, messages), *computed))
    return numbers | (frozenset() if known is None else extract_numbers(known.text, known.language))
