"""A bot in a Slack hears all that is said once, and says each part once."""

import asyncio
import logging
import time

import pytest

from oldfriend.channels.channel import (
    ButtonPress,
    ChatAvailability,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    PressAnswer,
    Reaction,
)
from oldfriend.channels.slack.slack_channel import SlackChannel
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    NotFound,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    StoreBusy,
    Undeliverable,
)
from tests.channels.harness import until
from tests.channels.slack.conftest import Ear, listening, opened
from tests.fakes.platform import MemoryCursors
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, TICKET, Fault, Slack

ANA, BEN, FAMILY = "U0ANA", "U0BEN", "C0FAMILY"
SECRETS = (BOT_TOKEN, APP_TOKEN, TICKET)


def heard(event: object) -> IncomingMessage:
    """An event, which is a message."""
    assert isinstance(event, IncomingMessage)
    return event


# Hearing.


async def test_what_another_workspace_says_is_not_for_this_bot(
    slack: Slack, channel: SlackChannel
) -> None:
    """The app may be installed there, too; a channel that both share is ours as well."""
    ear = Ear()
    slack.joins(BOT_USER, FAMILY)
    async with listening(channel, slack, ear):
        await ear.hears(1)
        for names in (
            {"team_id": "T0ELSE"},
            {"team_id": "T0ELSE", "authorizations": [{"team_id": "T0HOME"}]},
            {"team_id": "T0HOME"},
        ):
            slack.installed = names
            slack.says(ANA, f"from {names}", channel=FAMILY)
        slack.installed = {"team": {"id": "T0ELSE"}}
        slack.commands(ANA, "help", channel=FAMILY)
        await ear.hears(3)
        assert slack.wait(lambda: not slack.unacknowledged)

    assert [("authorizations" in each, "T0HOME" in each) for each in ear.texts[1:]] == [
        (True, True),
        (False, True),
    ]


async def test_messages_are_heard_in_order_and_acknowledged(
    slack: Slack, channel: SlackChannel
) -> None:
    """Of two people at once, each in order."""
    ear = Ear()
    async with listening(channel, slack, ear):
        for number in range(5):
            slack.says(ANA, f"ana {number}")
            slack.says(BEN, f"ben {number}")
        await ear.hears(10)
        assert slack.wait(lambda: not slack.unacknowledged)

    assert [each for each in ear.texts if "ana" in each] == [f"ana {n}" for n in range(5)]
    assert [each for each in ear.texts if "ben" in each] == [f"ben {n}" for n in range(5)]
    sender = heard(ear.events[ear.texts.index("ana 0")]).sender
    assert (sender.address, sender.name, sender.language) == (ANA, "U0Ana", "en")
    assert heard(ear.events[0]).chat_ref.is_private


async def test_names_that_are_not_told_silence_nobody(slack: Slack, channel: SlackChannel) -> None:
    """Who is asked for too often goes by their id until Slack answers."""
    limited = Fault("users.info", times=99, code="ratelimited", status=429, retry_after_s=30)
    slack.faults = [limited]
    ear = Ear()
    async with listening(channel, slack, ear):
        slack.says(ANA, "one")
        slack.says(BEN, "two")
        await ear.hears(2)

    assert sorted(ear.texts) == ["one", "two"]
    assert {heard(each).sender.name for each in ear.events} == {ANA, BEN}


async def test_event_is_acknowledged_only_after_it_was_handled(
    slack: Slack, channel: SlackChannel
) -> None:
    """What could not be stored comes again, before what came after it."""
    ear, shelf = Ear(failures=[StoreBusy("busy")]), MemoryCursors()
    slack.says(ANA, "one")
    slack.says(ANA, "two")
    with pytest.raises(StoreBusy):
        await asyncio.wait_for(channel.listen(ear, shelf), 10)
    assert not slack.acknowledged

    async with listening(channel, slack, ear, shelf):
        await ear.hears(2)
        assert slack.wait(lambda: not slack.unacknowledged)

    assert ear.texts == ["one", "two"]


