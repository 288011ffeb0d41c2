"""Telegram as any platform: parts are sent, refusals say whether the place is closed or moved."""

import asyncio
import random
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from oldfriend.channels.channel import ButtonPress, ChannelEvent
from oldfriend.channels.telegram import http_client
from oldfriend.channels.telegram.telegram_channel import TelegramChannel, TelegramDraftPreview
from oldfriend.domain.errors import (
    ChatAddressChanged,
    ChatBlocked,
    DeliveryFailed,
    DeliveryUncertain,
    InvalidInput,
    NotFound,
)
from tests.conftest import Sizes
from tests.fakes.platform import MemoryCursors
from tests.fakes.telegram import Fault, World, running_telegram
from tests.processes import until

ANA, BEN, FAMILY = 7, 8, -100


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
async def telegram(world: World) -> AsyncIterator[TelegramChannel]:
    """Our bot on it."""
    telegram = TelegramChannel(world.token, base_url=world.url)
    yield telegram
    await telegram.close()


async def test_sent_part_returns_its_external_id(world: World, telegram: TelegramChannel) -> None:
    """By the key under which a reply to it comes back."""
    key = await telegram.send(str(ANA), "**hi**", send_key="x", is_markdown=True)

    assert key == f"message:{ANA}:{world.shown[0].id}"
    assert await telegram.register() == "oldfriend_bot"


@pytest.mark.slow
async def test_concurrent_sends_with_the_same_key_send_once(
    world: World, telegram: TelegramChannel
) -> None:
    """Somebody slow has lost a chat to another one here: in line, in the air, or gone from it."""
    address = str(ANA)
    world.scripted["sendMessage"] += [Fault(status=200, delay_s=0.2)] * 3
    async with asyncio.TaskGroup() as both:
        both.create_task(telegram.send(str(BEN), "first", send_key="other"))
        await asyncio.sleep(0.05)
        slow = both.create_task(telegram.send(address, "hi", send_key="x"))
        quick = both.create_task(telegram.send(address, "hi", send_key="x"))
    async with asyncio.TaskGroup() as both:
        gone = both.create_task(telegram.send(address, "ho", send_key="y"))
        following = both.create_task(telegram.send(address, "ho", send_key="y"))
        await asyncio.sleep(0.1)
        gone.cancel()

    assert world.texts(ANA) == ["hi", "ho"]
    assert slow.result() == quick.result()
    assert following.result() == f"message:{ANA}:{world.shown[-1].id}"


async def test_blocked_moved_or_flooded_chat_raises_a_specific_error(
    world: World, telegram: TelegramChannel
) -> None:
    """Blocked, gone, become a supergroup; a flood says how long to wait."""
    world.blocked.add(ANA)
    with pytest.raises(ChatBlocked):
        await telegram.send(str(ANA), "x", send_key="x")
    with pytest.raises(ChatBlocked):
        await telegram.send("-5", "x", send_key="x")
    world.group(FAMILY, "Family")
    world.migrates(FAMILY, -1001)
    with pytest.raises(ChatAddressChanged) as moved:
        await telegram.send(f"{FAMILY}/3", "x", send_key="x")
    world.scripted["sendMessage"].append(Fault(status=429, retry_after=7, description="Too Many"))
    with pytest.raises(DeliveryFailed) as flood:
        await telegram.send("8", "x", send_key="x")
    with pytest.raises(InvalidInput):
        await telegram.send("nowhere", "x", send_key="x")

    assert moved.value.address == "-1001/3"
    assert flood.value.retry_after_s == 7


async def test_reply_preview_is_shown_as_a_draft_with_typing_first(
    world: World, telegram: TelegramChannel
) -> None:
    """First that it is typed; of a long one its end; half-open marks are no trouble."""
    glimpse = telegram.open_preview(str(ANA), send_key="turn")
    await glimpse.show("")
    await glimpse.show("")
    await glimpse.show("The **sea")
    await glimpse.show("word " * 2_000)

    assert world.actions == [(ANA, "typing")]
    assert world.drafts[ANA][0] == "The **sea"
    assert len(world.drafts[ANA][1]) <= 4_096
    assert world.shown == []


