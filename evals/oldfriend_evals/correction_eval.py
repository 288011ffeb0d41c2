"""Corrections: whether a value that was corrected, changed or ended is still told as current.

    python -m oldfriend_evals.correction_eval evals/oldfriend_evals/corrections/*.jsonl

The cases were written on 28 November 2026 by helpers that had not seen the code: a hundred, on
which the weights of later links were learned, and 150 more, of which 4 were stale (none as sure)
and 31 without any answer when they were measured first. Sixty more came with the mends of the same
day. All are training material since: of the 310, 32 were stale before these mends, and 3 after.
Then 300 fresh ones in seven languages, measured once after the mends (commit 15584132): 251
current, 19 stale (6 as sure), 30 without any answer; 11 of the 19 are the Chinese ones, of 30.
Without the Chinese ones 8 of 270 were stale (5 as sure; one only since a quote's time held the old
value). With updates learned from all material but these, 3 are stale (1 as sure). They are training
material since. The newest 300, in eight languages, were measured once at commit f8528a2e: 294
current, 4 stale (none as sure), 2 without any answer; the old value alone is believed in 120.

Each case is told to a new store, read without a model, and asked for; with ``--within``, in the
middle of a life of ``blind/``, which has some hundred other messages. A reply is current if the
newer message, or the new value, stands in it before the old value: what was said before may be
quoted after it. It is stale if the old value stands alone or first, whether it is told as sure or
only as close, which is counted apart. A value counts where it stands outside the newer message,
whose own words may name the old one first ("not Darren, he's Darius").
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.receipts import find_receipt
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.blind_lives import BlindLife, find_form, list_folders, live, load_blind_life
from oldfriend_evals.temporary_stores import build_settings

Outcome = Literal["current", "stale, sure", "stale, unsure", "none"]
COUNTED: Final = ("current", "stale, sure", "stale, unsure", "none", "beliefs stale", "new unknown")
MIN_QUOTED: Final = 40
"""Characters of the newer message by which it is found in a reply."""
TIME_OF_DAY: Final = "18:47"
"""Of each message; a quote's time is no value."""
FIRST_PLACE, LAST_PLACE = 0.4, 0.7
"""Where in a life the first and the last message of a case stand."""


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
    """Return the evening of a day in August."""
    return f"2026-08-{3 + number:02}T{TIME_OF_DAY}:00+00:00"


def build_life_within(case: Mapping[str, Any], life: BlindLife) -> BlindLife:
    """Return a life in which a case's messages stand, spread over the middle of it."""
    count, told = len(life.messages), case["messages"]
    messages = [*life.messages]
    for number in reversed(range(len(told))):
        share = FIRST_PLACE + (LAST_PLACE - FIRST_PLACE) * number / (len(told) - 1)
        place = int(count * share)
        said = {"id": f"case{number}", "from": "person", "text": told[number]}
        messages.insert(place, said | {"at": life.messages[place]["at"]})
    return replace(life, messages=messages)


def list_lives_in(language: str) -> list[BlindLife]:
    """Return the lives of a language that one person tells."""
    lives = (load_blind_life(folder) for folder in list_folders())
    alone = [each for each in lives if not each.about["other"]]
    return [each for each in alone if each.about["language"] == language]


async def ask(case: Mapping[str, Any], life: BlindLife) -> tuple[str, bool, list[str]]:
    """Return the reply to a case's question, whether it is sure, and the beliefs held then."""
    end = life.end
    with TemporaryDirectory(prefix="oldfriend-corrections-") as folder:
        async with open_app(build_settings(Path(folder) / "data"), clock=lambda: end) as app:
            await live(app, life)
            line = await open_local_chat(
                app.db, app.clock, app.settings, person=life.about["person"], channel="terminal"
            )
            reply = await answer_message(app, line, MessageSubmission(text=case["question"]))
            async with app.db.begin_read() as tx:
                known = await list_memories(tx, line.person.id)
                receipt = await find_receipt(tx, line.person.id)
    is_sure = receipt is not None and receipt.details.get("certainty") == "sure"
    return reply.reply.text, is_sure, [each.memory.text for each in known]


