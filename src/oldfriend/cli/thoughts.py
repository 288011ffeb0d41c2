"""oldfriend thoughts: what was thought between conversations, and from which sources."""

import argparse
from collections.abc import Iterable

from oldfriend.beliefs.queries import (
    ThoughtDetails,
    get_transcript,
    list_thoughts,
    list_transcripts,
)
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person
from oldfriend.learning.reflection_scheduler import format_reflection_status, load_reflection_status
from oldfriend.memory.reflection_log import ReflectionRecord
from oldfriend.presenters.belief_schemas import belief_as_json
from oldfriend.presenters.belief_text import format_belief_line
from oldfriend.presenters.journal_schemas import format_reflection, reflection_as_json


async def run(options: argparse.Namespace) -> int:
    """Print thoughts, or transcripts of reflections. Raises InvalidInput."""
    if options.transcripts is not None and (options.about or options.subject or options.all):
        raise InvalidInput("--transcripts goes with no other choice but --json.")
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        status = format_reflection_status(await load_reflection_status(tx, app, person.id))
        if options.transcripts is None:
            thoughts = await list_thoughts(
                tx,
                person.id,
                subject=options.subject,
                entity_name=options.about,
                live=not options.all,
            )
            print_thoughts(options, person, thoughts, status)
            return 0
        ticks = await list_transcripts(tx, person.id, now=app.clock())
    if options.transcripts:
        print_transcript(options, person, get_transcript(ticks, options.transcripts))
    else:
        print_transcripts(options, person, ticks, status)
    return 0


def print_thoughts(
    options: argparse.Namespace, person: Person, thoughts: Iterable[ThoughtDetails], status: str
) -> None:
    """Print thoughts, each with its sources."""
    if options.json:
        values: list[JsonValue] = [
            belief_as_json(each.thought, zone=person.zone)
            | {
                "made_of": [
                    {"id": source.id, "kind": source.kind, "text": source.text}
                    for source in each.sources
                ]
            }
            for each in thoughts
        ]
        print(dumps(values))
        return
    lines: list[str] = []
    for each in thoughts:
        lines.append(format_belief_line(each.thought.content, zone=person.zone))
        lines += [
            f"    from {format_belief_line(source, zone=person.zone)}" for source in each.sources
        ]
    print("\n".join(lines or ["No thoughts yet.", status]))


def print_transcripts(
    options: argparse.Namespace,
    person: Person,
    transcripts: Iterable[ReflectionRecord],
    status: str,
) -> None:
    """Print every reflection, one per line, newest first."""
    if options.json:
        print(dumps([reflection_as_json(each, person.zone) for each in transcripts]))
        return
    lines = [format_reflection(each, person.zone) for each in transcripts]
    print("\n".join(lines or ["No transcripts. They are kept for 14 days.", status]))


def print_transcript(options: argparse.Namespace, person: Person, tick: ReflectionRecord) -> None:
    """Print the input and output of one reflection."""
    if options.json:
        print(dumps(reflection_as_json(tick, person.zone)))
        return
    assert tick.transcript is not None
    lines = [format_reflection(tick, person.zone), "", "It was shown:"]
    lines += [f"  {each}" for each in tick.transcript.shown]
    for each in tick.transcript.answered:
        lines += ["", "It said:", each]
    print("\n".join(lines))
