"""Is a value that was corrected, changed or ended still told as current?

    python -m oldfriend_evals.corrected evals/oldfriend_evals/corrections/*.jsonl

The first hundred cases were written on 28 November 2026 by a helper that had not seen the code
and are training material since.

Each case is told to a new store, read without a model, and asked for. A reply is stale if it holds
the old value and not the new one, or the old one first; where something has only ended, if it
holds the old value without the message that ended it.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from oldfriend.domain.clock import DAY, HOUR, Micros
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.memory.beliefs import list_memories
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.blind_lives import BlindLife, holds, live
from oldfriend_evals.stores import settings_in

Outcome = Literal["current", "stale", "none"]
START: Micros = 1_785_744_000_000_000
"""3 August 2026."""


def build_life(case: Mapping[str, Any]) -> BlindLife:
    """Return a case as a life of a few days, a message a day."""
    messages = [
        {"id": f"m{number}", "from": "person", "text": text, "at": format_day(number)}
        for number, text in enumerate(case["messages"])
    ]
    about = {"person": "Robin", "other": None, "language": case["lang"], "zone": "UTC"}
    return BlindLife(
        name=case["id"], about=about, messages=messages, facts=(), traps=(), questions=()
    )


def format_day(number: int) -> str:
    """Return noon of a day in August."""
    return f"2026-08-{3 + number:02}T12:00:00+00:00"


async def ask(case: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the reply to a case's question, and the beliefs that are held then."""
    life = build_life(case)
    end = START + len(life.messages) * DAY + HOUR
    with TemporaryDirectory(prefix="oldfriend-corrected-") as folder:
        async with open_app(settings_in(Path(folder) / "data"), clock=lambda: end) as app:
            await live(app, life)
            line = await open_local_chat(
                app.db, app.clock, app.settings, person="Robin", channel="terminal"
            )
            reply = await answer_message(app, line, MessageSubmission(text=case["question"]))
            async with app.db.begin_read() as tx:
                known = await list_memories(tx, line.person.id)
    return reply.reply.text, [each.memory.text for each in known]


def judge(case: Mapping[str, Any], reply: str) -> Outcome:
    """Return what a reply tells."""
    old, new = find_first(reply, case["old"]), find_first(reply, case["new"])
    if not case["new"]:
        ending = case["messages"][-1].strip().rstrip(".!")[:40]
        new = reply.find(ending)
    if old < 0 and new < 0:
        return "none"
    return "stale" if old >= 0 and (new < 0 or old < new) else "current"


def find_first(text: str, values: Sequence[str]) -> int:
    """Return where the first of some values stands in a text; -1 if none does."""
    places = [text.casefold().find(value.casefold()) for value in values if holds(text, value)]
    return min((place for place in places if place >= 0), default=-1)


def holds_stale(case: Mapping[str, Any], beliefs: Sequence[str]) -> bool:
    """Tell whether a belief that is held as current has the old value and not the new one."""
    return any(
        find_first(text, case["old"]) >= 0 and find_first(text, case["new"]) < 0 for text in beliefs
    )


def load_cases(files: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the cases of some files."""
    return [
        json.loads(line) for file in files for line in Path(file).read_text("utf-8").splitlines()
    ]


async def measure(cases: Iterable[Mapping[str, Any]]) -> None:
    """Ask all cases, and print what came of them by kind and language."""
    counts: Counter[tuple[str, str]] = Counter()
    for case in cases:
        reply, beliefs = await ask(case)
        outcome = judge(case, reply)
        for group in ("all", case["kind"], case["lang"]):
            counts[group, outcome] += 1
            counts[group, "beliefs stale"] += holds_stale(case, beliefs)
        if outcome == "stale" or holds_stale(case, beliefs):
            sys.stdout.write(f"{case['id']} {outcome}: {case['question']} → {reply!r} {beliefs}\n")
    for group in dict.fromkeys(group for group, _ in counts):
        told = ", ".join(
            f"{outcome} {counts[group, outcome]}"
            for outcome in ("current", "stale", "none", "beliefs stale")
        )
        sys.stdout.write(f"{group}: {told}\n")


if __name__ == "__main__":
    asyncio.run(measure(load_cases(sys.argv[1:])))
