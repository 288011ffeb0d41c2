"""Who writes on a platform is who has shown a code, or nobody; what they do is what they meant."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import (
    ChatAvailability,
    ChatMoved,
    ChatRef,
    IncomingMessage,
    MessageDeletion,
    Reaction,
    Sender,
)
from oldfriend.channels.telegram.bot_api import BotIdentity
from oldfriend.channels.telegram.event_mapping import to_channel_event
from oldfriend.channels.telegram.polling import Update, join_albums, try_parse_update
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import Message as Kept
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.account_linking import create_code
from oldfriend.inbound.chat_resolver import ALBUM_WINDOW, resolve_chat
from oldfriend.inbound.receive import handle_event
from oldfriend.inbound.system_replies import SystemReply
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.identities import (
    MAX_CODE_ATTEMPTS,
    MAX_STRANGER_REPEATS,
    LinkCode,
    find_identity,
)
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion, list_people
from oldfriend.proactive.reachable_chats import find_reachable_chat
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.queues.outbox import ReplyPart, find_block_reason, is_set_aside
from oldfriend.queues.queue import list_jobs
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.worker import claim_next_partition
from oldfriend.turn.intent import Addressee
from oldfriend.turn.prompt_builder import build_reply_prompt
from oldfriend.turn.recalled import EMPTY_RECALL
from oldfriend.turn.recent_messages import list_replied_to
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.turn_outcome import Utterance
from tests.clock import FrozenClock

ANA = Sender(address="7", name="Ana", language="es")
BEN = Sender(address="8", name="Ben")


def spot_of(sender: Sender) -> ChatRef:
    """Their chat with the bot."""
    return ChatRef(channel="telegram", address=sender.address, title=sender.name, is_private=True)


class Talk:
    """Somebody on the platform, whose messages are counted."""

    def __init__(self, app: AppContext) -> None:
        """Nothing was said yet."""
        self.app = app
        self.number = 0

    async def says(self, sender: Sender, text: str, **more: Any) -> SystemReply | None:
        """Say something; what is said to it at once."""
        self.number += 1
        said = IncomingMessage(
            sender=sender,
            number=self.number,
            at=self.app.clock(),
            **{
                "chat_ref": spot_of(sender),
                "external_id": f"message:{sender.address}:{self.number}",
                "text": text,
                **more,
            },
        )
        return await handle_event(self.app, said)

    async def is_told(self, sender: Sender, text: str) -> str:
        """The same; the words that are said."""
        courtesy = await self.says(sender, text)
        return "" if courtesy is None else courtesy.text


@pytest.fixture
def talk(app: AppContext) -> Talk:
    """A platform on which nobody is known."""
    return Talk(app)


async def log_of(app: AppContext, name: str | None = None) -> list[Kept]:
    """What is kept of a person."""
    async with app.db.begin_read() as tx:
        people = await list_people(tx)
        whose = [each for each in people if each.name == name or (name is None and each.is_owner)]
        return [m for each in whose for m in await list_messages(tx, each.id)]


async def test_link_code_is_single_use_and_expires(
    app: AppContext, talk: Talk, clock: FrozenClock
) -> None:
    """In the language of the platform, until one is known."""
    _, stale = await create_code(app.db, app.clock, app.settings, None)
    clock.tick(minutes=11)
    assert "No" not in await talk.is_told(ANA, "hola")
    assert "código" in await talk.is_told(ANA, stale)
    _, code = await create_code(app.db, app.clock, app.settings, None)
    assert "Ahora sé quién eres" in await talk.is_told(ANA, f"{code[:3]} {code[3:]}")
    assert "code" in await talk.is_told(BEN, code)
    async with app.db.begin_read() as tx:
        ana = await find_identity(tx, "telegram", ANA.address)
        rows = await tx.rows("SELECT print FROM link_code")

    assert ana is not None
    assert (ana.is_owner, ana.language) == (True, "es")
    assert all(code not in row[0] for row in rows)


async def test_start_command_with_a_link_code_links_the_sender(app: AppContext, talk: Talk) -> None:
    """As a QR code opens it: the platform then writes /start and the code."""
    _, code = await create_code(app.db, app.clock, app.settings, None)

    assert "Ahora sé quién eres" in await talk.is_told(ANA, f"/start {code}")


async def test_zone_command_sets_the_time_zone_and_suggests_near_matches(
    app: AppContext, talk: Talk
) -> None:
    """In one's language; what is no place changes nothing, and what may be meant is told."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    assert f"relojes de {app.settings.zone}" in await talk.is_told(ANA, code)
    assert "Asia/Tokyo, donde ahora son las 07:13" in await talk.is_told(ANA, "/zone tokyo")
    assert "«Madird»" in (near := await talk.is_told(ANA, "/zone@oldfriend_bot Madird"))
    assert "«qqqqq»" in await talk.is_told(ANA, "/zone qqqqq")
    assert "Asia/Tokyo" in await talk.is_told(ANA, "/ZONE")
    assert "Asia/Tokyo" in await talk.is_told(ANA, "/start")
    await talk.says(ANA, "I like tea.")
    assert await talk.says(ANA, "/zone Lisbon", is_own_words=False) is None
    async with app.db.begin_read() as tx:
        ana = await find_identity(tx, "telegram", ANA.address)

    assert "Europe/Madrid" in near
    assert ana is not None
    assert ana.zone == "Asia/Tokyo"
    assert [each.zone for each in await log_of(app)] == ["Asia/Tokyo"] * 2


