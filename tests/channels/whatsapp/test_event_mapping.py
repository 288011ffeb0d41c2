"""What Meta tells becomes events; what is broken or not ours harms nothing else."""

import json
import random
from typing import Any

import pytest

from oldfriend.channels.channel import (
    ButtonPress,
    IncomingMessage,
    MessageDeletion,
    Reaction,
    UnreadableUpdate,
)
from oldfriend.channels.whatsapp.event_mapping import DeliveryStatus, ReceivedEvent, map_webhook
from oldfriend.domain.clock import SECOND
from tests.conftest import Sizes
from tests.fakes.whatsapp import PHONE_NUMBER_ID

ANA = "351912345678"
Fields = dict[str, Any]


def payload(*messages: Fields, number: str = PHONE_NUMBER_ID, **more: Any) -> Fields:
    """What a call of Meta's tells."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"phone_number_id": number},
        "contacts": [{"profile": {"name": "Ana"}, "wa_id": ANA, "user_id": "PT.1"}],
        "messages": list(messages),
        **more,
    }
    change = {"field": "messages", "value": value}
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}


def message(kind: str = "text", **more: Any) -> Fields:
    """A message of Ana's."""
    content = {"text": {"body": "Hello"}} if kind == "text" else {}
    return {"from": ANA, "id": "wamid.1", "timestamp": "1700000000", "type": kind} | content | more


def mapped(raw: Fields) -> Any:
    """The event that a message becomes."""
    (item,) = map_webhook(payload(raw), PHONE_NUMBER_ID)
    assert isinstance(item, ReceivedEvent)
    return item.event


def test_text_is_a_message_of_its_sender() -> None:
    """In a chat with them, under the name that they gave themselves."""
    event = mapped(message(context={"id": "wamid.0", "from": "1"}))

    assert isinstance(event, IncomingMessage)
    assert (event.text, event.sender.name, event.sender.address) == ("Hello", "Ana", ANA)
    assert event.chat_ref.is_private
    assert (event.at, event.replies_to) == (1_700_000_000 * SECOND, "wamid.0")
    assert event.is_own_words
    assert event.is_readable