@pytest.mark.parametrize("place", [ANA, FAMILY])
async def test_preview_without_drafts_edits_one_message_into_the_reply(
    world: World, telegram: TelegramChannel, place: int
) -> None:
    """In groups, and on a server that does not know them; it becomes the reply, word for word."""
    world.drafts_are_known = False
    world.group(FAMILY, "Family")
    glimpse = telegram.open_preview(str(place), send_key="turn")
    for text in ("", "The **sea", "The **sea", "The **sea** was"):
        await glimpse.show(text)
    assert glimpse.external_id == f"message:{place}:{world.shown[0].id}"
    goes_on = telegram.open_preview(str(place), send_key="turn", external_id=glimpse.external_id)
    await goes_on.show("The **sea** was calm")
    assert world.texts(place) == ["The sea was calm"]
    is_there = await telegram.edit(
        str(place), glimpse.external_id, "The **sea** was `calm`.", is_markdown=True
    )
    is_the_same = await telegram.edit(
        str(place), glimpse.external_id, "The **sea** was `calm`.", is_markdown=True
    )

    assert (is_there, is_the_same) == (True, True)
    assert world.texts(place) == ["The sea was calm."]
    assert world.actions == [(place, "typing")]
    assert len(world.called("sendMessageDraft")) == (place > 0)
    assert len(world.called("editMessageText")) == 4


async def test_preview_message_is_known_after_a_crash(world: World, tmp_path: Path) -> None:
    """Before anything is shown, also where nobody came to note it but the one who sent it."""
    world.group(FAMILY, "Family")
    died = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    glimpse = died.open_preview(str(FAMILY), send_key="turn")
    await glimpse.show("The sea")
    await died.close()
    after = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    goes_on = after.open_preview(str(FAMILY), send_key="turn")
    another = after.open_preview(str(FAMILY), send_key="another turn")
    await after.close()

    assert goes_on.external_id == glimpse.external_id == f"message:{FAMILY}:{world.shown[0].id}"
    assert another.external_id is None


async def test_preview_of_a_long_reply_edits_only_its_first_part(
    world: World, telegram: TelegramChannel
) -> None:
    """The others follow once it is written."""
    world.drafts_are_known = False
    glimpse = telegram.open_preview(str(ANA), send_key="turn")
    await glimpse.show("The sea")
    await glimpse.show("The sea. " * 1_000)
    await glimpse.show("The sea. " * 1_100)

    assert len(world.shown) == 1
    assert len(world.shown[0].text) <= 4_096
    assert world.shown[0].edits == 1


async def test_edit_of_a_deleted_message_returns_false(
    world: World, telegram: TelegramChannel
) -> None:
    """And a place that is closed stays closed; a flood says how long to wait."""
    assert not await telegram.edit(str(ANA), f"message:{ANA}:99", "x")
    world.scripted["editMessageText"].append(
        Fault(status=429, retry_after=4, description="Too Many Requests: retry after 4")
    )
    with pytest.raises(DeliveryFailed) as flood:
        await telegram.edit(str(ANA), f"message:{ANA}:99", "x")
    world.blocked.add(ANA)
    with pytest.raises(ChatBlocked):
        await telegram.edit(str(ANA), f"message:{ANA}:99", "x")

    assert flood.value.retry_after_s == 4


