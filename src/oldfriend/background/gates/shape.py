"""Do the fields of a claim fit together? Closed sets, keys, values, times, and what it touches."""

import re
from typing import Final, get_args

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import folded
from oldfriend.background.marks import number_of_word
from oldfriend.domain.clock import DAY
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import LIVE, Category, Memory, MemoryKind
from oldfriend.domain.ties import RELATION_OF
from oldfriend.memory.search.words import is_stop_word, words_in
from oldfriend.prompts.phrasebook import SPOKEN

CATEGORIES: Final = frozenset(get_args(Category))
GREATEST_IMPACT: Final = 10
LONGEST_KEY: Final = 50
LONGEST_VALUE: Final = 200
"""ACCEPTANCE E4."""

KEY: Final = re.compile(r"[a-z][a-z0-9_]*")
KEY_OF_ANOTHER: Final = re.compile(r"(?P<name>[^:]*[^\W\d_][^:]*):(?P<key>[a-z][a-z0-9_]*)")
"""A fact about somebody else stands under their name: "Ana:allergies"."""
RESERVED: Final = re.compile(
    r"welcomed|preferred_language|active_project|personality|onboarding_stage|pending_.*"
)
"""Keys of the house's own (ACCEPTANCE E5)."""
SAYING_NOTHING: Final = frozenset({
    "detail", "details", "fact", "info", "information", "note", "misc", "miscellaneous", "other",
    "thing", "stuff", "general", "statement", "comment", "remark", "observation", "trivia",
    "unknown", "value", "data", "text",
})  # fmt: skip
"""Under such a key one thing would take the place of another that has nothing to do with it."""
MONEY: Final = re.compile(r"[$€£¥₹₽₩￥]")
NUMBER: Final = re.compile(r"[\s\d.,:+\-/%()]*")
WORD: Final = re.compile(r"[^\W_]+|%")
WIDE_AMOUNT: Final = re.compile(
    "[\\d.,一二两三四五六七八九十百千万半几]+ ?(?P<unit>[\u3400-\u9fff%]{1,4})"
)
IN_NUMBERS: Final = frozenset({"age", "height", "birthday"})
"""What is told in numbers, and lasts long enough."""
COUNTED: Final = re.compile("[\\d一二两三四五六七八九十百千万半几]+[个只次条杯件位名本张遍]?")

TOUCHING: Final[dict[MemoryKind, frozenset[MemoryKind]]] = {
    "event": frozenset({"event"}),
    "fact": frozenset({"fact"}),
    "preference": frozenset({"preference", "pattern"}),
    "pattern": frozenset({"pattern", "preference"}),
    "commitment": frozenset({"commitment", "expectation"}),
    "expectation": frozenset({"expectation", "commitment"}),
    "opinion": frozenset({"opinion"}),
}
"""What a claim may change or speak against."""
COMING_TRUE: Final = frozenset({"event", "commitment", "expectation"})


def kind_fault(case: Case) -> Reason | None:
    """A note is the person's to make, and to put right; a pattern is of one of the seven kinds.

    An opinion is the companion's; ties and thoughts are not claimed like that.
    """
    claim = case.claim
    is_new_note = claim.kind == "note" and claim.bearing == "new"
    if is_new_note or (claim.kind == "pattern" and claim.pattern is None):
        return "unfit kind"
    if claim.kind in {"preference", "pattern"} and claim.subject == "other":
        return "unfit kind"  # those are of the person; of others, there are facts
    is_promise_of_another = claim.kind == "commitment" and claim.subject == "other"
    is_of_somebody_else = claim.kind == "opinion" and claim.subject != "companion"
    is_amiss = is_promise_of_another or is_of_somebody_else or claim.kind in {"triple", "thought"}
    return "unfit kind" if is_amiss else None


def range_fault(case: Case) -> Reason | None:
    """A whole number from −10 to 10, and shares from 0 to 1; neither 3.5 nor true."""
    claim = case.claim
    is_whole = type(claim.impact) is int and abs(claim.impact) <= GREATEST_IMPACT
    are_shares = all(0 <= share <= 1 for share in (claim.confidence, claim.importance))
    return None if is_whole and are_shares else "out of range"


def key_fault(case: Case) -> Reason | None:
    """What a fact or preference is filed under."""
    claim = case.claim
    if claim.kind == "preference":
        return None if claim.key in CATEGORIES else "unknown category"
    if claim.kind != "fact":
        return None
    form = KEY_OF_ANOTHER if claim.subject == "other" else KEY
    found = form.fullmatch(claim.key)
    if found is None or len(claim.key) > LONGEST_KEY:
        return "unfit key"
    if claim.key.rpartition(":")[2] in SAYING_NOTHING:
        return "unfit key"
    return "reserved key" if RESERVED.fullmatch(claim.key.rpartition(":")[2]) else None


