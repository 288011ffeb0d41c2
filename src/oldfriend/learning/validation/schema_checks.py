"""Schema checks: validates a claim's closed sets, keys, values, times and references together."""

import re
from typing import Final, get_args

from oldfriend.domain.belief_kinds import (
    ATTRIBUTE_KINDS,
    FUTURE_KINDS,
    KINDS_BY_NAME,
    OCCURRENCE_KINDS,
)
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import LIVE_STATUSES, Category, StoredBelief
from oldfriend.domain.relations import RELATION_KEY_SUFFIX
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.critical_tokens import extract_numbers, parse_number_word
from oldfriend.learning.extraction import ENDING_EFFECTS, Claim
from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase, get_span_cue_words
from oldfriend.learning.validation.word_overlap import extract_terms
from oldfriend.search.tokenizer import is_stop_word, tokenize

CATEGORIES: Final = frozenset(get_args(Category))
MAX_IMPACT: Final = 10
MAX_VALUE_LENGTH: Final = 200
"""Characters."""

RESERVED_KEYS: Final = re.compile(
    r"welcomed|preferred_language|active_project|personality|onboarding_stage|pending_.*|in_own_words"
)
"""Keys reserved for the program."""
MONEY: Final = re.compile(r"[$€£¥₹₽₩￥]")
NUMBER: Final = re.compile(r"[\s\d.,:+\-/%()]*")
WORD: Final = re.compile(r"[^\W_]+|%")
WIDE_AMOUNT: Final = re.compile(
    "\\A[\\d.,一二两三四五六七八九十百千万半几]+ ?(?P<unit>[\u3400-\u9fff%]{1,4})"
)
NUMERIC_KEYS: Final = frozenset(
    {
        "age",
        "height",
        "birthday",
        "shoe_size",
        "clothing_size",
        "children",
        "kids",
        "siblings",
        "brothers",
        "sisters",
        "grandchildren",
        "pets",
    }
)
"""Keys of values that are numbers and last long enough."""
COUNT_PATTERN: Final = re.compile("[\\d一二两三四五六七八九十百千万半几]+[个只次条杯件位名本张遍]?")


def check_kind(case: ValidationCase) -> RejectionReason | None:
    """Reject new notes, kinds that do not fit the subject, and patterns without a kind.

    Notes are made by the person, and may only be corrected; relations and thoughts are not claimed
    this way.
    """
    claim = case.claim
    kind = KINDS_BY_NAME[claim.kind]
    is_new_note = claim.kind == "note" and claim.effect == "new"
    if is_new_note or (claim.kind == "pattern" and claim.pattern is None):
        return "unfit kind"
    return None if kind.may_be_claimed and claim.subject in kind.subjects else "unfit kind"


def check_ranges(case: ValidationCase) -> RejectionReason | None:
    """Reject impacts that are no integer from −10 to 10, and fractions outside 0 to 1."""
    claim = case.claim
    is_whole = type(claim.impact) is int and abs(claim.impact) <= MAX_IMPACT
    are_shares = all(0 <= share <= 1 for share in (claim.confidence, claim.importance))
    return None if is_whole and are_shares else "out of range"


def check_key(case: ValidationCase) -> RejectionReason | None:
    """Reject a key that is reserved for the program."""
    claim = case.claim
    if KINDS_BY_NAME[claim.kind].key != "attribute":
        return None
    return "reserved key" if RESERVED_KEYS.fullmatch(claim.key.rpartition(":")[2]) else None


def check_value(case: ValidationCase) -> RejectionReason | None:
    """Reject an empty, overlong or tabular value; of a fact also a figure of nothing."""
    claim, value = case.claim, case.claim.value.strip()
    if claim.kind not in ATTRIBUTE_KINDS:
        return None
    if not value or len(value) > MAX_VALUE_LENGTH or value.count("|") >= 2:
        return "unfit value"
    is_part = claim.key.endswith(
        RELATION_KEY_SUFFIX
    )  # roles are English words: "son" is a stop word in French
    language = "en" if is_part else get_claim_language(case)
    if value.islower() and all(is_stop_word(word, language) for word in tokenize(value)):
        return "unfit value"
    if is_amount(value, case) and (claim.key != "budget" or not has_budget_mention(case)):
        is_told = claim.key.rpartition(":")[2] in NUMERIC_KEYS or is_figure_of_something(case)
        return None if is_told else "measurement"
    is_figure = MONEY.match(value) or NUMBER.fullmatch(value) or is_count(value)
    key = claim.key.rpartition(":")[2]
    is_date = key.endswith("birthday") or key in {"timezone", "home_timezone"}
    is_date = is_date or (key in NUMERIC_KEYS and not MONEY.match(value))
    is_bare = is_figure and claim.kind == "fact" and not is_date
    return "unfit value" if is_bare and not is_figure_of_something(case) else None


