"""oldfriend diff: the differences in belief between two databases.

Exit codes as for diff: 0 the same, 1 different, 2 trouble.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.cli.open_context import get_person_option
from oldfriend.cli.output import dumps, format_table
from oldfriend.config.settings import to_database_url
from oldfriend.domain.errors import NotFound, OldfriendError
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.setting_parsers import redact_url
from oldfriend.presenters.base_schema import to_one_line
from oldfriend.presenters.belief_schemas import belief_as_json
from oldfriend.presenters.belief_text import format_belief_line
from oldfriend.presenters.message_schemas import evidence_as_text
from oldfriend.replay.memory_diff import (
    DIFF_STATUSES,
    BeliefDifference,
    DiffStatus,
    FieldDifference,
    PersonDiff,
    diff_memories,
)
from oldfriend.runtime.wiring import open_database

STATUS_TITLES: Final[Mapping[DiffStatus, str]] = {
    "only in 1": "Only the first believes",
    "only in 2": "Only the second believes",
    "said otherwise": "Both believe it, in other words",
    "stands otherwise": "Both believe it, but with different details",
}

SAME, DIFFERS, TROUBLE = 0, 1, 2


async def run(options: argparse.Namespace) -> int:
    """Compare two databases and print the differences."""
    try:
        diffs = await compare_databases(options)
    except OldfriendError as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return TROUBLE
    if options.json:
        print(dumps([diff_as_json(each) for each in diffs]))
    else:
        print("\n".join(format_people_diff(diffs, options)))
    return SAME if has_no_differences(diffs) else DIFFERS


async def compare_databases(options: argparse.Namespace) -> list[PersonDiff]:
    """Return the differences in belief between the databases. Raises OldfriendError."""
    name = get_person_option(options)
    one = await open_database(to_database_url(options.one), create=False)
    try:
        other = await open_database(to_database_url(options.other), create=False)
        try:
            async with one.begin_read() as tx, other.begin_read() as other_tx:
                diffs = await diff_memories(tx, other_tx, person=name, include_ended=options.all)
        finally:
            await other.close()
    finally:
        await one.close()
    if name is not None and not diffs:
        raise NotFound(f"Neither of them knows {name}.")
    return diffs


def format_people_diff(diffs: list[PersonDiff], options: argparse.Namespace) -> Iterator[str]:
    """Yield the differences by person, with counts."""
    yield f"1: {redact_url(to_database_url(options.one))}"
    yield f"2: {redact_url(to_database_url(options.other))}"
    for each in diffs:
        yield ""
        if len(diffs) > 1:
            yield f"{each.person}:"
        yield from format_diff(each, show_evidence=options.why)
        yield format_table(build_count_rows(each))
    if has_no_differences(diffs):
        yield "\nBoth believe the same."
    elif not options.why:
        yield "\nTo see the words behind each side, add --why"


def format_diff(diff: PersonDiff, *, show_evidence: bool) -> Iterator[str]:
    """Yield the differences of a person as lines of text."""
    for finding, title in STATUS_TITLES.items():
        found = [each for each in diff.differences if each.status == finding]
        if found:
            yield f"{title} ({len(found):,}):"
        for each in found:
            yield from format_difference(each, zone=diff.zone, show_evidence=show_evidence)
            if show_evidence:
                yield ""
        if found and not show_evidence:
            yield ""


def format_difference(
    difference: BeliefDifference, *, zone: str, show_evidence: bool
) -> Iterator[str]:
    """Yield one difference, with ``show_evidence`` also the evidence of both sides."""
    sides = [belief for belief in (difference.first, difference.second) if belief is not None]
    if len(sides) == 1:
        yield f"  {format_belief_line(sides[0].content, zone=zone)}"
    else:
        ids = " ↔ ".join(shorten_id(side.content.id) for side in sides)
        line = format_belief_line(sides[0].content, zone=zone)
        yield f"  {ids}  {line.partition('  ')[2].lstrip()}"
        yield from (
            f"      {format_field_difference(field_difference)}"
            for field_difference in difference.field_differences
        )
    if show_evidence:
        yield from format_evidence(difference)


def format_field_difference(difference: FieldDifference) -> str:
    """Format a field that differs."""
    return (
        f"{difference.field_name}: {to_one_line(difference.first)} → "
        f"{to_one_line(difference.second)}"
    )


def format_evidence(difference: BeliefDifference) -> Iterator[str]:
    """Yield the evidence of each side with its extractors."""
    for number, side in ((1, difference.first), (2, difference.second)):
        for evidence in () if side is None else side.evidence:
            yield f"      {number}: {evidence_as_text(evidence)} [{evidence.extractor}]"


def build_count_rows(diff: PersonDiff) -> list[tuple[str, ...]]:
    """Build the table of counts by kind and status."""
    titles = ("", "same", "only in 1", "only in 2", "in other words", "other details")
    return [
        titles,
        *(
            (kind, *(f"{counts.get(finding, 0):,}" for finding in DIFF_STATUSES))
            for kind, counts in sorted(diff.counts.items())
        ),
    ]


def diff_as_json(diff: PersonDiff) -> dict[str, JsonValue]:
    """Return the differences as JSON, with both sides and their evidence."""
    return {
        "person": diff.person,
        "counts": {
            kind: {finding: counts.get(finding, 0) for finding in DIFF_STATUSES}
            for kind, counts in diff.counts.items()
        },
        "differences": [
            {
                "finding": each.status,
                "kind": each.kind,
                "first": side_as_json(each.first, diff.zone),
                "second": side_as_json(each.second, diff.zone),
                "differs": [
                    {
                        "what": field_difference.field_name,
                        "first": field_difference.first,
                        "second": field_difference.second,
                    }
                    for field_difference in each.field_differences
                ],
            }
            for each in diff.differences
        ],
    }


def side_as_json(side: BeliefDetails | None, zone: str) -> JsonValue:
    """Return one side as JSON, or None."""
    return None if side is None else belief_as_json(side, zone=zone)


def has_no_differences(diffs: Sequence[PersonDiff]) -> bool:
    """Return whether two memories agree about everybody."""
    return not any(each.differences for each in diffs)
