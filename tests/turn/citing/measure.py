"""Measure of citing: precision and recall over replies whose true sources are known.

    python -m tests.turn.citing.measure

Prints both figures for each set of replies, by words that a reply shares with its sources and by
citations of a scripted model, which errs as `Habits` says; with ``--each`` also what was told
wrongly by words. How often a real model errs so is not measured here.
"""

import asyncio
import random
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.search import PersonIndex
from oldfriend.turn.cited_sources import (
    build_rarity_test,
    check_stated_sources,
    list_content_words,
    rank_cited_sources,
)
from oldfriend.turn.markers import find_cited_records
from oldfriend.turn.prompt_labels import render_record
from oldfriend.turn.record_keys import RecordKeys
from oldfriend.turn.reply_stream import ReplyStream
from tests.search.conversation import rows

REPLIES = Path(__file__).with_name("replies.toml")
SEEDS: Final = range(10)
FORMS: Final = (
    "{reply} [{keys}]",
    "[{keys}] {reply}",
    "{reply}\n({keys})",
    "{reply} USED_MEMORY {keys}",
    "{reply}\n**USED_MEMORY:** {keys}",
    "{reply}\n- used_memory: [{keys}]",
)
"""Forms that are not the one asked for, and are read all the same."""
UNREADABLE: Final = ("{reply}\nUSED_MEMORY: what you told me", "{reply}\nUSED_MEMORY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How often a model errs, of all its replies: guesses, on the side of a small model."""

    forgets: float = 0.12  # to cite at all
    other_form: float = 0.08
    unreadable: float = 0.03
    invents: float = 0.05  # a key, beside the true ones
    adds: float = 0.08  # the record that comes closest to those it has used
    drops: float = 0.05  # one of several that it has used
    cites_all: float = 0.03
    says_none: float = 0.03  # though it has used some


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a reply was made from, and what it was traced to."""

    set: str
    language: str
    reply: str
    true: frozenset[str] = field(default_factory=frozenset)
    cited: frozenset[str] = field(default_factory=frozenset)
    shown: str = ""  # what the person reads of it


def replies_traced(seed: int | None = None, habits: Habits | None = None) -> Iterator[Told]:
    """Trace each reply to the lines of its history, all of which were shown.

    By the words that they share or, with a seed for its errors, as a model cites them.
    """
    histories: dict[str, Any] = tomllib.loads(REPLIES.read_text("utf-8"))
    dice = random.Random(seed)
    for name, history in histories.items():
        language = name.rstrip("0123456789")
        lines: dict[str, str] = history["lines"]
        said = [("s1", "Ana", line) for line in lines.values()]
        index = PersonIndex.build(rows(said, language=language, role="person"))
        for each in history["replies"]:
            stated, shown = None, each["reply"]
            if seed is not None:
                stated, shown = asyncio.run(cite(each, lines, language, dice, habits or Habits()))
            traced = rank_cited_sources(
                shown,
                each["question"],
                lines,
                languages=[language, language],
                is_rare=build_rarity_test(index),
            )
            cited = traced
            if stated is not None:
                cited = check_stated_sources(
                    stated, traced, shown, each["question"], lines, language=language
                )
            yield Told(
                set=each["set"],
                language=language,
                reply=each["reply"],
                true=frozenset(each["because"]),
                cited=frozenset(cited),
                shown=shown,
            )


async def cite(
    told: Mapping[str, Any],
    lines: Mapping[str, str],
    language: str,
    dice: random.Random,
    habits: Habits,
) -> tuple[Sequence[str] | None, str]:
    """Have a model reply to a prompt with all lines, in pieces; what it cites, and what is read."""
    prompt, keys = get_reply_prompt(), RecordKeys()
    records = [render_record(prompt, each, {"when": "2026-11-02"}) for each in lines.values()]
    shown = keys.label(prompt, records, [*lines])
    request = CompletionRequest(
        purpose="reply",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt", name="Oldfriend"),
        call_instructions="\n".join(shown),
        turns=(PromptTurn(role="person", text=told["question"]),),
    )
    by_line = {line: key for key, line in keys.ids.items()}
    written = write_reply(told, lines, language, by_line, dice, habits)
    stream = ReplyStream(None, name="Oldfriend")
    while written:
        size = dice.randint(1, 9)
        await stream.write(written[:size])
        written = written[size:]
    await stream.end_paragraph()
    return find_cited_records(stream.markers, request, keys), stream.text


def write_reply(
    told: Mapping[str, Any],
    lines: Mapping[str, str],
    language: str,
    by_line: Mapping[str, str],
    dice: random.Random,
    habits: Habits,
) -> str:
    """Write a reply as a model with these habits does, which knows what it has used."""
    reply, used = told["reply"], [*told["because"]]
    if dice.random() < habits.forgets:
        return reply
    if dice.random() < habits.unreadable:
        return dice.choice(UNREADABLE).format(reply=reply)
    if len(used) > 1 and dice.random() < habits.drops:
        used.remove(dice.choice(used))
    if dice.random() < habits.adds:
        used.append(find_closest(told, lines, language))
    if dice.random() < habits.cites_all:
        used = [*lines]
    if dice.random() < habits.says_none:
        used = []
    keys = [by_line[each] for each in used]
    if dice.random() < habits.invents:
        keys.append(f"r{dice.randint(len(lines) + 1, 99)}")
    is_other_form = keys and dice.random() < habits.other_form
    form = dice.choice(FORMS) if is_other_form else "{reply}\nUSED_MEMORY: {keys}"
    return form.format(reply=reply, keys=", ".join(keys) or "none")


def find_closest(told: Mapping[str, Any], lines: Mapping[str, str], language: str) -> str:
    """Return the line that shares most words with what was said, of those that were not used."""
    said = list_content_words(f"{told['question']} {told['reply']}", language).words_by_stem.keys()
    others = [each for each in lines if each not in told["because"]]
    return max(
        others,
        key=lambda each: len(said & list_content_words(lines[each], language).words_by_stem.keys()),
    )


def precision(told: Sequence[Told]) -> float:
    """The share of what was cited that the reply was made from."""
    return sum(len(each.true & each.cited) for each in told) / count(each.cited for each in told)


def recall(told: Sequence[Told]) -> float:
    """The share of what replies were made from that was cited."""
    return sum(len(each.true & each.cited) for each in told) / count(each.true for each in told)


def count(sets: Iterator[Collection[str]]) -> int:
    """How many there are in all."""
    return sum(map(len, sets))


def main() -> None:
    """Print both figures."""
    told = [*replies_traced()]
    lines = ["by shared words", *format_sets(told)]
    runs = [[*replies_traced(seed)] for seed in SEEDS]
    lines += [
        "by citations of a scripted model, ten times",
        *format_sets([each for run in runs for each in run]),
    ]
    worst = min(map(precision, runs)), min(map(recall, runs))
    lines.append(f"worst of ten: precision {worst[0]:.3f}, recall {worst[1]:.3f}")
    if "--each" in sys.argv:
        wrong = (each for each in told if each.set != "second" and each.true != each.cited)
        lines += [f"{each.reply}\n    {[*each.true]}\n    {[*each.cited]}" for each in wrong]
    sys.stdout.write("\n".join(lines) + "\n")


def format_sets(told: Sequence[Told]) -> Iterator[str]:
    """Yield both figures for each set of replies, and for all."""
    for name in ("first", "second", "third", "fourth", "all"):
        some = [each for each in told if name in {each.set, "all"}]
        figures = f"precision {precision(some):.3f}, recall {recall(some):.3f}"
        yield f"  {name}: {len(some)} replies, {figures}"


if __name__ == "__main__":
    main()
