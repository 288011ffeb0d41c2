"""What is said to a statement: plain, unless it tells of a loss or of good news beyond doubt."""

from pathlib import Path

import pytest

import oldfriend_evals.reader.material as reader_material
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.intent import Perception
from oldfriend.turn.offline_texts import is_good_news
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

NEWS = Path(reader_material.__file__).parent / "material" / "news-1.tsv"


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here depends on it."""
    return "sqlite"


def judge(text: str, language: str) -> str:
    """What a statement is taken for."""
    book = load_phrases(language)
    told = Perception(intent="statement", text=text, language=language, detected_language=language)
    if told.signal == "stressed":
        return "bad"
    return "good" if is_good_news(text, book) else "none"


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("my grandma died last night", "acknowledgement_hard"),
        ("we had to put my dog to sleep", "acknowledgement_hard"),
        ("my phone died again, third time this week", "acknowledgement"),
        ("i got the job!!", "acknowledgement_glad"),
        ("i dreamt that my dad died", "acknowledgement"),
        ("they painted the bus shelter green", "acknowledgement"),
    ],
)
async def test_offline_acknowledgement_matches_loss_good_news_or_neutral(
    say: Say, text: str, phrase: str
) -> None:
    """Nobody is thanked for grief."""
    assert load_phrases("en").phrases[phrase] in (await say(text)).reply.text


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("es", "se murió mi abuela anoche", "bad"),
        ("de", "meine oma ist gestern gestorben", "bad"),
        ("fr", "mon papi est décédé ce matin", "bad"),
        ("zh", "奶奶去世了", "bad"),
        ("es", "me dieron el trabajo!!", "good"),
        ("de", "hab den job bekommen!!", "good"),
        ("fr", "j'ai eu le poste!!", "good"),
        ("zh", "我拿到offer了", "good"),
    ],
)
def test_loss_and_good_news_are_detected_in_each_language(
    language: str, text: str, kind: str
) -> None:
    """By its own words for relatives and pets."""
    assert judge(text, language) == kind


def test_news_detection_has_no_false_positives_in_the_test_set() -> None:
    """Of the statements that were written to look like news, and of the opposite ones."""
    wrong = [
        text
        for kind, language, text in (line.split("\t") for line in NEWS.read_text().splitlines())
        if language in OFFLINE_LANGUAGES and judge(text, language) not in {kind, "none"}
    ]

    assert wrong == []


async def test_quote_names_the_channel_only_when_said_on_another_channel(
    say: Say, clock: FrozenClock
) -> None:
    """The place where somebody is needs no name."""
    await say("the boiler man is called Gregor")
    clock.tick(minutes=60 * 24)

    here = (await say("what is the boiler man called?")).reply.text
    elsewhere = (await say("what is the boiler man called?", channel="web")).reply.text

    assert "Gregor" in here
    assert "terminal" not in here
    assert "on terminal" in elsewhere


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("I put milk on the list", "tell me a joke"),
        ("I put milk on the list", "write me a poem about rain"),
        ("Ich mag Tee", "erzähl mir einen Witz"),
        ("Me gusta el té", "cuéntame un chiste"),
        ("J'aime le thé", "raconte-moi une blague"),
        ("我喜欢茶", "给我讲个笑话"),
    ],
)
async def test_what_only_a_model_can_make_up_is_declined_without_quotes(
    say: Say, told: str, asked: str
) -> None:
    """In one sentence that says why, and not with what comes closest."""
    await say(told)
    reply = (await say(asked)).reply
    assert load_phrases(reply.language).phrases["needs_model"] in reply.text
    assert told not in reply.text


@pytest.mark.parametrize(
    "asked", ["tell me about the wedding", "tell me about my sister", "tell me what I said"]
)
async def test_what_is_remembered_is_told_as_before(say: Say, asked: str) -> None:
    """Whoever asks of what they told wants to hear it."""
    await say("the wedding of my sister was wonderful")
    reply = (await say(asked)).reply.text
    assert load_phrases("en").phrases["needs_model"] not in reply
