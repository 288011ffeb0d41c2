"""Is a thought in the tone in which friends think of each other? Without labels, advice, machinery.

One list of words a language stands beside this (``tones``). Labels and machinery are looked for in
every language, advice in that of the thought. What is done with a thought is not known here.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal

from oldfriend.background.gates.telltales import folded
from oldfriend.domain.language import detect_language
from oldfriend.prompts.phrasebook import SPOKEN, spoken_language

ToneFault = Literal["clinical", "advice", "metadata", "wrong language"]

MARKS: Final = re.compile(
    r"(?<![A-Za-z0-9_'’])[ek]\d{1,3}(?![A-Za-z0-9_])"  # a small name
    r"|[0-9a-f]{8}-[0-9a-f]{4}|[{}<>]|\[\d|\]\(|&#?\w+;|https?://|```"
)
"""What no sentence of a friend holds: small names, ids, code, links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tone:
    """The words of one language that have no place in a thought."""

    clinical: re.Pattern[str]
    advice: re.Pattern[str]
    no_duty: re.Pattern[str]
    metadata: re.Pattern[str]


def tone_fault(text: str, *, language: str) -> ToneFault | None:
    """Why a thought is not in the tone of a friend, or not in its language; None: it is."""
    plain = folded(text)
    if is_label(text):
        return "clinical"
    if MARKS.search(plain) or any(tone_of(each).metadata.search(plain) for each in SPOKEN):
        return "metadata"
    tone = tone_of(spoken_language(language))
    if tone.advice.search(tone.no_duty.sub(" ", plain)):
        return "advice"
    return None if detect_language(text, fallback=language) == language else "wrong language"


def is_label(text: str) -> bool:
    """Whether it says of somebody what only medicine may, in whatever language."""
    plain = folded(text)
    return any(tone_of(each).clinical.search(plain) for each in SPOKEN)


@cache
def tone_of(language: str) -> Tone:
    """The words of a language that is spoken here."""
    file = resources.files("oldfriend.background.gates") / "tones" / f"{language}.toml"
    lists: Mapping[str, list[str]] = tomllib.loads(file.read_text("utf-8"))
    return Tone(
        **{name: re.compile("|".join(each), re.IGNORECASE) for name, each in lists.items()}
    )  # fmt: skip
