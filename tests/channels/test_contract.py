"""What every channel keeps, whatever its platform: proven on the fake of each."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from oldfriend.channels.channel import (
    BotChannel,
    ButtonPress,
    ChannelEvent,
    HandleEvent,
    IncomingMessage,
    MessageDeletion,
    PressAnswer,
)
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformUnavailable,
    StoreError,
    Undeliverable,
    WindowClosed,
)
from tests.channels.harness import HARNESSES, ChannelHarness, until
from tests.channels.harnesses.carrier import CarrierHarness
from tests.conftest import Sizes
from tests.fakes.platform import MemoryCursors

LONG = "\n\n".join(
    [
        "# A long reply",
        *(f"Paragraph {number} of **many**: " + "word " * 300 for number in range(30)),
        "```python\n" + "\n".join(f"print({number})" for number in range(1500)) + "\n```",
        "The end.",
    ]
)


@pytest.fixture(params=sorted(HARNESSES))
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[ChannelHarness]:
    """Each platform in turn."""
    async with asyncio.timeout(60), HARNESSES[request.param]() as harness:
        yield harness


@pytest.fixture
async def bot(harness: ChannelHarness, tmp_path: Path) -> AsyncIterator[BotChannel]:
    """Our bot there."""
    bot = harness.open(tmp_path)
    yield bot
    await bot.close()


@pytest.fixture
def cursors() -> MemoryCursors:
    """How far it was heard, which outlives the bot."""
    return MemoryCursors()


class Ear:
    """What was heard; it may fail to keep it."""

    def __init__(self, *, failures: int = 0) -> None:
        """Fail so often first."""
        self.events: list[ChannelEvent] = []
        self._failures = failures

    async def __call__(self, event: ChannelEvent) -> PressAnswer | None:
        """Keep an event."""
        await asyncio.sleep(0)
        if self._failures:
            self._failures -= 1
            raise StoreError("The disk is full.")
        self.events.append(event)
        return None

    @property
    def messages(self) -> list[IncomingMessage]:
        """What people said."""
        return [each for each in self.events if isinstance(each, IncomingMessage)]

    def texts(self) -> list[str]:
        """Their words."""
        return [each.text for each in self.messages]


@asynccontextmanager
async def listening(
    harness: ChannelHarness, bot: BotChannel, ear: HandleEvent, cursors: MemoryCursors
) -> AsyncIterator[None]:
    """Listen meanwhile, and again after an outage, as the process does."""

    async def listen() -> None:
        while True:
            try:
                await bot.listen(ear, cursors)
            except (PlatformUnavailable, StoreError):
                await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(listen())
        try:
            await harness.connected()
            yield
        finally:
            task.cancel()


async def test_messages_of_a_chat_come_in_order_with_their_senders(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """Each once, from whom it is, in their own chat."""
    ear = Ear()
    async with listening(harness, bot, ear, cursors):
        ids = [harness.says("ana", f"line {number}") for number in range(5)]
        harness.says("ben", "hello")
        await until(lambda: len(ear.messages) >= 6)

    lines = [each for each in ear.messages if each.chat_ref.address == harness.address("ana")]
    assert [each.text for each in lines] == [f"line {number}" for number in range(5)]
    assert [each.external_id for each in lines] == ids
    assert len({each.sender.address for each in ear.messages}) == 2
    assert {each.chat_ref.channel for each in lines} == {harness.spec.name}
    assert all(each.chat_ref.is_private and each.is_addressed for each in ear.messages)


async def test_redelivered_message_keeps_its_id(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """By which the log knows it; the next one is another."""
    ear = Ear()
    async with listening(harness, bot, ear, cursors):
        first = harness.says("ana", "once")
        before = harness.deliveries
        harness.redeliver()
        assert harness.deliveries > before
        await until(lambda: bool(ear.messages))
        last = harness.says("ana", "then")
        await until(lambda: "then" in ear.texts())

    assert {each.external_id for each in ear.messages} == {first, last}


async def test_harness_that_redelivers_nothing_fails_the_suite(cursors: MemoryCursors) -> None:
    """Else what it leaves out would pass for proven."""

    class Deaf(CarrierHarness):
        def redeliver(self) -> None:
            """Do nothing."""

    harness = Deaf()
    bot = harness.open(Path())
    with pytest.raises(ExceptionGroup) as failed:
        await test_redelivered_message_keeps_its_id(harness, bot, cursors)

    assert failed.group_contains(AssertionError)


async def test_event_that_was_not_kept_comes_again(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """In its place."""
    ear = Ear(failures=2)
    async with listening(harness, bot, ear, cursors):
        harness.says("ana", "one")
        harness.says("ana", "two")
        await until(lambda: len(set(ear.texts())) == 2)

    assert list(dict.fromkeys(ear.texts())) == ["one", "two"]


async def test_what_was_said_while_away_is_caught_up_with(
    harness: ChannelHarness, tmp_path: Path, cursors: MemoryCursors
) -> None:
    """By another process, in order, whatever fails while it reads; nothing new is old."""
    ear = Ear()
    before = harness.open(tmp_path)
    async with listening(harness, before, ear, cursors):
        harness.says("ana", "before")
        await until(lambda: "before" in ear.texts())
    await before.close()
    for number in range(3):
        harness.says("ana", f"away {number}")
    harness.fail_reading()
    bot = harness.open(tmp_path)
    async with listening(harness, bot, ear, cursors):
        await until(lambda: "away 2" in ear.texts())
        harness.says("ana", "back")
        await until(lambda: "back" in ear.texts())
    await bot.close()

    heard = list(dict.fromkeys(each.text for each in ear.messages))
    assert heard == ["before", "away 0", "away 1", "away 2", "back"]


async def test_edits_and_deletions_name_their_message(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """Where the platform tells of them."""
    if not harness.tells_edits:
        pytest.skip("It tells of none.")
    ear = Ear()
    async with listening(harness, bot, ear, cursors):
        said = harness.says("ana", "I like tea.")
        await until(lambda: bool(ear.messages))
        harness.edits("ana", said, "I like coffee.")
        await until(lambda: len(ear.messages) == 2)
        if harness.tells_deletions:
            harness.deletes("ana", said)
            await until(lambda: isinstance(ear.events[-1], MessageDeletion))

    assert [(each.external_id, each.is_edit) for each in ear.messages] == [
        (said, False),
        (said, True),
    ]
    if harness.tells_deletions:
        assert ear.events[-1] == MessageDeletion(
            chat_ref=ear.messages[0].chat_ref, external_id=said
        )


async def test_group_message_tells_whether_it_is_addressed_to_us(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """What is not may not be heard at all."""
    if not harness.spec.capabilities.has_groups:
        pytest.skip("It has no groups.")
    ear = Ear()
    async with listening(harness, bot, ear, cursors):
        harness.says_in_group("ana", "see you tonight", to_us=False)
        harness.says_in_group("ben", "what do you think", to_us=True)
        await until(lambda: any("think" in text for text in ear.texts()))

    addressed = {each.is_addressed for each in ear.messages if "think" in each.text}
    assert addressed == {True}
    assert not any(each.is_addressed for each in ear.messages if "tonight" in each.text)
    assert not any(each.chat_ref.is_private for each in ear.messages)


async def test_sent_part_is_shown_and_a_retried_one_as_often_as_the_platform_can_tell(
    harness: ChannelHarness, bot: BotChannel
) -> None:
    """Once, where it knows keys or can be asked; else twice at most."""
    address, capabilities = harness.address("ana"), harness.spec.capabilities
    await bot.send(address, "first", send_key="m1/0")
    harness.fail("unanswered")
    for _ in range(3):
        found = await bot.was_sent(address, "m2/0")
        if not capabilities.sends_once and found.outcome == "yes":
            assert found.external_id
            break
        try:
            await bot.send(address, "second", send_key="m2/0")
        except DeliveryFailed:
            continue
        break
    await bot.send(address, "third", send_key="m3/0")

    most = 1 if capabilities.sends_once or harness.can_tell else 2
    shown = harness.shown("ana")
    assert (shown[0], shown[-1]) == ("first", "third")
    assert 1 <= shown.count("second") <= most


async def test_refusals_say_whether_another_attempt_helps(
    harness: ChannelHarness, bot: BotChannel
) -> None:
    """Later, never, or never there; and each leaves nothing behind."""
    address = harness.address("ana")
    harness.fail("unreachable")
    with pytest.raises(DeliveryFailed) as unreachable:
        await bot.send(address, "now", send_key="a/0")
    assert isinstance(unreachable.value, OutcomeUnknown) is not harness.proves_unsent
    harness.fail("refused")
    with pytest.raises(Undeliverable) as refused:
        await bot.send(address, "odd", send_key="b/0")
    if harness.has_blocking:
        harness.fail("blocked")
        with pytest.raises(ChatBlocked):
            await bot.send(harness.address("ben"), "there", send_key="c/0")
    if harness.spec.capabilities.reply_window is not None:
        harness.fail("window")
        with pytest.raises(WindowClosed):
            await bot.send(address, "late", send_key="d/0")

    assert not isinstance(refused.value, ChatBlocked)
    await bot.send(address, "now", send_key="a/0")
    assert harness.shown("ana") == ["now"]


async def test_flood_limit_is_waited_for(harness: ChannelHarness, bot: BotChannel) -> None:
    """By the channel, or by whoever is told how long."""
    if not harness.has_flood_limit:
        pytest.skip("It has none.")
    address = harness.address("ana")
    harness.fail("flood")
    try:
        await bot.send(address, "now", send_key="a/0")
    except DeliveryFailed as error:
        assert error.retry_after_s is not None
        assert error.retry_after_s >= 0.5
        await asyncio.sleep(error.retry_after_s)
        await bot.send(address, "now", send_key="a/0")

    assert harness.shown("ana") == ["now"]


async def test_long_reply_is_split_within_the_limit(
    harness: ChannelHarness, bot: BotChannel
) -> None:
    """Every part is taken, splitting it again changes nothing, and no word is lost."""
    limit = harness.spec.capabilities.longest_text
    for is_markdown in (True, False):
        parts = bot.split(LONG, is_markdown=is_markdown)
        assert [each for part in parts for each in bot.split(part, is_markdown=is_markdown)] == [
            *parts
        ]
        for number, part in enumerate(parts):
            await bot.send(
                harness.address("ana"),
                part,
                send_key=f"{is_markdown}/{number}",
                is_markdown=is_markdown,
            )
        shown = harness.shown("ana")[-len(parts) :]
        assert len(parts) > 1 or limit > len(LONG)
        assert all(len(each) <= limit for each in shown)
        assert all(f"print({number})" in "".join(shown) for number in range(1500))
        assert "Paragraph 29" in "".join(shown)


async def test_capabilities_are_what_the_platform_does(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors
) -> None:
    """Edits, buttons, typing and audio."""
    has, address, ear = harness.spec.capabilities, harness.address("ana"), Ear()
    buttons = (Button(label="Done", command="/done x1"),)
    sent = await bot.send(address, "It is *time*.", send_key="a/0", buttons=buttons)
    assert harness.shown("ana") == ["It is *time*."]  # as it stands: it is no Markdown
    assert await bot.edit(address, sent, "It was time.") is has.can_edit
    if has.can_edit:
        assert harness.shown("ana") == ["It was time."]
    if has.has_buttons:
        async with listening(harness, bot, ear, cursors):
            harness.presses("ana", sent, "/done x1")
            await until(lambda: bool(ear.events))
        press = ear.events[0]
        assert isinstance(press, ButtonPress)
        assert (press.command, press.target_external_id) == ("/done x1", sent)
        assert press.chat_ref.address == address
    preview = bot.open_preview(address, send_key="b/0")
    assert (preview is not None) is has.shows_typing
    if preview is not None:
        await preview.show("")
    if has.has_voice:
        assert await bot.send_audio(address, b"OggS", is_opus=True, title="x", send_key="c/0")
    else:
        with pytest.raises(Undeliverable):
            await bot.send_audio(address, b"OggS", is_opus=True, title="x", send_key="c/0")


@pytest.mark.timeout(1_200)
async def test_hostile_events_never_end_listening(
    harness: ChannelHarness, bot: BotChannel, cursors: MemoryCursors, sizes: Sizes
) -> None:
    """What is said after them is heard."""
    chance, ear = Random(7), Ear()
    async with listening(harness, bot, ear, cursors):
        count = 200 if sizes.fuzzed < 10_000 else 10_000
        for _ in range(count):
            harness.garble(chance)
        harness.says("ana", "still there?")
        await until(lambda: "still there?" in ear.texts(), seconds=50 + count / 10)


async def test_no_error_and_no_log_shows_a_secret(
    harness: ChannelHarness, bot: BotChannel, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever fails."""
    said = []
    for trouble in ("unreachable", "refused", "flood", "unanswered"):
        harness.fail(trouble)
        try:
            await bot.send(harness.address("ana"), "hello", send_key=f"{trouble}/0")
        except (DeliveryFailed, Undeliverable) as error:
            said += [str(error), repr(error), repr(error.__cause__)]

    said += [caplog.text, repr(bot)]
    assert not [each for each in harness.secrets for text in said if each in text]
