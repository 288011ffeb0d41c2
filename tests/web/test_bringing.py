"""Files that are handed over: checked, brought in, paused, undone; and everything taken away."""

import asyncio
import io
import json
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import httpx

from tests.web.conftest import Browse, Site

CHAT = "\n".join([
    "03/05/2024, 18:30 - Ana: We moved to Lisbon!",
    "03/05/2024, 18:31 - Nora: I was born in Porto.",
    "04/05/2024, 09:00 - Nora: My dog is called Rufus.",
])  # fmt: skip
LONGEST_S = 20.0


async def hand_over(
    browser: httpx.AsyncClient, content: bytes, name: str = "WhatsApp Chat with Ana.txt"
) -> httpx.Response:
    """Hand a file over as the page does."""
    return await browser.post("/bring/files", content=content, headers={"X-File-Name": quote(name)})


async def until(
    browser: httpx.AsyncClient, file: str, is_so: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """How a file is once something is so of it."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            answer: dict[str, Any] = (await browser.get(f"/bring/files/{file}")).json()
            if is_so(answer):
                return answer
            await asyncio.sleep(0.05)


async def checked(
    browser: httpx.AsyncClient, content: bytes, name: str = "chat.txt"
) -> dict[str, Any]:
    """A file once it was looked at."""
    answer = await hand_over(browser, content, name)
    assert answer.status_code == 201, answer.text
    file = answer.json()["id"]
    return await until(browser, file, lambda now: now["stage"] != "checking")


async def test_a_chat_is_handed_over_looked_at_and_brought_in(site: Site, browse: Browse) -> None:
    """Who is in it is told before anything is written; then it is found, and can be undone."""
    browser = await browse()
    seen = await checked(browser, CHAT.encode())
    before = (await browser.get("/chat/messages")).json()["items"]
    await browser.post(f"/bring/files/{seen['id']}/import", json={"me": "Nora"})
    done = await until(browser, seen["id"], lambda now: now["stage"] in {"done", "failed"})
    known = (await browser.get("/memories", params={"q": "Rufus"})).json()["items"]
    undone = await browser.post("/bring/imports/1/undo")
    after = (await browser.get("/chat/messages")).json()["items"]
    imports = (await browser.get("/bring/imports")).json()["items"]

    assert seen["stage"] == "ready"
    assert seen["contents"]["messages"] == 3
    assert {each["name"] for each in seen["contents"]["speakers"]} == {"Ana", "Nora"}
    assert not seen["contents"]["is_clear"]
    assert before == []
    assert done["brought"] == {
        "number": 1, "added": 3, "known": 0, "forgotten": 0, "changed": 0,
    }  # fmt: skip
    assert any("Rufus" in each["text"] for each in known)
    assert undone.json()["messages"] == 3
    assert after == []
    assert [(each["number"], each["status"]) for each in imports] == [(1, "undone")]
    assert not any((site.house.settings.data / "brought").iterdir())


async def test_what_cannot_be_read_is_told_and_goes_nowhere(browse: Browse) -> None:
    """A picture, an empty file, a whole export of ours, and a name that leads elsewhere."""
    browser = await browse()
    picture = await checked(browser, b"\x89PNG\r\n\x1a\n" + bytes(100), "../../photo.png")
    empty = await hand_over(browser, b"")
    ours = await checked(browser, b'{"oldfriend": "export", "version": 1}\n', "oldfriend.jsonl")

    assert (picture["stage"], picture["name"]) == ("failed", "photo.png")
    assert "photo.png" in picture["why"]
    assert (empty.status_code, empty.json()["detail"]) == (422, "This file is empty.")
    assert "oldfriend --data" in ours["why"]


async def test_a_file_that_unfolds_without_end_is_refused(browse: Browse) -> None:
    """A zip that says it holds more than anybody has ever written."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.txt", CHAT)
    raw = bytearray(packed.getvalue())
    place = raw.index(b"PK\x01\x02")
    raw[place + 24 : place + 28] = (0xFFFFFFF0).to_bytes(4, "little")
    browser = await browse()
    seen = await checked(browser, bytes(raw), "chat.zip")

    assert seen["stage"] == "failed"
    assert "unfolds" in seen["why"]


async def test_nobody_sees_what_another_hands_over(browse: Browse) -> None:
    """Neither the file nor the import."""
    nora, omar = await browse(), await browse("Omar")
    file = (await checked(nora, CHAT.encode()))["id"]
    seen = await omar.get(f"/bring/files/{file}")
    asked: list[Awaitable[httpx.Response]] = [
        omar.post(f"/bring/files/{file}/import", json={}),
        omar.post(f"/bring/files/{file}/pause"), omar.delete(f"/bring/files/{file}"),
        omar.post("/bring/imports/1/undo"),
    ]  # fmt: skip
    statuses = [(await each).status_code for each in asked]
    everything = await omar.get("/take/export", params={"everybody": True})

    assert seen.status_code == 404
    assert statuses == [404] * 4
    assert (await omar.get("/bring/files")).json()["items"] == []
    assert everything.status_code == 403


async def test_a_long_import_is_paused_and_goes_on(site: Site, browse: Browse) -> None:
    """Nothing is lost or there twice."""
    lines = "".join(
        json.dumps({"speaker": "Nora", "at": f"2024-05-03T18:{n // 60 % 60:02}:{n % 60:02}Z",
                    "id": f"m{n}", "text": f"Word number {n}."}) + "\n" for n in range(3000)
    )  # fmt: skip
    browser = await browse()
    file = (await checked(browser, lines.encode(), "life.jsonl"))["id"]
    await browser.post(f"/bring/files/{file}/import", json={"me": "Nora"})
    paused = (await browser.post(f"/bring/files/{file}/pause")).json()
    await asyncio.sleep(0.2)
    still = (await browser.get(f"/bring/files/{file}")).json()
    before = (await browser.get("/bring/imports")).json()["items"]
    await browser.post(f"/bring/files/{file}/import", json={"me": "Nora"})
    await until(browser, file, lambda now: now["stage"] not in {"waiting", "writing"})
    imports = (await browser.get("/bring/imports")).json()["items"]

    assert paused["stage"] == still["stage"] == "paused"
    assert sum(each["added"] for each in before) < 3000
    assert [(each["number"], each["added"]) for each in imports] == [(1, 3000)]
    assert not (site.house.settings.data / "brought" / file).exists()


async def test_everything_is_taken_away_as_lines(browse: Browse) -> None:
    """One's own, whole, under a name that says whose and when."""
    browser = await browse()
    file = (await checked(browser, CHAT.encode()))["id"]
    await browser.post(f"/bring/files/{file}/import", json={"me": "Nora"})
    await until(browser, file, lambda now: now["stage"] == "done")
    taken = await browser.get("/take/export")
    rows = [json.loads(line) for line in taken.text.splitlines()]

    assert "attachment" in taken.headers["content-disposition"]
    assert rows[0]["oldfriend"] == "export"
    assert rows[-1]["rows"] == len(rows) - 2
    assert "I was born in Porto." in taken.text
