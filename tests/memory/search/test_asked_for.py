"""Who is to the asker what a question says? By the relations that are believed."""

from oldfriend.memory.search.asked_for import names_of_kin
from oldfriend.memory.search.questions import matter_of
from tests.background.talking import believed


def test_a_relation_without_a_name_names_nobody() -> None:
    """An empty name would stand in every text."""
    matter = matter_of("Where does my sister live?")
    named = believed("1", "fact", "Eva is the sister.", key="Eva:relation", value="sister")
    unnamed = [
        believed("2", "fact", "A sister.", key=key, value="sister")
        for key in ("relation", ":relation")
    ]

    assert matter is not None
    assert names_of_kin([named, *unnamed], matter) == {"Eva"}