async def test_link_code_attempts_are_limited(
    app: AppContext, talk: Talk, clock: FrozenClock
) -> None:
    """After five wrong ones none is taken from there for ten minutes; from others they are."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    wrong = "000000" if code != "000000" else "000001"
    told = [await talk.is_told(BEN, wrong) for _ in range(MAX_CODE_ATTEMPTS + 2)]
    assert [bool(each) for each in told] == [True] * MAX_CODE_ATTEMPTS + [False] * 2
    assert await talk.is_told(BEN, code) == ""
    async with app.db.begin_read() as tx:
        assert len(await tx.rows("SELECT 1 FROM link_attempt")) == MAX_CODE_ATTEMPTS
    assert "Ahora" in await talk.is_told(ANA, code)
    clock.tick(minutes=11)
    _, code = await create_code(app.db, app.clock, app.settings, "Ben")

    assert "Now I know" in await talk.is_told(BEN, code)


async def test_many_strangers_at_once_have_no_more_attempts_than_one_after_the_other(
    app: AppContext, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is written before it is compared; who is known is not locked out by strangers."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    _, code = await create_code(app.db, app.clock, app.settings, "Nora")
    compared: list[str] = []

    def compare(_: LinkCode, digits: str) -> bool:
        compared.append(digits)
        return digits == code

    monkeypatch.setattr(LinkCode, "matches", compare)
    wrong = "000000" if code != "000000" else "000001"
    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(talk.says(BEN, wrong))
    from_one = len(compared)
    monkeypatch.setattr("oldfriend.memory.identities.MAX_STRANGER_ADDRESSES", 20)
    for number in range(100, 125):
        for _ in range(MAX_CODE_ATTEMPTS):
            await talk.says(Sender(address=f"{number}", name="Eve"), wrong)

    assert from_one == MAX_CODE_ATTEMPTS
    assert len(compared) == 20 + MAX_STRANGER_REPEATS
    assert await talk.is_told(ANA, f"/link {wrong}") != ""
    assert len(compared) == 20 + MAX_STRANGER_REPEATS + 1
    assert await talk.is_told(Sender(address="99", name="Nora"), code) == ""


async def test_a_few_addresses_that_guess_keep_no_newcomer_out(
    app: AppContext, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each unknown address has a first attempt, whatever others did."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    monkeypatch.setattr(LinkCode, "matches", lambda _, digits: digits == code)
    wrong = "000000" if code != "000000" else "000001"
    for number in range(12):
        for _ in range(MAX_CODE_ATTEMPTS):
            await talk.says(Sender(address=f"1{number}", name="Eve"), wrong)

    assert "Ahora" in await talk.is_told(ANA, code)


async def test_command_with_a_code_is_never_kept_as_talk(app: AppContext, talk: Talk) -> None:
    """However it is typed, and whatever it gives."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    _, code = await create_code(app.db, app.clock, app.settings, None)
    texts = ("/link  12 34 5", "/link me", "/join", "/join please", " /LINK@bot 1", "/link\n9")
    told = [await talk.is_told(ANA, each) for each in texts[:4]]
    told += [await talk.is_told(ANA, each) for each in texts[4:]]
    await talk.says(ANA, "tea")
    first = (await log_of(app))[0]
    await talk.says(ANA, f"/link {code}", is_edit=True, external_id=first.external_id)

    assert all("no me sirve" in each for each in told[:5])
    assert [each.text for each in await log_of(app)] == ["tea"]
    assert "Ahora" in await talk.is_told(BEN, f"/link  {code} please")