def value_fault(case: Case) -> Reason | None:
    """Empty, too long, a row of a table; of a fact, a price or a bare number (ACCEPTANCE E4)."""
    claim, value = case.claim, case.claim.value.strip()
    if claim.kind not in {"fact", "preference"}:
        return None
    if not value or len(value) > LONGEST_VALUE or value.count("|") >= 2:
        return "unfit value"
    is_part = claim.key.endswith(RELATION_OF)  # which is English: "son" is a word of French, too
    language = "en" if is_part else language_of(case)
    if value.islower() and all(is_stop_word(word, language) for word in words_in(value)):
        return "unfit value"
    if is_amount(value, case) and (claim.key != "budget" or not speaks_of_money(case)):
        return None if claim.key.rpartition(":")[2] in IN_NUMBERS else "measurement"
    is_figure = MONEY.match(value) or NUMBER.fullmatch(value) or is_count(value)
    is_date = claim.key.endswith("birthday") or claim.key in {
        "timezone",
        "home_timezone",
    }
    return "unfit value" if is_figure and claim.kind == "fact" and not is_date else None


def is_count(value: str) -> bool:
    """Whether a value is no more than a number in words, or one with what it counts ("47个")."""
    is_word = any(number_of_word(value.casefold(), language) for language in SPOKEN)
    return is_word or COUNTED.fullmatch(value) is not None


def language_of(case: Case) -> str:
    """The language in which a claim is written."""
    return detect_language(case.claim.text, fallback=case.talk.language)


def is_amount(value: str, case: Case) -> bool:
    """Whether a value is no more than a number with a measure: three weeks, 40 photos, 7小时."""
    plain, told, language = folded(value), case.told, language_of(case)
    wide = WIDE_AMOUNT.fullmatch(plain)
    if wide is not None:
        return bool(told.unit.search(wide["unit"]))
    words = [word for word in WORD.findall(plain.replace("%", " % ")) if word != "and"]
    numbers = [
        word for word in words
        if word.isdecimal() or number_of_word(word.casefold(), language)
        or told.large_number.fullmatch(word)
    ]  # fmt: skip
    units = [word for word in words if told.unit.fullmatch(word)]
    return bool(numbers and units) and len(numbers) + len(units) == len(words)


def speaks_of_money(case: Case) -> bool:
    """Whether the words say how much there is to spend."""
    return any(spoken_in(place).about_money.search(folded(place.said)) for place in case.places)


def time_fault(case: Case) -> Reason | None:
    """What has happened lies not ahead, what is due not behind; nothing ends before it began.

    What comes true may have been due long ago.
    """
    claim, messages = case.claim, case.talk.material.messages
    first, last = messages[0].at, messages[-1].at
    if claim.happened_at is not None and claim.happened_at > last + DAY:
        return "impossible time"
    is_awaited = claim.due_at is not None and claim.bearing != "fulfils"
    if is_awaited and claim.due_at is not None and claim.due_at < first - DAY:
        return "impossible time"
    spans = [
        (claim.happened_at, claim.happened_until),
        (claim.holds_from, claim.holds_until),
    ]
    is_reversed = any(a is not None and b is not None and b < a for a, b in spans)
    return "impossible time" if is_reversed else None


def target_fault(case: Case) -> Reason | None:
    """What it touches is known, still believed, of a kind that it can touch, about the same."""
    claim = case.claim
    if claim.bearing == "new":
        return None
    target = case.talk.known.get(claim.target) if claim.target is not None else None
    if target is None:
        return "unknown target"
    if target.status not in LIVE or not can_touch(claim, target):
        return "unfit target"
    return None


def can_touch(claim: Claim, target: Memory) -> bool:
    """Whether a claim of this kind can bear on that memory in this way."""
    if claim.bearing == "fulfils":
        return claim.kind in COMING_TRUE and target.kind in {
            "commitment",
            "expectation",
        }
    if claim.subject != target.subject:
        return False
    if target.kind == "note":
        return claim.kind != "commitment"  # whatever tells of the same, in whichever form
    if claim.kind == "fact":
        return target.kind == "fact" and claim.key == target.key
    if claim.bearing == "reinforces":
        return claim.kind == target.kind
    return target.kind in TOUCHING.get(claim.kind, ())
