"""Profile facts: which facts about the person are told when they ask what is known of them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import MemoryState
from oldfriend.domain.profile_attributes import (
    HEALTH_KEYS,
    HOME_KEYS,
    IDENTITY_KEYS,
    RELATION_KEYS,
    WORK_KEYS,
    Profile,
)
from oldfriend.search.question_patterns import has_any_word
from oldfriend.search.synonyms import get_role_words, list_key_synonyms

MAX_FACTS: Final = 40
MAX_QUOTES: Final = 12
"""The most facts in the person's own words."""
FIRST_OF_EACH: Final = 2
"""Quotes on each subject that stand before all others."""
SUBJECTS: Final = (IDENTITY_KEYS, RELATION_KEYS, WORK_KEYS, HOME_KEYS, HEALTH_KEYS)


def list_profile_facts(profile: Profile) -> Sequence[MemoryState]:
    """Return the facts to tell: the worded ones, then the person's own words, both cut.

    Beside worded facts only the first words on each subject say something; others just repeat
    messages.
    """
    ranked = rank_quotes(profile.quotes)
    telling = [
        each for subject, each in ranked if subject < len(SUBJECTS) or not profile.attributes
    ]
    return (*profile.attributes, *telling[:MAX_QUOTES])[:MAX_FACTS]


def rank_quotes(newest_first: Sequence[MemoryState]) -> list[tuple[int, MemoryState]]:
    """Rank quotes: the newest on identity, people, work, home and health, then all others.

    Each comes with the number of its subject; that of none for all others.
    """
    counts = [0] * (len(SUBJECTS) + 1)
    ranked: list[tuple[int, int]] = []
    for number, each in enumerate(newest_first):
        subject = find_subject(each)
        counts[subject] += 1
        is_first = counts[subject] <= FIRST_OF_EACH
        ranked.append((subject if is_first else len(SUBJECTS), number))
    return [(subject, newest_first[number]) for subject, number in sorted(ranked)]


def find_subject(quoted_belief: MemoryState) -> int:
    """Return the number of the first subject that a quote has a word for, or that of none."""
    memory = quoted_belief.memory
    words = load_subject_words(memory.language)
    found = (number for number, each in enumerate(words) if has_any_word(each, memory.text))
    return next(found, len(SUBJECTS))


@lru_cache(maxsize=32)
def load_subject_words(language: str) -> tuple[frozenset[str], ...]:
    """Load the words for each subject in a language, if it has any."""
    words = [
        frozenset(word for key in keys for word in list_key_synonyms(key, language))
        for keys in SUBJECTS
    ]
    people = SUBJECTS.index(RELATION_KEYS)
    words[people] |= frozenset(get_role_words(language))
    return tuple(words)