async def test_unlinking_an_allowed_address_tells_what_comes_next(
    app: AppContext, talk: Talk
) -> None:
    """There, and not only in the terminal: the next message is that of somebody new."""
    telegram = replace(app.settings.channels["telegram"], allowed=(BEN.address,))
    channels = {**app.settings.channels, "telegram": telegram}
    talk.app = replace(app, settings=replace(app.settings, channels=channels))
    await talk.says(BEN, "I like tea.")
    told = await talk.is_told(BEN, "/unlink")
    await talk.says(BEN, "I like coffee.")

    assert "somebody new" in told
    async with app.db.begin_read() as tx:
        assert len([each for each in await list_people(tx) if not each.is_owner]) == 2


async def test_nothing_is_sent_to_an_address_that_was_unlinked(app: AppContext, talk: Talk) -> None:
    """Whoever is behind it may be another by now; what comes by itself goes elsewhere."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "I like tea.")
    async with app.db.begin_read() as tx:
        ana = await find_identity(tx, "telegram", ANA.address)
    assert ana is not None
    line = await resolve_chat(app.db, app.clock, ana, spot_of(ANA))
    part = ReplyPart(
        channel="telegram", address=ANA.address, reply=MessageId("r"), ordinal=0, text="pills"
    )
    async with app.db.begin_read() as tx:
        before = await is_set_aside(tx, ana.id, line.chat.id, part)
    await talk.says(ANA, "/unlink")
    async with app.db.begin_read() as tx:
        after = await is_set_aside(tx, ana.id, line.chat.id, part)
        chosen = await find_reachable_chat(tx, ana.id, line.chat.id, now=app.clock())

    assert (before, after) == (False, True)
    assert chosen is None or chosen.chat.address not in {ANA.address, chosen.chat.id}


async def test_six_digit_message_of_a_known_person_is_stored_as_a_message(
    app: AppContext, talk: Talk
) -> None:
    """It is talk, whether or not there is a code."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "123456")
    await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, "654321")

    assert [each.text for each in await log_of(app)] == ["123456", "654321"]


async def test_link_code_of_an_identity_with_messages_waits_for_a_yes(
    app: AppContext, talk: Talk
) -> None:
    """Who has none is linked, and is nobody else any more."""
    allowed = TelegramSettings(allowed=("7", "8"))
    talk.app = app = replace(app, settings=replace(app.settings, channels={"telegram": allowed}))
    await talk.says(ANA, "/start")
    await talk.says(BEN, "I like tea.")
    _, code = await create_code(app.db, app.clock, app.settings, "Nora")
    assert f"/join {code}" in await talk.is_told(BEN, code)
    assert "Ahora" in await talk.is_told(ANA, code)
    async with app.db.begin_read() as tx:
        people = [each.name for each in await list_people(tx)]

    assert people == ["owner", "Ben", "Nora"]


