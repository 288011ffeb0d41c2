"""In a prompt, what changed a recalled message stands beside it."""

import pytest

from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.search import ScoredMessage
from oldfriend.turn.later_messages import add_later_to_ranking
from oldfriend.turn.retrieval import RecalledMessage, RecallQuery
from tests.turn.conftest import Talk

SAID = (
    "got a dentist thing thursday at 4 dreading it",
    "the cat knocked my plant off the sill",
    "dentist rang theyre short staffed so the dentist is monday at 9 now",
    "ordered new curtains",
)


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


async def test_a_recalled_message_comes_with_what_changed_it(talk: Talk) -> None:
    """Right after it, before what is less likely; what the window shows stays out."""
    said = [await talk.tell(text) for text in SAID]
    found = [
        RecalledMessage(
            message=said[place], hit=ScoredMessage(seq=said[place].seq, score=0.5, reasons=())
        )
        for place in (0, 1)
    ]
    query = RecallQuery(text="when is my dentist", language="en", at=talk.clock())
    deps, person = talk.app.search_deps, talk.line.person
    await try_embed_missing(talk.app, person.id)
    ranking = await add_later_to_ranking(deps, person, found, query)
    in_view = RecallQuery(
        text=query.text, language="en", at=talk.clock(), excluded_seqs=[said[2].seq]
    )

    texts = [each.message.text for each in ranking if isinstance(each, RecalledMessage)]
    assert texts == [SAID[0], SAID[2], SAID[1]]
    assert await add_later_to_ranking(deps, person, found, in_view) == tuple(found)
