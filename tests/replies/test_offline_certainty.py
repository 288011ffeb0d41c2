"""Without a model, what is only close is not told as an answer, and what cannot be done is said."""

import pytest

from oldfriend.lang.language_pack import get_traits
from oldfriend.prompts.locale_phrases import load_phrases
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

ENGLISH = load_phrases("en").phrases


async def test_close_matches_are_marked_as_unsure_newest_first(say: Say) -> None:
    """With its day, newest first."""
    await say("the bike is in the shed behind the allotment")
    await say("the shed lock sticks, give it a kick")
    given = await say("what did the man from the allotment say about my bike lock")

    assert given.reply.text.startswith(ENGLISH["not_sure"])
    assert given.receipt.details["certainty"] == "unsure"
    first, second = given.reply.text.index("give it a kick"), given.reply.text.index("behind the")
    assert first < second


async def test_question_without_matches_is_answered_with_nothing_found(say: Say) -> None:
    """And counted as that."""
    given = await say("Which school did Roland go to?")

    assert ENGLISH["nothing_found"] in given.reply.text
    assert given.receipt.details["certainty"] == "none"


async def test_question_without_punctuation_is_recognized(say: Say) -> None:
    """In a language that has a pack."""
    await say("mi hermana Lucía vive en Gijón con su perro")
    given = await say("donde vive mi hermana lucia")

    assert "Gijón" in given.reply.text
    assert given.receipt.details["intent"] == "question"


@pytest.mark.parametrize(
    ("text", "language"),
    [("did the shopping", "en"), ("en diciembre nos vamos a Lisboa", "es")],
)
async def test_ambiguous_statement_is_acknowledged_and_not_taken_as_question(
    say: Say, text: str, language: str
) -> None:
    """It has no sign of a question but its sound, and is kept either way."""
    given = await say(text)

    assert load_phrases(language).phrases["acknowledgement"] in given.reply.text


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("me encanta el flamenco, lo pongo hasta fregando", "¿Qué música me gusta?"),
        ("j'adore le flamenco, je l'écoute en cuisine", "Quelle musique j'aime ?"),
    ],
)
async def test_offline_answer_needs_no_word_in_common_with_the_question(
    say: Say, told: str, asked: str
) -> None:
    """Also where the search finds everything similar."""
    await say(told)

    assert "flamenco" in (await say(asked)).reply.text


async def test_unrelated_messages_are_not_shown_as_close_matches(say: Say) -> None:
    """Neither another's age, nor a word by chance, nor what was said about the same time."""
    await say("my sister Jill lives in Leeds")
    await say("my daughter Wren turned 9 yesterday")
    await say("funeral's next thursday, for old mr hale from the choir")

    assert ENGLISH["nothing_found"] in (await say("how old am I?")).reply.text
    husband = await say("who is my sister's husband?")
    assert husband.receipt.details["certainty"] != "sure"
    given = await say("what is my daughter's teacher called?")
    assert given.receipt.details["certainty"] != "sure"


async def test_known_facts_include_unread_messages_of_other_chats(
    say: Say, clock: FrozenClock
) -> None:
    """Also that of another one of today, which nobody has read yet."""
    await say("I live in Porto.")
    clock.tick(minutes=20)
    given = await say("What do you know about me?", channel="page")

    assert "Lives in Porto." in given.reply.text


