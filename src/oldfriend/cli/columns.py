"""How do rows of words and numbers look on a terminal? And money, and lengths of time?"""

from collections.abc import Sequence

from oldfriend.app.showing import counted
from oldfriend.ledger.spending import DOLLAR

__all__ = ["counted", "duration", "in_columns", "money"]

CENT = DOLLAR // 100


def in_columns(rows: Sequence[Sequence[str]], *, right: bool = True) -> str:
    """Rows under each other; the first column begins at the left, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def money(cost: int) -> str:
    """An amount, with the more digits the smaller it is."""
    if cost and cost < 10 * CENT:
        return f"${cost / DOLLAR:.4f}"
    return f"${cost / DOLLAR:,.2f}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