async def test_retried_event_is_not_skipped_and_not_heard_twice(
    slack: Slack, channel: SlackChannel
) -> None:
    """The retry may be the only one that comes; a slow handler gets retries of what it has."""
    ear = Ear()
    slack.is_mute = True
    async with listening(channel, slack, ear):
        slack.says(ANA, "only by a retry")
        await asyncio.sleep(0.4)
        slack.is_mute = False
        await ear.hears(1)
        ear.delay_s = 1.0
        slack.says(ANA, "slowly")
        await ear.hears(2)
        assert slack.wait(lambda: not slack.unacknowledged)
        await asyncio.sleep(0.5)

    assert ear.texts == ["only by a retry", "slowly"]


async def test_what_was_said_while_away_is_caught_up_in_order(
    slack: Slack, channel: SlackChannel
) -> None:
    """Messages, replies in a thread, and edits; each once, before what comes after."""
    ear, shelf = Ear(), MemoryCursors()
    slack.joins(BOT_USER, FAMILY)
    async with listening(channel, slack, ear, shelf):
        first = slack.says(ANA, "before")
        parent = slack.says(ANA, f"<@{BOT_USER}> in the family", channel=FAMILY)
        await ear.hears(3)
        assert slack.wait(lambda: not slack.unacknowledged)
    slack.is_losing = True
    slack.edits(first, "before, mended", channel=slack.direct(ANA))
    for number in range(450):
        slack.says(ANA, f"away {number}")
    slack.says(BEN, "in the thread", channel=FAMILY, thread=parent)
    slack.says("U0NEW", "who are you?")
    slack.is_losing = False
    slack.says(ANA, "back")

    count = len(ear.events)
    async with listening(channel, slack, ear, shelf):
        await ear.hears(count + 454)
    mine = [heard(each) for each in ear.events[count:]]
    direct = [each.text for each in mine if each.chat_ref.address == slack.direct(ANA)]
    assert direct == ["before, mended", *(f"away {number}" for number in range(450)), "back"]
    assert mine[[each.text for each in mine].index("before, mended")].is_edit
    replies = [each for each in mine if each.text == "in the thread"]
    assert [each.chat_ref.address for each in replies] == [f"{FAMILY}/{parent}"]
    assert "who are you?" in [each.text for each in mine]

    async with opened(slack) as again, listening(again, slack, Ear(), shelf):
        await asyncio.sleep(0.5)
    assert len(ear.events) == count + 454


@pytest.mark.parametrize("is_first_day", [True, False])
async def test_history_before_the_bot_came_is_not_read(
    slack: Slack, channel: SlackChannel, is_first_day: bool
) -> None:
    """Neither of a channel that it joins, nor of anybody on its first day."""
    slack.is_losing = True
    if is_first_day:
        slack.says(ANA, "years ago")
    slack.rooms[FAMILY] = "family"
    slack.says(ANA, "among us", channel=FAMILY)
    slack.is_losing = False
    ear, shelf = Ear(), MemoryCursors()
    if not is_first_day:
        await shelf.save("began", "1700000000.000000")
    async with listening(channel, slack, ear, shelf):
        slack.says(ANA, "now", channel=FAMILY)
        await ear.hears(1)
        await asyncio.sleep(0.3)

    assert ear.texts == ["now"]


@pytest.mark.parametrize("way", ["disconnect", "drop", "mute"])
async def test_lost_or_stale_socket_is_replaced_without_loss(slack: Slack, way: str) -> None:
    """Slack asks for it, the network breaks, or nothing comes any more though it is open."""
    ear = Ear()
    async with (
        opened(slack, quiet_s=0.5 if way == "mute" else 600.0) as channel,
        listening(channel, slack, ear),
    ):
        slack.says(ANA, "one")
        await ear.hears(1)
        slack.is_losing = way == "mute"
        slack.says(ANA, "two")
        {"disconnect": slack.disconnect, "drop": slack.drop_sockets}.get(way, lambda: None)()
        slack.says(ANA, "three")
        await ear.hears(3)
        await until(lambda: slack.connections >= 2)  # what was missed may be read before

    assert ear.texts == ["one", "two", "three"]


