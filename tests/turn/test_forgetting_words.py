"""What somebody asks to forget in plain words is looked for and shown, as by /forget."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import open_local_chat, tells_something
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.memory.message_log import UnloggedMessage, WriteTarget, write_messages
from oldfriend.memory.sessions import ensure_closed_session
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.intent import Addressee, perceive
from tests.chat_fixtures import Say

ASKED = [
    (
        ["my friend Lena lives in Hamburg", "Lena's phone number is 0151 2345678"],
        "forget lenas phone number",
        "phone number",
    ),
    (
        ["i have a dog called Balu", "balu had surgery on monday"],
        "forget everything about balu",
        "balu",
    ),
    (["my friend Lena lives in Hamburg"], "forget my friend Lena", "Lena"),
    (
        ["meine Freundin Lena wohnt in Hamburg", "Lenas Telefonnummer ist 0151 2345678"],
        "vergiss Lenas Telefonnummer",
        "Lenas Telefonnummer",
    ),
    (
        ["mi amiga Lena vive en Cádiz", "el número de teléfono de Lena es el 600 123 456"],
        "olvida el número de teléfono de Lena",
        "número de teléfono de Lena",
    ),
    (
        ["mon amie Lena habite à Lyon", "le numéro de téléphone de Lena est le 06 12 34"],
        "oublie le numéro de téléphone de Lena",
        "numéro de téléphone de Lena",
    ),
    (
        ["我的朋友莉娜住在汉堡", "莉娜的电话号码是12345"],
        "忘掉莉娜的电话号码",
        "莉娜的电话号码",
    ),
    (
        ["my trip to Rome was nice", "my passport is in the drawer"],
        "forget my trip this summer please",
        "my trip",
    ),
    (["我的wifi密码是banane", "咖啡店的wifi很快"], "忘记我的wifi密码的事", "wifi密码"),
]


@pytest.mark.parametrize(("told", "asked", "offered"), ASKED)
async def test_words_to_forget_are_offered_as_they_are_kept(
    say: Say, told: list[str], asked: str, offered: str
) -> None:
    """Not all of somebody whose name is among them; in five languages."""
    for text in told:
        await say(text)
    reply = (await say(asked)).reply
    assert CommandMenu.load(reply.language).say["forget_ask"] in reply.text
    assert [each for each in told if each in reply.text] == [
        each for each in told if offered.casefold() in each.casefold()
    ]


ORDERS = [
    ("Lena lives in Rome", "Please forget everything I ever told you about Lena"),
    ("Lena lives in Rome", "Delete all memories of Lena"),
    ("Lena lives in Rome", "Forget Lena completely"),
    ("Lena lives in Rome", "Forget Lena for good"),
    ("Lena lives in Rome", "Forget my ex Lena"),
    ("Lena lives in Rome", "Forget Lena and Tom"),
    ("Lena lives in Rome", "Forget everything about Lena Fischer"),
    ("Tom lives in Rome", "Forget my fight with Tom"),
    ("The garage door is broken", "Forget what I told you about the garage"),
    ("Lena wohnt in Rom", "Vergiss bitte alles, was ich dir über Lena erzählt habe"),
    ("Lena wohnt in Rom", "Lösch alles, was du über Lena weißt"),
    ("Lena wohnt in Rom", "Vergiss Lena komplett"),
    ("Das Tor der Garage ist kaputt", "Lösche den Eintrag zur Garage"),
    ("Das Tor der Garage ist kaputt", "Vergiss die Sache mit der Garage"),
    ("Lena vive en Roma", "Olvida todo lo que te he contado de Lena"),
    ("Lena vive en Roma", "Borra todo lo que sabes de Lena"),
    ("La puerta del garaje está rota", "Borra la nota sobre el garaje"),
    ("Lena habite à Rome", "Efface tout ce que tu sais sur Lena"),
    ("Lena habite à Rome", "Oublie complètement Lena"),
    ("小李住在北京", "忘掉关于小李的一切"),
    ("小李住在北京", "忘掉小李的所有事"),
    ("小李住在北京", "把关于小李的都删掉"),
]


@pytest.mark.parametrize(("told", "asked"), ORDERS)
async def test_plain_order_to_forget_is_offered(say: Say, told: str, asked: str) -> None:
    """Whatever else it says; only what is somebody's must have been told of them."""
    await say(told)
    reply = (await say(asked)).reply
    assert CommandMenu.load(reply.language).say["forget_ask"] in reply.text
    assert told in reply.text


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (["Lena lives in Rome", "Tom has a boat", "I like tea"], "Forget Lena and Tom"),
        (["Lena wohnt in Rom", "Tom hat ein Boot", "Ich mag Tee"], "Vergiss Lena und Tom"),
        (["Lena vive en Roma", "Tom tiene un barco", "Me gusta el té"], "Olvida a Lena y a Tom"),
        (["Lena habite à Rome", "Tom a un bateau", "J'aime le thé"], "Oublie Lena et Tom"),
        (["小李住在北京", "小王有一条船", "我喜欢茶"], "忘掉小李和小王"),
    ],
)
async def test_names_that_are_joined_are_offered_together(
    say: Say, told: list[str], asked: str
) -> None:
    """Both, and nothing else; and the yes is for both."""
    for text in told:
        await say(text)
    offered = (await say(asked)).reply.text
    done = await say("yes")
    assert [each in offered for each in told] == [True, True, False]
    assert [each["ending"] for each in done.receipt.details["tools"]] == ["done"]


