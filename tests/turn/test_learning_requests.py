"""What was learned, what was talked about, and how the companion is to be: by commands."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.lang.language_pack import list_languages
from oldfriend.memory.core_blocks import get_block_text, list_block_versions
from oldfriend.memory.limitation_store import list_limitations
from oldfriend.memory.people import get_person
from oldfriend.memory.segments import find_learning_threshold, list_segments
from oldfriend.runtime.maintenance import maintain
from oldfriend.turn.limitation_changes import decide_limitation
from oldfriend.turn.request_handlers import learning_requests, personality_requests
from oldfriend.turn.store_change import ChangeScope
from tests.chat_fixtures import Say
from tests.turn.conftest import Talk, wants
from tests.turn.test_confirmation import live
from tests.turn.test_measurement_requests import say as tell


@pytest.fixture
def engine() -> str:
    """One is enough: the statements are asked of both elsewhere."""
    return "sqlite"


async def reply_to(say: Say, text: str) -> str:
    """Say something; the reply."""
    return (await say(text)).reply.text


async def test_compact_reads_at_once_and_learning_shows_it(app: AppContext, say: Say) -> None:
    """The conversation goes on."""
    await say("I live in Porto.")
    assert "not read yet: 1" in await reply_to(say, "/learning")
    assert "I read now" in await reply_to(say, "/compact")
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
    await maintain(app, person, within_s=60, overdue_s=0.0)
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, person)
    assert segment.cut_by == "asked"
    told = await reply_to(say, "/learning")
    assert "Porto" in told
    assert "not read yet: 0" in told


async def test_threshold_is_chosen_within_bounds(app: AppContext, say: Say) -> None:
    """ACCEPTANCE D11: a number from 1 to 500."""
    for words, kept in (("20", 20), ("0", 20), ("501", 20), ("many", 20), ("500", 500)):
        await say(f"/summary {words}")
        async with app.db.begin_read() as tx:
            person = (await get_person(tx, None)).id
            assert await find_learning_threshold(tx, person) == kept
    assert "once there are 500" in await reply_to(say, "/summary_status")
    assert "Summaries in use: 0" in await reply_to(say, "/summary status")
    await say("/summary default")
    async with app.db.begin_read() as tx:
        assert await find_learning_threshold(tx, person) is None
    assert "memory.forms" in await reply_to(say, "/Summary_Off@friend")


async def test_persona_is_written_in_the_persons_own_words(app: AppContext, say: Say) -> None:
    """Each time as a version of the block that the browser shows; nothing is noted of it."""
    assert "as I am by myself" in await reply_to(say, "/personality")
    assert "“Be dry”" in await reply_to(say, "/personality Be dry")
    assert "“Be dry”" in await reply_to(say, "/PERSONALITY")
    assert "earlier versions" in await reply_to(say, "/personality Be kind\nand brief")
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        assert await get_block_text(tx, person, "persona") == "Be kind\nand brief"
    assert "by myself again" in await reply_to(say, "/personality reset")
    assert "longer than" in await reply_to(say, f"/personality {'a' * 5_001}")
    async with app.db.begin_read() as tx:
        assert await get_block_text(tx, person, "persona") == ""
        assert len(await list_block_versions(tx, person, "persona")) == 3


async def test_model_is_told_of_the_persona(talk: Talk) -> None:
    """From the next reply on."""
    await tell(talk, "/personality You are a dry old sailor")
    _, (asked, *_) = await talk.ask("Hello", "Ahoy.")
    assert "You are a dry old sailor" in asked.system_prompt


async def test_what_cannot_be_done_is_noted_once_and_resolved(app: AppContext, say: Say) -> None:
    """ACCEPTANCE L11: by title in whatever case, open or resolved; a resolved one may come back."""
    assert "“Read scans”" in await reply_to(say, "/learning add Read scans: of letters")
    assert "noted already" in await reply_to(say, "/learning add READ  SCANS")
    told = await reply_to(say, "/learning")
    assert "• Read scans: of letters" in told
    assert "resolved" in await reply_to(say, "/learning done read scans")
    assert "• Read scans" not in await reply_to(say, "/learning")
    assert "Nothing is noted" in await reply_to(say, "/learning done read scans")
    await say("/learning add read scans")
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        (noted,) = await list_limitations(tx, person)
    assert (noted.title, noted.description, noted.is_open) == ("Read scans", "", True)


@pytest.mark.parametrize("word", ["Zurücksetzen", "restablecer", "réinitialiser", "重置", "off"])
async def test_persona_is_cleared_in_the_persons_language(
    app: AppContext, say: Say, word: str
) -> None:
    """The word is no persona."""
    person = (await say("/personality Be dry")).message.person
    await say(f"/personality {word}")
    async with app.db.begin_read() as tx:
        assert await get_block_text(tx, person, "persona") == ""


async def test_times_and_long_titles_are_titles(app: AppContext, say: Say) -> None:
    """A colon between digits ends none, and a long one is found as it was given."""
    assert "“Remind me at 10:30”" in await reply_to(say, "/learning add Remind me at 10:30")
    assert "“Remind me at 10\uff1a30”" in await reply_to(
        say, "/learning add Remind me at 10\uff1a30\uff1aby phone"
    )
    assert "resolved" in await reply_to(say, "/learning erledigt Remind me at 10:30")
    title = "Read the scans of all the letters that my grandmother wrote in her life"
    await say(f"/learning add {title}")
    assert "resolved" in await reply_to(say, f"/learning done {title}")


async def test_what_was_forgotten_is_not_resolved_into_being(talk: Talk) -> None:
    """A turn that was deciding meanwhile stores nothing."""
    said = await talk.hears("Read scans")
    noted = decide_limitation([], said, "Read scans", description="", plan="", now=talk.clock())
    assert noted is not None
    scope = ChangeScope(person=said.person, message=said.message, now=talk.clock())
    async with talk.app.db.begin_write() as tx:
        await replace(noted, is_update=True).apply(tx, scope)
        assert await list_limitations(tx, said.person.id) == []
        await noted.apply(tx, scope)
        assert len(await list_limitations(tx, said.person.id)) == 1


async def test_model_notes_what_it_had_to_refuse(talk: Talk) -> None:
    """Told from the store; only for what the person has just asked."""
    told = "Can you read this scan for me?"
    call = wants("note_limitation", title="Read scans", plan="A model that sees", words=told)
    said = await talk.hears(told)
    outcome = await live(talk, said, talk.mind(call, call, "I can't read pictures yet."))
    assert "I cannot do this yet: “Read scans”" in outcome.reply.text
    made_up = wants("note_limitation", title="Fly", words="fly me to the moon")
    await live(talk, await talk.hears("Thanks"), talk.mind(made_up, "You're welcome."))
    async with talk.app.db.begin_read() as tx:
        noted = await list_limitations(tx, talk.chat_context.person.id)
    assert [(each.title, each.plan) for each in noted] == [("Read scans", "A model that sees")]


@pytest.mark.parametrize("language", list_languages("commands"))
def test_every_language_says_what_they_do(language: str) -> None:
    """Where a language has no words of its own for replies, they are in English."""
    menu = CommandMenu.load(language)
    for name in ("learning", "summary", "compact", personality_requests.NAME):
        assert menu.format_one(name)
    assert learning_requests.NAME in menu.does
