"""What is asked of the list without its name: what there is to buy, whether something is on it."""

import pytest

from tests.chat_fixtures import Say


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here depends on it."""
    return "sqlite"


@pytest.mark.parametrize(
    ("added", "asked"),
    [
        ("add milk to my shopping list", "what do I need to buy?"),
        ("add milk to my shopping list", "is the milk on my list?"),
        ("Setz milk auf die Einkaufsliste", "was muss ich einkaufen?"),
        ("Setz milk auf die Einkaufsliste", "steht milk auf der Liste?"),
        ("añade milk a la lista de la compra", "¿qué tengo que comprar?"),
        ("añade milk a la lista de la compra", "¿está milk en mi lista?"),
        ("ajoute milk à la liste de courses", "qu'est-ce que je dois acheter ?"),
        ("ajoute milk à la liste de courses", "est-ce que milk est sur ma liste ?"),
        ("把milk加到购物清单", "我要买什么？"),
        ("把milk加到购物清单", "milk在清单上吗？"),
    ],
)
async def test_question_about_the_list_is_answered_from_it(
    say: Say, added: str, asked: str
) -> None:
    """Not by a search for the words in which it was put there."""
    await say(added)
    listed = (await say("/tasks")).reply.text
    assert "milk" in listed
    assert (await say(asked)).reply.text == listed


@pytest.mark.parametrize(
    ("added", "asked"),
    [
        ("add milk to my shopping list", "take the milk off my list"),
        ("Setz milk auf die Einkaufsliste", "nimm milk von der Liste"),
        ("añade milk a la lista de la compra", "quita milk de la lista"),
        ("ajoute milk à la liste de courses", "enlève milk de la liste"),
        ("把milk加到购物清单", "把milk从清单上去掉"),
    ],
)
async def test_thing_is_taken_off_the_list(say: Say, added: str, asked: str) -> None:
    """And nothing is put there instead; what is not on it stays untouched."""
    await say(added)
    await say(asked)
    assert "milk" not in (await say("/tasks")).reply.text


async def test_what_is_not_on_the_list_is_said_not_to_be(say: Say) -> None:
    """Neither found nor put there."""
    await say("add milk to my shopping list")
    await say("is bread on the list?")
    await say("take the pizza off my list")
    listed = (await say("/tasks")).reply.text
    assert "1. milk" in listed
    assert "2." not in listed


@pytest.mark.parametrize(
    ("asked", "day"),
    [
        ("when is the dentist?", "Wed 15 November"),
        ("move the dentist to thursday", "Thu 16 November"),
        ("¿cuándo es el dentista?", "mié 15 de noviembre"),
    ],
)
async def test_reminder_in_another_language_is_found_by_its_meaning(
    say: Say, asked: str, day: str
) -> None:
    """The words of both are compared in English."""
    await say("erinnere mich morgen um 9 an den Zahnarzt")
    await say("erinnere mich morgen um 10 an den Friseur")
    reply = (await say(asked)).reply.text
    assert day in reply
    assert "Zahnarzt" in reply
    assert "Friseur" not in reply


@pytest.mark.parametrize(
    ("added", "asked", "left"),
    [
        ("add milk and bread to my list", "take milk off the list", "bread"),
        ("add milk and bread to my list", "remove milk from my list", "bread"),
        ("add salt, milk and rice to my list", "no milk", "salt and rice"),
        ("setz milk und Brot auf die Liste", "streich milk von der Liste", "Brot"),
        ("setz milk und Brot auf die Liste", "keine milk", "Brot"),
        ("erinner mich morgen um 9 an milk und kaffee", "lösch die erinnerung an milk", "kaffee"),
        ("añade milk y pan a mi lista", "quita milk de la lista", "pan"),
        ("ajoute milk et pain à ma liste", "retire milk de ma liste", "pain"),
        ("把milk和面包加到购物清单", "把milk从清单上去掉", "“面包”"),
    ],
)
async def test_one_thing_of_several_is_taken_off(
    say: Say, added: str, asked: str, left: str
) -> None:
    """The others stay where they are."""
    await say(added)
    told = (await say(asked)).reply.text
    assert "milk" in told
    assert left in told
    listed = (await say("/tasks")).reply.text
    assert "milk" not in listed
    assert f"1. {left.strip('“”')}" in listed


async def test_thing_with_more_to_its_name_is_taken_off_whole(say: Say) -> None:
    """Without the dinner, nothing is left of "dinner with Tom and Anna"."""
    await say("remind me tomorrow at 9 about dinner with Tom and Anna")
    await say("cancel the dinner")
    assert "Anna" not in (await say("/tasks")).reply.text


@pytest.mark.parametrize("asked", ["whats on my list", "what's on my list?", "shopping list?"])
async def test_list_that_was_told_is_the_whole_answer(say: Say, asked: str) -> None:
    """What was asked for is no evidence of what stands there."""
    await say("add milk and bread to my shopping list")
    assert (await say(asked)).reply.text == (await say("/tasks")).reply.text


@pytest.mark.parametrize("is_empty", [True, False])
async def test_list_quotes_no_request_below(say: Say, *, is_empty: bool) -> None:
    """Neither one that was carried out nor one that took a thing off."""
    await say("add eggs to my shopping list")
    if is_empty:
        await say("take eggs off the list")
    assert "you said" not in (await say("whats on my list")).reply.text


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("remind me on friday at 9 of the bins", "what do I need to do tomorrow?"),
        ("erinner mich am freitag um 9 an bins", "was muss ich morgen machen?"),
        ("recuérdame el viernes a las 9 de bins", "¿qué tengo que hacer mañana?"),
        ("rappelle-moi vendredi à 9h de bins", "qu'est-ce que je dois faire demain ?"),
    ],
)
async def test_what_is_to_be_done_on_a_day_is_of_that_day(
    say: Say, asked: str, question: str
) -> None:
    """And not the whole list."""
    await say(asked)
    assert "bins" not in (await say(question)).reply.text


@pytest.mark.parametrize(
    ("added", "asked"),
    [
        ("setz milk auf die Liste", "einkaufsliste?"),
        ("añade milk a mi lista", "¿lista de la compra?"),
        ("ajoute milk à ma liste", "liste de courses ?"),
        ("把milk加到购物清单", "购物清单？"),
    ],
)
async def test_name_of_the_list_alone_shows_it(say: Say, added: str, asked: str) -> None:
    """In the language of its name."""
    await say(added)
    assert (await say(asked)).reply.text == (await say("/tasks")).reply.text
