"""What is over by what is said in passing: a pet, an allergy, an engagement, the work before."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext
from tests.beliefs.life import believed, tell
from tests.clock import FrozenClock

A_DAY = 60 * 24


async def values(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *texts: str, key: str
) -> set[str]:
    """What is believed of something, after some words on a day each."""
    for text in texts:
        await tell(app, chat_context, [text])
        clock.tick(minutes=A_DAY)
    live = [each.content for each in await believed(app, chat_context)]
    return {
        each.value for each in live if isinstance(each, StoredBelief) and each.key.endswith(key)
    }


@pytest.mark.parametrize(
    ("key", "said", "over", "was", "now"),
    [
        ("pets", "我养了一只狗。", "我没有狗了。", "一只狗", ""),
        ("pets", "我养了一条狗。", "我没有狗了。", "一条狗", ""),
        ("pets", "我养了一只狗。", "我不养狗了。", "一只狗", ""),
        (
            "allergies",
            "I'm allergic to nuts.",
            "I'm no longer allergic to nuts, but to cats.",
            "nuts",
            "cats",
        ),
        (
            "allergies",
            "Soy alérgica a las nueces.",
            "Ya no soy alérgica a las nueces, sino a los gatos.",
            "nueces",
            "gatos",
        ),
        (
            "allergies",
            "Je suis allergique aux noix.",
            "Je ne suis plus allergique aux noix, mais aux chats.",
            "noix",
            "chats",
        ),
        (
            "allergies",
            "Ich bin allergisch gegen Nüsse.",
            "Ich bin nicht mehr gegen Nüsse allergisch, sondern gegen Katzen.",
            "Nüsse",
            "Katzen",
        ),
        ("relationship_status", "I'm engaged.", "I called off the engagement.", "engaged", ""),
        (
            "relationship_status",
            "My friend Ella is engaged.",
            "Ella called off the engagement.",
            "engaged",
            "",
        ),
        (
            "relationship_status",
            "Ich bin verlobt.",
            "Ich habe die Verlobung gelöst.",
            "verlobt",
            "",
        ),
        (
            "workplace",
            "I work at Siemens.",
            "I quit my job and now I work in a cafe.",
            "Siemens",
            "a cafe",
        ),
        (
            "workplace",
            "Trabajo en Siemens.",
            "He dejado mi trabajo y ahora trabajo en una cafetería.",
            "Siemens",
            "una cafetería",
        ),
        (
            "workplace",
            "Je travaille chez Siemens.",
            "J'ai démissionné et maintenant je travaille dans un café.",
            "Siemens",
            "un café",
        ),
        (
            "workplace",
            "Ich arbeite bei Siemens.",
            "Ich habe gekündigt und arbeite jetzt in einem Café.",
            "Siemens",
            "einem Café",
        ),
        ("workplace", "我在华为工作。", "我辞职了，现在在一家咖啡馆工作。", "华为", "一家咖啡馆"),
    ],
)
async def test_ended_value_is_no_longer_believed_and_its_replacement_is(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    key: str,
    said: str,
    over: str,
    was: str,
    now: str,
) -> None:
    """Each by the words that tell it, and nothing but that."""
    live = await values(app, chat_context, clock, said, over, key=key)

    assert was not in live
    assert not now or now in live


@pytest.mark.parametrize(
    ("said", "later", "key", "still"),
    [
        ("I'm engaged.", "They called off the match.", "relationship_status", "engaged"),
        ("I'm allergic to nuts.", "I'm allergic to cats, too.", "allergies", "nuts"),
        ("我养了一只狗。", "我没有猫。", "pets", "一只狗"),
        ("我养了一只狗。", "我没有猫了。", "pets", "一只狗"),
        ("我养了一只猫。", "我不养狗。", "pets", "一只猫"),
        ("I work at Siemens.", "I quit my job at the bar.", "workplace", "Siemens"),
        ("I work at Siemens.", "I quit my job at Bosch.", "workplace", "Siemens"),
        ("I work at Siemens.", "I left my job early today.", "workplace", "Siemens"),
        ("Ich arbeite bei Siemens.", "Ich habe mein Abo gekündigt.", "workplace", "Siemens"),
        ("Trabajo en Siemens.", "He dejado mi trabajo en Bosch.", "workplace", "Siemens"),
        (
            "My husband is Juan.",
            "My husband Juan left me the car yesterday.",
            "Juan:relation",
            "husband",
        ),
        (
            "Mi marido se llama Juan.",
            "Mi marido Juan me dejó el coche ayer.",
            "Juan:relation",
            "husband",
        ),
    ],
)
async def test_unrelated_statement_does_not_end_the_belief(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    later: str,
    key: str,
    still: str,
) -> None:
    """Other things are off, or come to it."""
    assert still in await values(app, chat_context, clock, said, later, key=key)