def judge(case: Mapping[str, Any], reply: str, *, is_sure: bool) -> Outcome:
    """Return what a reply tells."""
    reply = reply.replace(TIME_OF_DAY, "")
    newer = find_change(case).strip().rstrip(".!")
    quoted = reply.find(newer[:MIN_QUOTED])
    rest = reply if quoted < 0 else reply.replace(newer, "\0" * len(newer))
    old, new = find_first(rest, case["old"]), find_first(rest, case["new"])
    new = min((place for place in (quoted, new) if place >= 0), default=-1)
    if old < 0 and new < 0:
        return "none"
    if old < 0 or 0 <= new < old:
        return "current"
    return "stale, sure" if is_sure else "stale, unsure"


def find_change(case: Mapping[str, Any]) -> str:
    """Return the message that changes what the first one says: the last with the new value."""
    told: list[str] = case["messages"]
    with_new = [each for each in told if find_first(each, case["new"]) >= 0]
    return [*told[-1:], *with_new][-1]


def drop_quotes(reply: str, messages: Iterable[str]) -> str:
    """Return a reply without what it quotes of messages that are beside the case."""
    for text in sorted(messages, key=len, reverse=True):
        reply = reply.replace(text.strip()[:MIN_QUOTED], "")
    return reply


def find_first(text: str, values: Sequence[str]) -> int:
    """Return where the first of some values stands in a text; -1 if none does."""
    found = (find_form(text, value) for value in values)
    return min((each.start() for each in found if each is not None), default=-1)


def holds_stale(case: Mapping[str, Any], beliefs: Sequence[str]) -> bool:
    """Tell whether a belief that is held as current has the old value and not the new one."""
    return any(
        find_first(text, case["old"]) >= 0 and find_first(text, case["new"]) < 0 for text in beliefs
    )


def holds_only_old(case: Mapping[str, Any], beliefs: Sequence[str]) -> bool:
    """Tell whether the old value is held, and nothing that has the new one or changes the old."""
    told = [*case["new"], find_change(case).strip()]
    return holds_stale(case, beliefs) and all(find_first(text, told) < 0 for text in beliefs)


def load_cases(files: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the cases of some files."""
    return [
        json.loads(line) for file in files for line in Path(file).read_text("utf-8").splitlines()
    ]


async def measure(cases: Sequence[Mapping[str, Any]], *, is_within: bool) -> None:
    """Ask all cases, and print what came of them by kind and language."""
    counts: Counter[tuple[str, str]] = Counter()
    lives = {language: list_lives_in(language) for language in {case["lang"] for case in cases}}
    for number, case in enumerate(cases):
        among = lives[case["lang"]]
        within = among[number % len(among)]
        life = build_life_within(case, within) if is_within else build_life(case)
        reply, is_sure, beliefs = await ask(case, life)
        others = [each["text"] for each in life.messages if each["text"] not in case["messages"]]
        outcome = judge(case, drop_quotes(reply, others), is_sure=is_sure)
        for group in ("all", case["kind"], case["lang"]):
            counts[group, outcome] += 1
            counts[group, "beliefs stale"] += holds_stale(case, beliefs)
            counts[group, "new unknown"] += holds_only_old(case, beliefs)
        if outcome.startswith("stale") or holds_stale(case, beliefs):
            told = [text for text in beliefs if find_first(text, [*case["old"], *case["new"]]) >= 0]
            sys.stdout.write(f"{case['id']} {outcome}: {case['question']} → {reply!r} {told}\n")
    for group in dict.fromkeys(group for group, _ in counts):
        told = [f"{outcome} {counts[group, outcome]}" for outcome in COUNTED]
        sys.stdout.write(f"{group}: {', '.join(told)}\n")


if __name__ == "__main__":
    files = [each for each in sys.argv[1:] if each != "--within"]
    asyncio.run(measure(load_cases(files), is_within="--within" in sys.argv))
