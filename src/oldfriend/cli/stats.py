"""oldfriend stats: how much is kept and believed, what was refused as junk, what was of use."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

from oldfriend.app.believing.counting import Stats, stats_of
from oldfriend.app.forming.thinking_ahead import status_as_text
from oldfriend.cli.columns import counted
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into

MEGABYTE = 1024 * 1024


async def run(options: argparse.Namespace) -> int:
    """Count, and print."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        stats = await stats_of(house, person)
    if options.json:
        print(json.dumps({**asdict(stats), "usefulness": share(stats)}))
    else:
        print("\n".join(as_text(stats)))
    return 0


def as_text(stats: Stats) -> list[str]:
    """The numbers to read."""
    useful = share(stats)
    lines = [
        f"Kept: {counted(stats.messages, 'message')} "
        f"in {counted(stats.conversations, 'conversation')}, "
        f"{stats.bytes / MEGABYTE:,.1f} MB for everybody.",
        f"Read: {named(stats.segments) or 'nothing yet'}; {stats.unread:,} messages are not cut "
        f"into stretches yet.",
        f"Believed: {named(stats.believed) or 'nothing yet'}.",
        f"Of {counted(stats.learned + stats.joined, 'thing')} told, {stats.joined:,} "
        f"{'was' if stats.joined == 1 else 'were'} known already and joined.",
        f"Refused as junk: {named(stats.refused) or 'nothing'}.",
    ]
    if stats.missed_peaks:
        missed = counted(stats.missed_peaks, "stretch", "stretches")
        lines.append(f"Of {missed} the model said that it missed something that mattered.")
    lines.append(status_as_text(stats.thinking))
    if stats.thinking.refused:
        lines.append(f"Of what it thought, refused: {named(stats.thinking.refused)}.")
    if stats.planned:
        lines.append(f"To be read: {stats.planned:,} (oldfriend consolidate --now).")
    if useful is not None:
        lines.append(
            f"Of {stats.shown:,} things that the last replies were based on, "
            f"{useful:.0%} are taken up in them."
        )
    return lines


def share(stats: Stats) -> float | None:
    """Of what was put before the last replies, the part that they took up; None: nothing was."""
    return round(stats.used / stats.shown, 4) if stats.shown else None


def named(counts: Mapping[str, int]) -> str:
    """Counts with their names."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
