"""The language of replies follows what somebody writes in, until they choose one."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.memory.people import get_person
from tests.chat_fixtures import Say
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say as tell


async def speak(say: Say, *texts: str) -> list[str]:
    """Say some things; the replies."""
    return [(await say(each)).reply.text for each in texts]


async def test_chosen_language_stays_whatever_is_written(app: AppContext, say: Say) -> None:
    """On every channel, until "auto"."""
    first, *later = await speak(
        say,
        "Sprich bitte Deutsch mit mir.",
        "My cat is called Miso and she is seven years old.",
        "Thanks!",
        "What is my cat called?",
        "Remind me tomorrow at 9 to call Eva",
        "/quiet",
        "What's on tomorrow?",
    )
    elsewhere = (await say("Thank you so much!", channel="phone")).reply.text
    async with app.db.begin_read() as tx:
        person = await get_person(tx, None)

    assert first.endswith("„/language auto“ macht das rückgängig.")
    assert "Miso" in later[2]
    assert later[3].startswith("Ich erinnere dich am")
    assert "Ich schreibe" in later[4]
    assert "Morgen:" in later[5]
    assert elsewhere == later[1]
    assert (person.language, person.has_fixed_language) == ("de", True)

    (undone,) = await speak(say, "/language auto")
    (english,) = await speak(say, "What is my cat called?")
    async with app.db.begin_read() as tx:
        person = await get_person(tx, None)
    assert undone.startswith("Von jetzt an")
    assert "you" in english.lower()
    assert (person.language, person.has_fixed_language) == ("en", False)


async def test_language_command_tells_how_things_stand(say: Say) -> None:
    """And which languages there are, where it does not know one."""
    stands, unknown, chosen, again = await speak(
        say, "/language", "/language Klingon", "/Language@friend français", "/language"
    )
    assert "in the language that you write in" in stands
    assert "“Klingon”" in unknown
    assert "German" in unknown
    assert chosen.startswith("À partir de maintenant, je réponds en français")
    assert "comme tu l'as choisi" in again


async def test_language_that_only_a_model_speaks_is_said_to_be(say: Say) -> None:
    """Without one the reply stays in another."""
    (told,) = await speak(say, "/language Dutch")
    assert "Without a language model I do not speak it" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Talk to me in Tagalog from now on please", "I can always answer in: English"),
        ("red ab jetzt bitte türkisch mit mir, ist für oma", "Immer antworten kann ich auf"),
    ],
)
async def test_language_that_cannot_be_chosen_is_said_to_be(say: Say, text: str, told: str) -> None:
    """Together with those that can."""
    (answer,) = await speak(say, text)
    assert told in answer


@pytest.mark.parametrize(
    "text", ["From now on use formal language", "Antworte ab jetzt in Reimen", "Háblame de usted"]
)
async def test_wish_for_a_style_is_no_wish_for_a_language(say: Say, text: str) -> None:
    """It is left to the talk."""
    (answer,) = await speak(say, text)
    assert not any(each in answer for each in ("always answer", "Immer antworten", "Siempre puedo"))


async def test_model_is_told_the_chosen_language(talk: Talk) -> None:
    """In every turn; it is asked nothing for the command itself."""
    await tell(talk, "/language German")
    _, requests = await talk.ask("How are you?", "Gut.")
    assert "Answer in the language German" in str(requests[0])


@pytest.mark.parametrize("text", ["I speak German with my sister.", "Can you speak German?"])
async def test_talk_of_a_language_changes_nothing(app: AppContext, say: Say, text: str) -> None:
    """Nor does a question."""
    await say(text)
    async with app.db.begin_read() as tx:
        assert not (await get_person(tx, None)).has_fixed_language


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("what's 17% of 340?", "57,8"),
        ("71.4 kg this morning", "Anotado"),
        ("/journal a good day", "Queda en tu diario"),
        ("what's in my diary?", "diario"),
        ("my goal is to run twice a week", "Tu meta"),
        ("how many days until Christmas?", "días"),
        ("what time is it?", "Ahora mismo"),
        ("I slept 90 hours", "difícilmente"),
        ("what do I have on Thursday?", "No sé de nada"),
    ],
)
async def test_all_that_rules_word_is_in_the_chosen_language(
    say: Say, text: str, shown: str
) -> None:
    """Whatever the language of the message that asks."""
    *_, told = await speak(say, "/language Spanish", text)
    assert shown in told
