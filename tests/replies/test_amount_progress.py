"""Amounts that are told in passing count for the goal that wants them (ACCEPTANCE L20)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import from_micros
from oldfriend.goals.goal_store import list_goals
from oldfriend.goals.goal_totals import find_countable, read_total
from oldfriend.goals.told_amounts import read_amounts, spell_digits, split_amount_tokens
from oldfriend.inbound.accept import ChatContext
from tests.chat_fixtures import Say

GOALS = {
    "en": "I want to do 150 squats this week",
    "de": "Ich will diese Woche 150 Kniebeugen schaffen",
    "es": "Esta semana quiero hacer 150 flexiones",
    "fr": "Je veux faire 150 pompes cette semaine",
    "zh": "这周目标150个深蹲",
}


async def count(app: AppContext, chat_context: ChatContext) -> list[int]:
    """The steps of the only goal."""
    async with app.db.begin_read() as tx:
        (state,) = await list_goals(tx, chat_context.person.id)
    total = find_countable(state.goal)
    return [] if total is None else [each.amount // total.parts for each in state.progress]


@pytest.mark.parametrize(
    ("text", "language", "value", "unit"),
    [
        ("write 9,000 words by 30 June", "en", 9000, "words"),
        ("swim 12 hours this month", "en", 12, "h"),
        ("run 35 km this month", "en", 35, "km"),
        ("drink 12 liters this week", "en", 12, "l"),
        ("save 300 euro for a bike", "en", 300, "EUR"),
        ("im April 90 km radeln", "de", 90, "km"),
        ("diesen Herbst sechzehn Fahrstunden", "de", 16, "Fahrstunden"),
        ("este mes 15 horas de piano", "es", 15, "h"),
        ("reto de la semana: 200 abdominales", "es", 200, "abdominales"),
        ("40 km de vélo en juin", "fr", 40, "km"),
        ("quinze heures de chant cet hiver", "fr", 15, "h"),
        ("這個月練字十二個小時", "zh", 12, "h"),
        ("这两个月上完30节", "zh", 30, "节"),
    ],
)
def test_amount_in_all_is_read(text: str, language: str, value: float, unit: str) -> None:
    """Of a unit or of what is counted, in digits or in words."""
    total = read_total(text, language, has_day=False)
    assert total is not None
    assert (total.value, total.unit.casefold()) == (value, unit.casefold())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("weigh 70 kg this year", "en"),
        ("run 60 km without stopping this year", "en"),
        ("do 50 squats in a row this month", "en"),
        ("run 5 km this month", "en"),
        ("spend at most 200 euro this month", "en"),
        ("50 Kniebeugen am Stück diesen Monat", "de"),
        ("50 sentadillas seguidas este mes", "es"),
        ("50 pompes d'affilée ce mois-ci", "fr"),
        ("这个月一口气做50个俯卧撑", "zh"),
        ("read -5 books this year", "en"),
    ],
)
def test_level_limit_and_single_go_are_no_total(text: str, language: str) -> None:
    """They do not add up."""
    assert read_total(text, language, has_day=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "in march i want to run 80 km",
        "im märz will ich 80 km laufen",
        "en marzo quiero correr 80 km",
        "80 km de course en mars, c'est mon défi",
        "這個月我想跑八十公里",
        "neues rad muss her, will 800 euro dafür sparen",
    ],
)
async def test_wish_for_an_amount_in_all_sets_a_goal(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """Also in a month by its name, and of money that is put aside."""
    await say(text)
    assert await count(app, chat_context) == []


@pytest.mark.parametrize(
    "text",
    [
        "in march i want to run 80 km",
        "im märz will ich 80 km laufen",
        "en marzo quiero correr 80 km",
        "en mars je veux courir 80 km",
        "三月我想跑八十公里",
    ],
)
async def test_named_month_is_the_deadline(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """To its last day."""
    await say(text)
    async with app.db.begin_read() as tx:
        (state,) = await list_goals(tx, chat_context.person.id)
    assert state.goal.deadline is not None
    day = from_micros(state.goal.deadline, state.goal.zone).date()
    assert (day.month, day.day) == (3, 31)


async def test_number_that_may_answer_a_question_does_not_count(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It was asked for something else."""
    await say(GOALS["en"])
    asked = await say("remind me to water the plants")
    assert "?" in asked.reply.text
    await say("20")
    assert await count(app, chat_context) == []


