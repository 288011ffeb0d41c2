"""No regular expression of the product takes more time than in proportion to the text."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oldfriend.domain.messages import MAX_SENTENCE_CHARS
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.rule_extraction.sentences import hide_quoted, statements_in
from oldfriend_evals.hostile_text import UNITS, build_hostile
from tests.conftest import SIZE
from tests.expressions import Expression
from tests.hostile_expressions import Clock, find_slow
from tests.learning.segment_fixtures import said

ROOT = Path(__file__).parents[1]
LENGTH = 6_000 if SIZE == "full" else 500
"""Characters of the short texts; the long ones have sixteen times as many."""
LONGER_THAN_BOUNDS = 5_000
FEWEST = 3_800
FEWEST_SHOWN = 1_300
LONGEST_S = 3_000 if SIZE == "full" else 600


def run_apart(module: str, length: int) -> dict[str, Any]:
    """What a module prints that must import the product itself."""
    done = subprocess.run(
        [sys.executable, "-m", module, str(length)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.timeout(LONGEST_S + 10)
def test_every_regex_runs_in_linear_time() -> None:
    """Or is shown so little of one that it does not matter; one that never ends ends the test."""
    found = run_apart("tests.hostile_expressions", LENGTH)

    assert found["slow"] == []
    assert found["expressions"] > FEWEST


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [r"\s*x", r"\d+%", r"(?:a|aa)+$", r"«[^»]*»", r"<b>.*?</b>", r"(?:so |and )*x", r"(a+)+\Z"],
)
def test_slow_regex_is_detected(source: str) -> None:
    """Quadratic or worse, with one beginning or many."""
    expression = Expression(re.compile(source, re.DOTALL), frozenset(), False, None)

    assert find_slow(expression, length=1_000, clock=Clock(1_000)) is not None


@pytest.mark.parametrize("source", [r"(?<!\s)\s*+x", r"\b(?:so|and)\b", r"«[^«»]*»", r"\A\s*x"])
def test_linear_regex_is_not_reported_as_slow(source: str) -> None:
    """Whatever it is shown."""
    expression = Expression(re.compile(source), frozenset(), False, None)

    assert find_slow(expression, length=300, clock=Clock(300)) is None


@pytest.mark.slow
@pytest.mark.timeout(LONGEST_S + 10)
def test_bounded_regexes_get_no_longer_text_than_their_bound() -> None:
    """While hostile messages are accepted, answered and read by rules."""
    found = run_apart("tests.shown_expressions", LONGER_THAN_BOUNDS)

    assert found["too_much"] == []
    assert found["shown"] > FEWEST_SHOWN


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("language", list_languages("rules"))
def test_rule_extractor_reads_sentences_of_bounded_length(name: str, language: str) -> None:
    """However long somebody goes on without a full stop."""
    message = said(1, build_hostile(UNITS[name], 20_000), language=language)
    sentences = list(statements_in(message, load_rule_book(language)))

    assert all(len(each.plain) <= MAX_SENTENCE_CHARS for each in sentences)
    assert all(len(each.words) <= MAX_SENTENCE_CHARS for each in sentences)
    assert all(each.words in message.text for each in sentences)


def test_overlong_sentence_is_cut_at_a_word_boundary() -> None:
    """What it tells first is read."""
    message = said(1, "I live in Porto and " + "walk along the river and " * 100)
    (sentence,) = statements_in(message, load_rule_book("en"))

    assert sentence.plain.startswith("I live in Porto and walk along")
    assert sentence.plain.endswith(("walk", "along", "the", "river", "and"))


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('I said "no" to "a" man', "I said #### to ### man"),
        ('an "open one\nand "another"', 'an "open one\nand #########'),
        ("„eins“ und „zwei” «trois» 「四」", "###### und ###### ####### ###"),
        ("see https://a.b/c now", "see ############# now"),
        ("```a\nb``` c `d` ```e", "######### c ### ```e"),
        ("mine\n> theirs\nand on", "mine\n" + "#" * 15),
        ("““““a” b", "###### b"),
    ],
)
def test_quoted_text_is_masked_without_changing_offsets(text: str, hidden: str) -> None:
    """So that places found in what is left hold in the text."""
    assert hide_quoted(text).replace("\ufffc", "#") == hidden
