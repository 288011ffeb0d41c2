"""Whatever Telegram, or somebody in its name, sends: it is read, or it is said why not."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.channels.telegram.updates import (
    BotMembershipUpdate,
    CallbackUpdate,
    IgnoredUpdate,
    MalformedUpdate,
    MessageUpdate,
    MigrationUpdate,
    ParsedUpdate,
    ReactionUpdate,
    TelegramChat,
    parse_update,
)
from oldfriend.domain.clock import SECOND

NORA = {"id": 7, "is_bot": False, "first_name": "Nora", "last_name": "Lind", "language_code": "sv"}
BOT = {"id": 99, "is_bot": True, "first_name": "Friend", "username": "friend_bot"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Nora"}
GROUP = {"id": -100, "type": "supergroup", "title": "Family"}
MESSAGE: dict[str, Any] = {"message_id": 5, "date": 1_700_000_000, "chat": PRIVATE, "from": NORA}


def message(**more: object) -> dict[str, Any]:
    """An update with a message."""
    return {"update_id": 1, "message": {**MESSAGE, **more}}


def said(**more: object) -> MessageUpdate:
    """What is read of a message."""
    found = parse_update(message(**more))
    assert isinstance(found, MessageUpdate)
    return found


def test_message_update_is_parsed() -> None:
    """Who, where, when, what."""
    found = said(text="hello")

    assert (found.sender.name, found.sender.language, found.chat.kind) == (
        "Nora Lind",
        "sv",
        "private",
    )
    assert (found.message_id, found.at, found.text) == (5, 1_700_000_000 * SECOND, "hello")
    assert found.chat == TelegramChat(id=7, kind="private", title="Nora")


def test_edited_message_update_has_its_edit_time() -> None:
    """The same number as what was edited."""
    edited = {**MESSAGE, "text": "hullo", "edit_date": 1_700_000_100}
    found = parse_update({"update_id": 2, "edited_message": edited})

    assert isinstance(found, MessageUpdate)
    assert (found.is_edited, found.message_id, found.at) == (True, 5, 1_700_000_100 * SECOND)


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ({"type": "user", "sender_user": {"id": 1, "first_name": "Ana"}}, "Ana"),
        ({"type": "hidden_user", "sender_user_name": "Anon"}, "Anon"),
        ({"type": "chat", "sender_chat": {"id": -1, "title": "News"}}, "News"),
        ({"type": "channel", "chat": {"id": -2, "title": "Daily"}}, "Daily"),
        ({"type": "something new"}, "somebody"),
    ],
)
def test_forwarded_message_names_its_origin(origin: object, name: str) -> None:
    """They are never the sender's own."""
    assert said(text="x", forward_origin=origin).forwarded_from == name


ANA = {"id": 3, "is_bot": False, "first_name": "Ana"}


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"forward_from": ANA, "forward_date": 1}, "Ana"),
        ({"forward_from_chat": {"id": -2, "title": "Daily"}, "forward_signature": "Bo"}, "Daily"),
        ({"forward_sender_name": "Anon", "forward_date": 1}, "Anon"),
        ({"forward_signature": "Bo"}, "Bo"),
        ({"forward_date": 1}, "somebody"),
        ({"is_automatic_forward": True}, "somebody"),
        ({"story": {"chat": {"id": 5, "first_name": "x"}, "id": 4}}, "somebody"),
        ({"via_bot": BOT}, "Friend"),
        ({"sender_business_bot": BOT}, "Friend"),
        ({"reply_to_message": {**MESSAGE, "message_id": 3, "forward_from": ANA}}, ""),
        ({"external_reply": {"origin": {"type": "hidden_user", "sender_user_name": "Bo"}}}, ""),
    ],
)
def test_forward_origin_is_recognized_in_every_api_form(more: dict[str, Any], name: str) -> None:
    """Forwards from before Bot API 7.0, what an inline bot wrote, not what is only replied to."""
    assert said(text="I live in Berlin.", **more).forwarded_from == name


def test_blockquote_entities_become_plain_text_quote_marks() -> None:
    """It stands behind an emoji, and a mention behind it is still found."""
    entities = [
        {"type": "expandable_blockquote", "offset": 3, "length": 21},
        {"type": "mention", "offset": 25, "length": 3},
    ]
    found = said(text="\U0001f600 I live in Berlin\nnow. @bo", entities=entities)

    assert found.text == "\U0001f600 \n> I live in Berlin\n> now.\n @bo"
    assert found.mentions == ("bo",)


def test_reply_contains_the_quoted_or_whole_replied_text() -> None:
    """The words that were picked, else all of them."""
    answered = {**MESSAGE, "message_id": 3, "from": BOT, "text": "one two three"}
    whole = said(text="which?", reply_to_message=answered)
    picked = said(text="which?", reply_to_message=answered, quote={"text": "two", "position": 4})

    assert (whole.reply_to_message_id, whole.quoted_text, whole.quoted_speaker) == (
        3,
        "one two three",
        "Friend",
    )
    assert whole.replied_user_id == BOT["id"]
    assert picked.quoted_text == "two"


def test_mention_offsets_are_counted_in_utf16_units() -> None:
    """Telegram counts in UTF-16 units."""
    text = "\U0001f600 @Friend_Bot and /start@other_bot"
    entities = [
        {"type": "mention", "offset": 3, "length": 11},
        {"type": "bot_command", "offset": 19, "length": 16},
        {"type": "bold", "offset": 0, "length": 2},
    ]
    assert said(text=text, entities=entities).mentions == ("friend_bot", "other_bot")


