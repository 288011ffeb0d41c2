"""What stands in other messages does not carry a claim whose quote says something else."""

import pytest

from oldfriend.learning.extraction import Extraction
from oldfriend.learning.validate import validate_extraction
from tests.learning.segment_fixtures import claim, quote, talk


@pytest.mark.parametrize(
    ("lines", "is_believed"),
    [
        (("I drove past the clinic in Tartu today.", "I made leek soup."), False),
        (("The new clinic in Tartu is huge.", "I baked bread."), False),
        (("I start at the clinic in Tartu.", "Signed it!"), True),
        (
            ("I start at the clinic in Tartu.", "companion: Will you stay?", "Signed it today."),
            True,
        ),
    ],
)
def test_few_words_lend_their_quote_to_no_other_matter(
    lines: tuple[str, ...], is_believed: bool
) -> None:
    """Hardly any words, or an answer, may be about what was said before; others are not."""
    one = claim(
        "fact",
        "Works at the clinic in Tartu.",
        quote(lines[-1], len(lines)),
        key="employer",
        value="clinic in Tartu",
        confidence=0.9,
    )

    checked = validate_extraction(Extraction(author="model/1", claims=(one,)), talk(*lines))

    assert bool(checked.extraction.claims) == is_believed, checked.rejected
