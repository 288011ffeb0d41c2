"""Connecting a ring by the API: each person their own, and no key is ever shown."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.web.web_access import WebClient
from tests.api.conftest import opened_site
from tests.fakes.oura import APPLICATION, Oura
from tests.fakes.web_sites import web_sites

pytestmark = pytest.mark.usefixtures("settings_folder")


async def test_ring_is_connected_read_and_let_go(app: AppContext) -> None:
    """Off until then; another person's state does not count, nor does a second time."""
    oura = Oura(items={"daily_sleep": [{"day": "2023-11-14", "score": 81}]})
    async with (
        web_sites(oura.sites) as web,
        opened_site(replace(app, web=WebClient(fetcher=web.fetcher()))) as site,
        site.browser() as browser,
        site.browser("Omar") as omar,
    ):
        before = (await browser.get("/oura")).json()
        unnamed = await browser.post("/oura/consent", json={})
        named = {"id": APPLICATION[0], "secret": APPLICATION[1]}
        by_guest = await omar.put("/oura/application", json=named)
        by_owner = await browser.put("/oura/application", json=named)
        address = (await browser.post("/oura/consent", json={})).json()["address"]
        query = parse_qs(urlsplit(address).query)
        answer = {"code": "code-1", "state": query["state"][0]}
        of_another = await omar.put("/oura/consent", json=answer)
        connected = await browser.put("/oura/consent", json=answer)
        again = await browser.put("/oura/consent", json=answer)
        read = await browser.post("/oura/reading", json={})
        nothing = await omar.post("/oura/reading", json={})
        gone = await browser.delete("/oura")
        after = (await browser.get("/oura")).json()
        shown = " ".join(each.text for each in (connected, again, read, of_another))

    assert (before["has_application"], before["status"]) == (False, "none")
    assert (unnamed.status_code, unnamed.json()["code"]) == (422, "oura_application_missing")
    assert (by_guest.status_code, by_owner.status_code) == (403, 204)
    assert query["redirect_uri"] == [before["redirect"]] == [f"{site.origin}/settings/health"]
    assert (of_another.status_code, of_another.json()["code"]) == (422, "oura_unexpected")
    assert (connected.status_code, connected.json()["status"]) == (200, "connected")
    assert again.status_code == 422
    assert (read.status_code, nothing.status_code) == (204, 404)
    assert (gone.status_code, after["status"]) == (204, "none")
    assert "access-" not in shown
    assert APPLICATION[1] not in shown
