"""Grounding: checks that a claim's subject matter and numbers appear in or near its quotes.

A genuine quote proves nothing about another subject. Compares words, including those just before
and after; if the claim is in another language than the quote, the extractor is trusted.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from itertools import filterfalse
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS, OCCURRENCE_KINDS
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.messages import WIDE_CHARS, Message
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.critical_tokens import extract_critical_tokens, extract_numbers
from oldfriend.learning.extraction import Claim
from oldfriend.learning.similarity import drop_matching_stems
from oldfriend.learning.validation.clauses import get_content_stems
from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase, get_span_cue_words
from oldfriend.learning.validation.sentiment import has_grief, has_joy

LOOKBACK, LOOKAHEAD = 3, 2
"""Messages around a quote that may say what it is about ("I got through it." "Of what?")."""
MIN_CONTENT_WORDS: Final = 3
"""Fewer content words may all be paraphrased ("Father died", "Dad passed away")."""
MIN_SHARED_PART: Final = 1 / 3
"""Share of a belief's words that must be mentioned by words that end it."""
MAX_DAY: Final = 31
DAYS_OF_WEEK: Final = 7
MAX_WEEKS: Final = 2
"""Weeks within which a weekday is: "Friday next week", said on a Monday, is 11 days away."""
WEEKDAYS: Final = {f"weekday {each}": {each} for each in range(1, 8)} | {"weekday 8": {6, 7}}
"""The days of the week that each time means, from Monday; the eighth is the weekend."""
MAX_DIGITS: Final = len("2024")
MAX_YEARS_AGO: Final = 110
"""Years of a life: what is said to be so many years old, or ago, has a year."""
DECADE: Final = re.compile(r"(?<!\d)(?:19|20)?(?P<decade>\d0)['’]?s\b|['’](?P<year>\d\d)(?!\w)")
"""Tells a decade ("1970s", "70s", "70's"), or a year without its century ("'98")."""
YEARS: Final = range(1900, 2101)
NO_TARGET: Final = MemoryId(ObjectId(""))
PROFILE_KEYS: Final = frozenset(
    {
        "name",
        "preferred_name",
        "location",
        "occupation",
        "workplace",
        "employer",
        "relationship_status",
        "birthday",
        "birthplace",
    }
)
"""Keys that define a person's profile: a passing remark must not change them."""
ADDITIVE_EFFECTS: Final = frozenset({"reinforces", "fulfils", "cancels"})
"""These claims only add evidence; their content is already known."""
FEELING_TESTS: Final = (has_grief, has_joy)
CHANGING_EFFECTS: Final = frozenset({"supersedes", "contradicts"})


def check_topic(case: ValidationCase) -> RejectionReason | None:
    """Reject a claim if nothing of it is mentioned around the quote."""
    claim, language = case.claim, get_claim_language(case)
    stems = get_content_stems(f"{claim.text} {claim.value}", language)
    if (
        len(stems) < MIN_CONTENT_WORDS
        or claim.effect in ADDITIVE_EFFECTS
        or not is_in_language(case, language)
    ):
        return None
    if claim.kind == "event" and has_same_feeling(case):
        return None
    texts = [message.text for span in case.spans for message in get_nearby_messages(span, case)]
    # An occurrence may be stated so briefly that only a known plan says what is meant.
    if claim.kind in OCCURRENCE_KINDS or claim.key in PROFILE_KEYS:
        texts += [each.text for each in case.view.known.values() if each.kind in FUTURE_KINDS]
    target = case.view.known.get(claim.target or NO_TARGET)
    if target is not None and (claim.kind == "fact" or claim.denied_value):
        texts.append(target.text)
    return None if has_shared_stems(stems, collect_content_stems(texts, language)) else "unfounded"


def check_change(case: ValidationCase) -> RejectionReason | None:
    """Reject a change to a belief if the words are about something else; names alone do not count.

    A fact's value replaces another value of its key, whatever the words.
    """
    claim, language = case.claim, get_claim_language(case)
    target = None if claim.target is None else case.view.known.get(claim.target)
    if (
        target is None
        or claim.effect not in CHANGING_EFFECTS
        or claim.kind == "fact"
        or claim.denied_value
    ):
        return None
    if not is_in_language(case, language) or target.language != language:
        return None
    written = extract_critical_tokens(f"{target.text} {claim.text}", language).names
    names = collect_content_stems([*case.view.names, *claim.names, *written], language)
    old_text = f"{target.text} {target.value}"
    old = get_content_stems(
        case.cue_words.low_content_word.sub(" ", old_text), language
    ) or get_content_stems(old_text, language)
    old -= names
    new_text = case.cue_words.change_of_state.sub(" ", f"{claim.text} {claim.value}")
    new = (
        get_content_stems(case.cue_words.low_content_word.sub(" ", new_text), language)
        or get_content_stems(new_text, language)
    ) - names
    said_stems = collect_content_stems(
        (each for span in case.spans for each in span.iter_sentences()), language
    )
    if get_shared_part(old, said_stems) >= MIN_SHARED_PART or (
        has_shared_stems(old, new) and has_shared_stems(drop_matching_stems(new, old), said_stems)
    ):
        return None
    return (
        "another matter"
        if claim.kind == "pattern" or not has_shared_stems(new, said_stems)
        else None
    )


