"""Amounts: the first price in a text, and numbers as people write them."""

import re
from typing import Final

MAX_READ_CHARS: Final = 100_000
NUMBER: Final = r"\d{1,12}(?:[.,'\u00a0\u202f]\d{1,3}){0,5}"
SIGNS: Final = r"[$€£¥₹₽₩]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|RMB)\b|元"
SPACED: Final = r"\d{1,3}(?: \d{3}){1,3}"
"""Thousands parted by spaces, before a sign or with decimals: not in "$5 100 ml"."""
PRICE: Final = re.compile(
    rf"(?:{SIGNS})[ \u00a0]?(?P<after>{SPACED}[.,]\d\d(?!\d)|{NUMBER})"
    rf"|(?<![\d.,])(?P<before>{SPACED}(?:[.,]\d\d?)?(?![\d.,])|{NUMBER})[ \u00a0]?(?:{SIGNS})",
    re.ASCII,
)
DECIMALS: Final = 2
"""Digits after the sign that parts decimals; three of them are thousands."""


def find_amount(text: str) -> float | None:
    """Return the first price in a text; None if it names none."""
    found = PRICE.search(text[:MAX_READ_CHARS])
    return None if found is None else parse_amount(found["after"] or found["before"])


def parse_amount(words: str) -> float | None:
    """Return the number that is written, whichever sign parts its decimals."""
    plain = (
        words.strip().replace(" ", "").replace("\u00a0", "").replace("\u202f", "").replace("'", "")
    )
    last = max(plain.rfind("."), plain.rfind(","))
    if last >= 0 and len(plain) - last - 1 <= DECIMALS:
        whole, part = re.sub(r"[.,]", "", plain[:last]), plain[last + 1 :]
        plain = f"{whole}.{part}"
    else:
        plain = re.sub(r"[.,]", "", plain)
    try:
        return float(plain)
    except ValueError:
        return None