async def test_same_display_name_does_not_link_to_an_existing_person(
    app: AppContext, talk: Talk
) -> None:
    """On a platform people call themselves what they like."""
    _, code = await create_code(app.db, app.clock, app.settings, "Nora")
    await talk.says(ANA, code)
    allowed = TelegramSettings(allowed=("8",))
    talk.app = replace(app, settings=replace(app.settings, channels={"telegram": allowed}))
    await talk.says(replace(BEN, name="Nora"), "who am I?")
    async with app.db.begin_read() as tx:
        people = [each.name for each in await list_people(tx)]

    assert people == ["owner", "Nora", "Nora (telegram 8)"]


async def test_messages_of_strangers_are_counted_but_not_stored(
    app: AppContext, talk: Talk, clock: FrozenClock
) -> None:
    """They are told once a day."""
    told = [await talk.is_told(BEN, f"secret {number}") for number in range(3)]
    clock.tick(minutes=25 * 60)
    told.append(await talk.is_told(BEN, "secret again"))
    async with app.db.begin_read() as tx:
        tables = [table.name for table in await tx.list_tables()]
        held = [str(row) for name in tables for row in await tx.rows(f"SELECT * FROM {name}")]

    assert [bool(each) for each in told] == [True, False, False, True]
    assert not any("secret" in row for row in held)


async def test_duplicate_message_or_edit_is_stored_once(app: AppContext, talk: Talk) -> None:
    """Also as an edit that says the same."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    for _ in range(2):
        await talk.says(ANA, "I like tea.", external_id="message:7:50")
    for _ in range(2):
        await talk.says(ANA, "I like coffee.", external_id="message:7:50", is_edit=True)
    await talk.says(ANA, "never heard of", external_id="message:7:51", is_edit=True)
    async with app.db.begin_read() as tx:
        versions = await tx.rows("SELECT version, text FROM message ORDER BY version")

    assert versions == [(1, "I like tea."), (2, "I like coffee.")]


async def test_forwarded_message_has_outside_trust_and_reaction_gets_no_reply(
    app: AppContext, talk: Talk
) -> None:
    """A reaction is kept and not answered; a reply knows to what."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "I like tea.", external_id="message:7:60")
    await talk.says(ANA, "Tea kills.", is_own_words=False, details={"forwarded_from": "Bo"})
    await talk.says(ANA, "Is that so?", replies_to="message:7:60")
    spot, at = spot_of(ANA), app.clock()
    reaction = Reaction(
        chat_ref=spot,
        sender=ANA,
        external_id="update:9",
        target_external_id="message:7:60",
        at=at,
        emoji="+",
    )
    await handle_event(app, reaction)
    await handle_event(app, reaction)
    tea, killing, asking, plus = await log_of(app)
    async with app.db.begin_read() as tx:
        letters = await list_jobs(tx, is_dead_letter=False)

    assert (killing.trust, killing.details) == ("outside", {"forwarded_from": "Bo"})
    assert asking.details == {"replies_to": tea.id}
    assert (plus.text, plus.turn, plus.details) == ("[+]", None, {"reacts_to": tea.id})
    assert len([each for each in letters if each.queue == "inbox"]) == 3


