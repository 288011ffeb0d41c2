"""A life is read and asked about with a model whose answers are files."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from oldfriend_evals.answer_files import ANSWER, REQUEST, serve_answers
from oldfriend_evals.blind_lives import BlindLife
from oldfriend_evals.life_with_model import (
    choose_questions,
    format_answers,
    format_reading,
    measure_life,
    regrade,
    shorten_life,
)
from oldfriend_evals.reply_grading import grade_reply

MESSAGES = [
    {
        "id": "m1",
        "at": "2026-08-01T21:14:00+01:00",
        "from": "person",
        "text": "My cat is Miso, the third that I have had since I moved out of home.",
    },
    {"id": "m2", "at": "2026-08-01T21:15:00+01:00", "from": "person", "text": "I live in Leeds."},
    {"id": "m3", "at": "2026-08-05T21:15:00+01:00", "from": "person", "text": "I sold my oboe."},
]
FACTS = [
    {"id": "f1", "statement": "The cat is Miso.", "values": ["Miso"], "evidence": ["m1"]},
    {"id": "f2", "statement": "Tess lives in Leeds.", "values": ["Leeds"], "evidence": ["m2"]},
]
QUESTIONS = [
    {"id": "q1", "kind": "single", "text": "what's my cat called?", "answerable": True},
    {"id": "q2", "kind": "never_said", "text": "what's my dog called?", "answerable": False},
    {"id": "q3", "kind": "single", "text": "where do i live?", "answerable": True},
]
SOLD = {
    "id": "q4",
    "kind": "single",
    "text": "when did i sell my oboe?",
    "answerable": True,
    "answers": [["2026-08-05", "5 august"]],
    "evidence": [["m3"]],
    "wrong": ["6 august"],
}
ANSWERS = {
    "q1": {"answers": [["miso"]], "evidence": [["m1"]], "wrong": ["oboe"]},
    "q2": {"answers": [], "evidence": [], "wrong": ["miso"]},
    "q3": {"answers": [["leeds"]], "evidence": [["m2"]], "wrong": []},
}
LIFE = BlindLife(
    name="tiny",
    about={"language": "en", "person": "Tess", "other": None, "zone": "Europe/London"},
    messages=MESSAGES,
    facts=FACTS,
    traps=[],
    questions=[{**each, **ANSWERS[each["id"]]} for each in QUESTIONS],
)
NOTHING = {"summary": "", "self_check": {"missed_peak": "none", "attribution": "fine"}}
CLAIMS = {
    "facts": [
        {
            "text": "Has a cat called Miso.",
            "quotes": [{"message": "m1", "text": "My cat is Miso"}],
            "key": "pet",
            "value": "Miso",
        },
        {
            "text": "Lives in Leeds.",
            "quotes": [{"message": "m2", "text": "I am from Leeds"}],
            "key": "location",
            "value": "Leeds",
        },
    ]
}
NEEDS = {"complexity": "simple", "emotion": "neutral", "goal": "inform", "signal": "normal"}


def answer_to(request: str) -> str:
    """What a model with a script says."""
    if "To be read, oldest first" in request:
        shown = request.rpartition("To be read")[2]
        return json.dumps({**NOTHING, **(CLAIMS if "Miso" in shown else {})})
    if "You prepare the reply" in request:
        return json.dumps(NEEDS)
    if "who remembers the person" in request:
        knows = "my cat" in request and "Miso" in request
        return "Your cat is called Miso." if knows else "You haven’t told me that."
    return "{}"


@asynccontextmanager
async def somebody_answers(folder: Path) -> AsyncIterator[None]:
    """Somebody who answers each request as soon as it stands there."""

    async def answer() -> None:
        while True:
            for file in folder.glob(f"*{REQUEST}"):
                answered = Path(str(file).replace(REQUEST, ANSWER))
                if not answered.exists():
                    answered.write_text(answer_to(file.read_text()))
            await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(answer())
        yield
        answering.cancel()


async def test_measure_life_reads_asks_grades_and_reuses_stored_answers(tmp_path: Path) -> None:
    """By the real product; and what was answered once is not asked again."""
    async with somebody_answers(tmp_path):
        report = await measure_life(LIFE, tmp_path)
    asked = len(list(tmp_path.glob(f"*{REQUEST}")))
    again = await measure_life(LIFE, tmp_path)
    anew = {each["id"]: each for each in regrade(LIFE, tmp_path)}

    reading, answers = report["reading"], {each["id"]: each for each in report["questions"]}
    assert reading["segments"] == {"done": 2}
    assert (reading["captured"], reading["facts"]) == (1, 2)
    assert [each["verdict"] for each in reading["beliefs"]] == ["right"]
    assert reading["gates"] == {"invented quote": 1}
    assert [(each["gate"], each["lost"]) for each in reading["refusals"]] == [
        ("invented quote", ["f2"])
    ]
    assert {each["purpose"] for each in reading["calls"]} >= {"extract"}
    assert {name: each["verdict"] for name, each in answers.items()} == {
        "q1": "right",
        "q2": "declined",
        "q3": "declined",
    }
    assert all(answers[name]["evidence_in_prompt"] for name in ("q1", "q3"))
    assert all(each["prompt_tokens"] > 1_000 for each in answers.values())
    assert len(list(tmp_path.glob(f"*{REQUEST}"))) == asked
    assert again == report
    assert [*anew] == [*answers]
    for name, each in anew.items():
        same = {part: answers[name][part] for part in each if part != "requests"}
        assert {part: each[part] for part in same} == same
        assert each["requests"] == answers[name]["requests"][-1:]
    assert "facts captured: 1 of 2" in format_reading(reading)
    assert format_answers(report["questions"]).splitlines()[-1].split()[:4] == [
        "all",
        "3",
        "2",
        "1",
    ]


async def test_file_answers_are_served_as_text_tool_call_or_stream(tmp_path: Path) -> None:
    """Text, JSON as the arguments of a tool that must be called, tool calls, or as a stream."""
    tool = {"type": "function", "function": {"name": "note", "parameters": {}}}
    asked = [
        {},
        {"tools": [tool], "tool_choice": "required"},
        {"tools": [tool]},
        {"stream": True, "seed": 1},
    ]
    written = ["hello", '{"words": "a"}', '{"tool_calls": [{"name": "note", "arguments": {}}]}']
    for number, text in enumerate(written, start=1):
        (tmp_path / f"{number:04}{ANSWER}").write_text(text)
    said = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    async with serve_answers(tmp_path) as files, httpx2.AsyncClient() as client:
        url = f"{files.address('x')}/chat/completions"
        replies = [await client.post(url, json={**said, **each}) for each in asked]

    text, forced, called = [each.json()["choices"][0]["message"] for each in replies[:3]]
    assert text == {"role": "assistant", "content": "hello"}
    assert forced["tool_calls"][0]["function"] == {"name": "note", "arguments": '{"words": "a"}'}
    assert called["tool_calls"][0]["function"] == {"name": "note", "arguments": "{}"}
    pieces = [line[6:] for line in replies[3].text.splitlines() if line]
    assert json.loads(pieces[0])["choices"][0]["delta"]["content"] == "hello"
    assert json.loads(pieces[-2])["usage"]["prompt_tokens"] > 0
    assert pieces[-1] == "[DONE]"


async def test_regrade_uses_stored_answers_without_a_model(tmp_path: Path) -> None:
    """The last text counts, not the calls of tools before it; what waits for an answer is left."""
    said = {"model": "main", "messages": [{"role": "user", "content": LIFE.questions[0]["text"]}]}
    search = '{"tool_calls": [{"name": "search_memory", "arguments": {"query": "cat"}}]}'
    for number, text in enumerate([search, "Your cat is called Miso."], start=1):
        (tmp_path / f"{number:04}{ANSWER}").write_text(text)
    async with serve_answers(tmp_path) as files, httpx2.AsyncClient() as client:
        url = f"{files.address('q1')}/chat/completions"
        for seed in range(2):
            more = [{"role": "user", "content": str(seed)}] * seed
            await client.post(url, json={**said, "messages": [*said["messages"], *more]})
    waiting = (tmp_path / f"0002{REQUEST}").read_text().replace("for: q1", "for: q3")
    (tmp_path / f"0003{REQUEST}").write_text(waiting)

    [graded] = regrade(LIFE, tmp_path)
    assert (graded["id"], graded["reply"], graded["verdict"]) == (
        "q1",
        "Your cat is called Miso.",
        "right",
    )
    assert graded["requests"] == [2]


def test_questions_are_chosen_evenly_over_their_kinds() -> None:
    """In the order in which they stand."""
    assert [each["id"] for each in choose_questions(LIFE.questions, 2)] == ["q1", "q2"]


def test_shortened_life_keeps_only_supported_facts_and_questions() -> None:
    """A question to which nothing was said needs nothing."""
    short = shorten_life(LIFE, 1)

    assert [each["id"] for each in short.facts] == ["f1"]
    assert [each["id"] for each in short.questions] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("question", "reply", "verdict"),
    [
        (0, "Miso! You told me on Saturday.", "right"),
        (0, "I don’t remember its name.", "declined"),
        (0, "It's called Oboe.", "wrong"),
        (1, "You haven't mentioned a dog, only Miso.", "declined"),
        (1, "Your dog is called Miso.", "wrong"),
        (3, "On the 5th of August, a Wednesday.", "right"),
        (3, "On the 6th of August.", "wrong"),
    ],
)
def test_a_reply_is_right_declined_or_wrong(question: int, reply: str, verdict: str) -> None:
    """Right holds all of the answer, and only where there is one."""
    assert grade_reply(LIFE, [*LIFE.questions, SOLD][question], reply)["verdict"] == verdict


@pytest.mark.parametrize(
    ("reply", "wrong"), [("The 6th of August.", ["6 august"]), ("The 16th of August.", [])]
)
def test_wrong_day_in_a_reply_is_detected_in_any_form(reply: str, wrong: list[str]) -> None:
    """As the right one is."""
    assert grade_reply(LIFE, SOLD, reply)["wrong_values"] == wrong


TEA = {
    **LIFE.questions[0],
    "text": "what do i drink",
    "answers": [["green tea"]],
    "wrong": ["coffee", "thursday"],
}
PAID = {**TEA, "text": "what did i pay", "answers": [["13,400"]], "wrong": ["450"]}


@pytest.mark.parametrize(
    ("question", "reply", "verdict"),
    [
        (TEA, "Green tea. It was coffee before that.", "right"),
        (TEA, "Coffee! Green tea was before that.", "mixed"),
        (TEA, "Green tea or coffee, one of the two.", "mixed"),
        (TEA, "Green tea? On Thursdays.", "mixed"),
        (TEA, "It's not green tea, that much is sure.", "wrong"),
        ({**TEA, "text": "what don't i drink"}, "You don't drink green tea.", "right"),
        (PAID, "Thirteen thousand four hundred.", "right"),
        (PAID, "Four hundred and fifty.", "wrong"),
    ],
)
def test_a_value_beside_a_wrong_one_or_denied_is_not_taken_for_the_answer(
    question: dict[str, object], reply: str, verdict: str
) -> None:
    """And a number counts in words, too."""
    assert grade_reply(LIFE, question, reply)["verdict"] == verdict
