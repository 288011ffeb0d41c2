"""Titles before names: they are part of what somebody is called."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

TITLED = [
    ("en", "My teacher is called Mrs. Brown.", "Mrs. Brown"),
    ("en", "my neighbour is Dr. Silva", "Dr. Silva"),
    ("en", "my boss is Mr. Tom Hughes", "Mr. Tom Hughes"),
    ("de", "Meine Lehrerin heißt Frau Müller.", "Frau Müller"),
    ("de", "Mein Chef heißt Prof. Kunze und ist nett", "Prof. Kunze"),
    ("es", "Mi profesora se llama Sra. López.", "Sra. López"),
    ("fr", "Mon professeur s'appelle M. Dupont.", "M. Dupont"),
    ("fr", "Ma voisine s'appelle Mme Petit", "Mme Petit"),
    ("zh", "我的老师叫王老师", "王老师"),
]


@pytest.mark.parametrize(("language", "text", "name"), TITLED)
def test_title_is_part_of_the_name(language: str, text: str, name: str) -> None:
    """Neither the title alone, nor nobody."""
    (claim,) = said(text, language=language).claims
    assert claim.key == f"{name}:relation"


def test_wife_is_no_title() -> None:
    """In German, one word means both."""
    told = said("Meine Frau Anna wohnt in Kiel", language="de").claims
    assert {each.key for each in told} == {"Anna:relation", "Anna:location"}
