"""What a reader says is no assertion is not believed, however well its words are quoted."""

import pytest

from oldfriend.domain.memories import MemoryKind
from oldfriend.learning.extraction import Modality
from oldfriend.learning.validate import validate_extraction
from tests.learning.segment_fixtures import claim, read, talk

SAID = "i live in valletta and i've a boat and no emails"
HOME = {"key": "location", "value": "Valletta"}


def is_believed(kind: MemoryKind, text: str, words: str, **fields: object) -> bool:
    """Tell whether a claim on some words passes."""
    checked = validate_extraction(read(claim(kind, text, words, **fields)), talk(words))
    return bool(checked.extraction.claims)


@pytest.mark.parametrize("modality", ["reported", "joke", "imagined", "wish", "question", "denied"])
def test_fact_claim_with_non_asserted_modality_is_rejected(modality: Modality) -> None:
    """The same claim is one if the reader takes it for an assertion."""
    assert is_believed("fact", "Lives in Valletta.", SAID, **HOME)
    assert not is_believed("fact", "Lives in Valletta.", SAID, modality=modality, **HOME)


@pytest.mark.parametrize(
    ("kind", "text", "words", "fields"),
    [
        (
            "pattern",
            "Would like to live by the sea.",
            "i'd like to live by the sea",
            {"pattern": "goal", "modality": "wish"},
        ),
        (
            "preference",
            "Does not eat pork.",
            "i do not eat pork",
            {"key": "dietary", "value": "no pork", "modality": "denied"},
        ),
        (
            "fact",
            "Ana is expecting a baby.",
            "Ana told me she is expecting a baby",
            {
                "key": "Ana:family",
                "value": "expecting a baby",
                "subject": "other",
                "names": ("Ana",),
                "modality": "reported",
            },
        ),
    ],
)
def test_claim_whose_kind_allows_its_non_asserted_modality_is_accepted(
    kind: MemoryKind, text: str, words: str, fields: dict[str, object]
) -> None:
    """A wish of a goal, a denial of what is not so, others' words of themselves."""
    assert is_believed(kind, text, words, **fields)
