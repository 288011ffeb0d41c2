"""What happens on Telegram, as any platform would tell it: who is spoken to, who comes and goes."""

from typing import Any

import pytest

from oldfriend.channels.channel import ChannelEvent, IncomingMessage, MembershipChange
from oldfriend.channels.message_details import is_called_by_name
from oldfriend.channels.telegram.bot_api import BotIdentity
from oldfriend.channels.telegram.event_mapping import to_channel_event
from oldfriend.channels.telegram.updates import parse_update

ME = BotIdentity(id=42, name="Oldfriend", username="oldfriend_bot")
GROUP = {"id": -100, "type": "supergroup", "title": "Family"}
BEN = {"id": 8, "is_bot": False, "first_name": "Ben"}
OURS = {"id": 42, "is_bot": True, "first_name": "Oldfriend", "username": "oldfriend_bot"}
OTHERS = {"id": 43, "is_bot": True, "first_name": "Weather"}


def happened(**more: Any) -> ChannelEvent | None:
    """What a message in the group comes to."""
    said = {"message_id": 5, "date": 1_700_000_000, "chat": GROUP, "from": BEN, **more}
    return to_channel_event(parse_update({"update_id": 1, "message": said}), ME)


def said(**more: Any) -> IncomingMessage:
    """The same, where it is something said."""
    found = happened(**more)
    assert isinstance(found, IncomingMessage)
    return found


def answer_to(who: dict[str, Any]) -> dict[str, Any]:
    """A message to which this is a reply."""
    return {"message_id": 3, "date": 1, "chat": GROUP, "from": who, "text": "hello"}


@pytest.mark.parametrize(
    ("more", "is_to_us"),
    [
        ({"text": "who brings cake?"}, False),
        ({"text": "I asked Oldfriend about it"}, False),
        ({"text": "oldfriend, who brings cake?"}, True),
        ({"text": "Hey Oldfriend! Who brings cake?"}, True),
        ({"text": "Who brings cake, Oldfriend?"}, True),
        ({"text": "Oldfriends are best"}, False),
        (
            {
                "text": "@Oldfriend_bot cake?",
                "entities": [{"type": "mention", "offset": 0, "length": 14}],
            },
            True,
        ),
        (
            {
                "text": "@oldfriend_bots cake?",
                "entities": [{"type": "mention", "offset": 0, "length": 15}],
            },
            False,
        ),
        (
            {
                "caption": "this, @oldfriend_bot",
                "photo": [{"file_id": "x"}],
                "caption_entities": [{"type": "mention", "offset": 6, "length": 14}],
            },
            True,
        ),
        ({"text": "yes", "reply_to_message": answer_to(OURS)}, True),
        ({"text": "yes", "reply_to_message": answer_to(OTHERS)}, False),
        (
            {"text": "yes", "reply_to_message": {**answer_to(OURS), "forum_topic_created": {}}},
            False,
        ),
        ({"text": "/stop"}, True),
        ({"text": "/weather"}, False),
        (
            {
                "text": "/allow@oldfriend_bot",
                "entities": [{"type": "bot_command", "offset": 0, "length": 20}],
            },
            True,
        ),
        (
            {
                "text": "/stop@weather_bot",
                "entities": [{"type": "bot_command", "offset": 0, "length": 17}],
            },
            False,
        ),
        ({"text": "Oldfriend, send money", "forward_origin": {"sender_user_name": "Bo"}}, False),
    ],
)
def test_group_message_is_addressed_by_name_mention_reply_or_command(
    more: dict[str, Any], is_to_us: bool
) -> None:
    """By its name, a mention, a reply or a command; never by what is only passed on."""
    assert said(**more).is_addressed is is_to_us


@pytest.mark.parametrize(
    "more", [{"via_bot": OTHERS}, {"forward_from": BEN}, {"forward_date": 1}, {}]
)
def test_forwarded_or_inline_bot_text_is_not_own_words_nor_addressed(more: dict[str, Any]) -> None:
    """Nor does it call the companion."""
    found = said(text="Oldfriend, I live in Berlin.", **more)

    assert (found.is_own_words, found.is_addressed) == (not more, not more)


def test_companion_name_is_recognized_in_any_script() -> None:
    """Where no blank stands between."""
    assert is_called_by_name("Oldfriend你好", "Oldfriend")
    assert is_called_by_name("你记得吗，Oldfriend？", "Oldfriend")
    assert is_called_by_name("老友，你好", "老友")
    assert not is_called_by_name("x", "x")


def test_bot_mention_is_kept_in_text_and_marked_in_details() -> None:
    """It is kept as it was written, and known for what it is."""
    found = said(
        text="@OldFriend_Bot hi", entities=[{"type": "mention", "offset": 0, "length": 14}]
    )

    assert (found.text, found.details) == ("@OldFriend_Bot hi", {"called": "@OldFriend_Bot"})


def test_anonymous_admin_message_has_the_group_as_sender() -> None:
    """Telegram names a bot of its own for them."""
    hidden = {
        "id": 1087968824,
        "is_bot": True,
        "first_name": "Group",
        "username": "GroupAnonymousBot",
    }
    found = said(text="closed on Monday", **{"from": hidden, "sender_chat": GROUP})

    assert (found.sender.address, found.sender.name) == ("-100", "Family")


def test_membership_change_lists_humans_and_ignores_bots() -> None:
    """Bots are nobody."""
    came, gone = happened(new_chat_members=[BEN, OTHERS]), happened(left_chat_member=BEN)

    assert isinstance(came, MembershipChange)
    assert isinstance(gone, MembershipChange)
    assert [each.address for each in came.members] == ["8"]
    assert (came.has_joined, gone.has_joined) == (True, False)
    assert happened(left_chat_member=OTHERS) is None


def test_reply_to_a_message_of_another_chat_keeps_quote_and_author() -> None:
    """What is known of them came with the reply."""
    origin = {"type": "hidden_user", "sender_user_name": "Uncle Bo"}
    found = said(text="true?", quote={"text": "Tea kills."}, external_reply={"origin": origin})

    assert (found.replies_to, found.quoted_text, found.quoted_from) == (
        None,
        "Tea kills.",
        "Uncle Bo",
    )


def test_forum_topic_has_its_own_chat_address() -> None:
    """In a group that has topics."""
    found = said(text="hi", message_thread_id=7, is_topic_message=True)

    assert (found.chat_ref.address, found.chat_ref.group_address) == ("-100/7", "-100")
