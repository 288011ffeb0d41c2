"""Files that are handed over: checked, brought in, paused, undone; and everything taken away."""

import asyncio
import io
import json
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Person
from oldfriend.memory.deletion.audit_log import AuditEntry, save_audit_entry
from oldfriend.memory.people import get_person
from tests.api.conftest import Browse, Site, say
from tests.api.test_credentials import program, token_for
from tests.engines import SQLITE_ONLY

CHAT = "\n".join(
    [
        "03/05/2024, 18:30 - Ana: We moved to Lisbon!",
        "03/05/2024, 18:31 - Nora: I was born in Porto.",
        "04/05/2024, 09:00 - Nora: My dog is called Rufus.",
    ]
)
SAID = b"""{"id": "m1", "session": "s1", "speaker": "Ana", "role": "other",
"at": "2024-05-03T18:30:00+02:00", "text": "We moved!"}""".replace(b"\n", b" ")
LONGEST_S = 20.0


async def hand_over(
    browser: httpx.AsyncClient, content: bytes, name: str = "WhatsApp Chat with Ana.txt"
) -> httpx.Response:
    """Hand a file over as the page does."""
    return await browser.post("/uploads", content=content, headers={"X-File-Name": quote(name)})


async def until(
    browser: httpx.AsyncClient, file: str, is_so: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """How a file is once something is so of it."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            answer: dict[str, Any] = (await browser.get(f"/uploads/{file}")).json()
            if is_so(answer):
                return answer
            await asyncio.sleep(0.05)


async def until_found(browser: httpx.AsyncClient, words: str) -> list[dict[str, Any]]:
    """What is believed and holds some words, as soon as anything does."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            answer = (await browser.get("/memories", params={"q": words})).json()
            if answer["items"]:
                return list(answer["items"])
            await asyncio.sleep(0.05)


async def until_gone(folder: Path) -> None:
    """Return once a folder is there no more."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            if not folder.exists():
                return
            await asyncio.sleep(0.05)


async def checked(
    browser: httpx.AsyncClient, content: bytes, name: str = "chat.txt"
) -> dict[str, Any]:
    """A file once it was looked at."""
    answer = await hand_over(browser, content, name)
    assert answer.status_code == 201, answer.text
    file = answer.json()["id"]
    return await until(browser, file, lambda now: now["stage"] != "checking")


@SQLITE_ONLY
@pytest.mark.parametrize(
    "name", ["parcel.json.partial", ".parcel.json.partial", "parcel.json", "PARCEL.JSON"]
)
async def test_uploaded_file_may_be_named_like_internal_metadata(browse: Browse, name: str) -> None:
    """It is read like any other of its ending, and named as it was called."""
    seen = await checked(await browse(), SAID, name)

    assert (seen["stage"], seen["contents"]["messages"]) == ("ready", 1)
    assert seen["name"].removeprefix("file ") == name.removeprefix(".")


@pytest.mark.slow
@SQLITE_ONLY
async def test_import_error_does_not_reveal_server_file_paths(site: Site, browse: Browse) -> None:
    """Where one is lost, it is named as it was called."""
    browser = await browse()
    seen = await checked(browser, CHAT.encode())
    parcel = site.room.import_worker.get((await site_owner(site)).id, seen["id"])
    parcel.file.unlink()
    await browser.post(f"/uploads/{seen['id']}/import", json={"me": "Nora"})
    failed = await until(browser, seen["id"], lambda now: now["stage"] == "failed")

    assert "chat.txt" in failed["why"]["text"]
    assert str(site.app.settings.data) not in str(failed)


async def site_owner(site: Site) -> Person:
    """Whose install it is."""
    async with site.app.db.begin_read() as tx:
        return await get_person(tx, None)


@pytest.mark.slow
@SQLITE_ONLY
async def test_owner_file_check_does_not_wait_for_large_guest_uploads(
    site: Site, browse: Browse
) -> None:
    """However many large ones a guest has handed over before."""
    large = "\n".join(f"03/05/2024, 18:30 - Ana: word {each}" for each in range(60_000)).encode()
    guest, owner = await browse("Omar"), await browse()
    handed = [(await hand_over(guest, large)).json()["id"] for _ in range(4)]
    await checked(owner, CHAT.encode())
    stages = [(await guest.get(f"/uploads/{each}")).json()["stage"] for each in handed]

    assert stages.count("checking") >= 3


async def test_uploaded_chat_is_previewed_imported_and_undone(site: Site, browse: Browse) -> None:
    """Who is in it is told before anything is written; then it is found, and can be undone."""
    browser = await browse()
    seen = await checked(browser, CHAT.encode())
    before = (await browser.get("/chat/messages")).json()["items"]
    await browser.post(f"/uploads/{seen['id']}/import", json={"me": "Nora"})
    done = await until(browser, seen["id"], lambda now: now["stage"] in {"done", "failed"})
    known = await until_found(browser, "Rufus")  # it is read a little later, in the background
    undone = await browser.post("/imports/1/undo")
    after = (await browser.get("/chat/messages")).json()["items"]
    imports = (await browser.get("/imports")).json()["items"]

    assert seen["stage"] == "ready"
    assert seen["contents"]["messages"] == 3
    assert {each["name"] for each in seen["contents"]["speakers"]} == {"Ana", "Nora"}
    assert not seen["contents"]["is_clear"]
    assert before == []
    assert done["brought"] == {
        "number": 1,
        "added": 3,
        "known": 0,
        "forgotten": 0,
        "changed": 0,
    }
    assert any("Rufus" in each["text"] for each in known)
    assert undone.json()["messages"] == 3
    assert after == []
    assert [(each["number"], each["status"]) for each in imports] == [(1, "undone")]
    assert not any((site.app.settings.data / "brought").iterdir())


async def test_unreadable_upload_is_refused_with_a_reason(browse: Browse) -> None:
    """A picture, an empty file, a whole export of ours, and a name that leads elsewhere."""
    browser = await browse()
    picture = await checked(browser, b"\x89PNG\r\n\x1a\n" + bytes(100), "../../photo.png")
    empty = await hand_over(browser, b"")
    ours = await checked(browser, b'{"oldfriend": "export", "version": 1}\n', "oldfriend.jsonl")

    assert (picture["stage"], picture["name"]) == ("failed", "photo.png")
    assert "photo.png" in picture["why"]["text"]
    assert picture["why"]["code"] == "import_unknown_kind"
    assert picture["why"]["values"] == {"name": "photo.png", "hint": ""}
    assert (empty.status_code, empty.json()["detail"]) == (422, "This file is empty.")
    assert "oldfriend --data" in ours["why"]["text"]


async def test_zip_bomb_upload_is_refused(browse: Browse) -> None:
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
    assert "unpacks" in seen["why"]["text"]


async def test_uploads_and_imports_of_another_person_are_not_found(browse: Browse) -> None:
    """Neither the file nor the import."""
    nora, omar = await browse(), await browse("Omar")
    file = (await checked(nora, CHAT.encode()))["id"]
    seen = await omar.get(f"/uploads/{file}")
    asked: list[Awaitable[httpx.Response]] = [
        omar.post(f"/uploads/{file}/import", json={}),
        omar.post(f"/uploads/{file}/pause"),
        omar.delete(f"/uploads/{file}"),
        omar.post("/imports/1/undo"),
    ]
    statuses = [(await each).status_code for each in asked]

    assert seen.status_code == 404
    assert statuses == [404] * 4
    assert (await omar.get("/uploads")).json()["items"] == []


@pytest.mark.slow
async def test_paused_import_resumes_without_loss_or_duplicates(site: Site, browse: Browse) -> None:
    """Nothing is lost or there twice."""
    lines = "".join(
        json.dumps(
            {
                "speaker": "Nora",
                "at": f"2024-05-03T18:{n // 60 % 60:02}:{n % 60:02}Z",
                "id": f"m{n}",
                "text": f"Word number {n}.",
            }
        )
        + "\n"
        for n in range(3000)
    )
    browser = await browse()
    file = (await checked(browser, lines.encode(), "life.jsonl"))["id"]
    await browser.post(f"/uploads/{file}/import", json={"me": "Nora"})
    paused = (await browser.post(f"/uploads/{file}/pause")).json()
    await asyncio.sleep(0.2)
    still = (await browser.get(f"/uploads/{file}")).json()
    before = (await browser.get("/imports")).json()["items"]
    await browser.post(f"/uploads/{file}/import", json={"me": "Nora"})
    await until(browser, file, lambda now: now["stage"] not in {"waiting", "writing"})
    imports = (await browser.get("/imports")).json()["items"]

    assert paused["stage"] == still["stage"] == "paused"
    assert sum(each["added"] for each in before) < 3000
    assert [(each["number"], each["added"]) for each in imports] == [(1, 3000)]
    await until_gone(site.app.settings.data / "brought" / file)  # right after it is done


@pytest.mark.slow
async def test_export_download_contains_all_own_rows_as_json_lines(browse: Browse) -> None:
    """One's own, whole, under a name that says whose and when."""
    browser = await browse()
    file = (await checked(browser, CHAT.encode()))["id"]
    await browser.post(f"/uploads/{file}/import", json={"me": "Nora"})
    await until(browser, file, lambda now: now["stage"] == "done")
    taken = await browser.get("/export")
    rows = [json.loads(line) for line in taken.text.splitlines()]

    assert "attachment" in taken.headers["content-disposition"]
    assert rows[0]["oldfriend"] == "export"
    assert rows[-1]["rows"] == len(rows) - 2
    assert "I was born in Porto." in taken.text


@pytest.mark.slow
@SQLITE_ONLY
async def test_slow_export_download_blocks_nobody_and_times_out(
    site: Site, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One takes it at a time, the house goes on, and who takes nothing of it has left."""
    monkeypatch.setattr("oldfriend.api.routers.import_routes.SEND_TIMEOUT_S", 0.5)
    browser = await browse()
    async with site.app.db.begin_write() as tx:
        (person,) = (await tx.rows("SELECT id FROM person WHERE is_owner = 1"))[0]
        for _ in range(2_500):
            entry = AuditEntry(done_at=Micros(1), what="retain", counts={}, digest="x" * 8_000)
            await save_audit_entry(tx, person, entry)
    slow = [await begin_to_take(site, browser) for _ in range(3)]
    try:
        async with asyncio.timeout(LONGEST_S / 2):
            state = await browser.get("/state")
            whole = await taken_at_last(browser)
    finally:
        for _, stream in slow:
            stream.close()

    assert [status for status, _ in slow] == [200, 409, 409]
    assert state.status_code == 200
    assert whole.headers["content-length"] == str(len(whole.content))
    assert len(whole.content) > 20_000_000
    assert not [each for each in site.app.settings.data.iterdir() if "tmp" in each.name]


async def taken_at_last(browser: httpx.AsyncClient) -> httpx.Response:
    """Everything, once nobody else takes it."""
    while True:
        answer = await browser.get("/export")
        if answer.status_code != 409:
            return answer
        await asyncio.sleep(0.1)


async def begin_to_take(site: Site, browser: httpx.AsyncClient) -> tuple[int, asyncio.StreamWriter]:
    """Ask for everything, and read no further than whether it is given."""
    reader, writer = await asyncio.open_connection("localhost", site.port, limit=1000)
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    writer.write(
        f"GET /api/v1/export HTTP/1.1\r\nHost: localhost:{site.port}\r\n"
        f"Cookie: {cookies}\r\nX-CSRF-Token: {browser.headers['X-CSRF-Token']}\r\n\r\n".encode()
    )
    _, status, *_ = (await reader.readline()).split()
    return int(status), writer


@SQLITE_ONLY
async def test_export_with_any_token_scope_contains_only_own_data(
    site: Site, browse: Browse
) -> None:
    """And nobody else's, whatever is asked for."""
    owner, omar = await browse(), await browse("Omar")
    await say(owner, "My boat is called Dora.")
    await say(omar, "My safe opens with 4711.")
    taken: dict[str, httpx.Response] = {}
    for scope in ("read", "write", "admin"):
        made = await token_for(owner, scope)
        async with program(site, made["token"]) as client:
            taken[scope] = await client.get("/export", params={"everybody": True})

    assert {each.status_code for each in taken.values()} == {200}
    assert all("Dora" in each.text and "4711" not in each.text for each in taken.values())


@pytest.mark.slow
async def test_forgetting_everything_deletes_own_uploaded_files_only(
    site: Site, browse: Browse
) -> None:
    """Nor goes one on being written; another person's stay."""
    nora, omar = await browse(), await browse("Omar")
    await checked(nora, CHAT.encode())
    brought = await checked(nora, CHAT.encode())
    await nora.post(f"/uploads/{brought['id']}/import", json={"me": "Nora"})
    await until(nora, brought["id"], lambda now: now["stage"] == "done")
    theirs = await checked(omar, CHAT.encode(), "theirs.txt")
    seen = await nora.post("/forget/preview", json={"everything": True})
    proof = await nora.post(
        "/forget", json={"everything": True}, headers={"If-Match": seen.headers["etag"]}
    )

    assert proof.json()["is_proved"], proof.text
    assert (await nora.get("/uploads")).json()["items"] == []
    assert [each["id"] for each in (await omar.get("/uploads")).json()["items"]] == [theirs["id"]]
    assert [each.name for each in (site.app.settings.data / "brought").iterdir()] == [theirs["id"]]


async def forget_import(browser: httpx.AsyncClient, batch: int) -> httpx.Response:
    """Forget it as it is seen then; what was read of it meanwhile has one look again."""
    while True:
        wish = {"import": batch}
        tag = (await browser.post("/forget/preview", json=wish)).headers["ETag"]
        forgotten = await browser.post("/forget", json=wish, headers={"If-Match": tag})
        if forgotten.status_code != 412:
            return forgotten


@pytest.mark.slow
async def test_forgotten_import_removes_the_uploaded_file_name(browse: Browse) -> None:
    """Its name tells with whom one talked; it went from the list of imports, too."""
    browser = await browse()
    seen = await checked(browser, CHAT.encode(), "WhatsApp Chat with Ana.txt")
    await browser.post(f"/uploads/{seen['id']}/import", json={"me": "Nora"})
    done = await until(browser, seen["id"], lambda now: now["stage"] in {"done", "failed"})
    forgotten = await forget_import(browser, 1)
    files = (await browser.get("/uploads")).json()["items"]
    (one,) = (await browser.get("/imports")).json()["items"]

    assert done["stage"] == "done"
    assert forgotten.json()["is_proved"]
    assert files == []
    assert "Ana" not in one["file"]


@pytest.mark.slow
async def test_upload_keeps_the_chosen_speaker_and_time_zone(
    browse: Browse,
) -> None:
    """So it is gone on with as it was begun; before, the clock is the person's own."""
    browser = await browse()
    await browser.patch("/me", json={"zone": "Asia/Tokyo"})
    seen = await checked(browser, CHAT.encode())
    wanted = {"me": "Nora", "zone": "Europe/Paris"}
    await browser.post(f"/uploads/{seen['id']}/import", json=wanted)
    done = await until(browser, seen["id"], lambda now: now["stage"] in {"done", "failed"})

    assert (seen["me"], seen["zone"]) == (None, "Asia/Tokyo")
    assert (done["me"], done["zone"]) == ("Nora", "Europe/Paris")
