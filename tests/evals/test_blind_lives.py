"""What is counted of a blind life is what it says."""

import json
from collections import Counter
from pathlib import Path

import pytest

from oldfriend_evals.blind_lives import (
    Stored,
    build_measures,
    holds,
    judge_beliefs,
    list_folders,
    load_blind_life,
    measure_life,
)

LIFE = {"language": "en", "person": "Tess", "other": None, "zone": "Europe/London"}
SAID = (
    ("m1", "person", "My cat is called Miso."),
    ("m2", "person", "I live in Leeds."),
    ("m3", "companion", "Try the lentil soup from Harrow Street."),
)
FACTS = (
    {"id": "f1", "values": ["Miso"], "evidence": ["m1"]},
    {"id": "f2", "values": ["Leeds", "Bradford"], "evidence": ["m2"]},
    {"id": "f3", "values": ["oboe"], "evidence": ["m2"]},
)
TRAPS = ({"id": "t1", "values": ["soup"], "messages": ["m3"]},)
QUESTIONS = (
    {"text": "What is my cat called?", "answers": [["miso"]], "evidence": [["m1"]]},
    {"text": "What is the capital of Peru?", "answers": [], "evidence": []},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A life of three messages."""
    (tmp_path / "life.json").write_text(json.dumps(LIFE))
    parts = {
        "messages": [
            {"id": name, "at": f"2026-08-0{day}T21:14:00+01:00", "from": role, "text": text}
            for day, (name, role, text) in enumerate(SAID, start=1)
        ],
        "facts": FACTS,
        "traps": TRAPS,
        "questions": [{**each, "answerable": bool(each["answers"])} for each in QUESTIONS],
    }
    for name, records in parts.items():
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    return tmp_path


async def test_measure_life_counts_stored_found_and_refused(folder: Path) -> None:
    """By the real product."""
    counts = await measure_life(folder)

    assert counts["facts"] == 3
    assert (counts["stored"], counts["right"], counts["captured"]) == (2, 2, 2)
    assert (counts["answerable"], counts["found"], counts["useful"]) == (1, 1, 1)
    assert (counts["unanswerable"], counts["refused"], counts["presented_wrong"]) == (1, 1, 0)


def test_belief_is_right_only_with_matching_message_and_value(folder: Path) -> None:
    """Either alone is not enough; what a trap says is wrong, and anything else junk."""
    stored = [
        Stored(text="Has a cat, Miso", messages=frozenset({"m1"})),
        Stored(text="Has a cat, Miso", messages=frozenset({"m2"})),
        Stored(text="Lives in Bradfordshire", messages=frozenset({"m2"})),
        Stored(text="Likes soup", messages=frozenset({"m3"})),
    ]

    counts = judge_beliefs(load_blind_life(folder), stored)
    assert (counts["right"], counts["wrong"], counts["junk"]) == (1, 1, 2)
    assert counts["captured"] == 1


def test_value_matches_whole_words_in_spaced_languages() -> None:
    """Not where they have none."""
    assert holds("It was on May 3.", "3")
    assert not holds("It was on May 30.", "3")
    assert holds("我住在成都。", "成都")
    assert holds("我在2013年来的", "2013")
    assert not holds("我的电话是120131", "2013")


def test_share_of_no_stored_beliefs_has_no_value() -> None:
    """A share of nothing is no number."""
    told = {
        each.name: each
        for each in build_measures("en", Counter(facts=5, asked=2, presented_wrong=1))
    }

    assert told["blind lives, en: stored beliefs that are right"].value is None
    assert told["blind lives, en: wrong presented as right"].value == 50
    assert told["blind lives, en: wrong presented as right"].reached is False


@pytest.mark.parametrize("folder", list_folders(), ids=lambda folder: folder.name)
def test_shipped_lives_refer_only_to_existing_message_ids(folder: Path) -> None:
    """Times go on, and what facts, traps and questions name was said."""
    life = load_blind_life(folder)
    ids = {message["id"] for message in life.messages}
    times = [message["at"] for message in life.messages]
    named = {name for fact in life.facts for name in fact["evidence"]}
    named |= {name for trap in life.traps for name in trap["messages"]}
    named |= {name for each in life.questions for group in each["evidence"] for name in group}

    assert named <= ids
    assert len(ids) == len(life.messages)
    assert times == sorted(times)
