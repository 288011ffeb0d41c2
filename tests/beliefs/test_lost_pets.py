"""A pet that has died is had no more, by whatever words it was known."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext
from tests.beliefs.life import believed, tell
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def facts_after(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *texts: str
) -> dict[str, str]:
    """What was believed of a pet, and how that stands, after a month and what is told then."""
    for text in texts:
        await tell(app, chat_context, [text])
        clock.tick(minutes=MONTH)
    facts = [each.content for each in await believed(app, chat_context, live=False)]
    return {
        each.text: each.status
        for each in facts
        if isinstance(each, StoredBelief) and each.kind == "fact"
    }


@pytest.mark.parametrize(
    ("had", "died"),
    [
        ("We've got a dog, a beagle named Rufus.", "Rufus died on Sunday."),
        ("We've got a dog, a beagle named Rufus.", "My dog died yesterday."),
        ("I have a dog.", "My dog died yesterday."),
        ("I have a cat called Miso. Miso is 14.", "Miso died this morning."),
        ("I have a dog called Rex.", "We had to put our dog Rex to sleep."),
        ("Tengo un perro que se llama Rufus.", "Mi perro murió ayer."),
        ("J'ai un chien qui s'appelle Rex.", "Mon chien Rex est mort hier."),
        ("我养了一只猫，名字叫豆豆。", "豆豆昨天死了，我很难过。"),
        ("我养了一只猫，名字叫豆豆。", "我的猫昨天死了。"),
    ],
)
async def test_pets_death_supersedes_its_beliefs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, had: str, died: str
) -> None:
    """By its name and without, if it was the only one."""
    facts = await facts_after(app, chat_context, clock, had, died)

    assert facts
    assert set(facts.values()) == {"superseded"}


@pytest.mark.parametrize(
    ("had", "died"),
    [
        ("I have a dog called Rex.", "My sister's dog died yesterday."),
        ("I have a dog called Rex.", "My cat died yesterday."),
        ("I have a dog called Rex.", "My mother died and my dog is sad."),
        ("我养了一只猫，名字叫豆豆。", "我妹妹的猫昨天死了。"),
    ],
)
async def test_death_of_another_pet_keeps_the_beliefs_active(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, had: str, died: str
) -> None:
    """Somebody else's, or one of another sort."""
    facts = await facts_after(app, chat_context, clock, had, died)

    assert facts
    assert set(facts.values()) == {"active"}
