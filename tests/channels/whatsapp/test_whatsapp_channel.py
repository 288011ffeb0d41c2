"""On WhatsApp people are heard by webhook and answered by the Cloud API, within a day."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path

import pytest

from oldfriend.channels.channel import (
    NOT_SENT,
    ButtonPress,
    ChatAvailability,
    IncomingMessage,
    PressAnswer,
    SentLookup,
    UnreadableUpdate,
)
from oldfriend.channels.whatsapp import whatsapp_channel
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    NotFound,
    OutcomeUnknown,
    PlatformRejected,
    Undeliverable,
    WindowClosed,
)
from tests.channels.whatsapp.conftest import ANA, Ear, NoCursors, listening, make_channel, until
from tests.fakes.whatsapp import NUMBER, Fault, WhatsApp

DAY_S = 24 * 60 * 60.0
OGG = b"OggS\0\2" + b"\0" * 22 + b"OpusHead" + b"\1" * 40


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for a status."""
    monkeypatch.setattr(whatsapp_channel, "STATUS_WAIT_S", 1.0)


async def test_messages_are_heard_once_and_answered(world: WhatsApp) -> None:
    """Told twice and in another order, each is heard once."""
    world.doubles = world.shuffles = True
    async with listening(world) as companion:
        world.says(ANA, "one", name="Ana")
        world.says(ANA, "two")
        await until(lambda: len(world.hooked) >= 4 and len(companion.ear.heard) >= 2)
        sent = await companion.channel.send(ANA, "**Hi** Ana", send_key="r1/0", is_markdown=True)

    first = companion.ear.heard[0]
    assert sorted(companion.ear.texts) == ["one", "two"]
    assert isinstance(first, IncomingMessage)
    assert first.chat_ref.address == first.sender.address == ANA
    assert {each.sender.name for each in companion.ear.heard if isinstance(each, IncomingMessage)}
    assert world.texts(ANA) == ["*Hi* Ana"]
    assert world.shown[0].id == sent


async def test_call_is_confirmed_only_once_it_is_durable(world: WhatsApp) -> None:
    """Until then it is told again."""
    ear = Ear()
    ear.fails = 2
    async with listening(world, ear=ear):
        world.says(ANA, "remember me")
        await until(lambda: world.hooked and world.hooked[-1] == 200)

    assert world.hooked[-3:] == [503, 503, 200]
    assert ear.texts == ["remember me"]


async def test_window_closes_a_day_after_their_last_message(
    world: WhatsApp, tmp_path: Path
) -> None:
    """Without asking WhatsApp, in this process and in the next; a new message opens it."""
    async with listening(world, tmp_path) as companion:
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        world.now = lambda: time.time() + DAY_S
        world.requests.clear()
        other = make_channel(world, tmp_path)
        for channel in (companion.channel, other):
            with pytest.raises(WindowClosed, match="before they write"):
                await channel.send(ANA, "Are you there?", send_key="r1/0")
            with pytest.raises(WindowClosed):
                await channel.send_audio(ANA, OGG, is_opus=True, title="", send_key="r1/1")
        assert world.requests == []
        assert not await companion.channel.ask_to_write(ANA, send_key="r1/0/window")
        world.says(ANA, "back again")
        await until(lambda: len(companion.ear.texts) == 2)
        await other.send(ANA, "Are you there?", send_key="r1/0")
        await other.close()

    assert world.texts(ANA) == ["Are you there?"]


