"""A thought notices and does not judge: told by its form, and by what was told to whom it is about.

The phrases in ``tone`` were written by somebody who had not read the lists. The gate was mended on
the first set and, a little, on the third; on the second nothing was.
"""

from importlib import resources
from typing import Final

import pytest

from oldfriend.background.gates.bearing import bearing_fault, bearing_of, plain_words_of
from oldfriend.background.gates.grounding import is_grounded
from oldfriend.background.gates.tone import tone_fault
from oldfriend.background.ideas import IdeaKind
from oldfriend.prompts.phrasebook import SPOKEN

KINDS: Final[dict[str, IdeaKind]] = {
    "question": "question", "expectation": "expectation", "pattern": "pattern",
}  # fmt: skip
MOST_PASS: Final = 4
"""Of 60 bad ones that were written with the words of what was told; 0 is wanted."""
MOST_REFUSED: Final = 3
"""Of 60 good ones."""


def rows(name: str) -> list[list[str]]:
    """The phrases of a set."""
    text = (resources.files("tests.background") / "tone" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def passes(text: str, language: str, kind: IdeaKind) -> bool:
    """Whether nothing speaks against it in its words."""
    return not (
        tone_fault(text, language=language) or bearing_fault(text, language=language, kind=kind)
    )


@pytest.mark.parametrize("kind", ["thought", "expectation", "question", "pattern"])
def test_no_judgement_of_the_first_set_passes_as_anything(kind: IdeaKind) -> None:
    """Diagnoses, flattery, claims, blame, orders, doom, comparisons, feelings of its own."""
    bad = [row for row in rows("blind_1.tsv") if row[0] == "bad"]

    assert len(bad) == 100
    assert [row[3] for row in bad if passes(row[3], row[2], kind)] == []


def test_what_a_friend_notices_passes() -> None:
    """What somebody comes back to, what may hang together, how it seems."""
    good = [row for row in rows("blind_1.tsv") if row[0] == "good"]
    refused = [row[3] for row in good if not passes(row[3], row[2], KINDS.get(row[1], "thought"))]

    assert len(good) == 100
    assert len(refused) <= 5, refused


def test_what_says_more_than_was_told_does_not_pass() -> None:
    """A judgement in new words is seen by the words: nobody has told them."""
    passed, refused = [], []
    for verdict, sort, language, text, told in rows("blind_3.tsv"):
        is_good = passes(text, language, KINDS.get(sort, "thought")) and is_grounded(
            text, told.split(" | "), language=language
        )
        if verdict == "bad" and is_good:
            passed.append(text)
        if verdict == "good" and not is_good:
            refused.append(text)

    assert len(passed) <= MOST_PASS, passed
    assert len(refused) <= MOST_REFUSED, refused


def test_of_bad_ones_in_images_none_passes_that_tells_what_nobody_told() -> None:
    """The second set passes the lists of words; beside a plain record it is refused."""
    bad = [row for row in rows("blind_2.tsv") if row[0] == "bad"]
    names = ["Rex", "Ana", "Lisboa"]

    assert [row[3] for row in bad if is_grounded(row[3], names, language=row[2])] == []


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [("en", "Ana keeps baking.", "Ana bakes bread."), ("de", "Ana hat gekocht.", "Ana kocht."),
     ("es", "Ana cocinó otra vez.", "Ana cocina."), ("fr", "Ana a cuisiné.", "Ana cuisine."),
     ("zh", "安娜又烤了面包", "安娜烤面包")],
)  # fmt: skip
def test_another_form_of_a_word_was_told_as_well(language: str, text: str, told: str) -> None:
    """And a word beside it was not."""
    new = {"zh": "安娜又烤了面包和鱼"}.get(language, f"{text[:-1]} zebras.")

    assert is_grounded(text, [told], language=language)
    assert not is_grounded(new, [told], language=language)


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_has_every_list(language: str) -> None:
    """So that nothing slips through in one of them."""
    bearing = bearing_of(language)

    assert all(getattr(bearing, each).pattern for each in type(bearing).__slots__)
    assert len(plain_words_of(language)) > 150
