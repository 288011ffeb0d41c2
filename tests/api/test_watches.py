"""Watches over the API: only while pages may be read, and everybody's own."""

from dataclasses import replace

from tests.api.conftest import Browse, Site
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY


async def test_page_is_watched_only_while_pages_may_be_read(browse: Browse, site: Site) -> None:
    """ACCEPTANCE L21, SEC3: addresses of the inner network are none."""
    owner, omar = await browse(), await browse("Omar")
    wanted = {"url": "https://shop.example/kettle", "below": 50}
    off = await owner.post("/watches", json=wanted)
    settings = site.room.app.settings
    settings = replace(settings, web=replace(settings.web, pages=True))
    site.room.app = replace(site.room.app, settings=settings)
    made = await owner.post("/watches", json=wanted)
    again = await owner.post("/watches", json=wanted)
    refused = [
        await owner.post("/watches", json={"url": "ftp://shop.example/"}),
        await owner.post("/watches", json={"url": "http://192.168.1.1/admin"}),
        await owner.post("/watches", json={"url": "http://[::1]:80/"}),
        await owner.post("/watches", json={"url": "http://printer.local/"}),
        await owner.post("/watches", json={**wanted, "above": 70}),
        await omar.delete(f"/watches/{made.json()['id']}"),
    ]

    assert (off.status_code, made.status_code) == (422, 201)
    assert again.json()["id"] == made.json()["id"]
    assert (made.json()["condition"], made.json()["threshold"]) == ("below", 50)
    assert [each.status_code for each in refused] == [422, 422, 422, 422, 422, 404]
    assert (await omar.get("/watches")).json()["items"] == []
    ended = await owner.delete(f"/watches/{made.json()['id'][:8]}")
    assert ended.json()["status"] == "ended"
    assert (await owner.get("/watches")).json()["items"] == []


async def test_number_with_a_limit_is_watched_without_pages(browse: Browse) -> None:
    """Its source is no address; it needs a limit, and a unit that it can be told in."""
    owner = await browse()
    made = await owner.post("/watches", json={"url": "measure:kg:weight", "above": 80})
    refused = [
        await owner.post("/watches", json={"url": "measure:kg:weight"}),
        await owner.post("/watches", json={"url": "measure:km:weight", "above": 80}),
        await owner.post("/watches", json={"url": "measure:kg:", "above": 80}),
    ]
    (listed,) = (await owner.get("/watches")).json()["items"]
    ended = await owner.delete(f"/watches/{made.json()['id']}")

    assert made.status_code == 201
    assert (listed["measure"], listed["unit"], listed["threshold"]) == ("weight", "kg", 80)
    assert (listed["text"], listed["next_check"]) == ("weight", None)
    assert [each.status_code for each in refused] == [422, 422, 422]
    assert ended.json()["status"] == "ended"
