"""The real way to a model: over the wire, through the ledger of one database into the other."""

import json
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ModelSettings, ProviderSettings
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.people import list_people
from oldfriend.replay.replay_run import run_replay
from oldfriend.replay.replay_types import ReplayRequest
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.fakes.model_server import Json, ModelServer
from tests.llm.conftest import provider, running_provider
from tests.replay.lives import compared, findings, nobody_looks, owner_of

__all__ = ["provider", "running_provider"]

HOME = "I live in Porto, by the river, with a cat."
pytestmark = SQLITE_ONLY


def told(value: str) -> Json:
    """What the provider says of where they live."""
    said = {
        "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
        "summary": f"They live in {value}.",
        "facts": [
            {
                "key": "location",
                "value": value,
                "text": f"Lives in {value}.",
                "quotes": [{"message": "m1", "text": HOME}],
            }
        ],
    }
    return {"match": {"userMessage": "Porto"}, "response": {"content": json.dumps(said)}}


def by_model(settings: Settings, server: ModelServer, name: str) -> Settings:
    """The settings, in which a model of the provider reads."""
    mine = ProviderSettings(kind="openai", base_url=f"{server.url}/v1")
    return replace(
        settings,
        models=ModelSettings(small=(f"mine:{name}",)),
        providers={"mine": mine},
    )


@pytest.mark.slow
async def test_replay_reuses_answers_of_the_same_model_and_asks_another(
    settings: Settings, other_url: str, tmp_path, clock: FrozenClock, provider: ModelServer
) -> None:
    """The same one gave its answer before; what another says differs, and is named."""
    provider.answers(told("Porto"))
    same = replace(by_model(settings, provider, "one"), database=other_url)
    other = replace(
        by_model(settings, provider, "two"), database=f"sqlite:///{tmp_path / 'third.db'}"
    )
    async with open_app(by_model(settings, provider, "one"), clock=clock) as first:
        await live_in(first)
        asked = len(provider.requests())
        async with open_app(same, clock=clock) as second:
            again = await run_replay(first.db, second, ReplayRequest(), on_progress=nobody_looks)
            assert (again.asked, again.reused) == (0, 1)
            assert findings(await compared(first.db, second.db)) == []
        assert len(provider.requests()) == asked

        provider.answers(told("the river"))
        async with open_app(other, clock=clock) as third:
            anew = await run_replay(
                first.db, third, ReplayRequest(model="mine:two"), on_progress=nobody_looks
            )
            assert (anew.asked, anew.reused) == (1, 0)
            async with third.db.begin_read() as tx:
                (person,) = await list_people(tx)
                known = [e.memory for e in await list_memories(tx, person.id, live=False)]
            differs = findings(await compared(first.db, third.db))

    homes = {each.value: each.status for each in known if each.key == "location"}
    assert homes == {"Porto": "active", "the river": "superseded"}, "they have pinned Porto"
    assert ("only in 2", "Lives in the river.") in differs


async def live_in(app: AppContext) -> None:
    """Say where one lives, have it read, and pin what was learned."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    await answer_message(replace(app, models={}), chat_context, MessageSubmission(text=HOME))
    for text in ("It is small, but the light is good.", "The cat sleeps on the stove."):
        await answer_message(replace(app, models={}), chat_context, MessageSubmission(text=text))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    person = await owner_of(app.db)
    async with app.db.begin_read() as tx:
        (home,) = [e.memory for e in await list_memories(tx, person) if e.memory.kind == "fact"]
    await apply_belief_action(app.db, app.clock, person, "pin", home.id)