@pytest.mark.parametrize(
    ("told", "asked", "offered"),
    [
        (
            ["my brother Ben lives in Rome", "I like ice from Ben and Jerry's"],
            "forget Ben and Jerry's",
            [False, True],
        ),
        (
            ["mein Bruder Ben wohnt in Rom", "das Eis von Ben und Jerry ist gut"],
            "Vergiss Ben und Jerry",
            [False, True],
        ),
        (
            ["Lena lives in Rome", "Tom has a boat", "Lena and Tom came by"],
            "forget Lena and Tom",
            [True, True, True],
        ),
    ],
)
async def test_name_of_joined_words_takes_nothing_of_one_of_them(
    say: Say, told: list[str], asked: str, offered: list[bool]
) -> None:
    """An ice cream is no brother; two friends stay two, though they were told of together."""
    for text in told:
        await say(text)
    reply = (await say(asked)).reply.text
    assert [each in reply for each in told] == offered


@pytest.mark.parametrize(
    ("told", "asked", "unknown"),
    [
        (["Lena lives in Rome", "Tom has a boat"], "Forget Lena and Tom and Zoe", "Zoe"),
        (["Lena lives in Rome"], "Forget Lena and Tom please", "Tom"),
        (["Lena wohnt in Rom"], "Vergiss Lena und Tom", "Tom"),
        (["Lena vive en Roma"], "Olvida a Lena y a Tom", "Tom"),
        (["Lena habite à Rome"], "Oublie Lena et Tom", "Tom"),
        (["小李住在北京"], "忘掉小李和小王", "小王"),
    ],
)
async def test_joined_name_that_nothing_is_kept_of_is_told(
    say: Say, told: list[str], asked: str, unknown: str
) -> None:
    """Beside what is offered of the others."""
    for text in told:
        await say(text)
    reply = (await say(asked)).reply
    phrases = CommandMenu.load(reply.language).say
    assert phrases["forget_none"].format(name=unknown) in reply.text
    assert phrases["forget_ask"] in reply.text
    assert [each in reply.text for each in told] == [True] * len(told)


async def test_thanks_behind_a_name_is_no_other_name(say: Say) -> None:
    """Nothing is said of it."""
    await say("Lena lives in Rome")
    reply = (await say("forget Lena, thanks")).reply
    phrases = CommandMenu.load(reply.language).say
    assert phrases["forget_none"].partition("{")[0] not in reply.text