async def test_quoted_part_of_a_replied_message_is_shown_in_the_prompt(
    app: AppContext, talk: Talk
) -> None:
    """By their place only: they go with their message. Others' words come with the reply."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "I like tea, and rain.", external_id="message:7:60")
    await talk.says(ANA, "Do I?", replies_to="message:7:60", quoted_text="rain", quoted_from="Ana")
    await talk.says(ANA, "Or this?", quoted_text="Tea kills.", quoted_from="Uncle Bo")
    tea, asking, other = await log_of(app)
    async with app.db.begin_read() as tx:
        owner = await find_identity(tx, "telegram", ANA.address)
        companion = await get_companion(tx)
        assert owner is not None
        hearer = Addressee(name="Oldfriend", languages=("en",))
        said = Utterance(
            message=asking,
            person=owner,
            companion=companion,
            addressee=hearer,
            is_first_in_chat=False,
        )
        (picked,) = await list_replied_to(tx, said)
    shown = build_reply_prompt(
        replace(said, message=other),
        ReplyContext(recall_result=EMPTY_RECALL),
        get_reply_prompt(),
        noted_text=None,
        tools=(),
        budget=BUDGETS["normal"],
    ).request.call_instructions

    assert asking.details == {"replies_to": tea.id, "picked": "1:16:20"}
    assert picked.text == "rain"
    assert "; the last message replies to this; class outside]" in shown
    assert "class outside] Tea kills." in shown


async def test_photo_is_stored_with_a_notice_and_a_later_caption_is_answered(
    app: AppContext, talk: Talk
) -> None:
    """Words that are put below it later are answered."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    told = await talk.says(ANA, "[photo]", is_readable=False, external_id="message:7:70")
    assert told is not None
    assert "imágenes" in told.text
    await talk.says(ANA, "This is Miso.", is_edit=True, external_id="message:7:70")

    assert [(m.text, m.turn is None) for m in await log_of(app)] == [
        ("[photo]", True),
        ("This is Miso.", False),
    ]


async def test_picture_with_a_caption_is_said_not_to_be_seen(app: AppContext, talk: Talk) -> None:
    """The caption is kept and answered all the same; forwarded ones need no remark."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    photo = {"media": "photo"}
    told = await talk.says(ANA, "the boat in the yard", details=photo)
    forwarded_photo = await talk.says(ANA, "a cat", details=photo, is_own_words=False)
    spoken = await talk.says(ANA, "I like tea.")

    assert told is not None
    assert "No puedo mirar" in told.text
    assert (forwarded_photo, spoken) == (None, None)
    assert [m.turn is None for m in await log_of(app)] == [False, False, False]


async def test_album_pieces_are_joined_into_one_message_without_duplicates(
    app: AppContext, talk: Talk
) -> None:
    """Whoever was there when its first piece came; a piece that comes again adds nothing."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    told = [
        await talk.says(ANA, text, is_readable=text != "[photo]", album_id="x")
        for text in (
            "[photo]",
            "Us in Faro,\nat last.",
            "And Miso.",
            "Us in Faro,\nat last.",
            "[photo]",
        )
    ]
    await talk.says(ANA, "And another.", album_id="y")
    await talk.says(ANA, "[photo]", is_readable=False, album_id="y")

    assert [each is not None for each in told] == [True, False, False, False, False]
    assert [m.text for m in await log_of(app)] == [
        "[photo]",
        "Us in Faro,\nat last.\nAnd Miso.",
        "And another.",
    ]


def forwarded(number: int, caption: str) -> Update:
    """A piece of an album that Ana passes on, as Telegram tells of it."""
    message: dict[str, Any] = {
        "message_id": number,
        "date": 1_700_000_000,
        "chat": {"id": 7, "type": "private"},
        "from": {"id": 7, "first_name": "Ana"},
        "photo": [{"file_id": "a"}],
        "media_group_id": "x",
        "caption": caption,
        "forward_origin": {"type": "hidden_user", "sender_user_name": "Ben"},
    }
    return try_parse_update({"update_id": number, "message": message})


