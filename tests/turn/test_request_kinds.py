"""Requests in people's own words, which no list of phrases knows (ACCEPTANCE L20, M)."""

import pytest

from oldfriend.goals.goal import Rhythm
from oldfriend.turn.request_handlers.diary_requests import WriteDiaryEntry
from oldfriend.turn.request_handlers.measurement_changes import ChangeMeasurements
from oldfriend.turn.request_handlers.registry import REQUEST_HANDLERS
from oldfriend.turn.request_handlers.request_kinds import KINDS, classify_request, find_request
from oldfriend.turn.task_changes import SaveTask
from oldfriend.turn.watch_changes import WatchChange
from oldfriend.turn.watch_requests import build_watch_handler
from tests.turn.conftest import Talk
from tests.turn.test_goal_requests import goals
from tests.turn.test_measurement_requests import say


@pytest.mark.parametrize(
    ("text", "goal", "rhythm"),
    [
        ("wanna get to the pool twice a week, no excuses", "get to the pool", (2, "week")),
        ("ok new me: 4 times a week gym, hold me to it", "gym", (4, "week")),
        ("will ab jetz jeden tag 20 minuten gitarre üben", "gitarre", (1, "day")),
        ("quiero ir al gimnasio tres veces x semana, ahora si", "gimnasio", (3, "week")),
        ("jme fixe un objectif: courir 2 fois par semaine, tu notes", "courir", (2, "week")),
        ("给自己立个flag，每周跑步三次", "跑步", (3, "week")),
    ],
)
async def test_goal_is_set_by_a_resolution(
    talk: Talk, text: str, goal: str, rhythm: tuple[int, str]
) -> None:
    """With how often it is wanted; what is told shows what is stored."""
    outcome = await say(talk, text)

    (state,) = await goals(talk)
    assert goal in state.goal.text
    assert state.goal.rhythm == Rhythm(times=rhythm[0], period=rhythm[1])  # type: ignore[arg-type]
    assert state.goal.text in outcome.reply.text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("whats the time in tokyo rn", "tokyo"),
        ("what day does christmas fall on this yr", "25 December"),
        ("is it still sunday in honolulu or have they flipped", "honolulu"),
        ("wie spät isses grad in new york", "new york"),
        ("qué día cae el 6 de enero", "6 de enero"),
        ("il est quelle heure à montréal là", "montréal"),
        ("纽约现在几点啊 儿子那边该睡了吧", "纽约"),
    ],
)
async def test_clock_is_asked_in_any_words(talk: Talk, text: str, told: str) -> None:
    """For a place or a day that is known."""
    outcome = await say(talk, text)
    assert outcome.reply.details["handled"] == ["clock"]
    assert told in outcome.reply.text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "fridays at 4pm go find me three films worth watching and send me the list",
            "three films",
        ),
        ("tomorrow five a.m. pull up the traffic on i eighty and send it", "pull up the traffic"),
        ("schau jeden werktag um 18:30 nach ob die s-bahn pünktlich is", "s-bahn"),
        ("el viernes a las 19 fijate a cuánto está el dólar y pasámelo", "dólar"),
        ("chaque matin à 7h tu me cherches la météo de lyon", "météo de lyon"),
        ("每天早上七点查一下北京天气发给我", "北京天气"),
    ],
)
async def test_thing_to_be_done_at_a_time_is_read(talk: Talk, text: str, what: str) -> None:
    """And no reminder of it is set."""
    outcome = await say(talk, text)
    assert outcome.reply.details["handled"] == ["actions"]
    assert what in outcome.reply.text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("oops 71.4 not 74.1", "71.4"),
        ("sorry typo, i meant 71.4", "71.4"),
        ("vertippt, 71,4 mein ich", "71,4"),
        ("perdón, eran 71.4 no 74.1", "71,4"),
        ("pardon c'est 71,4 pas 74,1", "71,4"),
        ("打错了，是71.4不是74.1", "71.4"),
    ],
)
async def test_number_is_corrected_in_any_words(talk: Talk, text: str, told: str) -> None:
    """The one that was just told."""
    await say(talk, "/log weight 74.1 kg")
    outcome = await say(talk, text)
    assert told in outcome.reply.text
    (change,) = [each for each in outcome.changes if isinstance(each, ChangeMeasurements)]
    assert [each.value for each in change.measured] == [71.4]


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (
            "put this in my diary: met jonas at the pier, felt like being 19 again",
            "met jonas at the pier, felt like being 19 again",
        ),
        (
            "dear diary entry for today lol.. work was trash but the soup was good",
            "work was trash but the soup was good",
        ),
        ("schreib mal ins tagebuch: kalte füße, viel gelacht", "kalte füße, viel gelacht"),
        ("pa mi diario: día raro, mucho viento", "día raro, mucho viento"),
        ("帮我记到日记里：今天第一次一个人看电影", "今天第一次一个人看电影"),
    ],
)
async def test_diary_is_written_in_any_words(talk: Talk, text: str, entry: str) -> None:
    """Without the words that ask for it."""
    outcome = await say(talk, text)
    (change,) = [each for each in outcome.changes if isinstance(each, WriteDiaryEntry)]
    assert change.entry.text == entry


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("answer me in portuguese going forward ok", "pt"),
        ("a partir de ahora háblame en inglés siempre", "en"),
        ("Antworte mir künftig bitte auf Italienisch, ich lerne das gerade.", "it"),
        ("从现在开始用英语跟我聊吧，练练口语", "en"),
    ],
)
async def test_language_is_chosen_in_any_words(talk: Talk, text: str, language: str) -> None:
    """By the name that the message says first."""
    outcome = await say(talk, text)
    assert [getattr(each, "language", None) for each in outcome.changes] == [language]