async def test_spoken_reply_is_sent_as_voice_note_or_falls_back_to_audio_file(
    world: World, telegram: TelegramChannel
) -> None:
    """As a voice note; as a file to whoever takes no voice notes, or where it cannot be one."""
    refused = Fault(status=400, description="Bad Request: VOICE_MESSAGES_FORBIDDEN")
    await telegram.send_audio(str(ANA), b"OggS", is_opus=True, title="Mo", send_key="a")
    world.scripted["sendVoice"].append(refused)
    key = await telegram.send_audio(str(ANA), b"OggS", is_opus=True, title="Mo", send_key="b")
    await telegram.send_audio(str(ANA), b"ID3", is_opus=False, title="Mo", send_key="c")
    world.blocked.add(ANA)
    with pytest.raises(ChatBlocked):
        await telegram.send_audio(str(ANA), b"OggS", is_opus=True, title="Mo", send_key="d")

    assert [each.kind for each in world.shown] == ["voice", "audio", "audio"]
    assert key == f"message:{ANA}:{world.shown[1].id}"


async def test_voice_recording_is_downloaded_and_errors_are_distinguished(
    world: World, telegram: TelegramChannel
) -> None:
    """One that is not to be had is told apart from one that may be had later."""
    world.sends_file(ANA, "voice", b"OggS...")
    assert await telegram.download_audio("file-0") == b"OggS..."
    with pytest.raises(NotFound):
        await telegram.download_audio("file-9")
    world.scripted["getFile"].append(Fault(status=502))
    with pytest.raises(DeliveryFailed):
        await telegram.download_audio("file-0")


@pytest.mark.slow
async def test_cancelled_preview_edit_never_overwrites_the_final_edit(
    world: World, telegram: TelegramChannel
) -> None:
    """Also where nobody waits for it any more: to hang up withdraws nothing."""
    world.group(FAMILY, "Family")
    glimpse = telegram.open_preview(str(FAMILY), send_key="turn")
    await glimpse.show("The")
    assert glimpse.external_id is not None
    slow = iter([0.6, 0.0])
    world.takes_s = lambda method: next(slow, 0.0) if method == "editMessageText" else 0.0
    async with asyncio.TaskGroup() as beside:
        live = beside.create_task(glimpse.show("The sea"))
        await asyncio.sleep(0.2)
        live.cancel()
    await telegram.edit(str(FAMILY), glimpse.external_id, "The sea was calm.")
    await asyncio.sleep(0.7)

    assert world.texts(FAMILY) == ["The sea was calm."]
    assert len(world.called("editMessageText")) == 2


@pytest.mark.slow
async def test_preview_edit_of_a_killed_process_never_overwrites_the_final_edit(
    world: World, tmp_path: Path
) -> None:
    """Whoever goes on knows nothing of what was in the air, and so says the last word twice."""
    world.group(FAMILY, "Family")
    died = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    glimpse = died.open_preview(str(FAMILY), send_key="turn")
    await glimpse.show("The")
    assert glimpse.external_id is not None
    slow = iter([1.0])
    world.takes_s = lambda method: next(slow, 0.0) if method == "editMessageText" else 0.0
    in_the_air = threading.Thread(target=edit_and_die, args=(world, FAMILY, "The sea"))
    in_the_air.start()
    await asyncio.sleep(0.2)
    after = TelegramChannel(world.token, base_url=world.url, folder=tmp_path / "elsewhere")
    await after.edit(str(FAMILY), glimpse.external_id, "The sea was calm.")
    in_the_air.join()

    assert world.texts(FAMILY) == ["The sea was calm."]
    await died.close()
    await after.close()


@pytest.mark.slow
async def test_every_streamed_reply_ends_with_its_final_text_on_slow_telegram(
    world: World, telegram: TelegramChannel, sizes: Sizes
) -> None:
    """Each is shown while it is written, broken off at any moment, and ends with its last word."""
    dice = random.Random(7)
    world.takes_s = lambda method: dice.uniform(0.0, 0.6) if method == "editMessageText" else 0.0
    at_once = asyncio.Semaphore(25)

    async def reply(number: int) -> None:
        group = FAMILY - 1 - number
        world.group(group, "Family")
        async with at_once, asyncio.TaskGroup() as beside:
            glimpse = telegram.open_preview(str(group), send_key=f"turn {number}")
            await glimpse.show("The")
            live = beside.create_task(show_as_it_comes(glimpse))
            await asyncio.sleep(dice.uniform(0.0, 1.0))
            live.cancel()
            assert glimpse.external_id is not None
            assert await telegram.edit(
                str(group), glimpse.external_id, f"The sea was calm {number}."
            )

    async with asyncio.TaskGroup() as replies:
        for number in range(sizes.live_replies):
            replies.create_task(reply(number))
    await asyncio.sleep(1.0)  # for anything that would come after

    shown = {number: world.texts(FAMILY - 1 - number) for number in range(sizes.live_replies)}
    assert shown == {number: [f"The sea was calm {number}."] for number in shown}