async def test_joined_name_is_not_offered_for_one_thing_of_another(say: Say) -> None:
    """A dinner with Tom is not all of Tom."""
    for text in ["dinner with Lena was nice", "Tom has a boat"]:
        await say(text)
    assert "boat" not in (await say("forget the dinner with Lena and Tom")).reply.text


async def test_words_told_long_ago_are_offered(say: Say, app: AppContext, clock) -> None:
    """However much was said since: not all of somebody whose name is among them."""
    for text in ["my friend Lena lives in Hamburg", "Lena's phone number is 0151 2345678"]:
        await say(text)
    chat_context = await open_local_chat(
        app.db, clock, app.settings, person=None, channel="terminal"
    )
    since = [
        UnloggedMessage(role="person", speaker="x", text="ok", at=clock(), trust="person")
        for _ in range(10_001)
    ]
    async with app.db.begin_write() as tx:
        session = await ensure_closed_session(
            tx,
            chat_context.chat,
            external_id="long",
            opened_at=clock(),
            closed_at=clock(),
            batch_id=None,
        )
        await write_messages(
            tx, WriteTarget(chat=chat_context.chat, session=session), since, now=clock()
        )

    reply = (await say("forget lenas phone number")).reply.text
    assert "Lena's phone number is 0151 2345678" in reply
    assert "my friend Lena lives in Hamburg" not in reply


async def test_name_that_only_others_said_is_offered(say: Say, app: AppContext, clock) -> None:
    """As in a chat that was imported; with a please, and in another language than the talk."""
    chat_context = await open_local_chat(
        app.db, clock, app.settings, person=None, channel="terminal"
    )
    text = "meine Schwester Anke kriegt im Juni ihr Baby"
    heard = UnloggedMessage(role="other", speaker="Tobi", text=text, at=clock(), trust="person")
    async with app.db.begin_write() as tx:
        session = await ensure_closed_session(
            tx,
            chat_context.chat,
            external_id="heard",
            opened_at=clock(),
            closed_at=clock(),
            batch_id=None,
        )
        target = WriteTarget(chat=chat_context.chat, session=session)
        await write_messages(tx, target, [heard], now=clock())

    await say("I like tea")
    reply = (await say("vergiss bitte alles über Anke")).reply
    assert CommandMenu.load(reply.language).say["forget_ask"] in reply.text
    assert text in reply.text


async def test_words_that_nothing_holds_are_not_offered(say: Say) -> None:
    """An earlier request to forget them does not keep them either."""
    await say("i like tea")
    await say("forget everything about balu")
    reply = (await say("forget everything about balu")).reply
    assert reply.text == load_phrases(reply.language).phrases["forget"]


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("my friend Lena lives in Hamburg", "forget Lena's phone number"),
        ("my friend Lena lives in Hamburg", "forget the birthday of Lena"),
        ("meine Freundin Lena wohnt in Hamburg", "vergiss Lenas Geburtstag"),
        ("mi amiga Lena vive en Hamburgo", "olvida el cumpleaños de Lena"),
        ("mon amie Lena habite à Hambourg", "oublie l'anniversaire de Lena"),
    ],
)
async def test_words_that_nothing_holds_are_not_all_of_whom_they_name(
    say: Say, told: str, asked: str
) -> None:
    """Who asks for one thing of somebody is not offered everything of them."""
    await say(told)
    reply = (await say(asked)).reply
    assert CommandMenu.load(reply.language).say["forget_ask"] not in reply.text
    assert told not in reply.text


NOT_ORDERED = [
    ("Mein Arzttermin ist am Freitag.", "Vergiss meinen Arzttermin nicht"),
    ("Zelda ist meine Katze.", "Vergiss Zelda bitte nie!"),
    ("Mon vélo est bleu.", "Oublie jamais mon vélo"),
    ("Mon vélo est bleu.", "Oublie surtout pas mon vélo"),
    ("我的钥匙在抽屉里。", "忘了带钥匙"),
    ("我的钥匙在抽屉里。", "忘了我的钥匙"),
    ("I have a lot of work this week.", "forget work, I'm on holiday!"),
    ("I have a lot of work this week.", "Forget work for today!"),
    ("My trip to Paris was nice.", "Forget Paris, let's go to Rome"),
    ("Tengo mucho trabajo.", "Olvida el trabajo, vamos a la playa"),
    ("咖啡店的wifi很快", "忘记我的wifi密码的事"),
    ("我的iPhone是蓝色的", "删除我的iPhone密码"),
    ("2024年我搬家了", "忘掉2024年的一次体检"),
]


