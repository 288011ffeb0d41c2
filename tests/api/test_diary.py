"""The diary by the API: entries of one's own, written, changed, removed and listed by pages."""

from oldfriend.diary.diary_search import search_entries
from oldfriend.diary.diary_store import DiaryFilter
from oldfriend.memory.chat_history import list_recently_used_chats
from oldfriend.memory.people import ensure_owner
from oldfriend.proactive.reachable_chats import find_reachable_chat
from oldfriend.search import SearchQuery
from tests.api.conftest import Browse, Site
from tests.api.conftest import told as hear_reply


async def test_entry_is_written_changed_and_removed_by_whose_it_is(browse: Browse) -> None:
    """With the tags of its words; nobody else sees or touches it."""
    browser, omar = await browse(), await browse("Omar")
    written = await browser.post(
        "/diary", json={"text": "Swam in the lake. #summer", "day": "2020-05-01"}
    )
    entry = written.json()
    changed = await browser.patch(f"/diary/{entry['id']}", json={"text": "Swam far. #lake"})

    assert (written.status_code, entry["day"], entry["tags"]) == (201, "2020-05-01", ["summer"])
    assert (changed.json()["text"], changed.json()["tags"]) == ("Swam far. #lake", ["lake"])
    assert (await omar.get("/diary")).json()["items"] == []
    assert (await omar.patch(f"/diary/{entry['id']}", json={"text": "x"})).status_code == 404
    assert (await omar.delete(f"/diary/{entry['id']}")).status_code == 404
    assert (await browser.delete(f"/diary/{entry['id']}")).status_code == 204
    assert (await browser.get("/diary")).json() == {"items": [], "next": None}


async def test_entry_of_characters_that_show_nothing_is_refused(browse: Browse) -> None:
    """Such as a zero-width space, or a variation selector."""
    browser = await browse()
    for text in ("\u200b", " \u200d\ufe0f ", "\u3164"):
        assert (await browser.post("/diary", json={"text": text})).status_code == 422
    assert (await browser.get("/diary")).json()["items"] == []


async def test_entries_come_by_pages_newest_first_and_of_some_days(browse: Browse) -> None:
    """Whichever is asked for, each comes once."""
    browser = await browse()
    for day in range(1, 8):
        tag = "#odd" if day % 2 else ""
        await browser.post("/diary", json={"text": f"Day {day} {tag}", "day": f"2020-05-0{day}"})
    pages, cursor = [], ""
    while cursor is not None:
        page = (await browser.get(f"/diary?limit=3{cursor and f'&cursor={cursor}'}")).json()
        pages.append([each["day"][-1] for each in page["items"]])
        cursor = page["next"]
    odd = (await browser.get("/diary?tag=odd&limit=3")).json()
    some = (await browser.get("/diary?from=2020-05-03&to=2020-05-04")).json()

    assert pages == [["7", "6", "5"], ["4", "3", "2"], ["1"]]
    assert [each["day"][-1] for each in odd["items"]] == ["7", "5", "3"]
    assert [each["day"][-1] for each in some["items"]] == ["4", "3"]
    assert (await browser.get("/diary?cursor=nonsense")).status_code == 422


async def test_entry_without_words_or_of_tomorrow_is_refused(browse: Browse) -> None:
    """With what is wrong as a code, which the page says in its language."""
    browser = await browse()
    empty = await browser.post("/diary", json={"text": "  \n "})
    early = await browser.post("/diary", json={"text": "Flew to Mars.", "day": "2999-01-01"})

    assert (empty.status_code, empty.json()["code"]) == (422, "diary_entry_empty")
    assert (early.status_code, early.json()["code"]) == (422, "diary_day_to_come")
    assert (await browser.get("/diary")).json()["items"] == []


async def test_entry_is_found_by_its_words_as_it_reads_now(site: Site, browse: Browse) -> None:
    """In the diary, and in the memory of what was said until it is removed."""
    browser = await browse()
    entry = (await browser.post("/diary", json={"text": "Bought a red kayak."})).json()
    await browser.post("/diary", json={"text": "Read all day."})

    async def find(words: str) -> list[str]:
        async with site.app.db.begin_read() as tx:
            owner = await ensure_owner(tx, now=site.app.clock(), zone="UTC")
            query = SearchQuery(text=words, language="en")
            hits = await search_entries(
                tx, owner.id, query, DiaryFilter(), site.app.index_cache, limit=5
            )
        return [each.entry.id for each in hits]

    assert await find("when did I buy kayaks?") == [entry["id"]]
    await browser.patch(f"/diary/{entry['id']}", json={"text": "Bought a green canoe."})
    assert await find("kayak") == []
    assert await find("canoe") == [entry["id"]]

    async def find_said(words: str) -> list[str]:
        found = (await browser.get("/chat/search", params={"q": words})).json()["items"]
        return [each["text"] for each in found if each["channel"] == "diary"]

    assert await find_said("kayak") == []
    assert await find_said("canoe") == ["Bought a green canoe."]
    assert (await browser.delete(f"/diary/{entry['id']}")).status_code == 204
    assert await find_said("canoe") == []
    assert await find_said("read all day") == ["Read all day."]


async def test_what_is_written_into_the_diary_is_known_in_the_talk(browse: Browse) -> None:
    """As if it had been said; its message leads back to it."""
    browser = await browse()
    entry = (await browser.post("/diary", json={"text": "My boat is called Dora."})).json()
    told = (await hear_reply(browser, "What is my boat called?"))[-1].data["text"]
    shown = (await browser.get(f"/chat/messages?around={entry['message']}")).json()["items"]

    assert "Dora" in told
    assert "My boat is called Dora." in [each["text"] for each in shown]


async def test_nothing_is_said_unasked_into_the_diary(site: Site, browse: Browse) -> None:
    """Who has written nowhere else finds it in the chat on the page."""
    browser = await browse()
    await browser.post("/diary", json={"text": "Bought a red kayak."})
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=site.app.clock(), zone="UTC")
        (diary,) = await list_recently_used_chats(tx, owner.id)
        found = await find_reachable_chat(tx, owner.id, diary, now=site.app.clock())

    assert found is not None and found.chat.channel == "web"