async def test_slack_out_of_order_for_a_moment_ends_no_listening(slack: Slack) -> None:
    """What is read then is asked for again, on the socket that is open."""
    ear = Ear()
    slack.faults += [Fault("conversations.history", times=2), Fault("users.conversations", times=2)]
    async with opened(slack) as channel, listening(channel, slack, ear):
        slack.says(ANA, "one")
        await ear.hears(1)

    assert slack.connections == 1


async def test_event_lost_on_an_open_socket_is_read_although_later_ones_came(slack: Slack) -> None:
    """Each once, while others keep the socket busy; an edit that was lost, too."""
    ear, first = Ear(), ""
    async with opened(slack, quiet_s=0.5) as channel, listening(channel, slack, ear):
        first = slack.says(ANA, "one")
        await ear.hears(1)
        slack.is_losing = True
        slack.says(ANA, "two")
        slack.edits(first, "one, or so", channel=slack.direct(ANA))
        slack.is_losing = False
        slack.says(ANA, "three")
        async with asyncio.timeout(10):
            while {"two", "one, or so"} - {*ear.texts}:
                slack.says(BEN, "tick")
                await asyncio.sleep(0.1)
        await asyncio.sleep(1.2)  # nothing of it is read a second time

    of_ana = [each for each in ear.texts if each != "tick"]
    assert sorted(of_ana) == ["one", "one, or so", "three", "two"]


async def test_edits_deletions_reactions_and_presses_are_told(
    slack: Slack, channel: SlackChannel
) -> None:
    """Each as the value that all platforms have."""
    ear = Ear(answer=PressAnswer(text="Done & dusted"))
    direct = slack.direct(ANA)
    sent = await channel.send(
        direct, "Really?", send_key="k", buttons=[Button("Yes", "/yes"), Button("No", "/no")]
    )
    shown = slack.last(direct)
    async with listening(channel, slack, ear):
        said = slack.says(ANA, "one")
        slack.edits(said, "two", channel=direct)
        slack.reacts(ANA, said, "thumbsup::skin-tone-2", channel=direct)
        slack.deletes(said, channel=direct)
        slack.presses(ANA, shown["ts"], "/yes", channel=direct)
        slack.commands(ANA, "zone Lisbon")
        slack.commands(ANA, "What is my cat called?")
        await ear.hears(7)
        assert slack.wait(lambda: slack.ephemeral and len(shown["blocks"]) == 1)

    message, edit, reaction, deletion, press, zone, asked = ear.events
    assert heard(edit).is_edit
    assert heard(edit).external_id == heard(message).external_id
    assert isinstance(reaction, Reaction)
    assert (reaction.emoji, reaction.target_external_id) == (":thumbsup:", heard(edit).external_id)
    assert isinstance(deletion, MessageDeletion)
    assert deletion.external_id == heard(message).external_id
    assert isinstance(press, ButtonPress)
    assert (press.command, press.target_external_id) == ("/yes", sent)
    assert (heard(zone).text, heard(asked).text) == ("/zone Lisbon", "What is my cat called?")
    assert slack.ephemeral == [(ANA, "Done &amp; dusted")]


async def test_command_given_between_two_people_is_answered_where_the_bot_is(
    slack: Slack, channel: SlackChannel
) -> None:
    """Not there: the bot is no member. Where Slack lets it open nothing, nothing is heard."""
    ear = Ear()
    slack.names |= {ANA: "Ana", BEN: "Ben"}
    slack.messages["D0BOTHOFTHEM"] = []
    async with listening(channel, slack, ear):
        slack.faults = [Fault("conversations.open", code="missing_scope", status=200)]
        slack.commands(ANA, "help", channel="D0BOTHOFTHEM")
        slack.commands(ANA, "stop", channel="D0BOTHOFTHEM")
        await ear.hears(1)
        slack.commands(BEN, "stop", channel=slack.direct(ANA))
        await ear.hears(2)
        slack.commands(ANA, "stop")
        await ear.hears(3)

    direct = [slack.direct(ANA), slack.direct(BEN), slack.direct(ANA)]
    assert [heard(each).chat_ref.address for each in ear.events] == direct
    assert {heard(each).text for each in ear.events} == {"/stop"}