def check_numbers(case: ValidationCase) -> RejectionReason | None:
    """Reject a number that nobody has said and that is no part of a date."""
    claim, language = case.claim, get_claim_language(case)
    if claim.effect in ADDITIVE_EFFECTS or not is_in_language(case, language):
        return None
    words = f"{claim.text} {claim.value}"
    numbers = set(filter(str.isdecimal, extract_numbers(words, language)))
    if any(map(is_date_number, numbers)) and extract_critical_tokens(words, language).times:
        numbers = set(filterfalse(is_date_number, numbers))
    if not numbers or numbers <= collect_known_numbers(case, language):
        return None
    texts = (message.text for span in case.spans for message in get_nearby_messages(span, case))
    is_unsupported = not any(
        case.cue_words.large_number.search(fold_characters(text)) for text in texts
    )
    return "unfounded" if is_unsupported else None


def collect_known_numbers(case: ValidationCase, language: str) -> set[str]:
    """Return the numbers around the quotes, in known beliefs, and in dates and times."""
    nearby = [message for span in case.spans for message in get_nearby_messages(span, case)]
    texts = [
        *(message.text for message in nearby),
        *(each.text for each in case.view.known.values()),
    ]
    numbers = {number for text in texts for number in extract_numbers(text, language)}
    computed = iter_computed_numbers(case.claim, nearby, language)
    return numbers | {*iter_time_numbers(case.claim, nearby), *computed}


def check_overrule(case: ValidationCase) -> RejectionReason | None:
    """Reject a change to the profile if the words do not state how the person lives."""
    claim = case.claim
    is_change = claim.effect != "reinforces" and not claim.denied_value
    if claim.kind != "fact" or claim.key not in PROFILE_KEYS or not is_change:
        return None
    has_rival = any(
        each.kind == "fact"
        and each.key == claim.key
        and each.subject == claim.subject
        and each.value.casefold() != claim.value.casefold()
        for each in case.view.known.values()
    )
    if not has_rival or any(
        span.message.language not in list_languages("evidence_cues") for span in case.spans
    ):
        return None
    is_stated = any(
        get_span_cue_words(span).lasting_state.search(fold_characters(span.sentence_text))
        for span in case.spans
    )
    return None if is_stated else "another matter"


def check_termination(case: ValidationCase) -> RejectionReason | None:
    """Reject the end of a known belief if the words mention neither the past nor a change."""
    claim = case.claim
    if claim.holds_until is None or claim.holds_until - DAY >= max(
        e.message.at for e in case.spans
    ):
        return None
    is_known = any(
        (each.kind, each.key, each.subject) == (claim.kind, claim.key, claim.subject)
        and each.value.casefold() == claim.value.casefold()
        for each in case.view.known.values()
    )
    if not is_known or any(
        span.message.language not in list_languages("evidence_cues") for span in case.spans
    ):
        return None
    statements = [
        (get_span_cue_words(span), fold_characters(span.sentence_text)) for span in case.spans
    ]
    is_stated = any(
        cue_words.past_occasion.search(text) or cue_words.change_of_state.search(text)
        for cue_words, text in statements
    )
    return None if is_stated else "another matter"


def has_same_feeling(case: ValidationCase) -> bool:
    """Return whether claim and quotes both express grief, or both joy, in any words."""
    quoted = " ".join(span.sentence_text for span in case.spans)
    return any(
        has_feeling(case.cue_words, case.claim.text) and has_feeling(case.cue_words, quoted)
        for has_feeling in FEELING_TESTS
    )


def get_claim_language(case: ValidationCase) -> str:
    """Return the language of a claim's text."""
    return detect_language(case.claim.text, fallback=case.view.language)


def is_in_language(case: ValidationCase, language: str) -> bool:
    """Return whether a claim and its quotes are in a language, and it is a supported one."""
    quoted = [(span.message.text, span.message.language) for span in case.spans]
    has_wide_characters = WIDE_CHARS.search(case.claim.text) is not None
    is_claim_in_language = has_wide_characters == get_traits(language).is_cjk
    are_quotes_in_language = all(
        detect_language(text, fallback=default) == language for text, default in quoted
    )
    return (
        language in list_languages("evidence_cues")
        and is_claim_in_language
        and are_quotes_in_language
    )


