"""What words say, and what only seems to stand in them: the same shapes in each language."""

from importlib import resources
from typing import Final, get_args

import pytest

from oldfriend.domain.memories import MemoryKind, PatternKind
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.learning.validate import validate_extraction
from tests.learning.segment_fixtures import claim, talk

ROWS: Final = [
    line.replace("\\n", "\n").split("\t")
    for line in (resources.files("tests.learning") / "said_so.tsv").read_text("utf-8").split("\n")
    if line and not line.startswith("#")
]
KINDS: Final[dict[str, MemoryKind]] = {kind: kind for kind in get_args(MemoryKind)}
PATTERNS: Final[dict[str, PatternKind]] = {kind: kind for kind in get_args(PatternKind)}


def test_every_sentence_shape_has_rows_in_every_language() -> None:
    """What holds in one holds in all that are spoken here."""
    shapes = {row[0] for row in ROWS}

    assert len(shapes) >= 16
    assert all(
        {row[2] for row in ROWS if row[0] == shape} == {*list_languages("rules")}
        for shape in shapes
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}")
def test_careless_claim_is_accepted_only_when_the_words_assert_it(row: list[str]) -> None:
    """A quote, a condition, a doubt or a "not" counts for the clause in which it stands."""
    _, verdict, language, kind, text, key, value, said = row
    claimed = told_carelessly(kind, text, key, value, said)
    material = talk(said, language=language)

    believed = validate_extraction(Extraction(author="careless/1", claims=(claimed,)), material)

    if verdict == "so":  # no gate refuses it, though its words may be in doubt
        assert set(believed.rejected) <= {"doubtful words"}
    else:
        assert not believed.extraction.claims


def told_carelessly(kind: str, text: str, key: str, value: str, said: str) -> Claim:
    """What a careless reader makes of a message."""
    return claim(
        KINDS[kind],
        text,
        said,
        key="" if key in PATTERNS else key,
        value=value,
        confidence=0.95,
        pattern=PATTERNS.get(key),
    )
