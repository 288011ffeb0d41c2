"""What was asked to be done stands neither before nor beside a statement that answers."""

import pytest

from oldfriend.search import ScoredMessage
from oldfriend.search.score import give_score
from oldfriend.turn.offline_texts import is_same_question
from oldfriend.turn.recalled import RecalledMessage
from tests.chat_fixtures import Say
from tests.turn.conftest import Talk


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


@pytest.mark.parametrize(
    ("told", "requests", "question"),
    [
        (
            "My boat is called Freya and it lies in Porto.",
            ["remind me tomorrow at 9 to call the boatyard"],
            "What is my boat called?",
        ),
        (
            "remember: bin day is tuesday",
            ["put bin bags on the shopping list", "remind me tomorrow at 7pm to put the bin out"],
            "when is bin day?",
        ),
    ],
)
async def test_literal_answer_stays_one_after_requests_of_like_words(
    say: Say, told: str, requests: list[str], question: str
) -> None:
    """It is quoted alone, and as sure."""
    for text in (told, *requests):
        await say(text)
    given = await say(question)

    assert given.receipt.details["certainty"] == "sure"
    assert told in given.reply.text
    assert not any(text in given.reply.text for text in requests)


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ("Hi, what is my plumber called?", "What is my plumber called?"),
        ("Hallo, wie heißt mein Klempner?", "Wie heißt mein Klempner?"),
        ("Hola, ¿cómo se llama mi fontanero?", "¿Cómo se llama mi fontanero?"),
        ("Salut, comment s'appelle mon plombier ?", "Comment s'appelle mon plombier ?"),
        ("你好，我的水管工叫什么？", "我的水管工叫什么？"),
    ],
)
async def test_question_behind_a_greeting_stays_a_question(
    talk: Talk, earlier: str, question: str
) -> None:
    """It is no evidence for its own answer."""
    asked = await talk.tell(earlier)
    hit = ScoredMessage(seq=asked.seq, score=give_score(0.5))

    assert is_same_question(RecalledMessage(message=asked, hit=hit), question)