@pytest.mark.parametrize(
    "text",
    [
        "my brother wants to run 80 km in march",
        "my sister said she is aiming for 80 km in march",
        "mein bruder will im märz 80 km laufen",
        "mi hermana quiere correr 80 km en marzo",
        "mon frère veut courir 80 km en mars",
        "我姐姐想这个月跑八十公里",
        "I want to buy a bike for 800 euro",
        "I don't want to run 80 km in march",
        "how do I run 80 km in march?",
    ],
)
async def test_wish_of_others_and_a_price_set_no_goal(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """In doubt nothing is set."""
    await say(text)
    async with app.db.begin_read() as tx:
        assert await list_goals(tx, chat_context.person.id) == []


@pytest.mark.parametrize(
    ("language", "told", "steps"),
    [
        ("en", ["25 done today", "30 more", "20"], [25, 30, 20]),
        ("de", ["25 gemacht", "heute 30", "20 kniebeugen"], [25, 30, 20]),
        ("es", ["25 hechas", "hoy 30", "20 flexiones"], [25, 30, 20]),
        ("fr", ["25 pompes", "30 aujourd'hui", "encore 20"], [25, 30, 20]),
        ("zh", ["做了25个", "30个", "又做了20个"], [25, 30, 20]),
    ],
)
async def test_amount_told_in_passing_counts(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    language: str,
    told: list[str],
    steps: list[int],
) -> None:
    """With its noun, or bare while one goal can take it."""
    for each in (GOALS[language], *told):
        await say(each)
    assert await count(app, chat_context) == steps


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "my sister did 60 squats"),
        ("en", "tomorrow i'll do another 40"),
        ("en", "was supposed to do 40 today, did none"),
        ("en", "how many are 40 squats?"),
        ("de", "mein mann hat heute 60 kniebeugen gemacht"),
        ("de", "morgen mach ich 40"),
        ("de", "keine 40 geschafft"),
        ("es", "mi hermano ha hecho 60 flexiones"),
        ("es", "mañana hago 40"),
        ("es", "hoy no hice las 40"),
        ("fr", "ma sœur a fait 60 pompes"),
        ("fr", "demain j'en fais 40"),
        ("fr", "je n'ai pas fait mes 40 pompes"),
        ("zh", "室友做了60个"),
        ("zh", "明天做40个"),
        ("zh", "今天没做40个"),
    ],
)
async def test_others_planned_and_missed_amounts_do_not_count(
    app: AppContext, chat_context: ChatContext, say: Say, language: str, told: str
) -> None:
    """Nor does what is asked."""
    await say(GOALS[language])
    await say(told)
    assert await count(app, chat_context) == []


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ["25 done today", "not 25, 28, i counted wrong"]),
        ("de", ["25 gemacht", "nicht 25, es waren 28"]),
        ("es", ["25 hechas", "no eran 25, eran 28"]),
        ("fr", ["25 pompes", "en fait pas 25, 28"]),
        ("zh", ["做了25个", "25写错了 是28个"]),
        ("en", ["25 done today", "12 more", "correction, it was 28 and not 25"]),
    ],
)
async def test_correction_puts_right_the_step_of_that_amount(
    app: AppContext, chat_context: ChatContext, say: Say, language: str, told: list[str]
) -> None:
    """And counts for nothing beside it."""
    for each in (GOALS[language], *told):
        await say(each)
    assert sorted(await count(app, chat_context), reverse=True)[0] == 28
    assert 25 not in await count(app, chat_context)
    assert len(await count(app, chat_context)) == len(told) - 1


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (
            ["my goal is to save 500 euro by christmas", "saved 80 euro", "took 30 euro out"],
            "50 of",
        ),
        (["我的目标是这个月存2000块", "存了300", "从存的钱里拿出来100"], "200/2000"),
        (["my goal is to save 500 euro by christmas", "spent 80 euro on shoes"], "500 euro"),
        (
            ["I want to practise 10 hours this month", "40 minutes", "an hour and a half"],
            "2.167 of",
        ),
        (["I want to practise 10 hours this month", "2 hours stuck in traffic"], "10 hours"),
    ],
)
async def test_total_tells_what_is_done(say: Say, told: list[str], state: str) -> None:
    """Less what was taken out again, and nothing else of the same unit."""
    for each in told:
        await say(each)
    reply = (await say("/goals")).reply.text
    assert state in reply
    if " of" not in state and "/" not in state:
        assert " of " not in reply


