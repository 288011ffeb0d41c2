"""What is told to whoever asks what is known of them: the most telling first, and how much more."""

from dataclasses import replace

from oldfriend.domain.memories import QUOTE_KEY, MemoryState
from oldfriend.domain.profile_attributes import build_profile
from oldfriend.turn.profile_facts import MAX_QUOTES, list_profile_facts
from tests.learning.segment_fixtures import believed


def said(number: int, words: str) -> MemoryState:
    """Words of the person that were kept as they are; the higher the number, the newer."""
    known = believed(f"m{number}", "fact", f"Says: “{words}”", key=QUOTE_KEY, subject="person")
    stats = replace(known.stats, last_seen=known.stats.last_seen + number)
    return replace(known, stats=stats, base_seq=number)


def test_profile_lists_identity_facts_before_recent_quotes() -> None:
    """Identity, people, work, home and health; then the newest of all others."""
    telling = [
        said(1, "my name is Robin"),
        said(2, "my sister Kat has two boys"),
        said(3, "i work at the harbour office"),
        said(4, "i live in Hull now"),
        said(5, "i'm allergic to walnuts"),
    ]
    chatter = [said(number, f"bought tomatoes, crate {number}") for number in range(10, 40)]

    profile = build_profile([*chatter, *telling])
    facts = list_profile_facts(profile)

    assert [*facts[:5]] == telling
    assert len(facts) == MAX_QUOTES
    assert facts[5] == chatter[-1]
    assert profile.fact_count - len(facts) == len(chatter) + len(telling) - MAX_QUOTES


def test_profile_with_worded_facts_leaves_out_words_on_no_subject() -> None:
    """They only repeat messages; how many there are is told."""
    likes = believed("likes", "preference", "Likes tea.", key="likes", subject="person")
    telling, chatter = said(1, "i work at the harbour office"), said(2, "bought tomatoes")

    profile = build_profile([likes, telling, chatter])

    assert list_profile_facts(profile) == (likes, telling)
    assert profile.fact_count == len([likes, telling, chatter])
