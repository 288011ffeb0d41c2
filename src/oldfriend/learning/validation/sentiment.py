"""Sentiment: finds strongly positive and negative words in a text, in each language.

They decide that an impact has the right sign. Irony is not recognized.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.clauses import (
    find_closest_clauses,
    get_content_stems,
    split_clauses,
)
from oldfriend.learning.validation.cue_words import (
    CueWords,
    fold_characters,
    get_cue_words,
)
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.segment_view import ValidationCase, get_span_cue_words
from oldfriend.learning.validation.speech_acts import find_closest_sentences, is_pure_question
from oldfriend.search.name_index import begins_with_name
from oldfriend.turn.intent import split_sentences

MAX_SENTENCE_LENGTH: Final = 300
"""Characters of a sentence that is about one thing."""
MIN_CONTENT_WORDS: Final = 3
"""So many content words of a sentence may state something: "Tom, my partner, is a translator"."""


def has_companion_view(messages: Sequence[Message]) -> bool:
    """Return whether the companion may have said what it thinks, which it has to stand by."""
    return any(states_view(each) for each in messages if each.role == "companion")


def states_view(message: Message) -> bool:
    """Return whether a message may give a view that is not about its addressee."""
    cue_words = get_cue_words(message.language)
    return any(
        cue_words.judgement_statement.search(fold_characters(each))
        and not cue_words.addressee.search(fold_characters(each))
        and len(get_content_stems(drop_questions(message.language, each), message.language))
        >= MIN_CONTENT_WORDS
        for each in split_sentences(message.text)
    )


def drop_questions(language: str, sentence: str) -> str:
    """Return what is no question of a sentence: all of it, its other clauses, or nothing."""
    cue_words = get_cue_words(language)
    if not is_pure_question(sentence, cue_words, language):
        return sentence
    clauses = [] if "?" in fold_characters(sentence) else split_clauses(sentence)
    return " ".join(
        each.text for each in clauses if not is_pure_question(each.text, cue_words, language)
    )


def correct_impact_sign(case: ValidationCase) -> int:
    """Return an event's impact with the sign of its words, if they all have the same."""
    impact, claim = case.claim.impact, case.claim
    claim_text = " ".join([claim.text, *claim.tags])
    pairs = [
        (case.cue_words, claim_text),
        *((get_span_cue_words(span), get_closest_text(case, span)) for span in case.spans),
    ]
    is_negative = any(has_grief(cue_words, text) for cue_words, text in pairs)
    is_positive = any(has_joy(cue_words, text) for cue_words, text in pairs)
    if is_negative == is_positive:
        return impact
    is_mourned = is_negative and any(
        cue_words.grave_event.search(fold_characters(text)) for cue_words, text in pairs
    )
    if is_about_others_only(case) and not is_mourned:
        return impact
    return -abs(impact) if is_negative else abs(impact)


def get_closest_text(case: ValidationCase, span: QuoteSpan) -> str:
    """Return the sentences around a quote that match the claim best, up to the last word.

    Of an overlong one only its closest clauses, because it may end with another subject.
    """
    sentences = find_closest_sentences(case.claim, span)
    if max(map(len, sentences)) <= MAX_SENTENCE_LENGTH:
        return " ".join(sentences)
    return " ".join(each.text for each in find_closest_clauses(case.claim, span)) or " ".join(
        sentences
    )


def is_about_others_only(case: ValidationCase) -> bool:
    """Return whether the words are about other people: then they do not say how the person felt."""
    for span in case.spans:
        cue_words, clauses = get_span_cue_words(span), find_closest_clauses(case.claim, span)
        texts = [each.until.strip() for each in clauses] or [
            fold_characters(get_closest_text(case, span))
        ]
        if not all(is_clause_about_others(text, cue_words, case) for text in texts):
            return False
    return True


def is_clause_about_others(text: str, cue_words: CueWords, case: ValidationCase) -> bool:
    """Return whether a clause begins with somebody else, and does not mention the speaker."""
    if cue_words.speaker.search(text) or cue_words.possessive_start.search(text):
        return False
    plain = text.casefold()
    is_led_by_name = any(name and begins_with_name(plain, name) for name in case.view.names)
    return is_led_by_name or cue_words.other_subject.search(text) is not None


def has_opposite_impact(one: Claim, other: Claim, language: str) -> bool:
    """Return whether two claims from the same quotes say the same with opposite signs."""
    if one.impact * other.impact >= 0 or not set(one.quotes) & set(other.quotes):
        return False
    ours, theirs = (get_content_stems(each.text, language) for each in (one, other))
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def has_grief(cue_words: CueWords, text: str) -> bool:
    """Return whether a text contains strong words of grief."""
    plain = cue_words.background_clause.sub(
        " ", cue_words.not_emotional.sub(" ", fold_characters(text))
    )
    return bool(cue_words.grief.search(plain) or cue_words.hurt.search(plain))


def has_joy(cue_words: CueWords, text: str) -> bool:
    """Return whether a text contains strong words of joy."""
    plain = cue_words.background_clause.sub(
        " ", cue_words.not_emotional.sub(" ", fold_characters(text))
    )
    return cue_words.joy.search(plain) is not None