def is_figure_of_something(case: ValidationCase) -> bool:
    """Return whether a claim's figure stands in the cited messages, and its text says what of.

    One more word says so of a figure in digits ("rent"), two of one in words ("keeps seven") or
    with a unit ("the car did 90,000 km").
    """
    language, value = get_claim_language(case), case.claim.value
    figures = {*extract_numbers(value, language)}
    cited = "\n".join(span.message.text for span in case.spans)
    others = [
        each
        for each in extract_terms(case.claim.text, language)
        if not each.word.isdecimal()
        and not parse_number_word(each.word, language)
        and not case.cue_words.unit.fullmatch(each.word)
        and not case.cue_words.large_number.fullmatch(each.word)
    ]
    is_told = len(others) > (is_count(value) or is_amount(value, case))
    return is_told and figures <= {*extract_numbers(cited, language)}


def is_count(value: str) -> bool:
    """Return whether a value is only a number word, or a number with a counter ("47个")."""
    is_word = any(
        parse_number_word(value.casefold(), language)
        for language in list_languages("evidence_cues")
    )
    return is_word or COUNT_PATTERN.fullmatch(value) is not None


def get_claim_language(case: ValidationCase) -> str:
    """Return the language of a claim's text."""
    return detect_language(case.claim.text, fallback=case.view.language)


def is_amount(value: str, case: ValidationCase) -> bool:
    """Return whether a value is only a number with a unit: three weeks, 40 photos, 7小时."""
    plain, cue_words, language = fold_characters(value), case.cue_words, get_claim_language(case)
    wide_match = WIDE_AMOUNT.fullmatch(plain)
    if wide_match is not None:
        return bool(cue_words.unit.search(wide_match["unit"]))
    words = [word for word in WORD.findall(plain.replace("%", " % ")) if word != "and"]
    numbers = [
        word
        for word in words
        if word.isdecimal()
        or parse_number_word(word.casefold(), language)
        or cue_words.large_number.fullmatch(word)
    ]
    units = [word for word in words if cue_words.unit.fullmatch(word)]
    return bool(numbers and units) and len(numbers) + len(units) == len(words)


def has_budget_mention(case: ValidationCase) -> bool:
    """Return whether the words say how much there is to spend."""
    return any(
        get_span_cue_words(span).about_money.search(fold_characters(span.sentence_text))
        for span in case.spans
    )


def check_times(case: ValidationCase) -> RejectionReason | None:
    """Reject past events in the future, due times in the past, and ends before starts.

    What is fulfilled or called off may have been due long ago.
    """
    claim, messages = case.claim, case.view.inputs.messages
    first, last = messages[0].at, messages[-1].at
    if claim.happened_at is not None and claim.happened_at > last + DAY:
        return "impossible time"
    is_awaited = claim.due_at is not None and claim.effect not in ENDING_EFFECTS
    if is_awaited and claim.due_at is not None and claim.due_at < first - DAY:
        return "impossible time"
    spans = [
        (claim.happened_at, claim.happened_until),
        (claim.holds_from, claim.holds_until),
    ]
    is_reversed = any(a is not None and b is not None and b < a for a, b in spans)
    return "impossible time" if is_reversed else None


def check_target(case: ValidationCase) -> RejectionReason | None:
    """Reject an unknown target, or one that is not current or that the claim cannot affect."""
    claim = case.claim
    if claim.effect == "new":
        return None
    target = case.view.known.get(claim.target) if claim.target is not None else None
    if target is None:
        return "unknown target"
    if target.status not in LIVE_STATUSES or not can_affect(claim, target):
        return "unfit target"
    return None


def can_affect(claim: Claim, target: StoredBelief) -> bool:
    """Return whether a claim may have this effect on that memory."""
    if claim.effect in ENDING_EFFECTS:
        return claim.kind in OCCURRENCE_KINDS and target.kind in FUTURE_KINDS
    if claim.subject != target.subject:
        return False
    if target.kind == "note":
        return claim.kind != "commitment"  # a note may be about anything, in whatever form
    if claim.kind == "fact":
        return target.kind == "fact" and claim.key == target.key
    if claim.effect == "reinforces":
        return claim.kind == target.kind
    return target.kind in KINDS_BY_NAME[claim.kind].may_change
