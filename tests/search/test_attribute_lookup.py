"""Who is to the asker what a question says? By the relations that are believed."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import MemoryState
from oldfriend.search.attribute_lookup import list_kin_names, select_likeliest_values
from oldfriend.search.question_patterns import find_requested_attribute
from tests.learning.segment_fixtures import believed


def test_relation_belief_without_a_name_yields_no_kin_name() -> None:
    """An empty name would stand in every text."""
    matter = find_requested_attribute("Where does my sister live?")
    named = believed("1", "fact", "Eva is the sister.", key="Eva:relation", value="sister")
    unnamed = [
        believed("2", "fact", "A sister.", key=key, value="sister")
        for key in ("relation", ":relation")
    ]

    assert matter is not None
    assert list_kin_names([named, *unnamed], matter) == {"Eva"}


def last_said(known: MemoryState, at: int) -> MemoryState:
    """Something that was said last at a moment."""
    return replace(known, stats=replace(known.stats, last_seen=at))


@pytest.mark.parametrize(("since", "answer"), [(5 * DAY, "shop"), (2 * DAY, "over")])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("No longer works as a teacher.", "no longer a teacher"),
        ("Quit the job.", "none (quit)"),
        ("Dejó el trabajo.", "ninguno (lo dejó)"),
        ("A quitté son travail.", "aucun (quitté)"),
        ("Hat gekündigt.", "keine (gekündigt)"),
        ("辞职了。", "无（辞职）"),
    ],
)
def test_current_value_is_preferred_to_an_ended_one(
    text: str, value: str, since: int, answer: str
) -> None:
    """Under another key, too; unless it was said before the other ended."""
    over = believed("over", "fact", text, key="occupation", value=value)
    shop = believed("shop", "fact", "Works in a bookshop.", key="workplace", value="a bookshop")
    matter = find_requested_attribute("What is my job?")

    assert matter is not None
    told = select_likeliest_values([last_said(over, 5 * DAY), last_said(shop, since)], matter)
    assert [each.memory.id for each in told] == [answer]


@pytest.mark.parametrize(
    "text",
    ["Am I married?", "¿Estoy casada?", "Suis-je mariée ?", "Bin ich verheiratet?", "我结婚了吗？"],
)
def test_spouse_relation_answers_a_marital_status_question(text: str) -> None:
    """Whoever asks is told by whom it is known."""
    husband = believed("1", "fact", "Husband: Mark.", key="Mark:relation", value="husband")
    matter = find_requested_attribute(text)

    assert matter is not None
    assert matter.find_key(husband.memory) == "husband"
