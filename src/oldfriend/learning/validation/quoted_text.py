"""Quoted text: decides whether a claim rests on what somebody else said, or on pasted text."""

import re
from collections.abc import Iterable
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.messages import WIDE_CHARS, Message
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim
from oldfriend.learning.similarity import drop_matching_stems
from oldfriend.learning.validation.clauses import get_content_stems
from oldfriend.learning.validation.cue_words import get_cue_words
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView
from oldfriend.learning.validation.word_overlap import (
    extract_terms,
    find_shared_terms,
    is_date_word,
)
from oldfriend.memory.people import DEFAULT_OWNER_NAME
from oldfriend.search.name_index import contains_name
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for
from oldfriend.turn.attribution.quotations import find_quotation_end
from oldfriend.turn.attribution.quoted_spans import blank_spans, find_borrowed_spans, merge_spans
from oldfriend.turn.attribution.reporting_frames import (
    is_open_request,
    is_role_play_opening,
    is_stage_direction,
)
from oldfriend.turn.attribution.spans import BorrowedKind, BorrowedSpan, find_sentences
from oldfriend.turn.intent import PUNCTUATION_FOLDING

MAX_ANSWER_WORDS: Final = 12
MAX_ANSWER_CHARS: Final = 30
"""Words, or characters, of an answer in quotation marks that may be the speaker's own."""
PARAGRAPH_BREAK: Final = "\n\n"
SENTENCE_ENDS: Final = "\n.!?。！？"
LETTER_KINDS: Final[frozenset[BorrowedKind]] = frozenset({"quoted", "pasted", "letter"})
"""What somebody wrote or said to somebody."""
ROLEPLAY_LOOKBACK: Final = 8
"""Preceding messages that may have opened the role play that a message belongs to."""
MAX_NAME_WORDS: Final = 2
WORD: Final = re.compile(r"[^\W\d_]+")
CACHE_SIZE: Final = 512


def check_quoted_text(claim: Claim, span: QuoteSpan, view: SegmentView) -> RejectionReason | None:
    """Return why words in the person's message are not their own; None if they are."""
    if span.message.trust != "person":
        return None
    if is_pasted_for_task(span.message, view):
        return "outside words"
    if is_roleplay(span.message, view):
        return "imagined"
    if is_typed_by_another(span.message, view):
        return "words of another"
    borrowed_spans = list_borrowed_spans(span.message, view.inputs.companion_names)
    if not borrowed_spans or is_quoted_answer(span.message, borrowed_spans, view):
        return None
    own_text = blank_spans(span.message.text, borrowed_spans)
    if is_news_of_known(claim, borrowed_spans, own_text, view):
        return None
    rejections = (_check_stretch(claim, span, each, own_text) for each in borrowed_spans)
    return next((rejection for rejection in rejections if rejection is not None), None)


def is_news_of_known(
    claim: Claim, stretches: Iterable[BorrowedSpan], own_text: str, view: SegmentView
) -> bool:
    """Return whether the person passes on news of others, of whom one is known or spoken of.

    They say so in words of their own; what nobody wrote to anybody, such as logs, is no news.
    """
    if claim.subject != "other" or not KINDS_BY_NAME[claim.kind].may_rest_on_others:
        return False
    if any(each.kind not in LETTER_KINDS for each in stretches) or not own_text.strip():
        return False
    own_texts = [own_text, *(each.text for each in view.all_messages if each.trust == "person")]
    folded = [each.casefold() for each in own_texts]
    return any(
        name in view.names or any(contains_name(text, name) for text in folded)
        for name in (each.casefold() for each in claim.names if each)
    )


def _check_stretch(
    claim: Claim, span: QuoteSpan, stretch: BorrowedSpan, own_text: str
) -> RejectionReason | None:
    if not is_from_stretch(claim, span, stretch, own_text):
        return None
    if stretch.is_pasted:
        return "outside words"
    is_reported = KINDS_BY_NAME[claim.kind].may_be_retold and has_attribution(claim, span, own_text)
    return None if is_reported else "words of another"


def list_borrowed_spans(
    message: Message, companion_names: frozenset[str] = frozenset()
) -> tuple[BorrowedSpan, ...]:
    """Return the spans of a message that are quoted or pasted."""
    language = detect_language(message.text, fallback=message.language)
    return _find_all_stretches(message.text, language, companion_names)


def get_own_text(message: Message) -> str:
    """Return a message's text; in the person's messages, pasted text is blanked out."""
    if message.trust != "person":
        return message.text
    return _blank_pasted(message.text, message.language)


@text_lru_cache(CACHE_SIZE)
def _blank_pasted(text: str, language: str) -> str:
    spans = _find_all_stretches(text, detect_language(text, fallback=language), frozenset())
    return blank_spans(text, [each for each in spans if each.is_pasted])


@text_lru_cache(CACHE_SIZE)
def _find_all_stretches(
    text: str, language: str, companion_names: frozenset[str]
) -> tuple[BorrowedSpan, ...]:
    return merge_spans(
        (*find_borrowed_spans(text, language, companion_names), *_iter_forwarded(text, language))
    )


