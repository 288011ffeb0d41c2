"""What it has said to itself between talks, for whoever looks."""

from oldfriend.domain.clock import DAY, HOUR, Micros
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.memory.reflection_log import (
    ReflectionRecord,
    ReflectionTranscript,
    save_reflection_record,
)
from tests.api.conftest import Browse, Site


async def thought(site: Site, person: PersonId, said: str, at: Micros) -> str:
    """Have it thought for somebody, at a time; the id of that."""
    tick = ReflectionRecord(
        id=new_id(at),
        person=person,
        kind="slow tick",
        why="news",
        ran_at=at,
        tokens_in=900,
        tokens_out=40,
        outcome={"learned": {"thought": 2, "question": 1}, "rejected": {"tone": 1}},
        transcript=ReflectionTranscript(shown=("Ana moved to Porto.",), answered=(said,)),
    )
    async with site.app.db.begin_write() as tx:
        await save_reflection_record(tx, tick)
    return tick.id


async def test_reflection_transcripts_are_paged_and_visible_to_own_person_only(
    site: Site, browse: Browse
) -> None:
    """On each engine: of 14 days, the last first, page by page; one time with its words."""
    browser, omar = await browse(), await browse("Omar")
    owner, now = PersonId((await browser.get("/session")).json()["id"]), site.app.clock()
    for hours in (1, 2, 3):
        await thought(site, owner, f"{hours} hours ago", now - hours * HOUR)
    await thought(site, owner, "long ago", now - 15 * DAY)
    first = (await browser.get("/reflections", params={"limit": 2})).json()
    rest = (await browser.get("/reflections", params={"cursor": first["next"]})).json()
    ids = [each["id"] for each in first["items"] + rest["items"]]
    whole = (await browser.get(f"/reflections/{ids[0]}")).json()
    theirs = await omar.get(f"/reflections/{ids[0]}")
    strange = await browser.get("/reflections", params={"cursor": "40"})

    assert len(ids) == len(set(ids)) == 3
    assert rest["next"] is None
    assert (whole["learned"], whole["rejected"], whole["why"]) == (3, 1, "news")
    assert whole["shown"] == ["Ana moved to Porto."]
    assert whole["answered"] == ["1 hours ago"]
    assert (await omar.get("/reflections")).json()["items"] == []
    assert (theirs.status_code, strange.status_code) == (404, 422)
