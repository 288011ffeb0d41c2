"""Prompt injection detection: flags texts that try to give instructions to a model.

The text itself is not changed. The flags are kept in the receipt; offline there is no model that
could obey.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.unicode_text import normalize

INJECTION_PATTERNS: dict[str, re.Pattern[str]] = {
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
}
SUSPICIOUS_WORDS = re.compile(
    r"\b(?:ignore|disregard|override|bypass|jailbreak|instructions?|prompt|system|admin|sudo|root|"
    r"unrestricted|execute|inject)\b",
    re.IGNORECASE,
)
MAX_SCANNED_CHARS = 10_000
HIGH_RISK_FLAGS, HIGH_RISK_WORDS = 2, 3
"""The risk is high from this many flags or suspicious words on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionFindings:
    """The flags of a text and the resulting risk."""

    flags: tuple[str, ...]
    risk: Literal["none", "some", "high"]


def detect_injection(text: str) -> InjectionFindings:
    """Return the flags and the risk of a text, judged by its visible words."""
    visible = strip_hidden_characters(text[:MAX_SCANNED_CHARS])
    flags = tuple(name for name, pattern in INJECTION_PATTERNS.items() if pattern.search(visible))
    words = {word.lower() for word in SUSPICIOUS_WORDS.findall(visible)}
    if len(flags) >= HIGH_RISK_FLAGS or len(words) >= HIGH_RISK_WORDS:
        return InjectionFindings(flags=flags, risk="high")
    return InjectionFindings(flags=flags, risk="some" if flags else "none")


def strip_hidden_characters(text: str) -> str:
    """Return a text as it is read, without zero-width and control characters that hide words."""
    if text.isascii() and text.isprintable():
        return text
    folded = normalize("NFKC", text)
    return "".join(
        " " if c in "\n\t\r" else c
        for c in folded
        if c in "\n\t\r" or unicodedata.category(c) not in {"Cf", "Cc"}
    )
