"""What comes twice is known for five minutes; two presses of a button are two."""

from oldfriend.channels.telegram.event_mapping import MAX_KEYS, TTL_S, UpdateDedup
from oldfriend.channels.telegram.polling import Update, try_parse_update

CHAT = {"id": 7, "type": "private"}
ANA = {"id": 7, "is_bot": False, "first_name": "Ana"}


def said(update: int, number: int, *, is_edit: bool = False) -> Update:
    """A message."""
    message = {"message_id": number, "date": 1, "chat": CHAT, "from": ANA, "text": "x"}
    return try_parse_update(
        {"update_id": update, "edited_message" if is_edit else "message": message}
    )


def pressed(update: int, query: str) -> Update:
    """A press of the button below the same message."""
    below = {"message_id": 1, "date": 1, "chat": CHAT, "from": ANA, "text": "Which?"}
    asked = {"id": query, "from": ANA, "data": "yes", "message": below, "chat_instance": "1"}
    return try_parse_update({"update_id": update, "callback_query": asked})


def test_repeated_update_or_message_is_a_duplicate() -> None:
    """A message also under another number of the update."""
    heard = UpdateDedup(lambda: 0.0)
    heard.record(said(1, 10))

    assert heard.is_duplicate(said(1, 10))
    assert heard.is_duplicate(said(2, 10))
    assert not heard.is_duplicate(said(3, 11))
    assert not heard.is_duplicate(said(4, 10, is_edit=True))


def test_button_presses_are_deduplicated_by_callback_id() -> None:
    """The same press is one."""
    heard = UpdateDedup(lambda: 0.0)
    heard.record(said(1, 1))
    assert not heard.is_duplicate(pressed(2, "a"))
    heard.record(pressed(2, "a"))

    assert heard.is_duplicate(pressed(3, "a"))
    assert not heard.is_duplicate(pressed(4, "b"))


def test_dedup_entries_expire_and_are_limited_in_number() -> None:
    """Five minutes; two thousand."""
    now = [0.0]
    heard = UpdateDedup(lambda: now[0])
    heard.record(said(1, 1))
    now[0] = TTL_S + 1
    assert not heard.is_duplicate(said(1, 1))
    for number in range(MAX_KEYS):
        heard.record(said(number, number))

    assert not heard.is_duplicate(said(0, 0))
    assert heard.is_duplicate(said(MAX_KEYS - 1, MAX_KEYS - 1))
