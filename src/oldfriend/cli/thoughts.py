"""oldfriend thoughts: what it has thought between conversations, and why."""

import argparse
import json
from collections.abc import Iterable

from oldfriend.app.believing.pondering import (
    Pondered,
    list_pondered,
    list_transcripts,
    transcript_named,
)
from oldfriend.app.believing.showing import belief_as_json, line_of
from oldfriend.app.forming.thinking_ahead import status_as_text, status_of
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import short
from oldfriend.domain.json import JsonValue
from oldfriend.domain.people import Person
from oldfriend.memory.ticks import Tick


async def run(options: argparse.Namespace) -> int:
    """Look, and print."""
    if options.transcripts is not None and (options.about or options.subject or options.all):
        raise InvalidInput("--transcripts goes with no other choice but --json.")
    async with opened(options, create=False) as house, house.db.reading() as tx:
        person = await person_looked_into(tx, options)
        status = status_as_text(await status_of(tx, house, person.id))
        if options.transcripts is None:
            pondered = await list_pondered(
                tx, person.id, subject=options.subject, name=options.about, live=not options.all
            )
            print_pondered(options, person, pondered, status)
            return 0
        ticks = await list_transcripts(tx, person.id, now=house.clock())
    if options.transcripts:
        print_transcript(options, person, transcript_named(ticks, options.transcripts))
    else:
        print_transcripts(options, person, ticks, status)
    return 0


def print_pondered(
    options: argparse.Namespace, person: Person, pondered: Iterable[Pondered], status: str
) -> None:
    """Thoughts, each with what it was made of."""
    if options.json:
        told: list[JsonValue] = [
            belief_as_json(each.thought, zone=person.zone)
            | {"made_of": [{"id": one.id, "kind": one.kind, "text": one.text}
                           for one in each.made_of]}
            for each in pondered
        ]  # fmt: skip
        print(json.dumps(told, ensure_ascii=False))
        return
    lines: list[str] = []
    for each in pondered:
        lines.append(line_of(each.thought.what, zone=person.zone))
        lines += [f"    from {line_of(one, zone=person.zone)}" for one in each.made_of]
    print("\n".join(lines or ["No thoughts yet.", status]))


def print_transcripts(
    options: argparse.Namespace, person: Person, ticks: Iterable[Tick], status: str
) -> None:
    """Every time it thought, a line each, the last first."""
    if options.json:
        print(json.dumps([tick_as_json(each, person.zone) for each in ticks], ensure_ascii=False))
        return
    lines = [line_of_tick(each, person.zone) for each in ticks]
    print("\n".join(lines or ["No transcripts. They are kept for 14 days.", status]))


def print_transcript(options: argparse.Namespace, person: Person, tick: Tick) -> None:
    """What it was shown one time, and what it said to itself."""
    if options.json:
        print(json.dumps(tick_as_json(tick, person.zone), ensure_ascii=False))
        return
    assert tick.transcript is not None
    lines = [line_of_tick(tick, person.zone), "", "It was shown:"]
    lines += [f"  {each}" for each in tick.transcript.shown]
    for each in tick.transcript.answered:
        lines += ["", "It said:", each]
    print("\n".join(lines))


def line_of_tick(tick: Tick, zone: str) -> str:
    """One time of thinking, on a line."""
    when = from_micros(tick.ran_at, zone).strftime("%Y-%m-%d %H:%M")
    came = ", ".join(
        f"{what}: {counts}"
        for what, each in tick.outcome.items()
        if isinstance(each, dict)
        and (counts := ", ".join(f"{count} {name}" for name, count in each.items()))
    )
    outcome = "in vain: it could not be read" if tick.error else came or "nothing to think"
    tokens = f"{tick.tokens_in:,} + {tick.tokens_out:,} tokens"
    return f"{short(tick.id)}  {when}  {tick.kind} ({tick.why}), {tokens}  {outcome}"


def tick_as_json(tick: Tick, zone: str) -> dict[str, JsonValue]:
    """One time of thinking, for a program."""
    told = tick.transcript
    return {
        "id": tick.id, "kind": tick.kind, "why": tick.why,
        "ran_at": from_micros(tick.ran_at, zone).isoformat(timespec="seconds"),
        "tokens_in": tick.tokens_in, "tokens_out": tick.tokens_out,
        "outcome": dict(tick.outcome), "error": tick.error,
        "shown": [] if told is None else list(told.shown),
        "answered": [] if told is None else list(told.answered),
    }  # fmt: skip
