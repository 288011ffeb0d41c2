"""The page "Where is …?" names places that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "oldfriend"
PLACES = re.findall(
    r"`([\w/]+(?:\.py|\.js|/)(?::\w+)?)`", (ROOT / "docs" / "where.md").read_text("utf-8")
)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_named_in_the_where_page_exists(place: str) -> None:
    path, _, name = place.partition(":")

    assert (SOURCE / path).exists()
    if name:
        tree = ast.parse((SOURCE / path).read_text("utf-8"))
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        assert name in {each.name for each in tree.body if isinstance(each, kinds)}


def test_where_page_names_many_places() -> None:
    assert len(PLACES) > 50