@pytest.mark.parametrize(
    ("raw", "text", "is_readable", "is_own"),
    [
        (message(context={"forwarded": True}), "Hello", True, False),
        (message("image", image={"id": "9", "caption": "Faro"}), "Faro", True, True),
        (message("image", image={"id": "9"}), "[photo]", False, True),
        (message("document", document={"id": "9", "filename": "x"}), "[file]", False, True),
        (message("sticker", sticker={"id": "9"}), "[sticker]", False, True),
        (message("audio", audio={"id": "9", "voice": True}), "[voice message]", False, True),
        (message("location", location={"latitude": 37.0, "longitude": -7.9}),) * 1
        + ("[location] 37.0, -7.9", True, True),
        (
            message("location", location={"name": "Cafe", "address": "Rua 1"}),
            "[location] Cafe, Rua 1",
            True,
            True,
        ),
        (
            message(
                "contacts",
                contacts=[{"name": {"formatted_name": "Ben"}, "phones": [{"phone": "+1"}]}],
            ),
            "[contact] Ben +1",
            True,
            False,
        ),
        (message("button", button={"payload": "p", "text": "Yes please"}),) * 1
        + ("Yes please", True, True),
        (message("unsupported", errors=[{"code": 131051}]), "[message]", False, True),
        (
            message("interactive", interactive={"type": "nfm_reply", "nfm_reply": {}}),
            "[message]",
            False,
            True,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_other_content_is_kept_in_words(
    raw: Fields, text: str, is_readable: bool, is_own: bool
) -> None:
    """Whether it can be read, and whose words it holds."""
    event = mapped(raw)

    assert isinstance(event, IncomingMessage)
    assert (event.text, event.is_readable, event.is_own_words) == (text, is_readable, is_own)


def test_reactions_edits_deletions_and_presses() -> None:
    """Each names the message that it is about."""
    reaction = mapped(message("reaction", reaction={"message_id": "wamid.7", "emoji": "\u2764"}))
    removed = mapped(message("reaction", reaction={"message_id": "wamid.7"}))
    edited = {"original_message_id": "wamid.5", "message": {"type": "text", "text": {"body": "B"}}}
    edit = mapped(message("edit", edit=edited))
    deletion = mapped(message("revoke", revoke={"original_message_id": "wamid.5"}))
    chosen = {"type": "button_reply", "button_reply": {"id": "/yes 1", "title": "Yes"}}
    press = mapped(message("interactive", interactive=chosen, context={"id": "wamid.4"}))

    assert isinstance(reaction, Reaction)
    assert (reaction.target_external_id, reaction.emoji) == ("wamid.7", "\u2764")
    assert isinstance(removed, Reaction)
    assert removed.emoji == ""
    assert isinstance(edit, IncomingMessage)
    assert (edit.external_id, edit.text, edit.is_edit) == ("wamid.5", "B", True)
    assert isinstance(deletion, MessageDeletion)
    assert deletion.external_id == "wamid.5"
    assert isinstance(press, ButtonPress)
    assert (press.target_external_id, press.command) == ("wamid.4", "/yes 1")


def test_groups_other_numbers_and_notices_are_left_out() -> None:
    """And people without a number are known by their id."""
    hidden = {**message(), "from_user_id": "PT.1"}
    del hidden["from"]

    assert map_webhook(payload(message(group_id="g")), PHONE_NUMBER_ID) == []
    assert map_webhook(payload(message("system", system={})), PHONE_NUMBER_ID) == []
    assert map_webhook(payload(message(), number="5"), PHONE_NUMBER_ID) == []
    assert mapped(hidden).sender.address == "PT.1"
    assert mapped(hidden).sender.name == "Ana"


def test_messages_of_a_call_are_in_the_order_of_their_time() -> None:
    """One that cannot be read does not hold up the others."""
    late, early = message(id="wamid.2", timestamp="1700000009"), message()
    broken = message(id=7)
    items = map_webhook(payload(late, broken, early), PHONE_NUMBER_ID)
    events = [item.event for item in items if isinstance(item, ReceivedEvent)]

    assert isinstance(events[0], UnreadableUpdate)
    assert [each.external_id for each in items[1:]] == ["wamid.1", "wamid.2"]


def test_statuses_name_the_message_the_key_and_the_error() -> None:
    """One without an id says nothing."""
    told = {
        "id": "wamid.9",
        "status": "failed",
        "recipient_id": ANA,
        "biz_opaque_callback_data": "r1/0",
        "errors": [{"code": 131026, "title": "Message undeliverable"}],
    }
    (status,) = map_webhook(payload(statuses=[told, {"status": "sent"}]), PHONE_NUMBER_ID)

    assert status == DeliveryStatus(
        external_id="wamid.9",
        status="failed",
        address=ANA,
        send_key="r1/0",
        error_code=131026,
        error="Message undeliverable",
    )


ODD: list[Any] = [
    None,
    True,
    7,
    -1.5,
    "",
    "x",
    "9" * 400,
    "\ud800",
    [],
    {},
    [None],
    {"id": 3},
    [[]],
]


def spoiled(value: Any, chance: random.Random) -> Any:
    """A value with something odd in it."""
    if chance.random() < 0.12:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: spoiled(each, chance) for key, each in value.items()}
    return [spoiled(each, chance) for each in value] if isinstance(value, list) else value


def test_hostile_payloads_are_mapped_without_an_error(sizes: Sizes) -> None:
    """Whatever stands where; what is signed may still be odd."""
    chance = random.Random(29)
    chosen = {"type": "list_reply", "list_reply": {"id": "/no", "title": "No"}}
    whole = payload(
        message(),
        message("audio", audio={"id": "9", "mime_type": "audio/ogg"}),
        message("interactive", interactive=chosen, context={"id": "wamid.4"}),
        message("reaction", reaction={"message_id": "wamid.7", "emoji": "x"}),
        message("edit", edit={"original_message_id": "wamid.5", "message": message()}),
        message("contacts", contacts=[{"name": {"formatted_name": "Ben"}}]),
        statuses=[{"id": "w", "status": "sent", "errors": [{"code": 1}]}],
    )
    for _ in range(sizes.fuzzed):
        found = spoiled(json.loads(json.dumps(whole)), chance)
        assert isinstance(map_webhook(found, PHONE_NUMBER_ID), list)
