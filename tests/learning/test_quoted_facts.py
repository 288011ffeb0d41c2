"""A fact in the person's own words can be corrected and found like any other."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import QUOTE_KEY, StoredBelief
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_corrections import edit
from oldfriend.memory.belief_views import list_memories
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from tests.chat_fixtures import Say

SAM = "my son sam starts school in september"


@pytest.fixture
def engine() -> str:
    """One is enough: they are stored as other facts are."""
    return "sqlite"


async def learn(app: AppContext, chat_context: ChatContext) -> None:
    """Read what was said."""
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)


async def list_quoted(app: AppContext, chat_context: ChatContext) -> list[StoredBelief]:
    """List the facts in the person's words."""
    async with app.db.begin_read() as tx:
        known = await list_memories(tx, chat_context.person.id)
    return [each.memory for each in known if each.memory.key == QUOTE_KEY]


async def test_edited_quoted_fact_is_recalled_with_its_new_text(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """And the old words are not; a sentence is enough to correct it."""
    await say(SAM)
    await learn(app, chat_context)
    [quoted] = await list_quoted(app, chat_context)
    async with app.db.begin_write() as tx:
        await edit(
            tx, chat_context.person.id, quoted.id, "Sam starts school in January.", now=app.clock()
        )

    for question in ("when does sam start school?", "what do you know about me?"):
        reply = (await say(question)).reply.text
        assert "Sam starts school in January." in reply
        assert "september" not in reply


async def test_quoted_fact_is_recalled_only_when_facts_alone_are_requested(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Among messages it would only repeat one of them."""
    await say(SAM)
    await learn(app, chat_context)
    found = {
        kinds: await recall(
            app.search_deps,
            chat_context.person,
            RecallQuery(
                text="when does sam start school?", language="en", at=app.clock(), kinds=kinds
            ),
            limit=8,
        )
        for kinds in ((), ("fact",))
    }

    assert [each.state.memory.value for each in found["fact",].beliefs] == [SAM]
    assert not found[()].beliefs
    assert [each.message.text for each in found[()].messages] == [SAM]
