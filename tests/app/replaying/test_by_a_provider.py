"""The real way to a model: over the wire, through the ledger of one database into the other."""

import json
from dataclasses import replace

from oldfriend.app.accepting import Said, open_line
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import judge
from oldfriend.app.catching_up import catch_up
from oldfriend.app.choices.sections import Models, Provider
from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import Wanted
from oldfriend.app.wiring import open_house
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.people import list_people
from tests.app.replaying.lives import compared, findings, nobody_looks, owner_of
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY
from tests.fakes.model_server import Json, ModelServer
from tests.llm.conftest import provider, running_provider

__all__ = ["provider", "running_provider"]

HOME = "I live in Porto, by the river, with a cat."
pytestmark = SQLITE_ONLY


def told(value: str) -> Json:
    """What the provider says of where they live."""
    said = {
        "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
        "summary": f"They live in {value}.",
        "facts": [{
            "key": "location", "value": value, "text": f"Lives in {value}.",
            "quotes": [{"message": "m1", "text": HOME}],
        }],
    }  # fmt: skip
    return {"match": {"userMessage": "Porto"}, "response": {"content": json.dumps(said)}}


def by_model(settings: Settings, server: ModelServer, name: str) -> Settings:
    """The settings, in which a model of the provider reads."""
    mine = Provider(kind="openai", base_url=f"{server.url}/v1")
    return replace(
        settings, models=Models(small=(f"mine:{name}",)), providers={"mine": mine},
    )  # fmt: skip


async def test_only_another_model_is_asked_again(
    settings: Settings, other_url: str, tmp_path, clock: FrozenClock, provider: ModelServer
) -> None:
    """The same one gave its answer before; what another says differs, and is named."""
    provider.answers(told("Porto"))
    same = replace(by_model(settings, provider, "one"), database=other_url)
    other = replace(
        by_model(settings, provider, "two"), database=f"sqlite:///{tmp_path / 'third.db'}"
    )
    async with open_house(by_model(settings, provider, "one"), clock=clock) as first:
        await live_in(first)
        asked = len(provider.requests())
        async with open_house(same, clock=clock) as second:
            again = await replay(first.db, second, Wanted(), show=nobody_looks)
            assert (again.asked, again.reused) == (0, 1)
            assert findings(await compared(first.db, second.db)) == []
        assert len(provider.requests()) == asked

        provider.answers(told("the river"))
        async with open_house(other, clock=clock) as third:
            anew = await replay(first.db, third, Wanted(model="mine:two"), show=nobody_looks)
            assert (anew.asked, anew.reused) == (1, 0)
            async with third.db.reading() as tx:
                (person,) = await list_people(tx)
                known = [e.memory for e in await list_memories(tx, person.id, live=False)]
            differs = findings(await compared(first.db, third.db))

    homes = {each.value: each.status for each in known if each.key == "location"}
    assert homes == {"Porto": "active", "the river": "superseded"}, "they have pinned Porto"
    assert ("only in 2", "Lives in the river.") in differs


async def live_in(house: House) -> None:
    """Say where one lives, have it read, and pin what was learned."""
    line = await open_line(house, person=None, channel="terminal")
    await answer(replace(house, models={}), line, Said(text=HOME))
    for text in ("It is small, but the light is good.", "The cat sleeps on the stove."):
        await answer(replace(house, models={}), line, Said(text=text))
    await catch_up(house, line.person.id, because="asked")
    person = await owner_of(house.db)
    async with house.db.reading() as tx:
        (home,) = [e.memory for e in await list_memories(tx, person) if e.memory.kind == "fact"]
    await judge(house, person, "pin", home.id)
