"""What is kept, what was said and what it cost is told by commands, to each only their own."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.memory.people import get_person
from oldfriend.memory.sessions import count_sessions
from tests.chat_fixtures import Say


async def test_history_shows_what_was_said_here(say: Say) -> None:
    """With whose words they are; as many as asked for."""
    assert "Nothing was said here before" in (await say("/history")).reply.text
    await say("My boat is called Dora.")
    await say("We met Ana in Porto.", channel="phone")
    told = (await say("/History@friend 4")).reply.text
    assert "you: My boat is called Dora." in told
    assert "Ana" not in told
    assert len((await say("/history 2")).reply.text.splitlines()) == 3


async def test_search_finds_exact_words_on_all_channels(say: Say) -> None:
    """Not the commands that asked for them."""
    await say("We met Ana in Porto.", channel="phone")
    for text in ("/search porto", "/memory search PORTO"):
        told = (await say(text)).reply.text
        assert told.count("Porto.") == 1
        assert "/search" not in told
    assert "No message holds “zebra”" in (await say("/search zebra")).reply.text
    assert "/search boat" in (await say("/search")).reply.text


async def test_memory_is_told_in_numbers(say: Say) -> None:
    """And which commands show it."""
    await say("My boat is called Dora.")
    told = (await say("/memory")).reply.text
    assert "I keep: 2, since 14 November 2023. Conversations: 1." in told
    assert "/memory list" in told
    assert "nothing yet" in (await say("/memory list")).reply.text


async def test_why_and_facts_and_forget_say_the_same_as_in_words(say: Say) -> None:
    """Without a model, and with a receipt."""
    await say("My boat is called Dora.")
    await say("What is my boat called?")
    assert "Dora" in (await say("/why")).reply.text
    assert "Dora" in (await say("/memory why")).reply.text
    assert (await say("/facts")).reply.text == (await say("What do you know about me?")).reply.text
    assert "Shall I forget this" in (await say("/forget Dora")).reply.text
    assert "/new" in (await say("/forget")).reply.text


@pytest.mark.parametrize(
    ("told", "order"),
    [
        ("the wifi password is hund123", "forget the wifi password"),
        ("mein wlan-passwort ist hund123", "vergiss das wlan-passwort"),
        ("la contraseña del wifi es perro123", "olvida la contraseña del wifi"),
        ("le mot de passe du wifi est chien123", "oublie le mot de passe du wifi"),
        ("我的猫叫Zelda", "忘记关于Zelda的一切"),
    ],
)
async def test_plain_words_that_name_what_is_kept_are_shown_what_would_go(
    say: Say, told: str, order: str
) -> None:
    """As by /forget, and nothing goes before a yes."""
    await say(told)
    reply = (await say(order)).reply
    words = CommandMenu.load(reply.language).say
    assert words["forget_ask"] in reply.text
    assert told in reply.text
    assert words["forget_ask"] not in (await say("forget the thing about frogs")).reply.text


async def test_what_is_done_on_the_page_is_said_where(say: Say) -> None:
    """Joining and pinning take that one sees which belief is meant."""
    await say("My boat is called Dora.")
    merged, pinned = [(await say(f"/memory {each} Dora")).reply.text for each in ("merge", "PIN")]
    assert "merge with" in merged
    assert "choose “pin”" in pinned


async def test_new_closes_the_conversation(app: AppContext, say: Say) -> None:
    """What is said next is another one."""
    await say("My boat is called Dora.")
    assert "begins a new one" in (await say("/new")).reply.text
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        assert await count_sessions(tx, person) == 1
    await say("My cat is called Miso.")
    async with app.db.begin_read() as tx:
        assert await count_sessions(tx, person) == 2


async def test_status_tells_how_it_is_doing(say: Say) -> None:
    """Somebody else is told nothing of the disk, and of nothing but their own."""
    await say("My boat is called Dora.")
    await say("Remind me tomorrow at 9 to call Eva")
    told = (await say("/status")).reply.text
    assert "without a language model" in told
    assert "I keep 3 of your messages" in told
    assert "MB" in told
    assert "to-dos: 1" in told
    other = (await say("/status", person=None, channel="phone")).reply.text
    assert "to-dos: 1" in other


async def test_cost_is_told_in_words_too(say: Say) -> None:
    """From the table of calls."""
    for text in ("/cost", "How much have you cost me?", "Was hast du mich gekostet?"):
        reply = (await say(text)).reply
        assert "no model has been called" in reply.text or "kein Modell" in reply.text
