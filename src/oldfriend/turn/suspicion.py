"""Does a text try to give orders to a machine? Flagged by pattern; the text stays as it is.

Offline there is nobody who could obey. The flags are kept in the receipt, and are there for
whoever puts text before a language model.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

PATTERNS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "overrides instructions": r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
        r"\b(?:instructions?|rules?|prompts?)\b",
        "asks for the prompt": r"\b(?:reveal|show|print|repeat|leak)\b.{0,40}\bprompt\b",
        "assigns a role": r"\byou are now\b|\bfrom now on you\b|\bpretend (?:to be|you are)\b",
        "breaks limits": r"\b(?:jailbreak|developer mode|dan mode|without (?:any )?restrictions)\b",
        "poses as the system": r"<\s*/?\s*(?:system|assistant|instructions?)\s*>|\[/?INST\]"
        r"|^\s*system\s*:",
        "calls a tool": r"<\s*(?:tool_call|function_call)\b|\"tool_calls\"\s*:",
    }.items()
}  # fmt: skip
WORDS = re.compile(
    r"\b(?:ignore|disregard|override|bypass|jailbreak|instructions?|prompt|system|admin|sudo|root|"
    r"unrestricted|execute|inject)\b",
    re.IGNORECASE,
)
LOOKED_AT = 10_000
HIGH_FLAGS, HIGH_WORDS = 2, 3
"""From here on the risk is high (ACCEPTANCE SEC1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """What a text was flagged for, and how much that is."""

    flags: tuple[str, ...]
    risk: Literal["none", "some", "high"]


def suspicion_of(text: str) -> Suspicion:
    """The flags of a text, by its visible words."""
    visible = visible_words(text[:LOOKED_AT])
    flags = tuple(name for name, pattern in PATTERNS.items() if pattern.search(visible))
    words = {word.lower() for word in WORDS.findall(visible)}
    if len(flags) >= HIGH_FLAGS or len(words) >= HIGH_WORDS:
        return Suspicion(flags=flags, risk="high")
    return Suspicion(flags=flags, risk="some" if flags else "none")


def visible_words(text: str) -> str:
    """A text as it is read: without zero-width and control characters, which hide words."""
    if text.isascii() and text.isprintable():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(
        " " if c in "\n\t\r" else c
        for c in folded
        if c in "\n\t\r" or unicodedata.category(c) not in {"Cf", "Cc"}
    )
