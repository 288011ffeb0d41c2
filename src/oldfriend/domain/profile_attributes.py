"""Profile: the beliefs about a person that are always in context, selected and sorted."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, KINDS_BY_NAME
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.domain.relations import PARTNER_ROLES, RELATION_BY_ROLE, RELATION_KEY_SUFFIX
from oldfriend.domain.supersession import is_or_was_true

IDENTITY_KEYS: Final = ("preferred_name", "name", "pronouns", "age", "birthday")
RELATION_KEYS: Final = ("relationship_status", *PARTNER_ROLES, "children", "family")
WORK_KEYS: Final = (
    "occupation",
    "job",
    "profession",
    "workplace",
    "employer",
    "works_at",
    "school",
    "studies",
    "studies_at",
)
HOME_KEYS: Final = (
    "location",
    "home",
    "address",
    "residence",
    "lives_in",
    "timezone",
    "home_timezone",
    "hometown",
)
HEALTH_KEYS: Final = (
    "allergies",
    "allergy",
    "dietary",
    "diet",
    "health",
    "conditions",
    "medication",
    "accessibility",
)
FIRST_KEYS: Final = (*IDENTITY_KEYS, *RELATION_KEYS, *WORK_KEYS, *HOME_KEYS, *HEALTH_KEYS)
"""The keys that come first, in this order; the others follow by importance and freshness."""
FIRST_KEYS_AS_WORDS: Final = (*WORK_KEYS, *HOME_KEYS, *HEALTH_KEYS)
"""Those of them that are also found as a word of a longer key, such as "home_address"."""
CLOSE_RELATIONS: Final = frozenset({"partner_of", "parent_of", "child_of", "sibling_of"})
"""Relations to the person that belong to who they are."""
LIVING_RELATIONS: Final = frozenset({"lives_in", "works_at", "studies_at"})
"""Relations of the person that say how they live."""
SAFETY_KEYS: Final = frozenset(
    {
        "allergies",
        "allergy",
        "allergic",
        "intolerance",
        "intolerances",
        "dietary",
        "diet",
        "health",
        "condition",
        "conditions",
        "illness",
        "medication",
        "medications",
        "medicine",
    }
)
"""Keys of what may harm somebody if it is not thought of, also somebody else than the person."""
MAX_SAFETY_OF_OTHERS: Final = 8
"""The most such facts about others, those of the greatest weight …"""
MAX_SAFETY_OF_ONE: Final = 2
"""… and of one of them, whose other facts are told where they are spoken of."""
HIDDEN_KEYS: Final = frozenset(
    {
        "welcomed",
        "preferred_language",
        "active_project",
        "personality",
        "onboarding_stage",
    }
)
"""Internal keys, besides those that begin with "pending_"."""
MAX_OVERDUE: Final = 14 * DAY
"""What was due longer ago than this is not shown as overdue any more; it ends by itself."""


LATELY: Final = 30 * DAY
"""What changed longer ago than this is no news."""
MAX_CHANGES: Final = 6
"""The most changes and events that count as news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is always known about a person: live, certain, and their own.

    Of others it holds who is close to the person, and what they must not eat or must take.
    """

    attributes: tuple[MemoryState, ...] = ()  # facts and preferences, what matters most first
    promises: tuple[MemoryState, ...] = ()  # and expectations, by due date
    quotes: tuple[MemoryState, ...] = ()  # facts in the person's own words, the newest first

    @property
    def fact_count(self) -> int:
        """How many facts there are, in whose words whatever."""
        return len(self.attributes) + len(self.quotes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.attributes or self.promises or self.quotes)


EMPTY_PROFILE: Final = Profile()


def drop_long_overdue(profile: Profile, now: Micros) -> Profile:
    """Return a profile without what was due too long ago."""
    first = bisect_left(profile.promises, True, key=lambda each: not is_long_overdue(each, now))
    return replace(profile, promises=profile.promises[first:])


def build_profile(beliefs: Iterable[MemoryState]) -> Profile:
    """Build the profile from beliefs, with everything open that was ever due."""
    attributes: list[MemoryState] = []
    safety: list[MemoryState] = []
    promises: list[MemoryState] = []
    quotes: list[MemoryState] = []
    for each in beliefs:
        memory = each.memory
        if memory.status == "tentative" or memory.trust == "outside":
            continue
        part = KINDS_BY_NAME[memory.kind].profile
        if memory.is_quoted_fact:
            quotes.append(each)
        elif (
            part == "preferences"
            or (part == "facts" and is_profile_key(memory.key) and memory.subject != "other")
            or is_close_relation(memory)
            or is_living_relation(memory)
        ):
            attributes.append(each)
        elif is_safety_of_other(memory):
            safety.append(each)
        elif part == "promises":
            promises.append(each)
    attributes += select_safety(safety)
    return Profile(
        attributes=tuple(sorted(attributes, key=get_attribute_sort_key)),
        promises=tuple(sorted(promises, key=get_due_sort_key)),
        quotes=tuple(sorted(quotes, key=lambda each: -each.stats.last_seen)),
    )


def select_safety(safety_of_others: Sequence[MemoryState]) -> list[MemoryState]:
    """Select what matters most of what others must not eat or must take, a little of each."""
    counts = Counter[str]()
    selected: list[MemoryState] = []
    for each in sorted(safety_of_others, key=lambda one: (-compute_weight(one), one.base_seq)):
        owner = each.memory.key.rpartition(":")[0]
        counts[owner] += 1
        if not owner or counts[owner] <= MAX_SAFETY_OF_ONE:
            selected.append(each)
    return selected[:MAX_SAFETY_OF_OTHERS]


def put_first(profile: Profile, safety: Iterable[MemoryState]) -> Profile:
    """Return a profile that begins with these beliefs, as far as they are certain."""
    first = {
        each.memory.id: each
        for each in safety
        if each.memory.status != "tentative" and each.memory.trust != "outside"
    }
    others = (each for each in profile.attributes if each.memory.id not in first)
    return replace(profile, attributes=(*first.values(), *others))


def build_changes(beliefs: Iterable[MemoryState]) -> tuple[MemoryState, ...]:
    """List what has happened to the person, and what has begun or ended, the newest first.

    What has ended is listed only where no other value has taken its place.
    """
    changes: list[tuple[Micros, MemoryState]] = []
    live_keys: set[str] = set()
    for each in beliefs:
        memory = each.memory
        if memory.subject == "other" or memory.trust == "outside":
            continue
        if memory.is_live and memory.key:
            live_keys.add(memory.key)
        if (at := find_change_time(each)) is not None:
            changes.append((at, each))
    changes.sort(key=lambda pair: (-pair[0], -pair[1].base_seq))
    return tuple(
        each for _, each in changes if each.memory.is_live or each.memory.key not in live_keys
    )


def select_lately(changes: Iterable[MemoryState], now: Micros) -> tuple[MemoryState, ...]:
    """Select those of the changes, the newest first, that are news at a time."""
    lately = (each for each in changes if now - LATELY <= (find_change_time(each) or 0) <= now)
    return tuple(islice(lately, MAX_CHANGES))


def find_change_time(known: MemoryState) -> Micros | None:
    """Return when an event happened, or a fact began, replaced another or ended; else None."""
    memory = known.memory
    if memory.happened_during is not None:
        return memory.happened_during[0] if memory.is_live else None
    if memory.kind not in ATTRIBUTE_KINDS:
        return None
    if memory.ended_at is not None:
        return memory.holds_until if is_or_was_true(memory) else None
    if memory.holds_from is not None:
        return memory.holds_from
    is_new_value = any(link.kind == "supersedes" for link in memory.relations)
    return known.stats.first_seen if is_new_value else None


def is_close_relation(memory: StoredBelief) -> bool:
    """Return whether a belief says who the partner, a parent, a child or sibling is."""
    if memory.kind == "triple":
        return memory.subject == "person" and memory.key in CLOSE_RELATIONS
    is_role = memory.key.endswith(RELATION_KEY_SUFFIX) and memory.kind in ATTRIBUTE_KINDS
    return is_role and RELATION_BY_ROLE.get(memory.value) in CLOSE_RELATIONS


def is_living_relation(memory: StoredBelief) -> bool:
    """Return whether a relation says where the person lives, works or learns."""
    is_own = memory.kind == "triple" and memory.subject == "person"
    return is_own and memory.key in LIVING_RELATIONS


def is_safety_of_other(memory: StoredBelief) -> bool:
    """Return whether a fact says what somebody else must not eat or must take."""
    owner, _, bare = memory.key.rpartition(":")
    is_of_other = bool(owner) or memory.subject == "other"
    return memory.kind in ATTRIBUTE_KINDS and is_of_other and is_safety_key(bare)


def is_own_safety(memory: StoredBelief) -> bool:
    """Return whether a fact or preference says what the person must not eat or must take."""
    is_own = memory.subject == "person" and ":" not in memory.key
    return memory.kind in ATTRIBUTE_KINDS and is_own and is_safety_key(memory.key)


def is_safety_key(key: str) -> bool:
    """Return whether a key, or a word of it, is of what may harm somebody: "nut_allergy"."""
    return not SAFETY_KEYS.isdisjoint((key, *key.split("_")))


def is_profile_key(key: str) -> bool:
    """Return whether a fact key is about the person, and not internal."""
    return key not in HIDDEN_KEYS and not key.startswith("pending_") and ":" not in key


def get_attribute_sort_key(known: MemoryState) -> tuple[int, float, int, int]:
    """Return the sort key: identity, relations, work, home, health, then weight and freshness."""
    memory = known.memory
    if is_safety_of_other(memory):
        place = FIRST_KEYS.index(HEALTH_KEYS[-1])
    elif (word := find_first_key(memory.key)) is not None:
        place = FIRST_KEYS.index(word)
    elif is_close_relation(memory):
        place = FIRST_KEYS.index(RELATION_KEYS[-1])
    else:
        place = len(FIRST_KEYS)
    return place, -round(compute_weight(known), 1), -known.stats.last_seen, known.base_seq


def find_first_key(key: str) -> str | None:
    """Return the first key that a key is; of work, home and health also one that is its word."""
    if key in FIRST_KEYS:
        return key
    words = key.split("_")
    return next((each for each in FIRST_KEYS_AS_WORDS if each in words), None)


def compute_weight(known: MemoryState) -> float:
    """Return the weight of a belief."""
    return known.stats.confidence + known.memory.importance + known.memory.is_pinned


def get_due_sort_key(known: MemoryState) -> tuple[bool, int, int]:
    """Return the sort key by due time; what has none comes last, newest first."""
    due = known.memory.due_at
    return due is None, due or -known.stats.last_seen, known.base_seq


def is_long_overdue(known: MemoryState, now: Micros) -> bool:
    """Return whether a belief was due too long ago to be waited for."""
    return known.memory.due_at is not None and known.memory.due_at < now - MAX_OVERDUE


def sort_by_importance(beliefs: Sequence[MemoryState]) -> list[MemoryState]:
    """Sort beliefs about somebody: facts first, then by impact and recency."""
    return sorted(
        beliefs,
        key=lambda each: (
            each.memory.kind != "fact",
            -abs(each.memory.impact),
            -each.stats.last_seen,
        ),
    )