async def test_slash_command_stands_for_each_of_ours_and_else_for_talk(
    slack: Slack, channel: SlackChannel
) -> None:
    """A code that were taken for talk would be kept and quoted."""
    ear = Ear()
    async with listening(channel, slack, ear):
        for text in ("join 284006", "Link", "zone Lisbon", "todo milk", "I like rain"):
            slack.commands(ANA, text)
        await ear.hears(5)

    assert ear.texts == ["/join 284006", "/Link", "/zone Lisbon", "/todo milk", "I like rain"]


async def test_commands_are_shown_as_they_are_written_here(
    slack: Slack, channel: SlackChannel
) -> None:
    """In replies, edits and notifications: Slack keeps "/help" to itself; paths stay."""
    direct = slack.direct(ANA)
    sent = await channel.send(direct, "“/help tasks” and /home/help", send_key="1")
    assert slack.texts(direct) == ["“/oldfriend help tasks” and /home/help\n"]
    assert await channel.edit(direct, sent, "Say `/zone Lisbon`.", is_markdown=True)
    assert slack.last(direct)["text"] == "Say /oldfriend zone Lisbon."


async def test_in_a_channel_only_what_is_addressed_is_marked_so(
    slack: Slack, channel: SlackChannel
) -> None:
    """A mention, the name, a reply in a thread of the bot; a mention is heard once."""
    ear = Ear()
    slack.joins(BOT_USER, FAMILY)
    slack.names |= {ANA: "Ana", BEN: "Ben"}
    await channel.send(FAMILY, "Good morning", send_key="k")
    mine = slack.last(FAMILY)["ts"]
    async with listening(channel, slack, ear):
        slack.says("U0OTHER", "I am another bot", channel=FAMILY, bot_id="B0OTHER")
        slack.says(ANA, "hello all", channel=FAMILY)
        slack.says(ANA, f"hello <@{BOT_USER}> &amp; <@{BEN}>", channel=FAMILY)
        slack.says(ANA, f"<@{BOT_USER}> /allow", channel=FAMILY)
        slack.says(ANA, "Oldfriend, are you there?", channel=FAMILY)
        slack.says(BEN, "and you?", channel=FAMILY, thread=mine)
        slack.says(BEN, "see <https://a.example/?a&amp;b|this> in <#C1|news>", channel=FAMILY)
        await ear.hears(7)

    assert isinstance(ear.events[0], ChatAvailability)
    told = [(each.text, each.is_addressed) for each in map(heard, ear.events[1:])]
    assert told == [
        ("hello all", False),
        ("hello @oldfriend & @Ben", True),
        ("/allow", True),
        ("Oldfriend, are you there?", True),
        ("and you?", True),
        ("see this (https://a.example/?a&b) in #news", False),
    ]
    reply = heard(ear.events[5])
    assert (reply.chat_ref.address, reply.chat_ref.group_address) == (f"{FAMILY}/{mine}", FAMILY)
    assert (reply.quoted_text, reply.quoted_from) == ("Good morning", "oldfriend")
    assert reply.chat_ref.title == "family"


async def test_members_who_come_are_told(slack: Slack, channel: SlackChannel) -> None:
    """By their names."""
    ear = Ear()
    slack.joins(BOT_USER, FAMILY)
    slack.names[ANA] = "Ana"
    async with listening(channel, slack, ear):
        slack.joins(ANA, FAMILY)
        await ear.hears(2)

    assert isinstance(ear.events[1], MembershipChange)
    assert ear.events[1].members[0].name == "Ana"


