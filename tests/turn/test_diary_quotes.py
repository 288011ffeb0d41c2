"""Diary entries that are quoted: the person's own words, without the command."""

from dataclasses import replace

import pytest

from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.quotes import format_quote
from tests.turn.conftest import Talk


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Dear diary, Ana called and we laughed.", "Ana called and we laughed"),
        ("/journal Ana called and we laughed.", "Ana called and we laughed"),
    ],
)
async def test_own_diary_entry_is_not_called_passed_on(talk: Talk, text: str, quote: str) -> None:
    """It is what the person wrote."""
    message = (await talk.hears(text)).message
    told = format_quote(message, load_phrases("en"))
    assert "you wrote in your diary" in told
    assert f"“{quote}”" in told


async def test_entry_of_the_diary_page_is_quoted_as_one(talk: Talk) -> None:
    """The diary is no place where somebody said it."""
    message = replace((await talk.hears("Ana called and we laughed.")).message, channel="diary")
    told = format_quote(message, load_phrases("en"))
    assert "you wrote in your diary: “Ana called and we laughed" in told
    assert "on diary" not in told


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_every_language_tells_of_the_diary(language: str) -> None:
    """With the time and the words."""
    assert "{quote}" in load_phrases(language).phrases["you_wrote_in_diary"]