async def test_window_that_whatsapp_takes_for_closed_is_closed(
    world: WhatsApp, tmp_path: Path
) -> None:
    """Also if only WhatsApp knows: by its answer, or later by its webhook."""
    channel = make_channel(world, tmp_path, heard=True)
    with pytest.raises(WindowClosed, match="131047"):
        await channel.send(ANA, "Hello?", send_key="r1/0")
    assert (await channel.was_sent(ANA, "r1/0")) == NOT_SENT
    await channel.close()

    world.fails_later[ANA] = 131047
    async with listening(world, tmp_path) as companion:
        world.says(ANA, "hello", at=time.time() + 60)
        await until(lambda: companion.ear.texts)
        with suppress(WindowClosed):  # the webhook may be faster than the answer
            await companion.channel.send(ANA, "Well?", send_key="r2/0")
        await until(lambda: not world.calls and world.hooked[-2:] == [200, 200])
        with pytest.raises(WindowClosed):
            await companion.channel.send(ANA, "Well?", send_key="r2/1")
        assert (await companion.channel.was_sent(ANA, "r2/0")) == NOT_SENT


async def test_template_asks_them_to_write_once_while_the_window_is_closed(
    world: WhatsApp, tmp_path: Path
) -> None:
    """Once, however often and by whom it is asked for; refused, it is none."""
    async with listening(world, tmp_path, template="good_to_see_you") as companion:
        channel = companion.channel
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        world.now = lambda: time.time() + DAY_S
        assert await channel.ask_to_write(ANA, send_key="r1/0/window")
        other = make_channel(world, tmp_path, template="good_to_see_you")
        assert await other.ask_to_write(ANA, send_key="r2/0/window")
        assert world.texts(ANA) == ["good_to_see_you"]
        world.says(ANA, "tell me")
        await until(lambda: len(companion.ear.texts) == 2)
        world.now = lambda: time.time() + 3 * DAY_S
        assert await other.ask_to_write(ANA, send_key="r3/0/window")
        assert world.texts(ANA) == ["good_to_see_you"] * 2
        await other.close()
        nobody_approved = make_channel(world, template="buy_this")
        assert not await nobody_approved.ask_to_write(ANA, send_key="r4/0/window")
        await nobody_approved.close()


async def test_lost_answer_is_cleared_up_by_the_status(world: WhatsApp, tmp_path: Path) -> None:
    """The webhook tells, with our key, that it was sent; and what failed was not."""
    async with listening(world, tmp_path) as companion:
        channel = companion.channel
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        for fault in (Fault(status=0, is_done=True), Fault(status=502, is_done=True)):
            world.faults.append(fault)
            with pytest.raises(OutcomeUnknown):
                await channel.send(ANA, "You see this.", send_key=f"r1/{fault.status}")
            shown = world.shown[-1].id
            other = make_channel(world, tmp_path)
            found = await other.was_sent(ANA, f"r1/{fault.status}")
            await other.close()
            assert found == SentLookup("yes", shown)
        assert len(world.shown) == 2
        world.faults.append(Fault(status=0))
        with pytest.raises(OutcomeUnknown):
            await channel.send(ANA, "You never see this.", send_key="r2/0")
        assert (await channel.was_sent(ANA, "r2/0")).outcome == "unknown"
        await channel.send(ANA, "You see this now.", send_key="r2/0")
        assert (await channel.was_sent(ANA, "r2/0")).outcome == "yes"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, code=130429), DeliveryFailed),
        (Fault(status=400, code=131056), DeliveryFailed),
        (Fault(status=500, code=131000), DeliveryFailed),
        (Fault(status=401, code=190), DeliveryFailed),
        (Fault(status=400, code=131026), ChatBlocked),
        (Fault(status=400, code=131009), Undeliverable),
        (Fault(status=404), Undeliverable),
        (Fault(status=503), OutcomeUnknown),
    ],
    ids=str,
)
async def test_refusal_is_the_right_error_and_known_to_be_unsent(
    world: WhatsApp, fault: Fault, error: type[Exception]
) -> None:
    """By the number of Meta's error; only without one nobody knows."""
    world.heard_at[ANA] = time.time()
    world.faults.append(fault)
    channel = make_channel(world, heard=True)
    with pytest.raises(error) as raised:
        await channel.send(ANA, "Hello", send_key="r1/0")
    found = await channel.was_sent(ANA, "r1/0")
    await channel.close()

    assert type(raised.value) is error
    assert found.outcome == ("unknown" if error is OutcomeUnknown else "no")
    assert "EAAfake" not in str(raised.value)
    if isinstance(raised.value, DeliveryFailed) and fault.code == 131056:
        assert raised.value.retry_after_s == 6.0


