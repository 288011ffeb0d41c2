"""What the person says was wrong was never so, in five languages; what has changed was."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext
from tests.beliefs.life import believed, tell, undo_last_reading
from tests.clock import FrozenClock
from tests.learning.test_corrections_end_to_end import read_again

A_DAY = 60 * 24


async def status_of(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    *texts: str,
    key: str,
    live: bool = False,
) -> dict[str, str]:
    """Each value of a key with its state, after some words on a day each; or those of today."""
    for text in texts:
        await tell(app, chat_context, [text])
        clock.tick(minutes=A_DAY)
    told = [each.content for each in await believed(app, chat_context, live=live)]
    return {
        each.value if not key.endswith(":relation") else each.key: each.status
        for each in told
        if isinstance(each, StoredBelief)
        and each.key.endswith(key)
        and "no longer" not in each.value
    }


WRONG = [
    (
        "My friend Ingrid lives in Antwerp.",
        "No, Ingrid doesn't live in Antwerp, she lives in Mechelen.",
        "Antwerp",
        "Mechelen",
    ),
    ("My friend Ana lives in Porto.", "Ana doesn't live in Porto but in Faro.", "Porto", "Faro"),
    ("I live in Porto.", "I don't live in Porto, I live in Faro.", "Porto", "Faro"),
    ("My friend Ana lives in Porto.", "Ana lives in Faro, not in Porto.", "Porto", "Faro"),
    (
        "Mi amiga Eva vive en Sevilla.",
        "No, Eva no vive en Sevilla, vive en Cádiz.",
        "Sevilla",
        "Cádiz",
    ),
    ("Vivo en Sevilla.", "No vivo en Sevilla, sino en Cádiz.", "Sevilla", "Cádiz"),
    (
        "Mon amie Eva habite à Lyon.",
        "Non, Eva n'habite pas à Lyon, elle habite à Lille.",
        "Lyon",
        "Lille",
    ),
    ("J'habite à Lyon.", "Je n'habite pas à Lyon mais à Lille.", "Lyon", "Lille"),
    (
        "Meine Freundin Eva wohnt in Köln.",
        "Nein, Eva wohnt nicht in Köln, sie wohnt in Bonn.",
        "Köln",
        "Bonn",
    ),
    ("Ich wohne in Köln.", "Ich wohne nicht in Köln, sondern in Bonn.", "Köln", "Bonn"),
    ("我的朋友小丽住在成都。", "小丽不住在成都，她住在重庆。", "成都", "重庆"),
    ("我妈妈住在成都。", "不对，我妈妈住在重庆，不是成都。", "成都", "重庆"),
]


@pytest.mark.parametrize(("said", "right", "was", "now"), WRONG)
async def test_denied_location_is_rejected(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    right: str,
    was: str,
    now: str,
) -> None:
    """As where the person corrects it on the page."""
    homes = await status_of(app, chat_context, clock, said, right, key="location")

    assert homes == {was: "rejected", now: "active"}


@pytest.mark.parametrize(
    ("said", "right", "was", "now"),
    [
        ("My son Rex is five.", "No, Rex isn't five, he's six.", "five years", "six years"),
        (
            "My daughter Mila is six.",
            "Actually Mila is seven, not six.",
            "six years",
            "seven years",
        ),
    ],
)
async def test_denied_age_is_rejected(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    right: str,
    was: str,
    now: str,
) -> None:
    """However it is written."""
    ages = await status_of(app, chat_context, clock, said, right, key="age")

    assert ages == {was: "rejected", now: "active"}


CALLED = [
    ("My cat is called Miso.", "My cat isn't called Miso, she is called Mimi.", "Miso", "Mimi"),
    ("My cat is called Miso.", "My cat's name is Mizo, not Miso.", "Miso", "Mizo"),
    ("Mein Hund heißt Bello.", "Nein, mein Hund heißt Benno, nicht Bello.", "Bello", "Benno"),
    ("Mi perro se llama Toby.", "Mi perro se llama Rex, no Toby.", "Toby", "Rex"),
    (
        "Mon chien s'appelle Toby.",
        "Mon chien ne s'appelle pas Toby, il s'appelle Rex.",
        "Toby",
        "Rex",
    ),
    ("我的狗叫旺财。", "不对，我的狗叫旺旺，不叫旺财。", "旺财", "旺旺"),
]


@pytest.mark.parametrize(("said", "right", "was", "now"), CALLED)
async def test_denied_name_rejects_the_relation(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    right: str,
    was: str,
    now: str,
) -> None:
    """Whoever bears the other one; nor is it told as what has ended."""
    names = await status_of(app, chat_context, clock, said, right, key=":relation")
    live = [each.content for each in await believed(app, chat_context)]

    assert names == {f"{was}:relation": "rejected", f"{now}:relation": "active"}
    assert not any(was in each.text for each in live if isinstance(each, StoredBelief))


@pytest.mark.parametrize(
    ("said", "later", "both"),
    [
        ("My sister is Eva.", "My sister Ana is coming on Friday, not Eva.", ("Eva", "Ana")),
        ("My friend is called Tom.", "My friend Max lives in Rome, not Tom.", ("Tom", "Max")),
        (
            "Meine Tochter heißt Lena.",
            "Meine Tochter Mia spielt Klavier und nicht Lena.",
            ("Lena", "Mia"),
        ),
        ("Mi hija se llama Lena.", "Mi hija Mia toca el piano y no Lena.", ("Lena", "Mia")),
    ],
)
async def test_negated_participation_does_not_reject_the_relation(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    later: str,
    both: tuple[str, str],
) -> None:
    """There are two sisters; one of them comes."""
    names = await status_of(app, chat_context, clock, said, later, key=":relation")

    assert names == {f"{each}:relation": "active" for each in both}


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("My friend Ana lives in Porto.", "Ana doesn't live in Porto any more, she lives in Faro."),
        ("My friend Ana lives in Porto.", "Ana lives in Faro now, not in Porto."),
        ("Ich wohne in Porto.", "Ich wohne jetzt in Faro, nicht in Porto."),
    ],
)
async def test_changed_value_is_superseded_and_not_rejected(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, right: str
) -> None:
    """Until then."""
    homes = await status_of(app, chat_context, clock, said, right, key="location")

    assert (homes["Porto"], homes["Faro"]) == ("superseded", "active")


MEANT = [
    ("I'm 34 years old.", "Sorry, I meant 35.", "34 years", "35 years", "age"),
    ("Tengo 34 años.", "Perdón, quise decir 35.", "34 años", "35 años", "age"),
    ("J'ai 34 ans.", "Pardon, je voulais dire 35.", "34 ans", "35 ans", "age"),
    ("Ich bin 34 Jahre alt.", "Entschuldigung, ich meinte 35.", "34 Jahre", "35 Jahre", "age"),
    ("我今年34岁。", "不好意思，我是说35岁。", "34岁", "35岁", "age"),
    ("I live in Porto.", "Sorry, I meant Faro.", "Porto", "Faro", "location"),
]


@pytest.mark.parametrize(("said", "right", "was", "now", "key"), MEANT)
async def test_i_meant_correction_rejects_the_earlier_value(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    right: str,
    was: str,
    now: str,
    key: str,
) -> None:
    """Also where that has been believed meanwhile."""
    values = await status_of(app, chat_context, clock, said, right, key=key)

    assert values == {was: "rejected", now: "active"}


@pytest.mark.parametrize(
    ("said", "right", "now"),
    [
        (
            "I'll call the dentist by Friday.",
            "Sorry, I meant Saturday.",
            "Will call the dentist (18 November 2023).",
        ),
        (
            "I have a meeting with Bob on Thursday.",
            "Sorry, I meant Friday.",
            "Has a meeting with Bob: 17 November 2023.",
        ),
        (
            "Ich habe Uwe versprochen, am Freitag anzurufen.",
            "Entschuldigung, ich meinte Samstag.",
            "Hat Uwe versprochen: anzurufen (18. November 2023).",
        ),
    ],
)
async def test_i_meant_correction_moves_the_due_date(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, right: str, now: str
) -> None:
    """And no more on the other one."""
    await tell(app, chat_context, [said])
    clock.tick(minutes=60)
    await tell(app, chat_context, [right])

    assert [
        each.content.text
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief) and each.content.due_at is not None
    ] == [now]


TWICE = [
    ("I live in Porto.", "I don't live in Porto, I live in Faro.", "location"),
    ("My cat is called Miso.", "My cat's name is Mizo, not Miso.", ":relation"),
    ("I'm 34 years old.", "Sorry, I meant 35.", "age"),
]


@pytest.mark.parametrize(("said", "right", "key"), TWICE)
async def test_correction_survives_repeated_reconsolidation_in_any_order(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, right: str, key: str
) -> None:
    """In whichever order."""
    first = await status_of(app, chat_context, clock, said, right, key=key)
    for number in (-1, 0, -1):
        await read_again(app, chat_context, number=number)

    assert await status_of(app, chat_context, clock, key=key) == first
    assert sorted(first.values()) == ["active", "rejected"]


@pytest.mark.parametrize(("said", "right", "key"), TWICE)
async def test_undoing_a_correction_restores_the_earlier_value(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, right: str, key: str
) -> None:
    """It is believed again."""
    before = await status_of(app, chat_context, clock, said, key=key)
    await status_of(app, chat_context, clock, right, key=key)
    await undo_last_reading(app, chat_context)

    assert await status_of(app, chat_context, clock, key=key, live=True) == before
