"""What one and the same quote tells twice is looked at, however different it is worded."""

from oldfriend.learning.dedup import ClaimMatches, iter_pairs_sharing_quotes
from tests.learning.segment_fixtures import claim, quote

MOVED = claim("event", "Moved to Porto.", "we moved, at last")


def test_claims_of_one_kind_sharing_a_quote_are_a_candidate_pair() -> None:
    """Somebody is asked; it is not decided by that."""
    again = claim("event", "Left the old flat behind.", "we moved, at last")

    assert list(iter_pairs_sharing_quotes([MOVED, again])) == [(MOVED, again)]


def test_claims_of_other_kind_quote_or_key_are_no_candidate_pair() -> None:
    """Of another kind, on other words, or told apart by their keys."""
    other_words = claim("event", "Left the old flat.", quote("we moved, at last", 2))
    habit = claim("pattern", "Moves a lot.", "we moved, at last", pattern="behavior")
    facts = [
        claim("fact", text, "nurse in Porto", key=key, value=value)
        for text, key, value in [
            ("Works as a nurse.", "occupation", "nurse"),
            ("Lives in Porto.", "location", "Porto"),
        ]
    ]

    assert not list(iter_pairs_sharing_quotes([MOVED, other_words, habit, *facts]))


def test_unclear_pair_is_listed_once_in_either_order() -> None:
    """In whatever order, and for whatever reason, it comes."""
    again = claim("event", "Left the old flat behind.", "we moved, at last")
    matches = ClaimMatches(embeddings={})

    for one, other in ((MOVED, again), (again, MOVED), (MOVED, again)):
        matches.add_unclear(one, other)

    assert [(each.claim, each.other) for each in matches.unclear_pairs] == [(MOVED, again)]
