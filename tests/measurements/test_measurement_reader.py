"""Numbers told and asked for in five languages: what is read, and what is left alone."""

import json
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from oldfriend.domain.clock import to_micros
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.measurements.lexicon import WORD_CLASSES, list_lexicons
from oldfriend.measurements.measurement_questions import read_question
from oldfriend.measurements.measurement_reader import Moment, read_message
from oldfriend.measurements.measures import MEASURES
from oldfriend.measurements.units import UNITS

PHRASES = json.loads((Path(__file__).parent / "phrases.json").read_text("utf-8"))
TODAY = date(2026, 11, 29)
NOON = Moment(at=to_micros(datetime(2026, 11, 29, 9, tzinfo=UTC)), zone="Europe/Madrid")
TOLD = [(code, *pair) for code, told in PHRASES["told"].items() for pair in told.items()]
ASKED = [(code, *pair) for code, asked in PHRASES["asked"].items() for pair in asked.items()]


@pytest.mark.parametrize(("language", "text", "expected"), TOLD)
def test_numbers_are_read(language: str, text: str, expected: list[Any]) -> None:
    """Whole, with their units and days; and nothing where they are not the person's."""
    found = (read_message(text, NOON, each) for each in list_lexicons(language))
    read = next((each for each in found if each is not None), None)
    measured = () if read is None else read.measured

    assert [
        [each.measure.name, each.value, each.unit, each.second_value, (TODAY - each.day).days]
        for each in measured
    ] == expected


@pytest.mark.parametrize(("language", "text", "expected"), ASKED)
def test_questions_are_read(language: str, text: str, expected: list[str] | None) -> None:
    """What is asked for, of which measures."""
    asked = (read_question(text, NOON, each) for each in list_lexicons(language))
    question = next((each for each in asked if each is not None), None)

    assert expected == (
        None if question is None else [question.action, question.name, question.other]
    )


def test_there_are_enough_phrases_of_each_language() -> None:
    """Else a language would only seem to be read."""
    assert all(len(told) >= 30 for told in PHRASES["told"].values())


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "zh"])
def test_packs_name_the_same_things(language: str) -> None:
    """A missing text or measure would only show when it is said."""
    pack, english = (load_language_pack(each).read("measurements") for each in (language, "en"))

    assert set(WORD_CLASSES) <= pack.keys()
    assert pack["texts"].keys() == english["texts"].keys()
    assert pack["measures"].keys() == MEASURES.keys()
    assert set(pack["units"]) <= set(UNITS) | {"%", "bpm"}


@pytest.mark.parametrize(
    "text", ["9" * 5000, "1 kg " * 400, "a" * 20000, "1/" * 3000, "\ud800 3 kg"]
)
def test_hostile_text_is_read_quickly(text: str) -> None:
    """Only its beginning is looked at."""
    started = time.monotonic()
    for each in list_lexicons("en"):
        read_message(text, NOON, each)
        read_question(text, NOON, each)
    assert time.monotonic() - started < 2
