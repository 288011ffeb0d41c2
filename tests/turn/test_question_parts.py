"""A question is split where it asks two things, and nowhere else."""

import pytest

from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.turn.question_parts import split_question
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from tests.turn.conftest import Talk

TWO = [
    ("en", "Where do I live and what does Clara do?", "what does Clara do?"),
    ("en", "Do you know where I live and what Clara does?", "what Clara does?"),
    ("en", "Where do I live? What does Clara do?", "What does Clara do?"),
    ("de", "Wo wohne ich und was macht Clara beruflich?", "was macht Clara beruflich?"),
    ("es", "¿Dónde vivo y en qué trabaja Clara?", "en qué trabaja Clara?"),
    ("fr", "Où j'habite et quel est le métier de Clara ?", "quel est le métier de Clara ?"),
    ("zh", "我住在哪里，我妹妹做什么工作？", "我妹妹做什么工作？"),
]
ONE = [
    ("en", "When is Anna and Ben's wedding?"),
    ("en", "What do Anna and Ben do?"),
    ("en", "Where and when did I meet Clara?"),
    ("en", "Who did I go to Rome with, and why?"),
    ("en", "I live in Porto and what a town it is."),
    ("de", "Wann ist die Hochzeit von Anna und Ben?"),
    ("de", "Wann und wo habe ich Clara getroffen?"),
    ("es", "¿Cuándo es la boda de Ana y Ben?"),
    ("fr", "C'est quand le mariage d'Anna et Ben ?"),
    ("zh", "安娜和本的婚礼是什么时候？"),
    ("zh", "我和Clara住在哪里？"),
    ("ja", "私はどこに住んでいますか？"),
]


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


@pytest.mark.parametrize(("language", "text", "second"), TWO)
def test_question_asking_two_things_is_split_in_two(language: str, text: str, second: str) -> None:
    """However they are joined."""
    first, other = split_question(text, language)

    assert text.startswith(first)
    assert other == second


@pytest.mark.parametrize(("language", "text"), ONE)
def test_question_asking_one_thing_is_not_split(language: str, text: str) -> None:
    """Of two people, of place and time, or after a statement."""
    assert split_question(text, language) == (text,)


async def test_hits_of_both_question_parts_are_interleaved(talk: Talk) -> None:
    """However many there are for the other."""
    for number in range(8):
        await talk.remembers(
            f"Clara told me of case {number} that she had as a vet, Clara is good."
        )
    await talk.remembers("My passport is in the blue drawer in the hall.")
    person, deps = talk.chat_context.person, talk.app.search_deps
    await try_embed_missing(talk.app, person.id)
    text = "What does Clara do and where is my passport?"
    query = RecallQuery(text=text, language="en", at=talk.clock())
    found = await recall(deps, person, query, limit=4)

    texts = [each.message.text for each in found.messages]
    assert len(texts) == 4
    assert any("passport" in each for each in texts[:2])
    assert [each.message for each in found.ranking] == [each.message for each in found.messages]
    assert found.question == text
