"""Asked who is who to somebody, or what they like most, the offline companion tells just that."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.turn.turn_outcome import Reply
from tests.beliefs.life import tell
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

NOTHING = "I don't remember anything about that."
LIFE = [
    "My husband Tom works as a carpenter.",
    "My mother is called Greet.",
    "My sister Ana lives in Porto.",
    "Our son Leo is seven.",
    "We have a dog called Bruno.",
    "My favourite colour is green.",
    "I'm allergic to penicillin and strawberries.",
]


@pytest.mark.parametrize(
    ("question", "told", "beside"),
    [
        ("Who am I married to?", ["Husband: Tom."], ["Greet", "Ana"]),
        ("Who is in my family?", ["Tom", "Greet", "Ana", "Leo"], ["Bruno"]),
        ("Who are my parents?", ["Mother: Greet."], ["Tom"]),
        ("Do I have children?", ["Son: Leo."], ["Ana"]),
        ("What's my dog's name?", ["Dog: Bruno."], ["Leo"]),
        ("Do I have a dog?", ["Has a dog."], ["Leo"]),
        ("What is my favourite color?", ["Favourite colour: green."], []),
        ("Where does my sister live?", ["Ana lives in Porto."], []),
        ("What can't I eat?", ["strawberries"], []),
        ("¿Quién es mi marido?", ["Tom es tu marido."], []),
        ("Wie heißt meine Mutter?", ["Greet ist deine Mutter."], []),
        ("Ai-je un chien ?", ["Bruno est ton chien."], []),
        ("我有孩子吗？", ["Leo是你的儿子。"], []),
    ],
)
async def test_question_about_a_relative_pet_or_favourite_gives_exactly_that(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    question: str,
    told: list[str],
    beside: list[str],
) -> None:
    """In whatever language, and nobody else."""
    await tell(app, chat_context, LIFE)
    reply = (await say(question)).reply.text

    assert [each for each in told if each not in reply] == []
    assert [each for each in beside if each in reply] == []


@pytest.mark.parametrize(
    "question",
    [
        "Who is my boss?",
        "Do I have a brother?",
        "What is my favourite film?",
        "Who is my best friend?",
        "What is my cat called?",
        "Who are my grandparents?",
    ],
)
async def test_question_about_an_unknown_relative_or_favourite_is_not_guessed(
    app: AppContext, chat_context: ChatContext, say: Say, question: str
) -> None:
    """Somebody else is no answer, and neither is another favourite."""
    await tell(app, chat_context, LIFE)

    assert (await say(question)).reply.text == NOTHING


async def test_ending_one_of_two_allergies_keeps_the_other(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """What is said after that does not keep it from being understood; the other stays."""
    await tell(app, chat_context, LIFE)
    clock.tick(minutes=60)
    gone = "I'm not allergic to strawberries any more, the doctor says it was a mistake."
    await tell(app, chat_context, [gone])
    left = (await say("What am I allergic to?")).reply.text
    over = (await say("Am I allergic to strawberries?")).reply.text

    assert "As I know it: Is allergic to penicillin." in left
    assert "no longer" not in left
    assert over.startswith("As I know it: Is no longer allergic to strawberries.")


async def test_former_girlfriend_is_recalled_with_the_end_date(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """With until when."""
    await tell(app, chat_context, ["My girlfriend Hannah plays the cello."])
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, ["Hannah and I broke up."])
    reply = (await say("Who is my girlfriend?")).reply.text

    assert reply.startswith("As I know it:\n• Until 15 November 2023: Girlfriend: Hannah.")


async def test_former_spouse_is_not_recalled_as_current_after_divorce(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Though no word tells their name once more."""
    await tell(app, chat_context, ["I'm married to Hannah."])
    before = (await say("Who am I married to?")).reply.text
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, ["We got divorced."])

    assert before.startswith("As I know it: Is married to Hannah.")
    assert not (await say("Who am I married to?")).reply.text.startswith(before[:35])


@pytest.mark.parametrize(
    "question",
    [
        "Where does my sister's husband live?",
        "Where does Ana's mother live?",
        "¿Dónde vive la novia de mi hermana?",
        "Wo wohnt der Mann meiner Schwester?",
        "Où habite le copain de ma sœur ?",
        "我妹妹的老公住在哪里？",
        "小明的妹妹住在哪里？",
    ],
)
async def test_question_about_a_relatives_relative_is_not_answered_with_the_relative(
    app: AppContext, chat_context: ChatContext, say: Say, question: str
) -> None:
    """The sister's home is not her husband's, and another's sister is somebody else."""
    await tell(app, chat_context, LIFE)

    assert "Porto" not in (await say(question)).reply.text


async def test_question_about_anothers_marriage_does_not_recall_the_persons_partner(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Of whom the same is known."""
    await tell(app, chat_context, ["My husband Tom is divorced."])

    assert "Tom" not in (await say("你知道李雷结婚了没有吗？")).reply.text


async def test_question_about_the_girlfriend_recalls_the_current_one_only(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """A new girlfriend lives where she lives."""
    for text in (
        "My girlfriend Ana lives in Porto.",
        "Ana and I broke up.",
        "My girlfriend Eva lives in Faro.",
    ):
        await tell(app, chat_context, [text])
        clock.tick(minutes=60 * 24)
    reply = (await say("Where does my girlfriend live?")).reply.text

    assert "Faro" in reply
    assert "Porto" not in reply


async def test_question_about_a_relative_quotes_messages_with_the_exact_name(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Though they do not say that she is the sister; of a name in a longer word they do not."""
    tells = "It's true that Eva now lives right by the sea."
    beside = "Evan has had his bakery there for years."
    await tell(app, chat_context, ["My sister is called Eva.", tells, beside])
    reply = (await say("Where does my sister live?")).reply.text

    assert tells in reply
    assert beside not in reply


@pytest.mark.parametrize(
    ("question", "told", "beside"),
    [
        ("What did I promise my mum?", ["call my mother"], ["Madison", "Alma"]),
        ("What did I promise my son?", [], ["Madison", "Alma", "mother"]),
    ],
)
async def test_question_about_promises_matches_the_recipient_by_word_or_exact_name(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    question: str,
    told: list[str],
    beside: list[str],
) -> None:
    """By any word for them, or their name; neither is in a longer word."""
    promises = [
        "I promised to call my mother.",
        "I promised to send Madison the photos.",
        "I promised to write to Alma.",
    ]
    await tell(app, chat_context, [*promises, "My son is called Al."])
    reply = (await say(question)).reply.text

    assert [each for each in told if each not in reply] == []
    assert [each for each in beside if each in reply] == []


async def test_question_what_happened_to_somebody_quotes_the_event_message(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The words that speak of them are quoted."""
    await tell(app, chat_context, [*LIFE, "Leo fell off his bike and cried."])

    assert "Leo fell off his bike" in (await say("What happened to Leo?")).reply.text


async def test_request_to_forget_names_the_page_and_the_command_line(say: Say) -> None:
    """In the browser there is no command line, nor a menu in the terminal."""
    reply = (await say("forget what I told you about my boss")).reply

    assert is_every_way(reply)


def is_every_way(reply: Reply) -> bool:
    """Whether both the page and the command line are named."""
    return "“Settings”, “Forget” in the browser" in reply.text and "oldfriend forget" in reply.text
