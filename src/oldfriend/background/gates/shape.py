"""Do the fields of a claim fit together? Closed sets, keys, values, times, and what it touches."""

import re
from typing import Final, get_args

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Case
from oldfriend.background.marks import number_of_word
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import LIVE, Category, Memory, MemoryKind
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
MONEY: Final = re.compile(r"[$€£¥₹₽₩￥]")
NUMBER: Final = re.compile(r"[\s\d.,:+\-/%()]*")
COUNTED: Final = re.compile("[\\d一二两三四五六七八九十百千万半几]+[个只次条杯件位名本张遍]?")

TOUCHING: Final[dict[MemoryKind, frozenset[MemoryKind]]] = {
    "event": frozenset({"event"}),
    "fact": frozenset({"fact"}),
    "preference": frozenset({"preference", "pattern"}),
    "pattern": frozenset({"pattern", "preference"}),
    "commitment": frozenset({"commitment", "expectation"}),
    "expectation": frozenset({"expectation", "commitment"}),
}
"""What a claim may change or speak against."""
COMING_TRUE: Final = frozenset({"event", "commitment", "expectation"})


def kind_fault(case: Case) -> Reason | None:
    """A note is the person's to make, and to put right; a pattern is of one of the seven kinds."""
    claim = case.claim
    is_new_note = claim.kind == "note" and claim.bearing == "new"
    if is_new_note or (claim.kind == "pattern" and claim.pattern is None):
        return "unfit kind"
    if claim.kind in {"preference", "pattern"} and claim.subject == "other":
        return "unfit kind"  # those are of the person; of others, there are facts
    is_promise_of_another = claim.kind == "commitment" and claim.subject == "other"
    return "unfit kind" if is_promise_of_another else None


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
    return "reserved key" if RESERVED.fullmatch(claim.key.rpartition(":")[2]) else None


def value_fault(case: Case) -> Reason | None:
    """Empty, too long, a row of a table; of a fact, a price or a bare number (ACCEPTANCE E4)."""
    claim, value = case.claim, case.claim.value.strip()
    if claim.kind not in {"fact", "preference"}:
        return None
    if not value or len(value) > LONGEST_VALUE or value.count("|") >= 2:
        return "unfit value"
    is_figure = MONEY.match(value) or NUMBER.fullmatch(value) or is_count(value)
    is_date = claim.key.endswith("birthday") or claim.key in {"timezone", "home_timezone"}
    return "unfit value" if is_figure and claim.kind == "fact" and not is_date else None


def is_count(value: str) -> bool:
    """Whether a value is no more than a number in words, or one with what it counts ("47个")."""
    is_word = any(number_of_word(value.casefold(), language) for language in SPOKEN)
    return is_word or COUNTED.fullmatch(value) is not None


def time_fault(case: Case) -> Reason | None:
    """What has happened lies not ahead, what is due not behind; nothing ends before it began."""
    claim, messages = case.claim, case.talk.material.messages
    first, last = messages[0].at, messages[-1].at
    if claim.happened_at is not None and claim.happened_at > last + DAY:
        return "impossible time"
    if claim.due_at is not None and claim.due_at < first - DAY:
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
        return claim.kind in COMING_TRUE and target.kind in {"commitment", "expectation"}
    if claim.subject != target.subject:
        return False
    if target.kind == "note":
        return claim.kind != "commitment"  # whatever tells of the same, in whichever form
    if claim.kind == "fact":
        return target.kind == "fact" and claim.key == target.key
    if claim.bearing == "reinforces":
        return claim.kind == target.kind
    return target.kind in TOUCHING.get(claim.kind, ())
