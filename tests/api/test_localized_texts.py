"""What the house says can be said by the page in each of its languages."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import oldfriend
from oldfriend.api.web_app import STATIC_DIR
from oldfriend.domain import errors
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.i18n_messages import MessageCode

CODES = set(get_args(MessageCode))
SPEAKERS = {"localizable", "report_ok", "report_problem"}
PHRASE = re.compile(r"^  said_(\w+): (\".*\"),$", re.M)
HAN = re.compile(r"[\u4e00-\u9fff]")
LANGUAGES = ["en", "de", "es", "fr", "zh"]
LATIN = re.compile(r"[A-Za-z]+(?: [A-Za-z]+){3,}")


def phrases_in(language: str) -> dict[str, str]:
    """The phrases of a language, by their codes."""
    book = STATIC_DIR / "js" / "i18n" / language / "server_messages.js"
    return {code: json.loads(words) for code, words in PHRASE.findall(book.read_text("utf-8"))}


def said() -> Iterator[tuple[str, set[str]]]:
    """Each code that is said somewhere, with the values that it has there."""
    for path in Path(oldfriend.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[code, _, *_]) if name in SPEAKERS:
                    values = {each.arg for each in node.keywords if each.arg}
                    yield from ((each, values) for each in codes_in(code))
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, OldfriendError) and kind.code:
            yield kind.code, {"says"}


def codes_in(node: ast.expr) -> list[str]:
    """The codes that stand there: one, or one of two."""
    match node:
        case ast.Constant(value=str(code)):
            return [code]
        case ast.IfExp(body=one, orelse=other):
            return codes_in(one) + codes_in(other)
    return []


def test_every_message_code_is_used_in_the_code() -> None:
    """None is left over from what is not said any more."""
    assert {code for code, _ in said()} == CODES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_code_has_a_phrase_in_each_language(language: str) -> None:
    """In each language, and no phrase is for nothing."""
    assert phrases_in(language).keys() == CODES


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrase_placeholders_are_always_supplied(language: str) -> None:
    """Wherever the house says it."""
    phrases = phrases_in(language)
    wanted = {code: set(re.findall(r"\{(\w+)\}", words)) for code, words in phrases.items()}

    assert [(code, wanted[code] - values) for code, values in said() if wanted[code] - values] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_why_placeholder_stands_at_the_end_of_a_phrase(language: str) -> None:
    """It ends with a mark of its own, or with what somebody else says."""
    phrases = phrases_in(language)

    assert [code for code, words in phrases.items() if re.search(r"\{why\}(?!$)", words)] == []


def test_chinese_phrases_contain_chinese_and_no_english_text() -> None:
    """Commands, names and settings stay as they are written."""
    phrases = phrases_in("zh")

    bare = {code for code, words in phrases.items() if not HAN.search(words)}

    assert bare == {"of_person", "one_and_another", "channel_trouble"}  # only other sayings
    assert [words for words in phrases.values() if LATIN.search(words)] == []
