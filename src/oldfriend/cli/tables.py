"""Formatting of tables, money and durations for the terminal."""

from collections.abc import Sequence

from oldfriend.presenters.formatting import format_count, format_money

__all__ = ["format_count", "format_duration", "format_money", "format_table"]


def format_table(rows: Sequence[Sequence[str]], *, align_right: bool = True) -> str:
    """Format rows as columns: the first aligned left, the others right if ``align_right``."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if align_right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