async def test_voice_clips_forwards_and_pictures_are_described(
    slack: Slack, channel: SlackChannel
) -> None:
    """A recording with how to get it; words of others as others' words."""
    ear = Ear()
    clip = slack.records(b"sound")
    shared = {"is_share": True, "author_name": "Uncle Bo", "text": "Tea is poison."}
    async with listening(channel, slack, ear):
        slack.says(ANA, "", subtype="file_share", files=[clip])
        slack.says(ANA, "", attachments=[shared])
        slack.says(ANA, "is that so?", attachments=[shared])
        slack.says(ANA, "", subtype="file_share", files=[{"id": "F", "mimetype": "image/png"}])
        await ear.hears(4)

    voice, forward, quoting, picture = map(heard, ear.events)
    assert (voice.text, voice.is_readable) == ("[voice message, 1:01]", False)
    assert await channel.download_audio(voice.details["recording"]) == b"sound"
    assert (forward.text, forward.is_own_words) == ("Tea is poison.", False)
    assert forward.details["forwarded_from"] == "Uncle Bo"
    assert (quoting.is_own_words, quoting.quoted_from) == (True, "Uncle Bo")
    assert (picture.text, picture.details["media"]) == ("[photo]", "photo")


async def test_token_goes_nowhere_but_to_slack(slack: Slack, channel: SlackChannel) -> None:
    """A file that is said to be elsewhere is not fetched, and a sign-in page is no recording."""
    slack.file_url = "https://evil.example/files/x"
    elsewhere = slack.records(b"sound")
    slack.file_url = f"{slack.url}.evil.example/files/x"
    near = slack.records(b"sound")
    for each in (elsewhere, near, {"id": "F404"}):
        with pytest.raises(NotFound):
            await channel.download_audio(each["id"])


# Saying.


async def test_reply_goes_to_its_thread_with_its_markup(
    slack: Slack, channel: SlackChannel
) -> None:
    """And is edited in place."""
    slack.joins(BOT_USER, FAMILY)
    parent = slack.says(ANA, "hello", channel=FAMILY)
    address = f"{FAMILY}/{parent}"
    sent = await channel.send(address, "**Hi** there", send_key="1", is_markdown=True)
    assert slack.texts(FAMILY, parent) == ["Hi there\n"]
    assert await channel.edit(address, sent, "*Bye*", is_markdown=True)
    assert slack.texts(FAMILY, parent) == ["Bye\n"]
    assert not await channel.edit(address, f"message:{FAMILY}:1700000000.000001", "x")


async def test_lost_answer_is_an_unknown_outcome_that_can_be_looked_up(
    slack: Slack, channel: SlackChannel
) -> None:
    """Not repeated by the library either; the look-up tells what became of it."""
    direct = slack.direct(ANA)
    slack.faults = [Fault("chat.postMessage", is_done=True)]
    with pytest.raises(OutcomeUnknown):
        await channel.send(direct, "once", send_key="k1")
    slack.faults = [Fault("chat.postMessage")]
    with pytest.raises(OutcomeUnknown):
        await channel.send(direct, "never", send_key="k2")

    assert slack.texts(direct) == ["once\n"]
    found = await channel.was_sent(direct, "k1")
    assert (found.outcome, found.external_id) == (
        "yes",
        f"message:{direct}:{slack.last(direct)['ts']}",
    )
    assert (await channel.was_sent(direct, "k2")).outcome == "no"
    assert (await channel.was_sent("C0ELSEWHERE", "k1")).outcome == "unknown"


