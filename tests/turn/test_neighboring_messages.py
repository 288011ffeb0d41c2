"""A message comes with the lines beside it that belong to what it says."""

import pytest

from oldfriend.search import ScoredMessage
from oldfriend.search.score import give_score
from oldfriend.turn.neighbors import add_neighbors
from oldfriend.turn.recalled import RecalledMessage, RecallQuery
from tests.turn.conftest import Talk


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


CHAT = [
    ("Ana", "We have signed for the flat at last, with the garden and the view of the old mill"),
    ("Nora", "what street is it"),
    (
        "Ana",
        "Mill Lane 62, beside a windmill that has been turning since seventeen hundred and ten",
    ),
    ("Nora", "The bus there goes every ten minutes, so it will be easy to come and see you all"),
    (
        "Ana",
        "I could lend you my drill on Sunday, if your shelves are still lying on the floor there",
    ),
    ("Nora", "thanks, gladly"),
]


@pytest.mark.parametrize(
    ("hit", "with_it"), [(1, {0, 2}), (2, {1}), (5, {4}), (3, set()), (0, set())]
)
async def test_search_hit_is_returned_with_its_question_or_answer_neighbor(
    talk: Talk, hit: int, with_it: set[int]
) -> None:
    """A question with its reply, a reply with its question, a word of thanks with the offer."""
    said = [
        await talk.tell(text, speaker=speaker, role="person" if speaker == "Nora" else "other")
        for speaker, text in CHAT
    ]
    found = RecalledMessage(
        message=said[hit], hit=ScoredMessage(seq=said[hit].seq, score=give_score(0.5))
    )
    query = RecallQuery(text="?", language="en", at=talk.clock())
    ranking = await add_neighbors(talk.app.search_deps, talk.chat_context.person, [found], query)

    texts = [each.message.text for each in ranking if isinstance(each, RecalledMessage)]
    assert texts[0] == CHAT[hit][1]
    assert set(texts[1:]) == {CHAT[place][1] for place in with_it}


async def test_excluded_or_already_recalled_messages_are_not_added_as_neighbors(talk: Talk) -> None:
    """What was recalled too only moves up; what the window shows stays out."""
    said = [
        await talk.tell(text, speaker=speaker, role="person" if speaker == "Nora" else "other")
        for speaker, text in CHAT
    ]
    found = [
        RecalledMessage(
            message=said[place], hit=ScoredMessage(seq=said[place].seq, score=give_score(0.5))
        )
        for place in (1, 5, 2)
    ]
    query = RecallQuery(
        text="?", language="en", at=talk.clock(), excluded_seqs=[said[0].seq, said[4].seq]
    )
    ranking = await add_neighbors(talk.app.search_deps, talk.chat_context.person, found, query)

    assert ranking == (found[0], found[2], found[1])
