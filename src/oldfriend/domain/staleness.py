"""Staleness: how long a state counts as current after it was last said.

What changes in a life (a home, a job, an age, a plan) is told with its time once it was last said
so long ago that it may be over. What lasts (names, birthdays, family, origin, tastes, allergies,
illnesses and medicine) never is. It makes no difference whether the words were imported or said
here long ago.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import (
    QUOTE_KEY,
    MemoryState,
    PatternKind,
    RelationType,
    StoredBelief,
)
from oldfriend.domain.profile_attributes import HOME_KEYS, WORK_KEYS
from oldfriend.domain.relations import RELATION_BY_ROLE, RELATION_KEY

YEAR: Final = 365 * DAY
HALF_A_YEAR: Final = 182 * DAY
STATE_KEYS: Final[Mapping[str, Micros]] = {
    **dict.fromkeys(set(HOME_KEYS) - {"hometown", "timezone", "home_timezone"}, YEAR),
    **dict.fromkeys(("home_address", "city"), YEAR),
    **dict.fromkeys((*WORK_KEYS, "work", "job_title", "university", "studying", "boss"), YEAR),
    "age": YEAR,
    "relationship_status": YEAR,
    **dict.fromkeys(("partner", "girlfriend", "boyfriend", "spouse", "husband", "wife"), 2 * YEAR),
    **dict.fromkeys(("injury", "symptom", "symptoms", "pregnancy", "weight"), HALF_A_YEAR),
    **dict.fromkeys(("plan", "plans", "goal", "goals", "project", "course"), HALF_A_YEAR),
    **dict.fromkeys(("training", "learning", "reading", "activity", "mood"), HALF_A_YEAR),
    QUOTE_KEY: HALF_A_YEAR,
}
"""How long a state counts as current, by its key, perhaps behind "current_"; all others last."""
STATE_RELATIONS: Final[Mapping[RelationType, Micros]] = {
    "lives_in": YEAR,
    "works_at": YEAR,
    "studies_at": YEAR,
    "member_of": YEAR,
    "colleague_of": YEAR,
    "plans_for": HALF_A_YEAR,
    "partner_of": 2 * YEAR,
}
"""The same of relations, whether they stand as such or as somebody's role."""
STATE_PATTERNS: Final[Mapping[PatternKind, Micros]] = {
    "behavior": YEAR,
    "temporal": YEAR,
    "goal": HALF_A_YEAR,
    "emotion": HALF_A_YEAR,
}
"""The same of patterns."""
OPEN_PLAN: Final = HALF_A_YEAR
"""So long a promise or expectation without a due time counts as open."""


def find_stale_since(memory: StoredBelief, last_seen: Micros, now: Micros) -> Micros | None:
    """Return when a state was last said, if so long ago that it may be over; else None.

    ``last_seen`` is when its newest evidence was said; 0 without evidence. What has ended, is
    pinned, or was said to hold until later or to be due never is stale.
    """
    limit = find_limit(memory)
    if limit is None or not memory.is_live or memory.is_pinned or memory.due_at is not None:
        return None
    if memory.holds_until is not None and memory.holds_until > now:
        return None
    said_at = max(last_seen, memory.vouched_at or 0) or memory.learned_at
    begun_at = memory.holds_from or 0
    at = max(said_at, begun_at) if begun_at <= now else said_at
    return at if now - at > limit else None


def find_state_stale_since(known: MemoryState, now: Micros) -> Micros | None:
    """Return the same of a memory with its evidence stats."""
    return find_stale_since(known.memory, known.stats.last_seen, now)


def find_limit(memory: StoredBelief) -> Micros | None:
    """Return how long a belief counts as current after it was last said; None: always."""
    if memory.kind in FUTURE_KINDS:
        return OPEN_PLAN
    if memory.kind == "pattern":
        return STATE_PATTERNS.get(memory.pattern or "behavior")
    if memory.kind == "triple":
        return next((each for name, each in STATE_RELATIONS.items() if name == memory.key), None)
    if memory.kind not in {"fact", "event"}:
        return None
    key = memory.key.rpartition(":")[2]
    if key == RELATION_KEY:
        role = RELATION_BY_ROLE.get(memory.value)
        return None if role is None else STATE_RELATIONS.get(role)
    return STATE_KEYS.get(key.removeprefix("current_"))
