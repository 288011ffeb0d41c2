"""Of whom a clause speaks: the speaker, somebody named before, or whoever reports it."""

import pytest

from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.clause_subjects import (
    is_about_other_person,
    is_reported_speech,
    is_second_person,
)
from oldfriend.learning.validation.matching_clauses import MatchedClause, find_matched_clauses
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.segment_view import SegmentView, build_segment_view
from tests.learning.segment_fixtures import claim, talk

LIVES = claim("fact", "Lives in Porto.", key="location", value="Porto")


@pytest.mark.parametrize(
    ("language", "said", "is_other"),
    [
        ("en", "My brother lives in Porto.", True),
        ("en", "The one who lives in Porto is my aunt.", True),
        ("en", "She lives in Porto.", True),
        ("en", "I live in Porto with my brother.", False),
        ("en", "My brother left, but I live in Porto.", False),
        ("en", "I live in Porto.", False),
        ("de", "Mein Bruder wohnt in Porto.", True),
        ("de", "Ich wohne in Porto.", False),
        ("es", "Mi hermana vive en Porto.", True),
        ("fr", "Ma sœur habite à Porto.", True),
        ("pt", "A minha irmã vive em Porto.", True),
    ],
)
def test_the_person_named_nearest_before_is_the_subject(
    language: str, said: str, *, is_other: bool
) -> None:
    """A relative, a pronoun or the end of a cleft sentence; a companion on the way is not."""
    matched, view = _match(LIVES, said, language)

    assert is_about_other_person(LIVES, matched, view) is is_other


def test_a_claim_that_names_the_other_is_about_them() -> None:
    """So it is right that the sentence is."""
    one = claim("fact", "The brother lives in Porto.", key="location", value="Porto")
    matched, view = _match(one, "My brother lives in Porto.", "en")

    assert not is_about_other_person(one, matched, view)


@pytest.mark.parametrize(
    ("language", "said", "is_reported"),
    [
        ("en", "Marta says she lives in Porto.", True),
        ("en", "She lives in Porto, says Marta.", True),
        ("en", "I told Marta that I live in Porto.", False),
        ("en", "I live in Porto.", False),
        ("de", "Marta sagt, sie wohnt in Porto.", True),
        ("es", "Marta dice que vive en Porto.", True),
    ],
)
def test_who_reports_is_not_who_lives_so(language: str, said: str, *, is_reported: bool) -> None:
    """Unless the speaker reports of themselves."""
    matched, view = _match(LIVES, said, language)

    assert is_reported_speech(LIVES, matched, view) is is_reported


@pytest.mark.parametrize(
    ("said", "is_addressed"),
    [
        ("You live in Porto.", True),
        ("You know I live in Porto.", False),
        ("I live in Porto.", False),
    ],
)
def test_who_is_spoken_to_is_not_the_speaker(said: str, *, is_addressed: bool) -> None:
    """Only where the speaker is nowhere in the sentence."""
    matched, _ = _match(LIVES, said, "en")

    assert is_second_person(LIVES, matched) is is_addressed


def _match(one: Claim, said: str, language: str) -> tuple[MatchedClause, SegmentView]:
    """The clause of a message that states a claim."""
    view = build_segment_view(talk(said, language=language))
    (message,) = view.all_messages
    span = QuoteSpan(message=message, start=0, end=len(message.text))
    return find_matched_clauses(one, span, language)[0], view
