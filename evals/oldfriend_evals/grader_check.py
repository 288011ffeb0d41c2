"""Errors of the grader of replies: wrong ones passed, right ones refused.

``blind/replies.jsonl`` has 100 replies that are wrong on purpose and 30 right ones, to questions of
two lives, by a writer who had seen no code.
"""

import json
from typing import Final

from oldfriend_evals.bench_measures import Measure, Scope
from oldfriend_evals.blind_lives import FOLDER, Record, load_blind_life, read_lines
from oldfriend_evals.reply_grading import grade_reply

REPLIES: Final = FOLDER / "replies.jsonl"


async def measure_grader(_scope: Scope) -> list[Measure]:
    """The shares of wrong and of right replies that pass."""
    replies = [json.loads(line) for line in read_lines(REPLIES)]
    wrong = [each for each in replies if not each["is_right"]]
    right = [each for each in replies if each["is_right"]]
    return [
        _tell("wrong replies that pass", wrong, is_strict=False),
        _tell("wrong replies that pass and hold no wrong value", wrong, is_strict=True),
        _tell("right replies that pass", right, is_strict=False),
    ]


def _tell(name: str, replies: list[Record], *, is_strict: bool) -> Measure:
    passed = sum(passes(each, is_strict=is_strict) for each in replies)
    return Measure(
        name=f"grader: {name}",
        value=100 * passed / len(replies),
        unit="%",
        note=f"{passed} of {len(replies)}",
    )


def passes(reply: Record, *, is_strict: bool) -> bool:
    """Whether a reply is taken for right; if strict, only without any value that would be wrong."""
    life = load_blind_life(FOLDER / reply["life"])
    (question,) = [each for each in life.questions if each["id"] == reply["question"]]
    grade = grade_reply(life, question, reply["reply"])
    wanted = "right" if question["answerable"] else "declined"
    return bool(grade["verdict"] == wanted and not (is_strict and grade["wrong_values"]))
