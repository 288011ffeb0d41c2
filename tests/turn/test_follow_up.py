"""A question that says "she" or "it" is about whom or what this chat named last."""

import pytest

from oldfriend.inbound.accept import open_local_chat
from tests.turn.conftest import Talk
from tests.turn.test_safety_facts import believe
from tests.turn.test_user_context import known


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


@pytest.fixture
async def friends(talk: Talk) -> Talk:
    """Two friends and a place, of each of whom the same is known."""
    for name, town, work, age in (
        ("Clara", "Lyon", "a vet", "31"),
        ("Ben", "Oslo", "a baker", "44"),
    ):
        entity = await known(talk, name, "person")
        await believe(talk, f"{name} lives in {town}.", f"{name}:location", town, entity)
        await believe(talk, f"{name} is {work}.", f"{name}:occupation", work, entity)
        await believe(talk, f"{name} is {age}.", f"{name}:age", age, entity)
    await believe(talk, "I live in Porto.", "location", "Porto")
    await believe(talk, "I am a nurse.", "occupation", "nurse")
    return talk


async def answer(talk: Talk, text: str) -> str:
    """What is answered without a model."""
    outcome = await talk.turn(await talk.hears(text), talk.mind())
    return outcome.reply.text


FOLLOW_UPS = [
    ("Where does Clara live?", "and what does she do?", "vet"),
    ("Where does Clara live?", "And how old is she?", "31"),
    ("Where does Ben live?", "and how old is he", "44"),
    ("Where does Ben live?", "what's his job?", "baker"),
    ("I had dinner with Clara.", "Where does she live again?", "Lyon"),
    ("¿Dónde vive Clara?", "¿y en qué trabaja?", "vet"),
    ("¿Dónde vive Clara?", "y en qué trabaja?", "vet"),
    ("¿Dónde vive Clara?", "¿Y cuántos años tiene ella?", "31"),
    ("Wo wohnt Clara?", "und wo arbeitet sie?", "vet"),
    ("Wo wohnt Clara?", "Und was macht sie beruflich?", "vet"),
    ("Wo wohnt Ben?", "und wie alt ist er?", "44"),
    ("Où habite Clara ?", "elle fait quoi dans la vie?", "vet"),
    ("Où habite Clara ?", "Et quel âge a-t-elle ?", "31"),
    ("Clara住在哪里？", "她做什么工作", "vet"),
    ("Clara住在哪里？", "那她几岁了？", "31"),
    ("Clara住在哪里？", "做什么工作？", "vet"),
]


@pytest.mark.parametrize(("first", "then", "expected"), FOLLOW_UPS)
async def test_pronoun_in_a_follow_up_resolves_to_the_entity_named_before(
    friends: Talk, first: str, then: str, expected: str
) -> None:
    """By the person, in the turn before."""
    await answer(friends, first)

    assert expected in await answer(friends, then)


PRONOUN = "And how old is she?"


@pytest.mark.parametrize(
    "between",
    ["I had pasta today.", "When did I get up?", "and what does she do?"],
)
async def test_pronoun_still_resolves_after_turns_that_name_nobody(
    friends: Talk, between: str
) -> None:
    """As long as nobody else is named."""
    await answer(friends, "Where does Clara live?")
    await answer(friends, between)

    assert "31" in await answer(friends, PRONOUN)


async def test_pronoun_resolves_to_the_only_entity_named_in_a_reply(friends: Talk) -> None:
    """The person named nobody since."""
    await friends.tell("Where does Ben live?")
    await friends.tell("In Oslo.", role="companion", speaker="Oldfriend")
    await friends.tell("Who did I meet on Monday?")
    await friends.tell("You had lunch with Clara.", role="companion", speaker="Oldfriend")

    assert "31" in await answer(friends, PRONOUN)


async def test_pronoun_is_unresolved_when_the_reply_named_two_entities(friends: Talk) -> None:
    """It does not say which."""
    await friends.tell("Who came on Monday?")
    await friends.tell("Clara and Ben did.", role="companion", speaker="Oldfriend")

    told = await answer(friends, PRONOUN)
    assert "31" not in told
    assert "44" not in told