@pytest.mark.parametrize(("told", "asked"), NOT_ORDERED)
async def test_no_order_to_forget_something_asks_about_it(say: Say, told: str, asked: str) -> None:
    """A "don't forget", "I forgot", "leave that", or one word among others that are not kept."""
    await say(told)
    reply = (await say(asked)).reply
    assert CommandMenu.load(reply.language).say["forget_ask"] not in reply.text


async def test_not_to_be_forgotten_cancels_no_reminder(say: Say) -> None:
    """A "nicht" at its end denies a German order."""
    await say("Erinnere mich morgen um 9 an den Arzttermin")
    await say("Vergiss den Arzttermin nicht")
    assert "Arzttermin" in (await say("Welche Erinnerungen habe ich?")).reply.text


@pytest.mark.parametrize(
    "asked",
    [
        "forget everything",
        "vergiss alles",
        "olvida todo",
        "olvídalo todo",
        "oublie tout",
        "忘掉一切",
    ],
)
async def test_to_forget_everything_is_not_to_cancel_reminders(say: Say, asked: str) -> None:
    """It is told how all is forgotten, and no reminder is offered to be cancelled."""
    await say("remind me to call mum tomorrow at 10")
    reply = (await say(asked)).reply.text
    assert "/purge" in reply
    assert "mum" not in reply


@pytest.mark.parametrize("told", ["Olvídalo.", "olvidalo", "Quítalo", "Olvídalo, no importa"])
def test_never_mind_in_spanish_is_no_request_to_forget(told: str) -> None:
    """It says what is to be let go of no more than that it does not matter."""
    assert perceive(told, Addressee(name="Oldfriend", languages=("es", None))).intent != "forget"


async def test_words_in_latin_letters_are_not_answered_in_chinese(say: Say) -> None:
    """Not even after talk in Chinese, where their language is not sure."""
    await say("我昨天去了公园，天气很好")
    reply = (await say("olvídalo todo")).reply.text
    assert reply == load_phrases("es").phrases["forget"]


async def test_chinese_words_to_forget_hold_other_words(say: Say) -> None:
    """What was said about something is looked for by its name."""
    await say("我上周去了Porto")
    assert "我上周去了Porto" in (await say("忘记我说的关于Porto的事")).reply.text


@pytest.mark.parametrize(
    "told",
    [
        "忘记告诉你，我妹妹叫小红，住在上海",
        "忘记说我已经搬家到上海",
        "忘记告诉你我的新号码是12345",
        "忘记跟你说我妹妹要结婚",
        "忘了告诉你，我妹妹叫小红",
        "忘记告诉你关于妹妹的事",
        "忘记回老板的消息，他很生气",
    ],
)
def test_what_somebody_forgot_to_tell_is_told_now(told: str) -> None:
    """In Chinese the subject is usually left out, as in a request."""
    addressee = Addressee(name="Oldfriend", languages=("zh", None))
    assert perceive(told, addressee).intent == "statement"
    assert tells_something(told, addressee)


@pytest.mark.parametrize(
    "asked",
    [
        "忘记我说过的话",
        "忘记我跟你说过的话",
        "忘了我说的话",
        "忘记说过的话",
        "忘记我告诉你的号码",
        "忘记你知道的一切",
        "忘记关于妹妹的事",
        "忘记我说的关于Porto的事",
        "请忘记我妹妹的事吧",
    ],
)
def test_chinese_request_to_forget_what_was_told_is_one(asked: str) -> None:
    """Its verb tells of what has been said."""
    addressee = Addressee(name="Oldfriend", languages=("zh", None))
    assert perceive(asked, addressee).intent == "forget"