async def show_as_it_comes(glimpse: TelegramDraftPreview) -> None:
    """Show a reply word by word, without end."""
    words = ["The"]
    while True:
        words.append("sea")
        await glimpse.show(" ".join(words))


def edit_and_die(world: World, chat: int, text: str) -> None:
    """Edit the last message as a process does that is killed before the answer comes."""
    fields = {"chat_id": chat, "message_id": world.shown[-1].id, "text": text}
    url = f"{world.url}/bot{world.token}/editMessageText"
    with suppress(OSError):
        urllib.request.urlopen(url, urllib.parse.urlencode(fields).encode(), timeout=0.1)
    time.sleep(1.2)


@pytest.mark.slow
async def test_unanswered_send_is_repeated_once_then_uncertain(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been shown both times; somebody who looks there may have it sent again."""
    monkeypatch.setattr(http_client, "CALL_TIMEOUT_S", 0.3)
    world.scripted["sendMessage"].extend([Fault(status=200, delay_s=0.6)] * 2)
    for _ in range(2):
        telegram = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
        with pytest.raises(DeliveryFailed):
            await telegram.send(str(ANA), "The sea", send_key="reply/0")
        await telegram.close()
    after = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    with pytest.raises(DeliveryUncertain):
        await after.send(str(ANA), "The sea", send_key="reply/0")
    assert world.texts(ANA) == ["The sea", "The sea"]

    await after.send(str(ANA), "The sea", send_key="reply/0")  # asked for by hand
    await after.close()

    assert len(world.texts(ANA)) == 3


async def test_send_on_a_broken_connection_is_repeated_once_then_uncertain(
    world: World, telegram: TelegramChannel
) -> None:
    """Nobody knows whether it was read."""
    world.scripted["sendMessage"].extend([Fault(status=0, is_done=True)] * 2)
    for _ in range(2):
        with pytest.raises(DeliveryFailed):
            await telegram.send(str(ANA), "The sea", send_key="reply/0")
    with pytest.raises(DeliveryUncertain):
        await telegram.send(str(ANA), "The sea", send_key="reply/0")

    assert world.texts(ANA) == ["The sea", "The sea"]


@pytest.mark.parametrize(
    "fault",
    [Fault(status=0, is_done=True, is_cut=False), Fault(status=504, is_done=True)],
    ids=["ended", "gateway gave up"],
)
async def test_send_that_was_done_without_an_answer_is_shown_twice_at_most(
    world: World, telegram: TelegramChannel, fault: Fault
) -> None:
    """On a connection that was kept, too: it may have ended after the call was read."""
    busy = Fault(status=429, retry_after=0, description="Too Many Requests: retry after 0")
    world.scripted["sendMessage"].extend([busy, fault] * 3)
    for _ in range(4):
        with pytest.raises(DeliveryFailed):
            await telegram.send(str(ANA), "The sea", send_key="reply/0")
    with pytest.raises(DeliveryUncertain):
        await telegram.send(str(ANA), "The sea", send_key="reply/0")

    assert world.texts(ANA) == ["The sea", "The sea"]


@pytest.mark.slow
async def test_unanswered_preview_counts_as_a_send_attempt_of_the_reply(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would stand there three times: as it was written, and twice as the reply."""
    monkeypatch.setattr(http_client, "CALL_TIMEOUT_S", 0.3)
    world.group(FAMILY, "Family")
    world.scripted["sendMessage"].extend([Fault(status=200, delay_s=0.6)] * 2)
    telegram = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    glimpse = telegram.open_preview(str(FAMILY), send_key="turn")
    with pytest.raises(DeliveryFailed):
        await glimpse.show("The")
    with pytest.raises(DeliveryFailed):
        await telegram.send(str(FAMILY), "The sea", send_key="reply/0", preview_send_key="turn")
    with pytest.raises(DeliveryUncertain):
        await telegram.send(str(FAMILY), "The sea", send_key="reply/0", preview_send_key="turn")
    await telegram.close()

    assert world.texts(FAMILY) == ["The", "The sea"]


async def test_refused_or_unsent_message_may_be_retried_without_limit(
    world: World, telegram: TelegramChannel
) -> None:
    """Then it is known that nobody has seen it."""
    busy = Fault(status=429, retry_after=0, description="Too Many Requests: retry after 0")
    world.scripted["sendMessage"].extend([busy, Fault(status=0), Fault(), busy])
    for _ in range(4):
        with pytest.raises(DeliveryFailed):
            await telegram.send(str(ANA), "The sea", send_key="reply/0")
    nowhere = TelegramChannel(world.token, base_url="http://127.0.0.1:9")
    for _ in range(3):
        with pytest.raises(DeliveryFailed, match="cannot be reached"):
            await nowhere.send(str(ANA), "The sea", send_key="reply/0")
    await nowhere.close()
    await telegram.send(str(ANA), "The sea", send_key="reply/0")

    assert world.texts(ANA) == ["The sea"]


async def test_forged_callback_query_is_acknowledged_and_ignored(
    world: World, telegram: TelegramChannel
) -> None:
    """From a stranger, in another chat, below what is not ours: it is let go of, and no more."""
    world.group(FAMILY, "Family")
    below = {
        "ours": {"message_id": 1, "date": 1, "chat": private(ANA), "text": "Forget everything?"},
        "another chat": {"message_id": 1, "date": 1, "chat": {"id": FAMILY, "type": "group"}},
        "gone": {"message_id": 9, "date": 0, "chat": private(ANA)},
    }
    for query, (who, message, data) in {
        "a stranger": (BEN, below["ours"], "yes"),
        "elsewhere": (ANA, below["another chat"], "/forget everything"),
        "not ours": (ANA, below["gone"], "yes"),
        "nowhere": (BEN, None, "start code"),
        "odd": (ANA, below["ours"], "\x00" * 64),
    }.items():
        pressed = {"id": query, "from": person(who), "data": data, "chat_instance": "1"}
        world.tell({"callback_query": pressed | ({"message": message} if message else {})})
    world.says(ANA, "hello")
    heard: list[ChannelEvent] = []

    async def receive(what: ChannelEvent) -> None:
        heard.append(what)

    async with asyncio.timeout(20), asyncio.TaskGroup() as beside:
        listening = beside.create_task(telegram.listen(receive, MemoryCursors()))
        await asyncio.to_thread(
            until, lambda: bool(heard) and len(world.called("answerCallbackQuery")) == 5
        )
        listening.cancel()

    presses = [each for each in heard if isinstance(each, ButtonPress)]
    assert [getattr(each, "text", None) for each in heard if each not in presses] == ["hello"]
    assert [(each.chat_ref.is_private, each.command) for each in presses] == [
        (False, "/forget everything")  # which is refused where people are known
    ]
    assert {each["callback_query_id"] for each in world.called("answerCallbackQuery")} == {
        "a stranger",
        "elsewhere",
        "not ours",
        "nowhere",
        "odd",
    }
    assert world.shown == []


def person(user: int) -> dict[str, object]:
    """Somebody, as Telegram describes them."""
    return {"id": user, "is_bot": False, "first_name": "Somebody"}


def private(user: int) -> dict[str, object]:
    """The chat that somebody has with the bot."""
    return {"id": user, "type": "private", "first_name": "Somebody"}