def _iter_forwarded(text: str, language: str) -> Iterable[BorrowedSpan]:
    """Yield the spans that words of the language introduce as forwarded."""
    for found in get_cue_words(language).forwarded.finditer(text.translate(PUNCTUATION_FOLDING)):
        rest = text[found.end() :]
        begin = found.end() + len(rest) - len(rest.lstrip())
        end = find_quotation_end(text, begin)
        end = text.find(PARAGRAPH_BREAK, begin) if end < 0 else end
        yield BorrowedSpan(found.end(), len(text) if end < 0 else end, kind="pasted")


def is_pasted_for_task(message: Message, view: SegmentView) -> bool:
    """Return whether the preceding message asked for work on a text, and this is that text."""
    before = [each for each in view.list_before(message) if each.trust == "person"]
    return bool(before) and is_open_request(before[-1].text, before[-1].language)


def is_typed_by_another(message: Message, view: SegmentView) -> bool:
    """Return whether a message begins with the name of somebody else who types: "Viktor here."."""
    sentence = next(iter(find_sentences(message.text)), None)
    own_names = {view.inputs.person.name, message.speaker}
    if sentence is None or not own_names.isdisjoint({"", DEFAULT_OWNER_NAME}):
        return False
    own_words = {word.casefold() for name in own_names for word in WORD.findall(name)}
    head = message.text[sentence.start : sentence.end].split(",")[0]
    for cues in load_cues_for(message.text, message.language)[:1]:
        plain = cues.greeting.sub(" ", fold_punctuation(head), count=1)
        names = [
            word
            for word in WORD.findall(head)
            if word[0].isupper() and not is_date_word(word, cues.language)
        ]
        rest = WORD.findall(cues.introduction.sub(" ", plain))
        is_named = 0 < len(rest) <= MAX_NAME_WORDS and {*map(str.lower, names)} >= {*rest}
        if is_named and cues.introduction.search(plain):
            return own_words.isdisjoint(rest)
    return False


def is_roleplay(message: Message, view: SegmentView) -> bool:
    """Return whether a message belongs to a role play that an earlier message opened."""
    cues = load_cues_for(message.text, message.language)
    if any(each.game_exit.search(fold_punctuation(message.text)) for each in cues):
        return False
    before = view.list_before(message)[-ROLEPLAY_LOOKBACK:]
    if not before or before[-1].trust != "companion":
        return False
    for each in reversed(before):
        if each.trust == "companion" and is_stage_direction(each.text, each.language):
            return True
        if each.trust == "person":
            if is_role_play_opening(each.text, each.language):
                return True
            if any(cue.game_exit.search(fold_punctuation(each.text)) for cue in cues):
                return False
    return False


def is_quoted_answer(
    message: Message, stretches: Iterable[BorrowedSpan], view: SegmentView
) -> bool:
    """Return whether a message is one short quotation that answers a question."""
    text = message.text.strip()
    kinds = {each.kind for each in stretches}
    is_short = (
        len(text.split()) <= MAX_ANSWER_WORDS and len(WIDE_CHARS.findall(text)) <= MAX_ANSWER_CHARS
    )
    if kinds != {"quoted"} or not is_short or _has_own_letters(message.text, stretches):
        return False
    before = view.list_before(message)
    return (
        bool(before)
        and before[-1].trust == "companion"
        and "?" in before[-1].text.translate(PUNCTUATION_FOLDING)
    )


def _has_own_letters(text: str, stretches: Iterable[BorrowedSpan]) -> bool:
    return any(map(str.isalnum, blank_spans(text, stretches)))


def is_from_stretch(claim: Claim, span: QuoteSpan, stretch: BorrowedSpan, own_text: str) -> bool:
    """Return whether a claim rests on a borrowed span rather than on the speaker's own words."""
    language, text = span.message.language, span.message.text
    if stretch.start <= span.start and span.end <= stretch.end:
        return True
    value = claim.value.casefold()
    if value and not get_content_stems(value, language):  # a single character is the whole content
        return value in text[stretch.start : stretch.end] and value not in own_text
    words = get_content_stems(f"{claim.text} {claim.value}", language)
    own = words & get_content_stems(own_text, language)
    unmatched = words - own
    borrowed = unmatched - set(
        drop_matching_stems(
            unmatched, get_content_stems(text[stretch.start : stretch.end], language)
        )
    )
    min_borrowed = len(own) if claim.kind == "pattern" else len(own) + 1
    return bool(borrowed) and len(borrowed) >= min_borrowed


def has_attribution(claim: Claim, span: QuoteSpan, own_text: str) -> bool:
    """Return whether a claim uses words around the quotation: who said it, or that it was said."""
    language = span.message.language
    begin = max(own_text.rfind(each, 0, span.start) for each in SENTENCE_ENDS)
    ends = [at for each in SENTENCE_ENDS if (at := own_text.find(each, span.end)) >= 0]
    surrounding = " ".join(own_text[begin + 1 : min(ends, default=len(own_text))].split())
    claim_terms = extract_terms(claim.text, language)
    return bool(find_shared_terms(extract_terms(surrounding, language), claim_terms, language))