@pytest.mark.parametrize(
    "text",
    [
        "my sister wants to hit the gym 5 times a week, she'll last til tuesday",
        "what a time we had at the wedding, my feet are in bits",
        "took us six and a half hours to get to cork",
        "they cancelled all the trains again so i walked",
        "lies mal das hier: https://zeitung.example/artikel",
        "mein chef will dass alle 10000 schritte am tag gehen, so ein schmarrn",
        "mi hija quiere correr un maratón este año, está loca jaja",
        "on a parlé anglais toute la soirée avec les voisins",
        "老板把所有会议都取消了，爽",
        "昨天那双鞋卖300，我嫌贵没买",
    ],
)
async def test_talk_that_only_looks_like_a_request_is_left_alone(talk: Talk, text: str) -> None:
    """Of others, of the past, of things."""
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details


def test_request_in_a_longer_message_leaves_the_rest() -> None:
    """Sentences that ask for something else are for others."""
    text = "We had such a lovely evening with the neighbours. whats the time in tokyo rn?"
    found = find_request(text, "en", "clock")
    assert found is not None
    assert found.said == "whats the time in tokyo rn?"
    assert found.rest == "We had such a lovely evening with the neighbours."


def test_kinds_are_shares_of_one() -> None:
    """For any text, an empty one too."""
    for text in ("", "?", "x" * 1000, "wanna run twice a week"):
        assert set(classify_request(text, "en")) == set(KINDS)
        assert sum(classify_request(text, "en").values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "text",
    [
        "Make it stop. Make everything stop.",
        "Quiero que todo termine.",
        "Ich will alles löschen und verschwinden.",
        "Je veux que tout s'arrête.",
        "我想把一切都删掉然后消失。",
    ],
)
async def test_despair_is_no_wish_to_cancel(talk: Talk, text: str) -> None:
    """With something open, too."""
    await say(talk, "/remind tomorrow 9:00 take the pills")
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("dont need the reminder bout the pills anymore thx", True),
        ("the pills thing can go, delete that reminder", True),
        ("Please don't cancel my pills reminder.", False),
        ("Keep the pills reminder, I still need it.", False),
    ],
)
async def test_guessed_wish_to_cancel_is_asked_about(talk: Talk, text: str, *, asks: bool) -> None:
    """Nothing is ended before a yes."""
    await say(talk, "/remind tomorrow 9:00 take the pills")
    outcome = await say(talk, text)
    assert not any(isinstance(each, SaveTask) for each in outcome.changes)
    assert ("take the pills" in outcome.reply.text) or not asks
    if not asks:
        assert "handled" not in outcome.reply.details


@pytest.mark.parametrize(
    "text",
    [
        "Don't answer me in German please.",
        "Sprich bitte nicht Englisch mit mir.",
        "Pourquoi tu me réponds en anglais ?",
        "别用英语跟我说话。",
        "Don't write this in my diary: I kissed Tom.",
        'She wrote: "from now on answer me in French please"',
        "Every night at 3 I wake up and check the door.",
        "Mon médecin veut que je marche 30 minutes par jour.",
    ],
)
async def test_opposite_or_others_words_change_nothing(talk: Talk, text: str) -> None:
    """What is refused, quoted, a habit, or somebody else's wish."""
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details


async def test_each_sentence_gets_its_own(talk: Talk) -> None:
    """A request does not swallow what stands beside it."""
    text = "From now on answer me in Spanish please, ok? Remind me tomorrow at 9 to call Eva."
    outcome = await say(talk, text)
    assert outcome.reply.details["handled"] == ["tasks", "language"]

    text = "Remind me tomorrow at 9 to buy milk. Put this in my diary: the lake froze."
    outcome = await say(talk, text)
    (entry,) = [each for each in outcome.changes if isinstance(each, WriteDiaryEntry)]
    assert entry.entry.text == "the lake froze."
    assert any(isinstance(each, SaveTask) for each in outcome.changes)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("gonna quit vaping by halloween, write it down so i cant chicken out", "vaping"),
        ("new year new me: read more, promise", "read more"),
    ],
)
async def test_goal_is_what_is_wanted(talk: Talk, text: str, goal: str) -> None:
    """Not the clause that asks to note it."""
    await say(talk, text)
    (state,) = await goals(talk)
    assert goal in state.goal.text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what time is it, need to put the turkey in the oven", "turkey it is"),
        ("what date was last friday", "until"),
        ("how long till my birthday", "It is"),
        ("whats the time in galway rn", "It is"),
    ],
)
async def test_clock_tells_nothing_that_it_does_not_know(talk: Talk, text: str, told: str) -> None:
    """No words are taken for a place, and the past not for what comes."""
    assert told not in (await say(talk, text)).reply.text


@pytest.mark.parametrize(
    "text",
    [
        "can u keep an eye on https://shop.example/p/air-9 n tell me when they drop under 85",
        "kannst du mal https://laden.example/x3 beobachten und melden wenn er unter 85 fällt",
        "vigílame porfa esta página https://tienda.example/mtb y avisame si baja de 85",
        "surveille stp https://boutique.example/v7 et dis moi si ça passe sous 85 euros",
        "帮我盯着 https://mall.example/item/7782 这个耳机 低于85就告诉我",
    ],
)
async def test_page_is_watched_in_any_words(talk: Talk, text: str) -> None:
    """For the price that is told."""
    watch = build_watch_handler(may_read_pages=True)
    said = await talk.hears(text)
    outcome = await talk.turn(said, talk.mind(handlers=(watch, *REQUEST_HANDLERS)))
    (change,) = [each for each in outcome.changes if isinstance(each, WatchChange)]
    assert (change.watch.condition, change.watch.threshold) == ("below", 85)