@pytest.mark.parametrize(
    ("more", "text", "is_card"),
    [
        ({"location": {"latitude": 41.5, "longitude": 2.1}}, "[location] 41.5, 2.1", False),
        (
            {"venue": {"title": "Bar", "address": "Main St 1"}, "location": {}},
            "[location] Bar, Main St 1",
            False,
        ),
        (
            {"contact": {"first_name": "Ana", "phone_number": "+34 1"}},
            "[contact] Ana +34 1",
            True,
        ),
        ({"poll": {"question": "When?", "options": [{"text": "now"}]}}, "[poll] When?\nnow", False),
        ({"dice": {"emoji": "\U0001f3b2", "value": 4}}, "\U0001f3b2 4", False),
    ],
)
def test_location_contact_poll_and_dice_are_described_in_text(
    more: dict[str, object], text: str, is_card: bool
) -> None:
    """So that it is kept and understood."""
    found = said(**more)

    assert (found.text, found.is_contact_card) == (text, is_card)


@pytest.mark.parametrize("kind", ["voice", "audio", "video_note", "document", "sticker"])
def test_media_attachment_has_kind_file_id_type_and_duration(kind: str) -> None:
    """With its real type, as Telegram names it."""
    file = {"file_id": "F", "mime_type": "audio/ogg", "duration": 3, "file_size": 10, "emoji": "x"}
    media = said(**{kind: file}).media

    assert media is not None
    assert (media.kind, media.file_id, media.mime, media.duration_s) == (kind, "F", "audio/ogg", 3)


def test_photo_uses_the_largest_size_with_caption_and_album() -> None:
    """With its caption, and the album that it is part of."""
    found = said(photo=[{"file_id": "s"}, {"file_id": "l"}], caption="us", media_group_id="g")

    assert found.media is not None
    assert (found.media.file_id, found.text, found.album_id) == ("l", "us", "g")


def test_callback_reaction_membership_and_migration_updates_are_parsed() -> None:
    """Buttons, reactions, being let in and out, groups that move."""
    pressed = parse_update(
        {"update_id": 3, "callback_query": {"id": "q", "from": NORA, "data": "yes"}}
    )
    reaction = {
        "chat": PRIVATE,
        "message_id": 5,
        "date": 1,
        "user": NORA,
        "new_reaction": [{"type": "emoji", "emoji": "x"}, {"type": "custom_emoji"}],
    }
    reacted = parse_update({"update_id": 4, "message_reaction": reaction})
    change = {"chat": GROUP, "from": NORA, "new_chat_member": {"status": "kicked"}}
    left = parse_update({"update_id": 5, "my_chat_member": change})
    moved = parse_update(message(chat=GROUP, migrate_to_chat_id=-1001))

    assert isinstance(pressed, CallbackUpdate)
    assert (pressed.query_id, pressed.data, pressed.chat) == ("q", "yes", None)
    assert isinstance(reacted, ReactionUpdate)
    assert reacted.emoji == ("x",)
    assert isinstance(left, BotMembershipUpdate)
    assert not left.is_member
    assert moved == MigrationUpdate(update_id=1, old_chat_id=-100, new_chat_id=-1001)
    assert isinstance(parse_update({"update_id": 6, "chat_boost": {}}), IgnoredUpdate)
    assert isinstance(parse_update(message(pinned_message={})), IgnoredUpdate)


@pytest.mark.parametrize(
    ("update", "number"),
    [
        (None, None),
        ([], None),
        ({}, None),
        ({"update_id": "1"}, None),
        ({"update_id": True}, None),
        ({"update_id": 1, "message": 5}, 1),
        ({"update_id": 1, "message": {}}, 1),
        (message(text="x", date="now"), 1),
        (message(text="x", date=1 << 50), 1),
        (message(text="x", chat={"id": 1, "type": "planet"}), 1),
        ({"update_id": 1, "callback_query": {"from": NORA}}, 1),
    ],
)
def test_malformed_update_raises_with_its_update_id(update: Any, number: int | None) -> None:
    """By its number where it has one, so that it can be passed over."""
    with pytest.raises(MalformedUpdate) as caught:
        parse_update(update)

    assert caught.value.update_id == number
    assert str(caught.value)


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
WHOLE: dict[str, Any] = message(
    text="hi @x",
    entities=[{"type": "mention", "offset": 3, "length": 2}],
    reply_to_message={**MESSAGE, "text": "before"},
    quote={"text": "q", "position": 0},
    forward_origin={"type": "user", "sender_user": NORA},
    photo=[{"file_id": "p", "file_size": 1}],
    contact={"first_name": "Ana"},
    poll={"question": "?", "options": [{"text": "a"}]},
)


def children_of(value: Any) -> dict[Any, Any]:
    """What stands in a value, by its key or place."""
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else {}


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value at which something stands."""
    inner = children_of(value).items()
    return [path, *(each for key, held in inner for each in places_in(held, (*path, key)))]


def wound(value: Any, path: tuple[Any, ...], wild: Any) -> None:
    """Put something else at a place, if it is still there."""
    key, *rest = path
    if key not in children_of(value):
        return
    if rest:
        wound(value[key], tuple(rest), wild)
    else:
        value[key] = wild


@given(st.lists(st.tuples(st.sampled_from(places_in(WHOLE)[1:]), WILD), min_size=1, max_size=3))
def test_parsing_never_crashes_on_mutated_updates(
    wounds: list[tuple[tuple[Any, ...], Any]],
) -> None:
    """Each field of an update replaced by anything at all."""
    update = copy.deepcopy(WHOLE)
    for path, wild in wounds:
        wound(update, path, wild)
    try:
        found: ParsedUpdate | None = parse_update(update)
    except MalformedUpdate:
        found = None

    assert found is None or isinstance(found.update_id, int)
