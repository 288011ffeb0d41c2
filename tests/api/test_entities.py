"""Whom and what it knows by name, and how they are tied."""

import math

from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.learn_now import learn_now
from tests.api.conftest import Browse, Site, told
from tests.clock import FrozenClock


async def read_everything(site: Site) -> None:
    """Read what the owner has said up to now."""
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=site.app.clock(), zone="UTC")
    await learn_now(site.app, owner.id, cut_reason="asked", wait_s=math.inf)


async def test_entity_is_listed_with_relations_evidence_and_graph(
    site: Site, browse: Browse
) -> None:
    """In the list, in the graph, and with all that is believed about them; only one's own."""
    browser, omar = await browse(), await browse("Omar")
    await told(browser, "Remember that my sister Ana was born in Porto on 3 May 1991.")
    await told(browser, "My sister Ana lives in Lisbon.")
    await read_everything(site)
    listed = (await browser.get("/people")).json()
    ana = next(each for each in listed["items"] if each["name"] == "Ana")
    portrait = (await browser.get(f"/people/{ana['id']}")).json()
    graph = (await browser.get("/people/graph")).json()
    found = (await browser.get("/people", params={"q": "an", "kind": "person"})).json()
    first = (await browser.get("/people", params={"limit": 1})).json()
    others = await omar.get(f"/people/{ana['id']}")

    assert ana["known"] >= 1
    assert ana["told_at"]
    assert portrait["about"] == ana
    assert any("Ana" in words["quote"] for words in portrait["belief"]["words"])
    assert {words["role"] for words in portrait["belief"]["words"]} == {"person"}
    assert portrait["relations"] or portrait["others"]
    assert {"id": ana["id"], "name": "Ana", "kind": "person", "known": ana["known"]} in (
        graph["nodes"]
    )
    assert any(ana["id"] in (each["first"], each["second"]) for each in graph["edges"])
    assert (portrait["ties"], graph["bonds"]) == (portrait["relations"], graph["edges"])
    assert all(each["tie"] == each["relation"] for each in graph["edges"])
    assert "Ana" in [each["name"] for each in found["items"]]
    assert (len(first["items"]), first["next"] is None) == (1, listed["total"] == 1)
    assert others.status_code == 404
    assert (await omar.get("/people")).json()["items"] == []


async def test_entity_shows_when_it_was_last_learned_about(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """Also where it was learned of somebody who was known long before."""
    browser = await browse()
    await told(browser, "My sister Ana lives in Lisbon.")
    await read_everything(site)
    before = (await browser.get("/people", params={"q": "Ana"})).json()["items"][0]
    clock.tick(minutes=480)
    await told(browser, "Ana works as a nurse.")
    await read_everything(site)
    after = (await browser.get("/people", params={"q": "Ana"})).json()["items"][0]
    portrait = (await browser.get(f"/people/{after['id']}")).json()

    assert after["known"] > before["known"]
    assert after["told_at"] > before["told_at"]
    assert portrait["about"] == after


async def test_entity_tells_what_it_is_to_the_person(site: Site, browse: Browse) -> None:
    """In the asked language, from who they told it is; family stands before places."""
    browser = await browse()
    await told(browser, "My brother Jonah lives in Leeds.")
    await told(browser, "My cat Pickle sleeps all day.")
    await read_everything(site)
    items = (await browser.get("/people", params={"language": "en"})).json()["items"]
    chinese = (await browser.get("/people", params={"language": "zh"})).json()["items"]
    known = {each["name"]: each for each in items}
    portrait = (
        await browser.get(f"/people/{known['Jonah']['id']}", params={"language": "fr"})
    ).json()

    jonah, leeds, pickle = known["Jonah"], known["Leeds"], known["Pickle"]
    assert (jonah["group"], jonah["relation"], jonah["home"]) == ("family", "your brother", "Leeds")
    assert (pickle["group"], pickle["relation"]) == ("pets", "your cat")
    assert (leeds["group"], leeds["relation"]) == ("places", "where Jonah lives")
    assert [each["name"] for each in items] == ["Jonah", "Pickle", "Leeds"]
    assert chinese[0]["relation"] == "你的兄弟"
    assert portrait["about"]["relation"] == "ton frère"


async def test_entity_paging_lists_nobody_twice_when_the_order_changes(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """The next page goes on after the last one seen, wherever others have moved to."""
    browser, people = await browse(), {"kind": "person"}
    for name in ("Ana", "Bela", "Carla"):
        await told(browser, f"My sister {name} lives in Porto.")
    await read_everything(site)
    everybody = [
        each["name"] for each in (await browser.get("/people", params=people)).json()["items"]
    ]
    first = (await browser.get("/people", params={**people, "limit": 2})).json()
    clock.tick(minutes=480)
    await told(browser, f"My sister {everybody[-1]} was born in Faro.")
    await read_everything(site)
    rest = {**people, "limit": 9, "cursor": first["next"]}
    second = (await browser.get("/people", params=rest)).json()
    made_up = await browser.get("/people", params={"cursor": "WzEsMl0="})

    assert [each["name"] for each in [*first["items"], *second["items"]]] == everybody[:-1]
    assert second["next"] is None
    assert made_up.status_code == 422
