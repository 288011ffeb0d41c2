"""A model has pages watched, as the person's own command would (issue 20: watches as tools)."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.tools.watch_tools import build_watch_tools
from oldfriend.watches.watch import Watch
from oldfriend.watches.watch_store import list_watches
from tests.turn.conftest import Talk

URL = "https://example.com/tent"
WORDS = "should it ever cost less than 150"
SAID = f"I'd love that tent, {URL}, {WORDS}"


async def use(talk: Talk, said: str, **arguments: object) -> str:
    """Use the tool for what the person has just said, and store what it decides."""
    numbers, pages = build_watch_tools(may_read_pages=True)
    spec = numbers if "measure" in arguments else pages
    heard = await talk.hears(said)
    context = talk.tool_context(heard)
    output = await spec.bind(context).run(
        {"words": WORDS if said == SAID else said.split(URL)[0].strip(), **arguments}
    )
    assert not isinstance(output, str)
    scope = ChangeScope(person=heard.person, message=heard.message, now=talk.clock())
    async with talk.app.db.begin_write() as tx:
        for each in output.changes:
            await each.apply(tx, scope)
    return output.text


async def load(talk: Talk) -> list[Watch]:
    """What is watched."""
    async with talk.app.db.begin_read() as tx:
        return await list_watches(tx, talk.chat_context.person.id)


async def test_model_starts_lists_and_ends_a_watch(talk: Talk) -> None:
    """With the person's address, limit and words."""
    told = await use(talk, SAID, action="start", url=URL, below=150)
    (watch,) = await load(talk)
    again = await use(talk, SAID, action="start", url=URL, below=150)
    listed = await use(talk, "what do you keep an eye on?", action="list")
    await use(talk, f"never mind {URL}", action="end", url=URL)

    assert (watch.url, watch.condition, watch.threshold) == (URL, "below", 150)
    assert watch.text == SAID
    assert URL in told
    assert URL in listed
    assert again != told
    assert await load(talk) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "https://example.org/", "below": 150},
        {"url": URL, "below": 140},
        {"url": URL, "below": 150, "above": 150},
        {"url": "", "below": 150},
    ],
)
async def test_what_the_person_has_not_just_written_is_refused(
    talk: Talk, arguments: dict[str, object]
) -> None:
    """An address or a limit of its own watches nothing."""
    with pytest.raises(InvalidInput):
        await use(talk, SAID, action="start", **arguments)
    assert await load(talk) == []


async def test_nothing_is_watched_after_reading_outside(talk: Talk) -> None:
    """What others have written may have asked for it."""
    _, spec = build_watch_tools(may_read_pages=True)
    context = talk.tool_context(await talk.hears(SAID))
    context.outside_tools.append("read_page")
    with pytest.raises(InvalidInput, match="something outside"):
        await spec.bind(context).run({"words": WORDS, "action": "start", "url": URL})


def test_tool_is_offered_only_where_pages_may_be_read() -> None:
    """Else it would watch nothing; the person's own numbers are no page."""
    names = [each.name for each in build_watch_tools(may_read_pages=False)]
    assert names == ["watch_number"]


async def test_model_starts_and_ends_a_limit_for_a_number(talk: Talk) -> None:
    """The limit is one that the person has just written."""
    said = "gosh, warn me before I get past 80 kilos again"
    told = await use(talk, said, action="start", measure="weight", above=80, unit="kg")
    (watch,) = await load(talk)
    with pytest.raises(InvalidInput):
        await use(talk, said, action="start", measure="weight", above=90)
    await use(talk, "forget the weight", action="end", measure="weight")

    assert "80 kg" in told
    assert (watch.condition, watch.threshold, watch.text) == ("above", 80, said)
    assert await load(talk) == []
