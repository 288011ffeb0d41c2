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


def test_who_sits_down_looks_for_what_was_kept_before():
    """Nothing is missed between opening a page and listening."""
    assert Connection().take_update_flag()


async def test_for_words_alone_nothing_is_looked_up(seat):
    """Fifty pages hear a first word at once; not one of them asks the database for it."""
    seat.notify_draft()

    await seat.wait(LONG_S)

    assert not seat.take_update_flag()


async def test_what_is_kept_while_words_come_is_looked_for(seat):
    """A reply is committed while its last words are still being told."""
    seat.set()
    seat.notify_draft()

    await seat.wait(LONG_S)

    assert seat.take_update_flag()
    assert not seat.take_update_flag()


async def test_who_waits_in_vain_looks_for_themselves(seat):
    """Another process may write without a ring."""
    await seat.wait(AT_ONCE_S)

    assert seat.take_update_flag()