@pytest.mark.parametrize(
    "text",
    [
        "I want to only spend 200 euros this month",
        "I want to buy a phone for 400 dollars this month",
        "Quiero gastar solo 200 euros este mes",
        "Je veux ne dépenser que 200 euros ce mois",
        "Je veux trouver un appartement à 900 euros cette année",
        "我想这个月只花2000块",
        "I want to send my brother 200 euros this week",
        "/goal help",
    ],
)
async def test_money_that_is_spent_and_help_set_no_goal(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """Nothing to add up was named; who wants a goal of it can say so."""
    await say(text)
    async with app.db.begin_read() as tx:
        assert not await list_goals(tx, chat_context.person.id)


async def test_distance_of_somebody_else_is_not_counted(say: Say) -> None:
    """In Chinese, too, where nothing but the subject says whose it is."""
    for each in ("我的目标是今年跑100公里", "我弟弟跑了10公里"):
        await say(each)
    assert "10/100" not in (await say("/goals")).reply.text


@pytest.mark.parametrize(
    ("language", "told", "asked"),
    [
        ("en", "25 done today", "how many squats have I done so far"),
        ("de", "25 gemacht", "wie viele kniebeugen hab ich bis jetzt"),
        ("es", "25 hechas", "cuántas flexiones llevo"),
        ("fr", "25 pompes", "j'en suis à combien de pompes"),
        ("zh", "做了25个", "深蹲做了多少了"),
    ],
)
async def test_question_is_answered_with_the_total(
    say: Say, language: str, told: str, asked: str
) -> None:
    """Also without a question mark."""
    for each in (GOALS[language], told):
        await say(each)
    reply = (await say(asked)).reply.text
    assert "25" in reply
    assert "150" in reply


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("I want to save 400 euros this month", "I saved 99999999999999999999999999 euros today"),
        ("I want to save 400 euros this month", "I saved -20 euros"),
        ("I want to save 400 euros this month", "I saved -€20"),
        ("我想这个月存400欧元", "我存了-20欧元"),
    ],
)
async def test_amount_that_cannot_be_counts_for_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """Neither one below zero nor one that no column holds."""
    await say(goal)
    await say(told)

    assert await count(app, chat_context) == []


@pytest.mark.parametrize(
    ("goal", "earlier", "told", "steps"),
    [
        ("I want to save 400 euros this month", "I saved 100 euros", "I saved - 20 euros", [100]),
        ("I want to save 400 euros this month", "I saved 100 euros", "minus 20", [100]),
        ("I want to save 400 euros this month", "I saved 100 euros", "minus twenty euros", [100]),
        (
            "I want to save 400 euros this month",
            "I saved 100 euros",
            "I saved -20 euros",
            [100, -20],
        ),
        ("I want to save 400 euros this month", "I saved 100 euros", "I saved -€20", [100, -20]),
        (
            "I want to save 400 euros this month",
            "I saved 100 euros",
            "I saved -150 euros",
            [100, -100],
        ),
        ("I want to do 150 squats this week", "40 squats", "-10 squats", [40, -10]),
        (
            "Ich will diesen Monat 400 Euro sparen",
            "Ich habe 100 Euro gespart",
            "Ich habe -20 Euro gespart",
            [100, -20],
        ),
        (
            "Ich will diesen Monat 400 Euro sparen",
            "Ich habe 100 Euro gespart",
            "Ich habe minus 20 Euro gespart",
            [100],
        ),
        ("Quiero ahorrar 400 euros este mes", "He ahorrado 100 euros", "menos 20 euros", [100]),
        (
            "Je veux économiser 400 euros ce mois-ci",
            "J'ai économisé 100 euros",
            "J'ai économisé - 20 euros",
            [100],
        ),
        ("我想这个月存400欧元", "我存了100欧元", "我存了负20欧元", [100]),
        ("我想这个月存400欧元", "我存了100欧元", "我存了-20欧元", [100, -20]),
    ],
)
async def test_amount_below_zero_is_taken_off_or_left_alone(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    goal: str,
    earlier: str,
    told: str,
    steps: list[int],
) -> None:
    """Behind a sign that is joined to it; behind a dash or a word it may be meant otherwise."""
    for each in (goal, earlier, told):
        await say(each)

    assert await count(app, chat_context) == steps


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("I saved -20 euros", "en", [-20]),
        ("I saved - 20 euros", "en", []),
        ("minus 20", "en", []),
        ("ran 8 - 10 km", "en", [8, 10]),
        ("He ahorrado al menos 20 euros", "es", [20]),
        ("menos 20 euros", "es", []),
        ("J'ai économisé au moins 20 euros", "fr", [20]),
        ("moins 20 euros", "fr", []),
    ],
)
def test_sign_of_an_amount_is_read(text: str, language: str, values: list[float]) -> None:
    """Joined to its number only; "at least" and "from … to" are none."""
    spelled = spell_digits(text, language)
    read = read_amounts(spelled, split_amount_tokens(spelled, language), language)
    assert [each.value for each in read] == values


def test_amount_is_only_what_can_be_stored() -> None:
    """Also where floating point ends."""
    total = read_total("save 400 euros this month", "en", has_day=False)
    assert total is not None
    assert total.to_amount(20, "EUR") == 20_000
    assert [total.to_amount(each, "EUR") for each in (1e26, float("inf"))] == [0, 0]