@pytest.mark.parametrize(
    ("told", "asked", "language"),
    [
        ("o meu irmão mora em Braga com o cachorro", "em que cidade vive o meu irmão?", "pt"),
        ("mia sorella abita a Torino con il cane", "in che città vive mia sorella?", "it"),
        ("妹は犬と京都に住んでいます", "妹はどこに住んでいますか？", "ja"),
    ],
)
async def test_offline_phrases_are_in_the_spoken_language_without_rules_for_it(
    say: Say, told: str, asked: str, language: str
) -> None:
    """Also where no rules read it."""
    phrases = load_phrases(language).phrases

    said = "acknowledgement" if get_traits(language).is_tagged else "not_understood"
    assert phrases[said] in (await say(told)).reply.text
    assert (await say(asked)).reply.text.startswith(phrases["not_sure"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("remind me in 2 mins to take my tablets", "en"),
        ("erinner mich morgen an den zahnarzt", "de"),
        ("recuérdame llamar a mi madre el lunes", "es"),
        ("rappelle moi d'acheter du pain demain", "fr"),
        ("明天提醒我买牛奶", "zh"),
    ],
)
async def test_reminder_request_is_not_declined_offline(say: Say, text: str, language: str) -> None:
    """Who relies on a reminder must know that there is one."""
    given = await say(text)

    assert load_phrases(language).phrases["cannot_do"] not in given.reply.text
    assert given.receipt.details["handled"] == ["tasks"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("book me a table at the italian place", "en"),
        ("bestell mir eine pizza nach hause", "de"),
        ("commande-moi une pizza pour ce soir", "fr"),
        ("帮我订一个披萨送到家", "zh"),
    ],
)
async def test_what_cannot_be_done_is_declined_offline(say: Say, text: str, language: str) -> None:
    """Who relies on it must know that nothing is done, and what else could be."""
    assert "/help" in load_phrases(language).phrases["cannot_do"]
    given = await say(text)

    assert load_phrases(language).phrases["cannot_do"] in given.reply.text


async def test_sure_answer_is_given_without_a_hedge(say: Say) -> None:
    """Without a hedge."""
    await say("the plumber is called boris, he comes on friday")
    await say("my cat is called miso")
    given = await say("whats my cat called")

    assert "miso" in given.reply.text
    assert ENGLISH["not_sure"] not in given.reply.text
    assert given.receipt.details["certainty"] == "sure"


@pytest.mark.parametrize("chore", ["buy milk", "put down that i owe ana 20"])
async def test_chore_request_is_stored_and_not_promised(say: Say, chore: str) -> None:
    """It is kept, and that is said."""
    assert "kept" in (await say(chore)).reply.text


async def test_statement_that_looks_like_a_question_is_found_later(say: Say) -> None:
    """Only the rules leave a question out of the search."""
    await say("when i was ten we lived in porto")
    given = await say("where did we live when i was ten")

    assert "porto" in given.reply.text


async def test_earlier_question_is_not_quoted_as_an_answer(say: Say) -> None:
    """Nor is an earlier command."""
    await say("my sister is called Lena and paints boats")
    await say("whats my sister called")
    given = await say("whats my sister called again")

    assert "Lena" in given.reply.text
    assert "“whats my sister called”" not in given.reply.text


async def test_laughter_is_answered_with_assent_and_not_thanks(
    say: Say, clock: FrozenClock
) -> None:
    """It tells nothing."""
    await say("my sister is moving to Leeds")
    clock.tick(minutes=1)
    given = await say("haha yeah")

    assert given.reply.text == ENGLISH["assent"]


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("My daughter Rosie, who is six, loves horses.", "How old is Rosie?"),
        ("Meine Tochter Mia ist sechs.", "Wie alt ist Mia?"),
        ("Mein Sohn Ben ist acht Jahre alt.", "Wie alt ist Ben?"),
        ("Mi hija Alba tiene seis años.", "¿Cuántos años tiene Alba?"),
        ("Mon fils Luc a huit ans.", "Quel âge a Luc ?"),
    ],
)
async def test_age_in_words_is_known(say: Say, told: str, question: str) -> None:
    """As people write the ages of children."""
    await say(told)
    given = await say(question)
    assert given.receipt.details["certainty"] == "sure"
    assert told.rstrip(".") in given.reply.text


async def test_age_is_no_length_of_time(say: Say) -> None:
    """Two hours are none."""
    await say("Meine Schwester Lena ist zwei Stunden gelaufen.")
    given = await say("Wie alt ist Lena?")
    assert given.receipt.details["certainty"] != "sure"