async def test_part_that_has_waited_for_days_is_looked_for_as_far_back(
    slack: Slack, channel: SlackChannel
) -> None:
    """Such as over a weekend; no further, by the clock of this machine or Slack's."""
    direct = slack.direct(ANA)
    await channel.send(direct, "on Friday", send_key="k1")
    friday = int(time.time()) - 4 * 86_400
    slack.last(direct)["ts"] = f"{friday}.000001"
    found = await channel.was_sent(direct, "k1", since=(friday + 60) * SECOND)
    later = await channel.was_sent(direct, "k1", since=(friday + 86_400) * SECOND)

    assert found.external_id == f"message:{direct}:{friday}.000001"
    assert later.outcome == "no"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("chat.postMessage", code="channel_not_found", status=200), ChatBlocked),
        (Fault("chat.postMessage", code="msg_too_long", status=200), Undeliverable),
        (
            Fault("chat.postMessage", code="ratelimited", status=429, retry_after_s=7),
            DeliveryFailed,
        ),
        (Fault("chat.postMessage", code="token_revoked", status=200), DeliveryFailed),
        (Fault("chat.postMessage", code="internal_error", status=200), OutcomeUnknown),
    ],
)
async def test_refusal_is_the_right_error(
    slack: Slack, channel: SlackChannel, fault: Fault, error: type[Exception]
) -> None:
    """Only what may have been sent is unknown."""
    slack.faults = [fault]
    with pytest.raises(error) as caught:
        await channel.send(slack.direct(ANA), "hello", send_key="k")

    assert isinstance(caught.value, OutcomeUnknown) == (error is OutcomeUnknown)
    if isinstance(caught.value, DeliveryFailed) and fault.retry_after_s:
        assert caught.value.retry_after_s == 7.0


async def test_messages_of_a_conversation_are_a_second_apart(slack: Slack) -> None:
    """Which Slack insists on; another conversation need not wait."""
    slack.interval_s = 0.3
    async with opened(slack) as channel, asyncio.TaskGroup() as tasks:
        for number in range(4):
            tasks.create_task(channel.send(slack.direct(ANA), f"{number}", send_key=f"{number}"))
        tasks.create_task(channel.send(slack.direct(BEN), "at once", send_key="b"))

    assert slack.texts(slack.direct(ANA)) == ["0\n", "1\n", "2\n", "3\n"]


async def test_spoken_reply_is_uploaded(slack: Slack, channel: SlackChannel) -> None:
    """As a file of the conversation."""
    direct = slack.direct(ANA)
    sent = await channel.send_audio(direct, b"sound", is_opus=True, title="Hi", send_key="k")

    assert slack.files[sent.removeprefix("file:")][1] == b"sound"
    assert slack.last(direct)["files"][0]["name"].endswith(".ogg")
    assert (await channel.was_sent(direct, "k")).external_id == sent
    assert (await channel.was_sent(direct, "k2")).outcome == "no"


# The tokens.


async def test_diagnosis_names_the_workspace_and_missing_scopes(
    slack: Slack, channel: SlackChannel
) -> None:
    """As the answer of Slack tells them."""
    slack.scopes = "chat:write,im:history"
    assert await channel.register() == "oldfriend"
    findings = (await channel.diagnose()).findings

    assert [each.is_problem for each in findings] == [False, True]
    assert "users:read" in findings[1].text
    assert "chat:write" not in findings[1].text


async def test_wrong_tokens_are_told_apart_from_an_unreachable_slack(slack: Slack) -> None:
    """Nothing that is secret stands in an error or a log."""
    wrong = SlackChannel("xoxb-wrong-secret", APP_TOKEN, base_url=f"{slack.url}/api")
    swapped = SlackChannel(BOT_TOKEN, BOT_TOKEN, base_url=f"{slack.url}/api")
    away = SlackChannel(BOT_TOKEN, APP_TOKEN, base_url="http://127.0.0.1:9/api")
    for channel in (wrong, swapped):
        with pytest.raises(PlatformRejected) as refused:
            await channel.register()
        assert "secret" not in str(refused.value)
        await channel.close()
    with pytest.raises(PlatformUnavailable):
        await away.register()
    await away.close()


async def test_socket_that_does_not_open_tells_no_ticket(
    slack: Slack, channel: SlackChannel, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in the error, nor in what led to it, nor in the log of a library."""
    caplog.set_level(logging.DEBUG)
    slack.link_path = "/nowhere/"
    with pytest.raises(PlatformUnavailable) as caught:
        await channel.listen(Ear(), MemoryCursors())

    chain: BaseException | None = caught.value
    while chain is not None:
        assert not any(each in f"{chain!r}" for each in SECRETS)
        chain = chain.__cause__
    assert not any(each in caplog.text for each in SECRETS)
