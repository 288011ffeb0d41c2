"""All that is known, leafed through: pages, filters, any day, and what is set right."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.memories import StoredBelief
from oldfriend.memory.chat_history import list_messages_containing
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.people import ensure_owner
from tests.api.conftest import Browse, Site, told
from tests.api.many_beliefs import believe_many, is_over
from tests.clock import FrozenClock

COUNT = 400
DAYS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """A browser of somebody of whom much is known."""

    browser: httpx.AsyncClient
    memories: list[StoredBelief]

    async def all(self, **filters: Any) -> list[dict[str, Any]]:
        """Everything that some filters leave, page after page."""
        found: list[dict[str, Any]] = []
        cursor = {}
        while True:
            answer = await self.browser.get("/memories", params={**filters, **cursor, "limit": 150})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found += page["items"]
            if page["next"] is None:
                assert len(found) == page["total"]
                return found
            cursor = {"cursor": page["next"]}


@pytest.fixture
async def full(site: Site, browse: Browse, app: AppContext) -> AsyncIterator[Full]:
    """Four hundred beliefs of a hundred days."""
    async with app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
    since = app.clock() - DAYS * DAY
    memories = await believe_many(app, owner.id, COUNT, since=since, days=DAYS)
    yield Full(browser=await browse(), memories=memories)


def day_of(memory: StoredBelief, *, later: int = 0) -> str:
    """The day on which something was learned, or one later."""
    return from_micros(memory.learned_at + later * DAY).date().isoformat()


@pytest.mark.slow
async def test_every_sort_order_pages_through_all_beliefs_exactly_once(full: Full) -> None:
    """In each order all of it comes, once; by kind what belongs together stands together."""
    live = {each.id for each in full.memories if not is_over(each)}
    orders = ("kind", "newest", "oldest", "surest", "seen")
    lists = {order: await full.all(sort=order) for order in orders}

    assert all({each["id"] for each in found} == live for found in lists.values())
    assert all(len(found) == len(live) for found in lists.values())
    learned = [each["learned_at"] for each in lists["newest"]]
    assert learned == sorted(learned, reverse=True)
    kinds = [each["kind"] for each in lists["kind"] if each["kind"] not in {"fact", "preference"}]
    assert len(re.findall(r"(\w+)(?: \1\b)*", " ".join(kinds))) == len(set(kinds))
    events = [each["happened_at"] for each in lists["kind"] if each["kind"] == "event"]
    assert events == sorted(events, reverse=True)


async def test_belief_filters_apply_now_and_as_of_a_past_day(full: Full) -> None:
    """By kind, status, tag, being pinned; what has ended on request; with how much of each."""
    day = day_of(full.memories[COUNT // 2])
    for when in ({}, {"as_of": day}):
        tagged = await full.all(tag="joy", **when)
        pinned = await full.all(pinned=True, kind=["event", "note"], **when)
        unsure = await full.all(status="tentative", **when)
        about = await full.all(subject="person", **when)
        assert {each["tags"][0] for each in tagged} == {"joy"}
        assert pinned
        assert all(each["is_pinned"] for each in pinned)
        assert {each["status"] for each in unsure} == {"tentative"}
        assert len(about) == len(await full.all(**when)) > len(tagged)
    over = [each for each in await full.all(ended=True) if each["ended_at"]]
    first = (await full.browser.get("/memories", params={"limit": 1, "kind": "note"})).json()

    assert {each["status"] for each in over} == {"expired"}
    assert len(over) == COUNT // 100 - 1
    assert first["kinds"]["event"] + first["kinds"]["note"] > first["total"]


@pytest.mark.slow
async def test_belief_search_matches_word_prefixes_now_and_as_of_a_past_day(full: Full) -> None:
    """Best first, in pages; what was not known on a day is not found on it."""
    found = await full.all(q="orch number 211", kind=["event", "fact", "commitment"])
    best = found[0]
    early = await full.all(q="orchard", as_of=day_of(full.memories[50]))
    all_of_them = await full.all(q="orchard")

    assert "orchard" in best["text"]
    assert {each["kind"] for each in found} <= {"event", "fact", "commitment"}
    assert 0 < len(early) < len(all_of_them)
    assert all("orchard" in each["text"] for each in early)


async def test_beliefs_as_of_a_day_include_later_ended_and_exclude_later_learned(
    full: Full,
) -> None:
    """What ended later is there still; what came later is not there yet."""
    over = full.memories[200]
    on_the_day = {each["id"] for each in await full.all(as_of=day_of(over))}
    after = {each["id"] for each in await full.all(as_of=day_of(over, later=3))}

    assert over.id in on_the_day
    assert over.id not in after
    assert full.memories[-1].id not in on_the_day | after


async def test_difference_between_two_days_matches_the_daily_change_counts(full: Full) -> None:
    """The counts of days are those of the difference between the ends; in pages, newest first."""
    days = (await full.browser.get("/memories/days")).json()
    since, until = day_of(full.memories[200]), days["today"]
    first = (
        await full.browser.get(
            "/memories/difference", params={"since": since, "until": until, "limit": 100}
        )
    ).json()
    more = (
        await full.browser.get(
            "/memories/difference",
            params={"since": since, "until": until, "limit": 50, "cursor": first["next"]},
        )
    ).json()
    backwards = (
        await full.browser.get(
            "/memories/difference", params={"since": until, "until": since, "limit": 1}
        )
    ).json()

    assert sum(each["added"] for each in days["items"]) == COUNT
    assert sum(each["ended"] for each in days["items"]) == COUNT // 100 - 1
    live_later = [each for each in full.memories if day_of(each) > since and not is_over(each)]
    assert first["counts"] == {"added": len(live_later), "ended": 1, "changed": 0}
    assert backwards["counts"] == first["counts"]
    ids = [each["belief"]["id"] for page in (first, more) for each in page["items"]]
    assert len(ids) == len(set(ids)) == 150
    assert next(each["by"] for each in first["items"]) == "test/1"


async def test_difference_lists_an_edited_belief_as_changed_with_both_texts(
    browse: Browse, clock: FrozenClock
) -> None:
    """As changed, not as ended and new."""
    browser = await browse()
    await told(browser, "Remember that my cat is called Miso.")
    (note,) = (await browser.get("/memories", params={"kind": "note"})).json()["items"]
    then = note["learned_at"]
    clock.tick(minutes=48 * 60)
    await browser.patch(f"/memories/{note['id']}", json={"text": "My cat is Mochi."})
    now = from_micros(clock()).isoformat()
    between = {"since": then, "until": now, "kind": "note"}
    (turned,) = (await browser.get("/memories/difference", params=between)).json()["items"]
    only = {**between, "id": [note["id"], "another"]}
    same = (await browser.get("/memories/difference", params=only)).json()["items"]
    of_another = {**between, "id": "another"}
    none = (await browser.get("/memories/difference", params=of_another)).json()["items"]

    assert (same, none) == ([turned], [])
    assert turned["turn"] == "changed"
    assert turned["before"] == "my cat is called Miso."
    assert turned["belief"]["text"] == "My cat is Mochi."
    assert turned["by"] == "you"


async def test_belief_edit_with_stale_etag_is_refused(browse: Browse) -> None:
    """412 for a stale ETag, and nothing is done; the fresh one is taken, and so is none."""
    browser = await browse()
    await told(browser, "Remember that my cat is called Miso.")
    (note,) = (await browser.get("/memories", params={"kind": "note"})).json()["items"]
    path = f"/memories/{note['id']}"
    seen = (await browser.get(path)).headers["ETag"]
    first = await browser.patch(path, json={"text": "It is Mochi."}, headers={"If-Match": seen})
    stale = await browser.patch(path, json={"text": "It is Nori."}, headers={"If-Match": seen})
    odd = await browser.patch(path, json={"text": "It is Nori."}, headers={"If-Match": '"x"'})
    kept = (await browser.get(path)).json()
    again = await browser.patch(
        path, json={"text": "It is Nori."}, headers={"If-Match": first.headers["ETag"]}
    )

    assert seen == note["etag"]
    assert (first.status_code, stale.status_code, odd.status_code) == (200, 412, 412)
    assert stale.headers["content-type"] == "application/problem+json"
    assert kept["text"] == "It is Mochi."
    assert again.json()["text"] == "It is Nori."


async def test_commitment_due_date_is_set_and_cleared_but_not_for_an_event(full: Full) -> None:
    """On the end of a day, or at no time; an event is never due."""
    (promise, *_) = await full.all(kind="commitment")
    (event, *_) = await full.all(kind="event")
    path = f"/memories/{promise['id']}"
    on = await full.browser.patch(path, json={"due": "2031-05-03"})
    off = await full.browser.patch(path, json={"due": "none"})
    wrong = await full.browser.patch(f"/memories/{event['id']}", json={"due": "2031-05-03"})
    empty = await full.browser.patch(path, json={})

    assert on.json()["due_at"].startswith("2031-05-03T23:59")
    assert off.json()["due_at"] is None
    assert (wrong.status_code, empty.status_code) == (422, 422)


async def test_beliefs_of_one_kind_are_merged_and_separated_again(full: Full) -> None:
    """The other says where it went; only what is of one kind can be joined."""
    one, other, *_ = await full.all(kind="note", sort="newest")
    (event, *_) = await full.all(kind="event")
    path = f"/memories/{one['id']}"
    merged = await full.browser.post(f"{path}/merge", json={"other": other["id"]})
    gone = (await full.browser.get(f"/memories/{other['id']}")).json()
    apart = await full.browser.post(f"{path}/separate", json={"other": other["id"]})
    back = (await full.browser.get(f"/memories/{other['id']}")).json()
    unlike = await full.browser.post(f"{path}/merge", json={"other": event["id"]})

    assert merged.status_code == apart.status_code == 200
    assert gone["status"] == "merged"
    assert gone["merged_into"] == one["id"]
    assert back["ended_at"] is None
    assert unlike.status_code == 422


@pytest.mark.slow
async def test_beliefs_of_another_person_are_not_found(full: Full, browse: Browse) -> None:
    """By id 404, whatever is asked; lists, days and differences are empty."""
    omar = await browse("Omar")
    (note, other, *_) = await full.all(kind="note")
    path = f"/memories/{note['id']}"
    answers = [
        await omar.get(path),
        await omar.get(f"{path}/history"),
        await omar.patch(path, json={"text": "Mine now."}),
        await omar.post(f"{path}/verdict", json={"verdict": "reject"}),
        await omar.post(f"{path}/merge", json={"other": other["id"]}),
        await omar.post(f"{path}/separate", json={"other": other["id"]}),
    ]
    page = (await omar.get("/memories", params={"q": "orchard"})).json()
    days = (await omar.get("/memories/days")).json()
    between = (
        await omar.get(
            "/memories/difference", params={"since": "2001-01-01", "until": days["today"]}
        )
    ).json()

    assert [each.status_code for each in answers] == [404] * 6
    assert page["items"] == []
    assert days["items"] == between["items"] == []
    assert (await full.browser.get(path)).json()["text"] == note["text"]


async def test_invalid_belief_queries_are_refused_with_problem_json(browse: Browse) -> None:
    """As problem+json that says what is wrong."""
    browser = await browse()
    queries = (
        {"cursor": "nonsense"},
        {"cursor": "WzEsMl0="},
        {"cursor": "W251bGxd", "q": "cat"},
        {"limit": "201"},
        {"kind": "gossip"},
        {"sort": "loudest"},
        {"as_of": "someday"},
        {"as_of": "2099-01-01"},
        {"status": "odd"},
    )
    answers = [await browser.get("/memories", params=query) for query in queries]

    assert [each.status_code for each in answers] == [422] * len(queries)
    assert {each.headers["content-type"] for each in answers} == {"application/problem+json"}
    assert all(len(each.json()["detail"]) > 10 for each in answers)


async def test_belief_strength_grows_with_new_evidence_over_time(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """A point for each time it was said; on an earlier day only those until then."""
    browser = await browse()
    await told(browser, "Remember that I swim every Thursday.")
    (note,) = (await browser.get("/memories", params={"kind": "note"})).json()["items"]
    said_first = from_micros(clock()).isoformat()
    clock.tick(minutes=14 * 24 * 60)
    await told(browser, "I swim every Thursday, as you know.")
    async with site.app.db.begin_write() as tx:
        person = await ensure_owner(tx, now=clock(), zone="UTC")
        (said,) = await list_messages_containing(tx, person.id, "as you know", limit=1)
        words = [NewEvidence(source=said, quote="I swim every Thursday")]
        await add_evidence(tx, person.id, note["id"], words, extractor="test/1", now=clock())
    now = (await browser.get(f"/memories/{note['id']}")).json()
    listed = (await browser.get("/memories", params={"kind": "note"})).json()["items"][0]
    then = (await browser.get("/memories", params={"kind": "note", "as_of": said_first})).json()

    assert (note["times_seen"], note["strength"], note["course"]) == (1, 1.0, [])
    assert note["words"][0]["channel"] == "web"
    assert [each["strength"] for each in now["course"]] == [1.0, now["strength"]]
    assert now["strength"] > 1.5
    assert listed == now
    assert then["items"][0]["times_seen"] == 1
    assert then["items"][0]["course"] == []


async def test_edit_with_since_supersedes_and_without_since_rejects_old_belief(full: Full) -> None:
    """With a day it was so until then; without one it never was."""
    changed, mistaken, *_ = await full.all(kind="fact", sort="newest")
    day = day_of(full.memories[-1])
    new = await full.browser.patch(
        f"/memories/{changed['id']}", json={"text": "It is red now.", "value": "red", "since": day}
    )
    await full.browser.patch(
        f"/memories/{mistaken['id']}", json={"text": "It is blue.", "value": "blue"}
    )
    before = [
        (await full.browser.get(f"/memories/{each['id']}")).json()["status"]
        for each in (changed, mistaken)
    ]
    steps = (await full.browser.get(f"/memories/{new.json()['id']}/history")).json()["steps"]

    assert new.json()["value"] == "red"
    assert before == ["superseded", "rejected"]
    assert {each["id"] for each in steps} == {changed["id"], new.json()["id"]}


async def test_what_says_nothing_beyond_another_belief_is_listed_beneath_it(
    site: Site, browse: Browse
) -> None:
    """A sentence beside what was learned of it, an event told as a fact; rows and counts agree."""
    browser = await browse()
    await told(browser, "I got engaged yesterday!")
    await told(browser, "I'm allergic to nuts, so I never eat cake at the office.")
    day = from_micros(site.app.clock()).date().isoformat()
    for at in ({}, {"as_of": day}, {"said_until": day}):
        page = (await browser.get("/memories", params=at)).json()
        kinds = {each["kind"]: len(each["folded"]) for each in page["items"]}
        assert kinds == {"event": 1, "preference": 1}
        assert page["kinds"] == {"event": 1, "preference": 1}
        assert page["total"] == 2
    (allergy,) = (await browser.get("/memories", params={"kind": "preference"})).json()["items"]
    (beneath,) = allergy["folded"]
    assert (await browser.get("/memories", params={"kind": "fact"})).json()["items"] == []

    found = (await browser.get("/memories", params={"q": "office"})).json()
    assert [each["id"] for each in found["items"]] == [allergy["id"]]
    assert found["kinds"] == {"preference": 1}

    narrow = (await browser.get("/memories", params={"subject": "person"})).json()
    assert beneath in [each["id"] for each in narrow["items"]]
    assert (await browser.get(f"/memories/{allergy['id']}")).json()["folded"] == [beneath]
    await browser.post(f"/memories/{allergy['id']}/verdict", json={"verdict": "reject"})
    page = (await browser.get("/memories", params={"kind": "fact"})).json()
    assert [each["id"] for each in page["items"]] == [beneath]


async def test_wrong_on_an_event_takes_the_same_sentence_as_a_fact_with_it(
    browse: Browse,
) -> None:
    """Both come back together; the list does not bring up again what was just called wrong."""
    browser = await browse()
    await told(browser, "I got engaged yesterday!")
    (event,) = (await browser.get("/memories")).json()["items"]
    (fact,) = event["folded"]
    await browser.post(f"/memories/{event['id']}/verdict", json={"verdict": "reject"})
    left = (await browser.get("/memories")).json()["items"]
    rejected = (await browser.get(f"/memories/{fact}")).json()["status"]
    again = await browser.post(f"/memories/{event['id']}/verdict", json={"verdict": "unreject"})
    (back,) = (await browser.get("/memories")).json()["items"]

    assert left == []
    assert rejected == "rejected"
    assert again.status_code == 200
    assert (back["id"], back["folded"]) == (event["id"], [fact])
