"""Buttons: a command, and what stands on it."""

import pytest

from oldfriend.domain.buttons import Button


def test_button_that_no_channel_could_carry_is_refused() -> None:
    """Telegram takes 64 bytes."""
    assert Button("x", "/done " + "é" * 29).label == "x"
    for command in ("/done " + "é" * 30, "done"):
        with pytest.raises(ValueError, match="no command"):
            Button("x", command)
