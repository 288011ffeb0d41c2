"""What is believed, seen and set right in a browser."""

from oldfriend.app.app_context import AppContext
from tests.api.conftest import Browse, told
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.unconfirmed import propose

pytestmark = SQLITE_ONLY


async def test_belief_is_listed_with_evidence_confirmed_rejected_and_restored(
    browse: Browse,
) -> None:
    """Kept, called wrong, and that undone; each is in its history."""
    browser = await browse()
    await told(browser, "Remember that my cat is called Miso.")
    learned = (await browser.get("/learned")).json()["items"]
    (note,) = [each["belief"] for each in learned if each["belief"]["kind"] == "note"]
    path = f"/memories/{note['id']}"
    kept = (await browser.post(f"{path}/verdict", json={"verdict": "confirm"})).json()
    wrong = (await browser.post(f"{path}/verdict", json={"verdict": "reject"})).json()
    without = (await browser.get("/learned")).json()["items"]
    back = (await browser.post(f"{path}/verdict", json={"verdict": "unreject"})).json()
    steps = (await browser.get(f"{path}/history")).json()["steps"]

    assert note["words"][0]["quote"] == "my cat is called Miso."
    assert kept["is_by_person"]
    assert wrong["ended_at"] is not None
    assert note["id"] not in {each["belief"]["id"] for each in without}
    assert back["ended_at"] is None
    assert [each["op"] for each in steps] == ["learned", "confirmed", "rejected", "unrejected"]
    assert [each["by"] for each in steps][1:] == ["you"] * 3


async def test_belief_is_edited_searched_and_listed_as_of_a_past_day(
    browse: Browse, clock: FrozenClock
) -> None:
    """By words of what it says now; and as it was believed before."""
    browser = await browse()
    await told(browser, "Remember that my cat is called Miso.")
    (note,) = (await browser.get("/memories", params={"kind": "note"})).json()["items"]
    before = note["learned_at"]
    clock.tick(minutes=48 * 60)
    edited = await browser.patch(f"/memories/{note['id']}", json={"text": "My cat is Mochi."})
    found = (await browser.get("/memories", params={"q": "Mochi"})).json()["items"]
    then = await browser.get("/memories", params={"as_of": before, "kind": "note"})

    assert edited.json()["text"] == "My cat is Mochi."
    assert found[0]["text"] == "My cat is Mochi."
    assert [each["text"] for each in then.json()["items"]] == ["my cat is called Miso."]


async def test_beliefs_are_listed_in_pages(browse: Browse) -> None:
    """Each with where the next one begins."""
    browser = await browse()
    for name in ("Miso", "Mochi", "Nori"):
        await told(browser, f"Remember that one cat is called {name}.")
    first = (await browser.get("/memories", params={"kind": "note", "limit": 2})).json()
    second = (
        await browser.get("/memories", params={"kind": "note", "limit": 2, "cursor": first["next"]})
    ).json()
    names = [each["text"] for page in (first, second) for each in page["items"]]

    assert first["total"] == 3
    assert second["next"] is None
    assert {text.split()[-1] for text in names} == {"Miso.", "Mochi.", "Nori."}


async def test_listing_beliefs_consolidates_pending_messages_by_rules_first(browse: Browse) -> None:
    """Without waiting for a pause, where no model is to read it."""
    browser = await browse()
    await told(browser, "I live in Porto.")
    listed = (await browser.get("/memories", params={"kind": "fact"})).json()["items"]

    assert [each["text"] for each in listed] == ["Lives in Porto."]


async def test_learned_now_endpoint_consolidates_pending_messages_once(browse: Browse) -> None:
    """It appears without a pause; asked for again, there is nothing more to read."""
    browser = await browse()
    await told(browser, "I live in Porto.")
    before = (await browser.get("/learned")).json()["items"]
    first = (await browser.post("/learned/now")).json()
    again = (await browser.post("/learned/now")).json()
    known = [each["belief"]["text"] for each in (await browser.get("/learned")).json()["items"]]

    assert before == []
    assert (first["read"], again["read"]) == (1, 0)
    assert known == ["Lives in Porto."]


async def test_claim_in_doubt_is_listed_by_its_status_only_and_decided(
    app: AppContext, browse: Browse
) -> None:
    """It is not among what was learned, is believed, or is over, until the person says yes."""
    browser = await browse()
    await told(browser, "I dreamed that I won a boat.")
    me = (await browser.get("/session")).json()["id"]
    claim = await propose(app.db, me, "Won a boat.", "I won a boat")

    async def texts(path: str, **wanted: str) -> list[str]:
        items = (await browser.get(path, params=wanted)).json()["items"]
        return [each.get("belief", each)["text"] for each in items]

    assert await texts("/memories", status="unconfirmed") == ["Won a boat."]
    waiting = (await browser.get("/memories", params={"status": "unconfirmed"})).json()["items"]
    assert [each["quote"] for each in waiting[0]["words"]] == ["I dreamed that I won a boat."]
    for wanted in ({}, {"ended": "true"}, {"q": "boat", "ended": "true"}):
        assert "Won a boat." not in await texts("/memories", **wanted)
    assert "Won a boat." not in await texts("/learned")

    judged = await browser.post(f"/memories/{claim.id}/verdict", json={"verdict": "confirm"})
    assert judged.json()["status"] == "active"
    assert await texts("/memories", status="unconfirmed") == []
    assert "Won a boat." in await texts("/learned")


async def test_belief_is_told_in_the_language_that_the_reader_accepts(browse: Browse) -> None:
    """By every route that tells it, and in its own where the reader's has no words for it."""
    browser = await browse()
    await told(browser, "Ich mag keinen Rosenkohl.")
    await browser.post("/learned/now")
    english = {"Accept-Language": "en-GB,en;q=0.9"}
    (belief,) = (
        await browser.get("/memories", params={"kind": "preference"}, headers=english)
    ).json()["items"]
    path = f"/memories/{belief['id']}"
    told_by = {
        "learned": (await browser.get("/learned", headers=english)).json()["items"][0]["belief"],
        "belief": (await browser.get(path, headers=english)).json(),
        "verdict": (
            await browser.post(f"{path}/verdict", json={"verdict": "confirm"}, headers=english)
        ).json(),
        "forgetting": (
            await browser.post("/forget/preview", json={"ids": [belief["id"]]}, headers=english)
        ).json()["beliefs"][0],
    }
    french, italian, no_english, rather_german = [
        (await browser.get(path, headers={"Accept-Language": each})).json()
        for each in ("fr", "it", "en;q=0,de", "en;q=0.2, de;q=0.9")
    ]

    assert {each["sentence"] for each in told_by.values()} == {"You do not like “Rosenkohl”."}
    assert {each["sentence_language"] for each in told_by.values()} == {"en"}
    assert no_english["sentence_language"] == rather_german["sentence_language"] == "de"
    assert french["sentence"] == "Tu n’aimes pas « Rosenkohl »."
    assert (italian["sentence"], italian["sentence_language"]) == (
        "Du magst Rosenkohl nicht.",
        "de",
    )