@pytest.mark.parametrize("is_polled", [True, False], ids=["polled", "by webhook"])
@pytest.mark.parametrize(
    "captions",
    [
        ("", "I am allergic to nuts."),
        ("I am allergic to nuts.", ""),
        ("I am", "", "allergic to nuts."),
    ],
)
async def test_forwarded_album_has_outside_trust_in_all_pieces(
    app: AppContext, talk: Talk, captions: tuple[str, ...], *, is_polled: bool
) -> None:
    """Whichever of its pieces has the words, and however they come; they are answered."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    pieces = [forwarded(number, caption) for number, caption in enumerate(captions, start=70)]
    for each in join_albums(pieces) if is_polled else pieces:
        what = to_channel_event(each, BotIdentity(id=1, name="Oldfriend", username="oldfriend_bot"))
        assert what is not None
        await handle_event(app, what)
    log = await log_of(app)

    assert " ".join(log[-1].text.split()) == "I am allergic to nuts."
    assert log[-1].turn is not None
    assert {m.trust for m in log} == {"outside"}


@pytest.mark.parametrize("is_forgotten", [True, False], ids=["forgotten", "long ago"])
async def test_late_album_caption_is_appended_if_the_first_piece_is_gone(
    app: AppContext, talk: Talk, *, is_forgotten: bool
) -> None:
    """Those that came before are not lost to those that come late."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "[photo]", is_readable=False, album_id="x")
    first = (await log_of(app))[0]
    await talk.says(ANA, "Us in Faro.", album_id="x")
    if is_forgotten:
        await forget(app, first.person, DeletionRequest(ids=(first.id,)))
    else:
        for _ in range(ALBUM_WINDOW - 1):
            await talk.says(ANA, "And then?")
    await talk.says(ANA, "And Miso.", album_id="x")

    texts = [m.text for m in await log_of(app)]
    assert "Us in Faro.\nAnd Miso." in texts
    assert "And Miso." not in texts


async def test_photo_caption_edits_are_versioned_without_duplicates(
    app: AppContext, talk: Talk
) -> None:
    """As often as they like; what comes again is no further version."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "[photo]", is_readable=False, external_id="message:7:70")
    for words in ("This is Miso.", "This is Mimi.", "This is Mimi.", "That was Mimi."):
        await talk.says(ANA, words, is_edit=True, external_id="message:7:70")
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT version, text FROM message ORDER BY seq")

    assert rows == [
        (1, "[photo]"),
        (1, "This is Miso."),
        (2, "This is Mimi."),
        (3, "That was Mimi."),
    ]


async def test_message_deleted_on_its_platform_is_forgotten(app: AppContext, talk: Talk) -> None:
    """With its words; what else was said stays, and one that nobody knows is no matter."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "My password is swordfish.", external_id="message:7:80")
    await talk.says(ANA, "I like tea.", external_id="message:7:81")
    for gone in ("message:7:80", "message:7:80", "message:7:99"):
        await handle_event(app, MessageDeletion(chat_ref=spot_of(ANA), external_id=gone))
    while (lease := await claim_next_partition(app, "agenda")) is not None:
        await run_jobs(app, lease, asyncio.Event())
    await talk.says(ANA, "My password is swordfish.", external_id="message:7:80")

    assert [each.text for each in await log_of(app)] == ["I like tea."]


async def test_chat_block_unblock_and_address_change_are_recorded(
    app: AppContext, talk: Talk
) -> None:
    """Whoever writes is there again."""
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await talk.says(ANA, code)
    await talk.says(ANA, "I like tea.")
    await handle_event(app, ChatAvailability(chat_ref=spot_of(ANA), is_available=False))
    async with app.db.begin_read() as tx:
        assert await find_block_reason(tx, "telegram", "7") is not None
    await talk.says(ANA, "I am back.")
    await handle_event(app, ChatMoved(channel="telegram", old_address="7", new_address="77"))
    async with app.db.begin_read() as tx:
        assert await find_block_reason(tx, "telegram", "7") is None
        assert await tx.rows("SELECT address FROM chat") == [("77",)]


async def test_group_notice_is_sent_once_and_only_when_addressed(
    app: AppContext, talk: Talk
) -> None:
    """And only to whoever speaks to it."""
    group = ChatRef(channel="telegram", address="-100", title="Family", is_private=False)
    unasked = await talk.says(ANA, "cake?", chat_ref=group, is_addressed=False)
    asked = await talk.says(ANA, "and you?", chat_ref=group)
    again = await talk.says(BEN, "hello?", chat_ref=group)

    assert (unasked, again) == (None, None)
    assert asked is not None
    assert asked.address == "-100"
