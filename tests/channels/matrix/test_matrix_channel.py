"""The bot in rooms, on a homeserver that is as strict as real ones."""

import asyncio
import errno
import json
import logging
import stat

import pytest

from oldfriend.channels.channel import (
    ChannelEvent,
    ChatAvailability,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    Reaction,
)
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    NotFound,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    StoreFull,
    Undeliverable,
)
from tests.channels.matrix.conftest import PASSWORD, Bot
from tests.fakes.matrix import Homeserver, Refusal, talking


async def meet(server: Homeserver, bot: Bot, person: str) -> str:
    """A direct room in which the bot has arrived."""
    room = server.make_room(person)
    server.invite(room, person, bot.user, is_direct=True)
    await bot.hear(ChatAvailability)
    return room


async def gather(server: Homeserver, bot: Bot, *people: str) -> str:
    """A group in which the bot has arrived, invited by somebody who it knows."""
    await meet(server, bot, people[0])
    room = server.make_room(people[0], name="Family")
    for each in people[1:]:
        server.join(room, each)
    server.invite(room, people[0], bot.user)
    await bot.hear(ChatAvailability)
    return room


async def test_a_person_is_heard_and_answered_in_a_direct_room(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """By their address, whichever room that is."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        event_id = server.say(room, ana, "Hello there")
        heard = await bot.hear(IncomingMessage)
        sent = await bot.channel.send(ana, "**Hi** Ana <3", send_key="r/0", is_markdown=True)

    assert (heard.text, heard.sender.address, heard.sender.name) == ("Hello there", ana, "Ana")
    assert (heard.chat_ref.address, heard.chat_ref.is_private) == (ana, True)
    assert heard.external_id == f"{room} {event_id}"
    content = server.list_events(room)[-1]["content"]
    assert content["formatted_body"] == "<p><strong>Hi</strong> Ana &lt;3</p>"
    assert content["m.mentions"] == {}
    assert sent == f"{room} {server.list_events(room)[-1]['event_id']}"


async def test_what_is_said_before_the_bot_has_joined_is_heard_but_not_from_before_the_invitation(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """Somebody writes at once; a group's past is none of ours."""
    room = server.make_room(ana)
    server.say(room, ana, "Long ago")
    server.invite(room, ana, bot.user, is_direct=True)
    server.say(room, ana, "Are you there?")
    async with bot.listening():
        assert await bot.hear_text() == "Are you there?"


async def test_encrypted_both_ways_and_the_server_reads_nothing(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """With keys that were uploaded, claimed and sent; those are private and outlive the process."""
    async with talking(server, ana) as talker:
        async with bot.listening():
            room = await talker.invite_alone(bot.user)
            await bot.hear(ChatAvailability)
            await talker.sync()
            await talker.say(room, "My cat is called Miso")
            assert await bot.hear_text() == "My cat is called Miso"
            await bot.channel.send(ana, "What a **name**", send_key="r/0", is_markdown=True)
            await talker.sync()
        await talker.say(room, "Are you away?")
        bot.open()
        async with bot.listening():
            assert await bot.hear_text() == "Are you away?"
            await bot.channel.send(ana, "Back again", send_key="r/1")
            await talker.sync()

    assert talker.list_read(bot.user) == ["What a **name**", "Back again"]
    assert not server.list_events(room)
    held = json.dumps([event for _, event in server.rooms[room].events])
    assert "Miso" not in held
    assert "name**" not in held
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in bot.folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(bot.folder.stat().st_mode) == 0o700
    assert bot.user in server.signing_keys


async def test_the_account_vouches_for_the_device_and_doctor_sees_if_it_does_not(
    server: Homeserver, bot: Bot
) -> None:
    """Where somebody else has the account's keys, it cannot."""
    async with bot.listening():
        pass
    found = await bot.channel.diagnose()
    assert [each.is_problem for each in found.findings] == [False]

    for device in server.device_keys[bot.user].values():
        signatures = device["signatures"][bot.user]
        for key in [each for each in signatures if not each.startswith("ed25519:DEVICE")]:
            del signatures[key]
    (bot.folder / "cross_signing.json").unlink()
    bot.open()
    async with bot.listening():
        pass
    found = await bot.channel.diagnose()
    assert [each.is_problem for each in found.findings] == [False, True]


async def test_what_was_sent_without_an_answer_is_shown_once(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """The homeserver knows our keys as transactions."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.answers_lost = 2  # the connection, too, asks again
        with pytest.raises(OutcomeUnknown):
            await bot.channel.send(ana, "Once", send_key="r/0")
        first = await bot.channel.send(ana, "Once", send_key="r/0")
        again = await bot.channel.send(ana, "Once", send_key="r/0")

    assert server.list_texts(room, bot.user) == ["Once"]
    assert first == again
    assert {transaction for _, transaction in server.sends} == {"r.0"}


async def test_an_event_that_was_not_handled_comes_again_and_others_do_not(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """How far was heard is saved after that."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.say(room, ana, "One")
        assert await bot.hear_text() == "One"
        await bot.settle()

    def fail(event: ChannelEvent) -> None:
        if isinstance(event, IncomingMessage) and event.text == "Two":
            raise StoreFull("The disk is full.")

    server.say(room, ana, "Two")
    bot.failing = fail
    with pytest.raises(StoreFull):
        async with asyncio.timeout(10):
            await bot.channel.listen(bot.handle, bot.cursors)
    bot.failing = lambda event: None
    async with bot.listening():
        assert await bot.hear_text() == "Two"
        server.say(room, ana, "Three")
        assert await bot.hear_text() == "Three"


async def test_after_being_away_nothing_is_missed_and_the_order_is_kept(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """However much it was: what a sync leaves out is asked for."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.say(room, ana, "Before")
        assert await bot.hear_text() == "Before"
        await bot.settle()
    for number in range(350):
        server.say(room, ana, f"Number {number}")
    bot.open()
    async with bot.listening():
        heard = [await bot.hear_text() for _ in range(350)]

    assert heard == [f"Number {number}" for number in range(350)]


async def test_invitations(server: Homeserver, bot: Bot, ana: str, ben: str) -> None:
    """Direct ones of anybody; those to groups only of people whom we know by now."""
    bot.cursors.strangers = {ana}
    async with bot.listening():
        strange = server.make_room(ana, name="Spam")
        bot.cursors.strangers.add(strange)
        await meet(server, bot, ana)
        server.invite(strange, ana, bot.user)
        await bot.settle()
        family = server.make_room(ben, name="Family")
        server.invite(family, ben, bot.user)
        await bot.hear(ChatAvailability)
        bot.cursors.strangers.clear()
        paired = server.make_room(ana, name="Work")
        server.invite(paired, ana, bot.user)
        await bot.hear(ChatAvailability)

    members = [server.rooms[each].membership_of(bot.user) for each in (strange, family, paired)]
    assert members == ["leave", "join", "join"]


async def test_strangers_cannot_have_it_join_rooms_without_end(
    server: Homeserver, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of an hour are counted, also of one who has a room with it already."""
    monkeypatch.setattr("oldfriend.channels.matrix.event_listener.MAX_STRANGE_INVITES", 3)
    eve = server.add_user("eve")
    rooms = [server.make_room(eve) for _ in range(5)]
    bot.cursors.strangers = {eve, *rooms}
    async with bot.listening():
        for number, room in enumerate(rooms):
            server.invite(room, eve, bot.user, is_direct=True)
            if number < 3:
                await bot.hear(ChatAvailability)
        await bot.settle()

    joined = [server.rooms[each].membership_of(bot.user) for each in rooms]
    assert joined == ["join", "join", "join", "invite", "invite"]


async def test_rooms_of_strangers_are_remembered_in_bounds_and_a_refusal_ends_nothing(
    server: Homeserver, bot: Bot, ana: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is known stays; a homeserver that takes no longer list is no reason to be deaf."""
    monkeypatch.setattr("oldfriend.channels.matrix.event_listener.MAX_DIRECT_PEOPLE", 3)
    async with bot.listening():
        room = await meet(server, bot, ana)
        for number in range(5):
            stranger = server.add_user(f"stranger{number}")
            bot.cursors.strangers.add(stranger)
            await meet(server, bot, stranger)
        kept = server.account_data[bot.user, "m.direct"]
        server.refused_calls["PUT user/*/account_data/*"] = [Refusal(413, "M_TOO_LARGE")]
        again = await meet(server, bot, ana)
        server.say(again, ana, "Still there?")
        assert await bot.hear_text() == "Still there?"

    assert list(kept) == [ana, "@stranger3:example.org", "@stranger4:example.org"]
    assert kept[ana] == [room]


@pytest.mark.parametrize(
    "odd_id", ["no id", "$" + "x" * 20_000, "$\0", "$\ud800", "$unknown", "$failing"]
)
async def test_a_reference_to_nothing_ends_nothing(
    server: Homeserver,
    bot: Bot,
    ana: str,
    odd_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it names is free text, and the homeserver may answer anything."""
    monkeypatch.setattr("oldfriend.channels.matrix.event_listener.LOAD_PAUSES_S", (0.0, 0.0))
    async with bot.listening():
        room = await meet(server, bot, ana)
        if odd_id == "$failing":
            refusals = [Refusal(500, "M_UNKNOWN") for _ in range(9)]
            server.refused_calls["GET rooms/*/event/*"] = refusals
        relation = {"m.relates_to": {"m.in_reply_to": {"event_id": odd_id}}}
        server.say(room, ana, "Why?", **relation)
        server.redact(room, ana, odd_id)
        server.say(room, ana, "Hello?")
        heard = [await bot.hear_text() for _ in range(2)]

    assert heard == ["Why?", "Hello?"]


async def test_a_failing_look_up_is_tried_again(
    server: Homeserver, bot: Bot, ana: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no deletion is missed."""
    monkeypatch.setattr("oldfriend.channels.matrix.event_listener.LOAD_PAUSES_S", (0.0, 0.0))
    async with bot.listening():
        room = await meet(server, bot, ana)
        said = server.say(room, ana, "A slip")
        await bot.hear(IncomingMessage)
        server.refused_calls["GET rooms/*/event/*"] = [Refusal(502, "M_UNKNOWN")]
        server.redact(room, ana, said)
        deletion = await bot.hear(MessageDeletion)

    assert deletion.external_id == f"{room} {said}"


@pytest.mark.parametrize(
    ("text", "content", "is_addressed"),
    [
        ("The weather is fine", {}, False),
        ("Friend, what time is it?", {}, True),
        ("what time is it, friend?", {}, True),
        ("Friend: hello", {"m.mentions": {"user_ids": ["@friend:example.org"]}}, True),
        ("see him", {"m.mentions": {"user_ids": ["@friend:example.org"]}}, True),
        ("see her", {"m.mentions": {"user_ids": ["@ana:example.org"]}}, False),
        ("all of you", {"m.mentions": {"room": True}}, False),
        ("@friend:example.org look", {}, True),
        ("!allow", {}, True),
        ("!join 284006", {}, False),
        ("!allowance is up", {}, False),
        ("/stop", {}, True),
        ("my friend said so", {"m.mentions": {}}, False),
        ("odd", {"m.mentions": "friend"}, False),
    ],
)
async def test_groups_are_answered_when_addressed(
    server: Homeserver,
    bot: Bot,
    ana: str,
    ben: str,
    text: str,
    content: dict[str, object],
    is_addressed: bool,
) -> None:
    """By a mention, a name at an end, or a command of ours."""
    async with bot.listening():
        room = await gather(server, bot, ana, ben)
        server.say(room, ben, text, **content)
        heard = await bot.hear(IncomingMessage)

    assert heard.is_addressed is is_addressed
    assert (heard.chat_ref.address, heard.chat_ref.title) == (room, "Family")
    assert not heard.chat_ref.is_private
    is_command = text.split()[0] in {"!allow", "!join"}
    assert heard.text == (f"/{text[1:]}" if is_command else text)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("@Friend: hello", "@Friend"),
        ("hello friend", "friend"),
        ("ask @friend:example.org", "@friend:example.org"),
        ("my friendship", None),
        ("\u0130\u0130 Friend", "Friend"),
    ],
)
async def test_the_mention_is_no_part_of_what_is_said(
    server: Homeserver, bot: Bot, ana: str, text: str, called: str | None
) -> None:
    """It is kept apart."""
    async with bot.listening():
        room = await gather(server, bot, ana)
        server.say(room, ana, text)
        heard = await bot.hear(IncomingMessage)

    assert heard.details.get("called") == called


async def test_a_reply_names_what_it_replies_to(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """Ours is addressed to us; what old clients repeat is no word of theirs."""
    async with bot.listening():
        room = await gather(server, bot, ana, ben)
        ours = (await bot.channel.send(room, "Ask me", send_key="r/0")).partition(" ")[2]
        relation = {"m.relates_to": {"m.in_reply_to": {"event_id": ours}}}
        server.say(room, ben, "> <@friend:example.org> Ask me\n\nWhy?", **relation)
        first = await bot.hear(IncomingMessage)
        theirs = server.say(room, ana, "Lunch?")
        await bot.hear(IncomingMessage)
        relation = {"m.relates_to": {"m.in_reply_to": {"event_id": theirs}}}
        server.say(room, ben, "Yes", **relation)
        second = await bot.hear(IncomingMessage)

    assert (first.text, first.quoted_text, first.is_addressed) == ("Why?", "Ask me", True)
    assert first.replies_to == f"{room} {ours}"
    assert (second.quoted_text, second.quoted_from, second.is_addressed) == ("Lunch?", "Ana", False)


async def test_a_thread_is_a_topic_and_answered_in_it(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """Its fallback for old clients is no reply."""
    async with bot.listening():
        room = await gather(server, bot, ana, ben)
        root = server.say(room, ben, "A thread")
        relation = {
            "rel_type": "m.thread",
            "event_id": root,
            "is_falling_back": True,
            "m.in_reply_to": {"event_id": root},
        }
        server.say(room, ben, "Friend, look", **{"m.relates_to": relation})
        await bot.hear(IncomingMessage)
        heard = await bot.hear(IncomingMessage)
        await bot.channel.send(heard.chat_ref.address, "I do", send_key="r/0")

    assert (heard.chat_ref.address, heard.chat_ref.group_address) == (f"{room}/{root}", room)
    assert heard.replies_to is None
    sent = server.list_events(room)[-1]["content"]
    assert sent["m.relates_to"] == {"rel_type": "m.thread", "event_id": root}


async def test_what_is_private_is_never_sent_where_somebody_else_is(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """A direct room to which somebody is invited is one no longer."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.invite(room, ana, ben)
        server.say(room, ana, "Ben will be here")
        heard = await bot.hear(IncomingMessage)
        with pytest.raises(ChatBlocked):
            await bot.channel.send(ana, "Your secret", send_key="r/0")

    assert not heard.chat_ref.is_private
    assert server.list_texts(room, bot.user) == []


async def test_an_encrypted_membership_changes_no_room(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """Anybody in a room can encrypt an event that says that somebody has left."""
    async with talking(server, ana) as talker, bot.listening():
        room = await talker.invite_alone(bot.user)
        await bot.hear(ChatAvailability)
        server.join(room, ben)
        await talker.sync()
        await talker.say(room, "Ben is here")
        await bot.hear(IncomingMessage)
        kind, content = talker.client.encrypt(room, "m.room.member", {"membership": "leave"})
        session = talker.client.olm.outbound_group_sessions[room]
        payload = {
            "type": "m.room.member",
            "state_key": ben,
            "room_id": room,
            "content": {"membership": "leave"},
        }
        content["ciphertext"] = session.encrypt(json.dumps(payload))
        server.put_event(room, ana, kind, content)
        await talker.say(room, "Only we two are here")
        heard = await bot.hear(IncomingMessage)
        with pytest.raises(ChatBlocked):
            await bot.channel.send(ana, "Your secret", send_key="r/0")

    assert not heard.chat_ref.is_private
    assert not [
        each for each in bot.all if isinstance(each, MembershipChange) and not each.has_joined
    ]


async def test_edits_deletions_and_reactions(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """Of their author alone."""
    async with bot.listening():
        room = await gather(server, bot, ana, ben)
        said = server.say(room, ana, "At nine")
        await bot.hear(IncomingMessage)
        relation = {"rel_type": "m.replace", "event_id": said}
        for editor in (ben, ana):
            server.say(
                room,
                editor,
                "* At ten",
                **{
                    "m.new_content": {"msgtype": "m.text", "body": f"At ten, says {editor}"},
                    "m.relates_to": relation,
                },
            )
        edited = await bot.hear(IncomingMessage)
        annotation = {"rel_type": "m.annotation", "event_id": said, "key": "👍"}
        server.put_event(room, ben, "m.reaction", {"m.relates_to": annotation})
        reaction = await bot.hear(Reaction)
        other = server.say(room, ana, "A slip")
        await bot.hear(IncomingMessage)
        server.redact(room, ben, other)
        server.redact(room, ana, said)
        deletion = await bot.hear(MessageDeletion)

    assert (edited.text, edited.is_edit) == (f"At ten, says {ana}", True)
    assert edited.external_id == f"{room} {said}"
    assert (reaction.emoji, reaction.target_external_id) == ("👍", f"{room} {said}")
    assert deletion.external_id == f"{room} {said}"


async def test_our_messages_are_edited(server: Homeserver, bot: Bot, ana: str) -> None:
    """Until they are gone."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        sent = await bot.channel.send(ana, "Frist", send_key="r/0")
        assert await bot.channel.edit(ana, sent, "First")
        server.redact(room, bot.user, sent.partition(" ")[2])
        assert not await bot.channel.edit(ana, sent, "First of all")
        assert not await bot.channel.edit(ana, f"{room} $nothing", "First of all")

    edit = server.list_events(room)[-1]["content"]
    assert edit["m.new_content"]["body"] == "First"
    assert edit["m.relates_to"] == {"rel_type": "m.replace", "event_id": sent.partition(" ")[2]}


async def test_what_cannot_be_decrypted_is_said_once_and_read_when_its_key_comes(
    server: Homeserver, bot: Bot, ana: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender's device is asked for the key, also after a restart."""
    monkeypatch.setattr("oldfriend.channels.matrix.unread_events.KEY_WAIT_S", 0.2)
    async with talking(server, ana) as talker:
        async with bot.listening():
            room = await talker.invite_alone(bot.user)
            await bot.hear(ChatAvailability)
            await talker.sync()
            server.held_keys = []
            await talker.say(room, "My cat is called Miso")
            await talker.say(room, "She is black")
            first = await bot.hear(IncomingMessage)
            await bot.settle()
            assert bot.heard.empty()
            await talker.sync()
        bot.open()
        async with bot.listening():
            server.release_keys()
            later = [await bot.hear(IncomingMessage) for _ in range(2)]

    assert {each.requesting_device_id for each in talker.asked_for} == {
        device.id for device in server.devices.values() if device.user == bot.user
    }
    assert (first.text, first.is_readable) == ("[encrypted message]", False)
    assert [each.text for each in later] == ["My cat is called Miso", "She is black"]
    assert [each.is_edit for each in later] == [True, False]
    assert later[0].external_id == first.external_id


async def test_what_waits_for_its_key_goes_when_everything_of_its_sender_is_forgotten(
    server: Homeserver, bot: Bot, ana: str, ben: str
) -> None:
    """From the disk, too; what others say, and what comes later, waits on."""
    async with bot.listening():
        hers, his = await meet(server, bot, ana), await meet(server, bot, ben)
        put_encrypted(server, hers, ana, 1)
        put_encrypted(server, his, ben, 1)
        await bot.settle()
        bot.cursors.forgotten = {ana: system_clock()}
        put_encrypted(server, his, ben, 2)
        await bot.settle()
        kept = json.loads((bot.folder / "unread.json").read_text())

    assert [each["source"]["sender"] for each in kept] == [ben, ben]
    assert max(map(len, bot.cursors.asked_forgotten)) == len({ana, hers, ben, his})


async def test_events_of_one_sender_push_nobody_elses_out_and_none_waits_for_ever(
    server: Homeserver, bot: Bot, ana: str, ben: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the disk is only what people say whom we know."""
    monkeypatch.setattr("oldfriend.channels.matrix.unread_events.MAX_UNREAD", 4)
    bot.cursors.strangers = {ben}

    def list_kept() -> list[str]:
        kept = json.loads((bot.folder / "unread.json").read_text())
        return [each["source"]["sender"] for each in kept]

    async with bot.listening():
        first, second = await meet(server, bot, ana), await meet(server, bot, ben)
        bot.cursors.strangers.add(second)
        for room, sender, count in ((first, ana, 2), (second, ben, 9)):
            for number in range(count):
                put_encrypted(server, room, sender, number)
        await bot.settle()
        assert list_kept() == [ana, ana]
        bot.cursors.strangers.clear()
        put_encrypted(server, second, ben, 10)
        await bot.settle()
        assert list_kept() == [ana, ana, ben, ben]
        monkeypatch.setattr("oldfriend.channels.matrix.unread_events.MAX_UNREAD_AGE_S", 0.0)
        await bot.settle()
        assert list_kept() == []


def put_encrypted(server: Homeserver, room: str, sender: str, number: int) -> None:
    """An event that nobody can decrypt."""
    content = {
        "algorithm": "m.megolm.v1.aes-sha2",
        "ciphertext": "AwgAEnACgAkLmt6qF84IK++J7UDH2Za1YVchHyprqTqsg",
        "device_id": "DEVICE",
        "sender_key": "IlRMeOPX2e0MurIyfWEucYBRVOEEUMrOHqn/8mLqMjA",
        "session_id": f"session {number}",
    }
    server.put_event(room, sender, "m.room.encrypted", content)


async def test_a_full_disk_ends_a_try_and_no_more(
    server: Homeserver, bot: Bot, ana: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the listener's to try again."""
    async with bot.listening():
        room = await meet(server, bot, ana)
    put_encrypted(server, room, ana, 1)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("oldfriend.channels.matrix.unread_events.write_private_file", fail)
        with pytest.raises(PlatformUnavailable, match="No space left"):
            async with asyncio.timeout(10):
                await bot.channel.listen(bot.handle, bot.cursors)
    async with bot.listening():
        assert await bot.hear_text() == "[encrypted message]"


async def test_a_homeserver_that_takes_no_signature_is_heard_all_the_same(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """Its refusal is none of the login."""
    server.refused_calls["POST keys/device_signing/upload"] = [Refusal(403, "M_FORBIDDEN")]
    async with bot.listening():
        await meet(server, bot, ana)


async def test_a_room_that_hides_its_past_ends_nothing(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """What the sync itself tells is heard."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.say(room, ana, "Before")
        assert await bot.hear_text() == "Before"
        await bot.settle()
    for number in range(150):
        server.say(room, ana, f"Number {number}")
    server.refused_calls["GET rooms/*/messages"] = [Refusal(403, "M_FORBIDDEN")]
    bot.open()
    async with bot.listening():
        heard = [await bot.hear_text() for _ in range(100)]

    assert heard[-1] == "Number 149"


async def test_voice_messages_are_heard_and_spoken_encrypted(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """Each with a key that only the room knows."""
    async with talking(server, ana) as talker, bot.listening():
        room = await talker.invite_alone(bot.user)
        await bot.hear(ChatAvailability)
        await talker.sync()
        await bot.channel.send_audio(
            ana, b"OggS spoken", is_opus=True, title="Hello", send_key="r/0"
        )
        await talker.sync()
        [spoken] = talker.list_audio()
        content = spoken.source["content"]
        await talker.say(room, "voice.ogg", **{**content, "body": "voice.ogg"})
        heard = await bot.hear(IncomingMessage)
        audio = await bot.channel.download_audio(heard.details["recording"])
        broken = {**json.loads(heard.details["recording"]), "hashes": {"sha256": "AAAA"}}
        with pytest.raises(NotFound):
            await bot.channel.download_audio(json.dumps(broken))

    assert audio == b"OggS spoken"
    assert b"OggS" not in b"".join(server.media.values())
    assert "org.matrix.msc3245.voice" in content
    assert (heard.details["media"], heard.details["mime"]) == ("voice", "audio/ogg")
    assert not heard.is_readable


async def test_refusals_are_told_apart(server: Homeserver, bot: Bot, ana: str) -> None:
    """Wait, never, never in this room."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.refusals = [Refusal(429, "M_LIMIT_EXCEEDED", retry_after_ms=50)]
        with pytest.raises(DeliveryFailed) as limited:
            await bot.channel.send(ana, "Hello", send_key="r/0")
        await bot.channel.send(ana, "Hello", send_key="r/0")
        with pytest.raises(Undeliverable):
            await bot.channel.send(ana, "x" * 70_000, send_key="r/1")
        server.leave(room, bot.user, by=ana)
        assert not (await bot.hear(ChatAvailability)).is_available
        with pytest.raises(ChatBlocked):
            await bot.channel.send(ana, "Hello", send_key="r/2")

    assert limited.value.retry_after_s == 0.05
    assert not isinstance(limited.value, OutcomeUnknown)
    assert server.list_texts(room, bot.user) == ["Hello"]


async def test_somebody_who_leaves_a_direct_room_gets_nothing_until_they_are_back(
    server: Homeserver, bot: Bot, ana: str
) -> None:
    """In a new room, they are the same."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        server.leave(room, ana)
        left = await bot.hear(ChatAvailability)
        room = await meet(server, bot, ana)
        await bot.channel.send(ana, "Welcome back", send_key="r/0")

    assert (left.chat_ref.address, left.is_available) == (ana, False)
    assert server.list_texts(room, bot.user) == ["Welcome back"]


@pytest.mark.parametrize("is_soft", [True, False])
async def test_an_ended_token_is_replaced(
    server: Homeserver, bot: Bot, ana: str, *, is_soft: bool
) -> None:
    """The device stays where it is still known; else it begins anew."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        await bot.settle()
    before = json.loads((bot.folder / "login.json").read_text())
    server.end_tokens(bot.user, is_soft=is_soft)
    bot.open()
    with pytest.raises(PlatformUnavailable):
        async with asyncio.timeout(10):
            await bot.channel.listen(bot.handle, bot.cursors)
    after = json.loads((bot.folder / "login.json").read_text())
    server.say(room, ana, "Still there?")
    async with bot.listening():
        assert await bot.hear_text() == "Still there?"

    assert (after["device_id"] == before["device_id"]) is is_soft
    assert len(list(bot.folder.glob("keys-*.db"))) == 1


async def test_a_wrong_password_is_said_and_shown_nowhere(
    server: Homeserver, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in the error nor in a log."""
    server.passwords[bot.user] = "another"
    caplog.set_level(logging.DEBUG)
    with pytest.raises(PlatformRejected, match="name and password") as refused:
        await bot.channel.register()
    with pytest.raises(PlatformRejected):
        await bot.channel.listen(bot.handle, bot.cursors)

    assert PASSWORD not in str(refused.value) + caplog.text
    assert "nio.responses" not in {each.name for each in caplog.records}
    assert not (bot.folder / "login.json").exists()


async def test_one_process_at_a_time_has_the_keys(server: Homeserver, bot: Bot, ana: str) -> None:
    """Another waits; connecting and asking need no keys."""
    async with bot.listening():
        await meet(server, bot, ana)
        other = Bot(server, bot.folder)
        with pytest.raises(PlatformUnavailable, match="another process"):
            await other.channel.listen(other.handle, other.cursors)
        await other.channel.diagnose()
        assert await other.channel.register() == bot.user


async def test_typing_is_shown(server: Homeserver, bot: Bot, ana: str) -> None:
    """While a reply is written."""
    async with bot.listening():
        room = await meet(server, bot, ana)
        await bot.channel.open_preview(ana, send_key="r").show("")

    assert server.typing == [(room, bot.user)]
