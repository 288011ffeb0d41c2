"""The diary: written by a command or in words, and read again by its days."""

from datetime import date

import pytest

from oldfriend.diary.diary_store import DiaryEntry, DiaryFilter, list_entries
from oldfriend.domain.clock import DAY
from oldfriend.forgetting.delete import forget
from oldfriend.memory.deletion.selection import DeletionRequest
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import kept, say, today


async def entries(talk: Talk) -> list[DiaryEntry]:
    """All entries."""
    async with talk.app.db.begin_read() as tx:
        return await list_entries(tx, talk.chat_context.person.id, DiaryFilter())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/journal We walked along the sea #sea", "We walked along the sea #sea"),
        ("/Diary@friend We walked", "We walked"),
        ("Dear diary, we walked along the sea.", "we walked along the sea"),
        ("Journal: a quiet day", "a quiet day"),
        ("Liebes Tagebuch, wir waren am Meer", "wir waren am Meer"),
        ("Querido diario: hoy vimos el mar", "hoy vimos el mar"),
        ("Cher journal, nous avons vu la mer", "nous avons vu la mer"),
        ("日记：今天去了海边", "今天去了海边"),
    ],
)
async def test_entry_is_written_whole(talk: Talk, text: str, written: str) -> None:
    """Without the words that only open it, and confirmed with its day."""
    outcome = await say(talk, text)

    (entry,) = await entries(talk)
    assert entry.text == written
    assert entry.day == today(talk)
    assert outcome.reply.details["handled"] == ["diary"]


@pytest.mark.parametrize(
    "text", ["My diary is blue.", "Journalists write a lot", "I lost my journal in Rome", "diary"]
)
async def test_what_only_speaks_of_a_diary_is_no_entry(talk: Talk, text: str) -> None:
    """It goes to the talk."""
    await say(talk, text)
    assert await entries(talk) == []


async def test_tags_are_kept(talk: Talk) -> None:
    """Each once."""
    await say(talk, "/journal #sea and #family, again #sea")
    (entry,) = await entries(talk)
    assert entry.tags == ("sea", "family")


@pytest.mark.parametrize(
    "text",
    [
        "what's in my diary?",
        "show me my diary",
        "zeig mir mein Tagebuch",
        "¿qué hay en mi diario?",
        "montre-moi mon journal",
        "我的日记里有什么？",
    ],
)
async def test_diary_is_shown_where_no_day_is_named(talk: Talk, text: str) -> None:
    """The newest entries, from the diary alone."""
    await say(talk, "I like the sea.")
    await say(talk, "/journal We walked along the sea")

    outcome = await say(talk, text)
    assert outcome.reply.details["handled"] == ["diary"]
    assert "We walked along the sea" in outcome.reply.text
    assert "I like" not in outcome.reply.text


async def test_entry_of_a_day_is_read_again(talk: Talk) -> None:
    """Also in other words for the day."""
    await say(talk, "/journal We walked along the sea")
    talk.clock.now += DAY
    for question in (
        "What did I write yesterday?",
        "was habe ich gestern geschrieben?",
        "¿qué escribí ayer?",
        "qu'est-ce que j'ai écrit hier ?",
        "昨天我写了什么？",
    ):
        assert "along the sea" in (await say(talk, question)).reply.text


async def test_a_year_ago_today_and_on_this_day(talk: Talk) -> None:
    """By the calendar, not by 365 days."""
    await say(talk, "/journal We walked along the sea")
    then = today(talk)
    try:
        later = then.replace(year=then.year + 1)
    except ValueError:
        later = date(then.year + 1, 3, 1)
    talk.clock.now += (later - then).days * DAY

    assert "sea" in (await say(talk, "What did I write a year ago today?")).reply.text
    assert "sea" in (await say(talk, "What's in my diary on this day?")).reply.text


async def test_day_without_an_entry_is_said_only_of_the_diary(talk: Talk) -> None:
    """Else the memory answers what was said that day."""
    assert "nothing" in (await say(talk, "What is in my diary from yesterday?")).reply.text
    outcome = await say(talk, "What did I write yesterday?")
    assert "handled" not in outcome.reply.details


async def test_command_alone_shows_the_newest(talk: Talk) -> None:
    """And how to write."""
    assert "/journal" in (await say(talk, "/journal")).reply.text
    await say(talk, "/journal We walked along the sea")
    assert "sea" in (await say(talk, "/journal")).reply.text


async def test_forgotten_message_takes_its_entry_and_numbers_along(talk: Talk) -> None:
    """Their words and values are nowhere then."""
    await say(talk, "/journal We walked along the sea")
    await say(talk, "/log weight 71.4")
    (entry,), (weight,) = await entries(talk), await kept(talk, "weight")
    ids = tuple(str(each.message) for each in (entry, weight))
    await forget(talk.app, talk.chat_context.person.id, DeletionRequest(ids=ids))

    assert await entries(talk) == []
    assert await kept(talk, "weight") == []


@pytest.mark.parametrize(
    "text",
    ["Dear diary moments like this make life worth it.", "Liebes Tagebuch schreiben ist schön."],
)
async def test_words_that_only_begin_like_an_entry_are_none(talk: Talk, text: str) -> None:
    """An entry is set apart from the diary's name."""
    await say(talk, text)
    assert await entries(talk) == []


@pytest.mark.parametrize(
    "text", ["My journal says I was happy on 3 May.", "My journal entry of 3 May was a sad one."]
)
async def test_telling_of_the_diary_is_no_question(talk: Talk, text: str) -> None:
    """Least of all one in another language."""
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details
