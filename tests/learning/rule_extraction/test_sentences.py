"""How well do the rules read plain sentences, in each language? Half of the sentences are traps."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from tests.learning.rule_extraction.message_fixtures import said

SENTENCES = Path(__file__).parent / "sentences"
PRECISION, RECALL = 0.95, 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A sentence, what it tells, and what the rules read in it."""

    sentence: str
    expected: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def right(self) -> list[str]:
        return [wanted for wanted in self.expected if self.finds(wanted)]

    @property
    def wrong(self) -> list[Claim]:
        return [claim for claim in self.claims if not any(meets(claim, w) for w in self.expected)]

    def finds(self, wanted: str) -> bool:
        return any(meets(claim, wanted) for claim in self.claims)


def readings(language: str) -> Iterator[Reading]:
    for line in (SENTENCES / f"{language}.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        sentence, _, told = line.partition(" => ")
        expected = tuple(wanted.strip() for wanted in told.split("|") if wanted.strip())
        claims = said(sentence, language=language).claims
        yield Reading(sentence=sentence, expected=expected, claims=claims)


def meets(claim: Claim, wanted: str) -> bool:
    if wanted in {"event+", "event-"}:
        return claim.kind == "event" and (claim.impact > 0) == (wanted == "event+")
    if wanted == "habit":
        return claim.kind == "pattern"
    kind, _, day = wanted.partition("@")
    if day:
        return claim.kind == kind and day_of(claim) == day
    key, _, value = wanted.partition("=")
    return (claim.key, claim.value) == (key, value)


def day_of(claim: Claim) -> str:
    due = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=claim.due_at or 0)
    return due.date().isoformat()


@pytest.mark.parametrize("language", list_languages("rules"))
def test_rules_reach_required_precision_and_recall_on_plain_sentences(language):
    """Precision before recall: what the rules leave out, a model reads later."""
    every = list(readings(language))
    right = sum(len(reading.right) for reading in every)
    wrong = [(reading.sentence, claim.text) for reading in every for claim in reading.wrong]
    expected = sum(len(reading.expected) for reading in every)
    missed = [r.sentence for r in every if len(r.right) < len(r.expected)]

    assert right / (right + len(wrong)) >= PRECISION, wrong
    assert right / expected >= RECALL, missed


@pytest.mark.parametrize("language", list_languages("rules"))
def test_sentence_set_has_enough_sentences_and_negative_examples(language):
    """A measure without traps would praise rules that believe everything."""
    every = [bool(reading.expected) for reading in readings(language)]

    assert len(every) >= 60
    assert every.count(False) >= len(every) * 0.45
