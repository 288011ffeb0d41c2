"""What somebody hears who has their page open."""

import pytest

from oldfriend.api.connections import Connection

LONG_S = 60.0
AT_ONCE_S = 0.01


@pytest.fixture
def seat() -> Connection:
    """Where somebody sits who has looked for everything that was kept."""
    seat = Connection()
    seat.take_update_flag()
    return seat


def test_new_connection_has_its_update_flag_set():
    """Nothing is missed between opening a page and listening."""
    assert Connection().take_update_flag()


async def test_draft_notification_does_not_set_the_update_flag(seat):
    """Fifty pages hear a first word at once; not one of them asks the database for it."""
    seat.notify_draft()

    await seat.wait(LONG_S)

    assert not seat.take_update_flag()


async def test_stored_update_during_drafts_sets_the_update_flag(seat):
    """A reply is committed while its last words are still being told."""
    seat.set()
    seat.notify_draft()

    await seat.wait(LONG_S)

    assert seat.take_update_flag()
    assert not seat.take_update_flag()


async def test_wait_timeout_sets_the_update_flag(seat):
    """Another process may write without a ring."""
    await seat.wait(AT_ONCE_S)

    assert seat.take_update_flag()