async def test_nothing_was_sent_where_nobody_is_reached() -> None:
    """A connection that was never made is a refusal, not an open question."""
    world = WhatsApp()
    world.url = "http://127.0.0.1:9/v26.0"
    channel = make_channel(world, heard=True)
    with pytest.raises(DeliveryFailed) as raised:
        await channel.send(ANA, "Hello", send_key="r1/0")
    assert type(raised.value) is DeliveryFailed
    assert (await channel.was_sent(ANA, "r1/0")) == NOT_SENT
    await channel.close()


async def test_undelivered_message_closes_the_chat(world: WhatsApp) -> None:
    """Accepted, and later told to reach nobody."""
    world.fails_later[ANA] = 131026
    async with listening(world) as companion:
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        with suppress(ChatBlocked):  # the webhook may be faster than the answer
            await companion.channel.send(ANA, "Hi", send_key="r1/0")
        await until(lambda: len(companion.ear.heard) >= 2)
        diagnosis = await companion.channel.diagnose()

    told = companion.ear.heard[1]
    assert isinstance(told, ChatAvailability)
    assert (told.chat_ref.address, told.is_available) == (ANA, False)
    assert any("131026" in each.text and each.is_problem for each in diagnosis.findings)


async def test_buttons_are_pressed_and_what_came_of_it_is_told(world: WhatsApp) -> None:
    """Few are buttons, more are a list; the one who presses is answered in the chat."""
    few = [Button("Yes", "/yes 1"), Button("No", "/no 1")]
    many = [Button(f"Choice {number}", f"/choose {number}") for number in range(5)]
    async with listening(world) as companion:
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        await companion.channel.send(ANA, "Really?", send_key="r1/0", buttons=few)
        await companion.channel.send(ANA, "Which?", send_key="r2/0", buttons=many)
        companion.ear.answer = PressAnswer(text="That was answered before.", is_used=True)
        world.presses(ANA, world.shown[0])
        world.presses(ANA, world.shown[1], 4)
        await until(lambda: len(world.shown) == 4)

    presses = [each for each in companion.ear.heard if isinstance(each, ButtonPress)]
    assert [each.kind for each in world.shown[:2]] == ["button", "list"]
    assert [each.command for each in presses] == ["/yes 1", "/choose 4"]
    assert [each.target_external_id for each in presses] == [each.id for each in world.shown[:2]]
    assert world.texts(ANA)[2:] == ["That was answered before."] * 2


async def test_voice_notes_go_both_ways(world: WhatsApp) -> None:
    """A recording by its id, with the token; a reply as a voice note, or as a file."""
    async with listening(world) as companion:
        world.tells(ANA, **world.voice(OGG))
        await until(lambda: companion.ear.heard)
        message = companion.ear.heard[0]
        assert isinstance(message, IncomingMessage)
        assert not message.is_readable
        assert message.text == "[voice message]"
        assert await companion.channel.download_audio(message.details["recording"]) == OGG
        await companion.channel.send_audio(ANA, OGG, is_opus=True, title="", send_key="r1/1")
        await companion.channel.send_audio(
            ANA, b"ID3" + b"\0" * 99, is_opus=False, title="", send_key="r2/1"
        )
        with pytest.raises(Undeliverable, match="audio/wav"):
            wav = b"RIFF\0\0\0\0WAVEfmt "
            await companion.channel.send_audio(ANA, wav, is_opus=False, title="", send_key="r3/1")

    assert [(each.is_voice, each.file[:4]) for each in world.shown] == [
        (True, b"OggS"),
        (False, b"ID3\0"),
    ]