def get_nearby_messages(span: QuoteSpan, case: ValidationCase) -> tuple[Message, ...]:
    """Return the quoted message, and those just before and after it."""
    view, message = case.view, span.message
    return (*view.list_before(message)[-LOOKBACK:], message, *view.list_after(message)[:LOOKAHEAD])


def collect_content_stems(texts: Iterable[str], language: str) -> frozenset[str]:
    """Return the content stems of all texts."""
    return frozenset[str]().union(*(get_content_stems(text, language) for text in texts))


def has_shared_stems(ours: Iterable[str], theirs: frozenset[str]) -> bool:
    """Return whether both share a word, or forms of one."""
    ours = list(ours)
    return not theirs.isdisjoint(ours) or len(drop_matching_stems(ours, theirs)) < len(ours)


def get_shared_part(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """Return the share of our words that are among theirs."""
    return 1 - len(drop_matching_stems(ours, theirs)) / len(ours) if ours else 0.0


def iter_time_numbers(claim: Claim, nearby: Iterable[Message]) -> Iterator[str]:
    """Yield the numbers of the dates and times of a claim, and of the messages around it."""
    zones = [message.zone for message in nearby]
    own: list[Micros | None] = [
        claim.due_at,
        claim.happened_at,
        claim.happened_until,
        claim.holds_from,
        claim.holds_until,
    ]
    for moment in (*own, *(message.at for message in nearby)):
        if moment is not None:
            local = from_micros(moment, zones[0])
            numbers = (local.year, local.month, local.day, local.hour, local.hour % 12)
            yield from (str(number) for number in (*numbers, local.minute))


def iter_computed_numbers(
    claim: Claim, messages: Iterable[Message], language: str
) -> Iterator[str]:
    """Yield the years and ages, and for a date the days, that follow from messages and their time.

    "The 70s" are the 1970s; who is 34 was born 34 or 35 years ago, and who started in 2014 has done
    so for as many years since; "in three weeks" and "on Friday" are days of a month.
    """
    has_date = bool(extract_critical_tokens(claim.text, language).times)
    for message in messages:
        today = from_micros(message.at, message.zone).date()
        tokens = extract_critical_tokens(message.text, language)
        told = (each for each in tokens.numbers if each.isdecimal() and len(each) <= MAX_DIGITS)
        counts = {*map(int, told)}
        yield from iter_decade_years(message.text)
        yield from map(str, iter_years_between(counts, today.year))
        if has_date:
            yield from map(str, iter_days_near(counts, today, tokens.times))


def iter_years_between(counts: Iterable[int], this_year: int) -> Iterator[int]:
    """Yield the years so many years ago, and the years since a year, perhaps not yet full."""
    for count in counts:
        if count in YEARS:
            yield from (each for each in (this_year - count, this_year - count - 1) if each > 0)
        elif count <= MAX_YEARS_AGO:
            yield from (this_year - count, this_year - count - 1)


def iter_days_near(counts: Iterable[int], today: date, times: Collection[str]) -> Iterator[int]:
    """Yield the days of a month that are so many days or weeks away, or the next and last week.

    Where the times name a weekday and no other day, only those of it are near.
    """
    weekdays = frozenset[int]().union(*(WEEKDAYS.get(each, ()) for each in times))
    near = () if weekdays and not any(each.startswith("day ") for each in times) else (1,)
    away = {
        sign * each * unit
        for each in (*counts, *near)
        for unit in (1, DAYS_OF_WEEK)
        for sign in (1, -1)
        if each <= MAX_DAY
    }
    yield from ((today + timedelta(days=each)).day for each in away)
    if weekdays:
        around = range(-MAX_WEEKS * DAYS_OF_WEEK, MAX_WEEKS * DAYS_OF_WEEK + 1)
        days = (today + timedelta(days=each) for each in around)
        yield from (each.day for each in days if each.isoweekday() in weekdays)


def iter_decade_years(text: str) -> Iterator[str]:
    """Yield the numbers by which the decades and shortened years of a text may be written."""
    for found in DECADE.finditer(text):
        short = found["decade"] or found["year"]
        yield from (short, f"19{short}", f"20{short}")


def is_date_number(number: str) -> bool:
    """Return whether a number may be the day or the year of a date."""
    return len(number) <= MAX_DIGITS and (int(number) <= MAX_DAY or int(number) in YEARS)