async def test_pronoun_ignores_entities_named_in_another_chat_or_too_long_ago(
    friends: Talk,
) -> None:
    """Nor what somebody else passed on."""
    elsewhere = await open_local_chat(
        friends.app.db, friends.app.clock, friends.app.settings, person="Nora", channel="signal"
    )
    await friends.tell("Where does Clara live?", chat_context=elsewhere)
    await friends.tell("I saw Ben.", trust="outside")
    assert "31" not in await answer(friends, PRONOUN)

    await friends.tell("Where does Clara live?")
    friends.clock.tick(minutes=45)
    assert "31" not in await answer(friends, PRONOUN)


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        ("Where does Clara live?", "And how old is Ben?", "44"),
        ("Where does Clara live?", "And where do I live?", "Porto"),
        ("¿Dónde vive Clara?", "¿y dónde vivo?", "Porto"),
        ("Clara住在哪里？", "我做什么工作？", "nurse"),
        ("Wo wohnt Clara?", "und wo wohne ich?", "Porto"),
    ],
)
async def test_question_naming_somebody_is_not_resolved_to_the_previous_entity(
    friends: Talk, first: str, then: str, expected: str
) -> None:
    """A change of subject."""
    await answer(friends, first)
    told = await answer(friends, then)

    assert expected in told
    assert "Clara" not in told


async def test_model_prompt_includes_memories_about_the_resolved_entity(friends: Talk) -> None:
    """And what was said of them in another chat."""
    await friends.remembers("Clara is afraid of geese, of all birds.")
    for number in range(40):
        await friends.remembers(f"My aunt says she is afraid of what day {number} brings.")
    await friends.ask("Where does Clara live?", "In Lyon.")
    outcome, requests = await friends.ask("and what is she afraid of?", "Of geese.")

    assert "geese, of all birds" in requests[0].call_instructions
    assert outcome.seen_ids


@pytest.mark.parametrize("asked", ["Does she like him?", "¿Ella vive con él?"])
async def test_question_with_two_pronouns_is_left_unresolved(friends: Talk, asked: str) -> None:
    """Only one of them was named."""
    await answer(friends, "Where does Clara live?")

    assert "Clara" not in await answer(friends, asked)


TWO_QUESTIONS = [
    ("Where do I live and what does Clara do?", ("Porto", "vet")),
    ("What does Clara do and where does she live?", ("vet", "Lyon")),
    ("Where does Clara live? And how old is Ben?", ("Lyon", "44")),
    ("Wo wohne ich und was macht Clara beruflich?", ("Porto", "vet")),
    ("Wo wohnt Ben und wie alt ist er?", ("Oslo", "44")),
    ("¿Dónde vivo y en qué trabaja Clara?", ("Porto", "vet")),
    ("¿Dónde vive Ben y cuántos años tiene?", ("Oslo", "44")),
    ("Où est-ce que j'habite et que fait Clara dans la vie ?", ("Porto", "vet")),
    ("Où habite Ben et quel âge a-t-il ?", ("Oslo", "44")),
    ("我住在哪里，Clara做什么工作？", ("Porto", "vet")),
    ("Ben住在哪里？他几岁了？", ("Oslo", "44")),
]


@pytest.mark.parametrize(("asked", "expected"), TWO_QUESTIONS)
async def test_question_with_two_parts_gets_both_answers_in_order(
    friends: Talk, asked: str, expected: tuple[str, str]
) -> None:
    """Each from what is known, in the order in which they were asked."""
    told = await answer(friends, asked)

    assert all(each in told for each in expected), told
    assert told.index(expected[0]) < told.index(expected[1])


async def test_unknown_part_of_a_two_part_question_is_named_in_the_reply(friends: Talk) -> None:
    """Which of them it is, too."""
    told = await answer(friends, "Where does Clara live and when is my driving test?")

    assert "Lyon" in told
    assert "“when is my driving test”: I don't remember anything about that." in told