@pytest.mark.parametrize("host", ["evil.example", "evilfbsbx.com", "x@lookaside.fbsbx.com:99"])
async def test_token_is_sent_to_no_other_host_for_a_file(world: WhatsApp, host: str) -> None:
    """Nor is a file asked for by anything but its id."""
    world.file_host = host
    world.voice(OGG)
    channel = make_channel(world)
    for media_id in (*world.files, "../me", "1/2", "", "404"):
        with pytest.raises(NotFound):
            await channel.download_audio(media_id)
    await channel.close()

    assert {path for _, path in world.requests} == {*world.files, "404"}


async def test_typing_is_shown_below_the_message_that_is_answered(world: WhatsApp) -> None:
    """And marks it as read, once for a while; nobody else's is."""
    async with listening(world) as companion:
        message = world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        preview = companion.channel.open_preview(ANA, send_key="r1/0")
        assert preview is not None
        await preview.show("")
        await preview.show("A reply that gr")
        assert companion.channel.open_preview("351900000000", send_key="r2/0") is None

    assert world.read == world.typing == [message]


async def test_person_without_a_number_is_heard_and_answered(world: WhatsApp) -> None:
    """By the id that WhatsApp gives to who hides theirs."""
    hidden = "PT.13491208655302741918"
    async with listening(world) as companion:
        world.says(hidden, "hello", name="Ana")
        await until(lambda: companion.ear.texts)
        await companion.channel.send(hidden, "Hi", send_key="r1/0")

    assert world.texts(hidden) == ["Hi"]


async def test_credentials_are_tried_and_never_named(world: WhatsApp) -> None:
    """Token, number and app secret; Meta calling somebody else is a problem."""
    channel = make_channel(world)
    assert await channel.register() == NUMBER
    world.webhook_url = "https://elsewhere.example/hook"
    diagnosis = await channel.diagnose()
    assert [each.is_problem for each in diagnosis.findings] == [False, True]
    assert "elsewhere.example" in diagnosis.findings[1].text
    for fault, words in (
        (Fault(status=401, code=190), "oldfriend connect whatsapp"),
        (Fault(status=400, code=100), "phone number ID"),
    ):
        world.faults.append(fault)
        with pytest.raises(PlatformRejected, match=words) as raised:
            await channel.register()
        assert "EAAfake" not in str(raised.value)
    await channel.close()


async def test_listening_ends_where_the_token_is_not_accepted(world: WhatsApp) -> None:
    """So that it is said in status; while Meta is in trouble it goes on."""
    world.faults.append(Fault(status=401, code=190))
    channel = make_channel(world)
    with pytest.raises(PlatformRejected):
        await asyncio.wait_for(channel.listen(Ear(), NoCursors()), 20)
    await channel.close()


async def test_flood_limit_is_waited_for_and_order_is_kept(world: WhatsApp) -> None:
    """What is refused for now is sent later, once."""
    world.heard_at[ANA] = time.time()
    world.flooded = 1
    channel = make_channel(world, heard=True)
    with pytest.raises(DeliveryFailed) as raised:
        await channel.send(ANA, "one", send_key="r1/0")
    assert raised.value.retry_after_s
    await channel.send(ANA, "one", send_key="r1/0")
    await channel.send(ANA, "two", send_key="r1/1")
    await channel.close()

    assert world.texts(ANA) == ["one", "two"]


async def test_listening_goes_on_whatever_becomes_of_the_answer_to_a_press(
    world: WhatsApp,
) -> None:
    """An answer that cannot be built or sent is reported."""
    done = [Button("Done", "/done x1")]
    async with listening(world) as companion:
        world.says(ANA, "hello")
        await until(lambda: companion.ear.texts)
        await companion.channel.send(ANA, "Well?", send_key="r1/0", buttons=done)
        await companion.channel._api._client.aclose()  # sending raises RuntimeError from now on
        companion.ear.answer = PressAnswer(text="That was answered before.", is_used=True)
        world.presses(ANA, world.shown[0])
        await until(lambda: any(isinstance(e, UnreadableUpdate) for e in companion.ear.heard))
        companion.ear.answer = None
        world.says(ANA, "still there?")
        await until(lambda: len(companion.ear.texts) == 2)
