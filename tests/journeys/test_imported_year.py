"""Somebody brings in a year of chats and asks about it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.conftest import assert_as_decided
from tests.processes import Program

DATA = Path(__file__).parents[1] / "data"
ASKED = json.loads((DATA / "lisbon.questions.json").read_text("utf-8"))
ANSWERABLE = [each for each in ASKED if each["evidence"]]
UNANSWERABLE = [each for each in ASKED if not each["evidence"]]


@pytest.fixture(scope="module")
def lisbon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A memory into which the conversation was imported."""
    program = Program(data=tmp_path_factory.mktemp("lisbon") / "data")
    program.done("import", DATA / "lisbon.jsonl", "--me", "Nora")
    program.done("say", "hello")
    yield program
    assert_as_decided(program.data / "oldfriend.db")


def question(each: dict[str, str]) -> str:
    """What a question is called in the list of tests."""
    return each["question"]


def test_data_set_has_ten_answerable_and_two_unanswerable_questions() -> None:
    """The questions that follow."""
    assert (len(ANSWERABLE), len(UNANSWERABLE)) == (10, 2)


@pytest.mark.parametrize("asked", ANSWERABLE, ids=question)
def test_answerable_question_is_answered_with_the_right_evidence(
    lisbon: Program, asked: dict[str, str]
) -> None:
    """The reply quotes them, and the receipt names them by the id that they came with."""
    given = lisbon.done("say", asked["question"], "--json").json

    evidence = [each["external_id"] for each in given["receipt"]["evidence"]]
    assert set(asked["evidence"]) <= set(evidence)
    assert asked["answer_contains"] in given["reply"]


@pytest.mark.parametrize("asked", UNANSWERABLE, ids=question)
def test_unanswerable_question_is_declined_without_evidence(
    lisbon: Program, asked: dict[str, str]
) -> None:
    """Better nothing than something near."""
    given = lisbon.done("say", asked["question"], "--json").json

    assert given["reply"] == "I don't remember anything about that."
    assert given["receipt"]["evidence"] == []


def test_repeated_import_adds_nothing(lisbon: Program) -> None:
    """The same file twice is one memory."""
    before = lisbon.done("recall", "lemon tree", "--json").json
    lisbon.done("import", DATA / "lisbon.jsonl", "--me", "Nora")

    assert lisbon.done("recall", "lemon tree", "--json").json == before
