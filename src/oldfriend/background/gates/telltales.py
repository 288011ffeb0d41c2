"""Which words tell that a sentence is no evidence, or how it felt? One list a language.

Reads the lists beside it (``words``). What follows from a word is not known here.
"""

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

from oldfriend.background.characters import SIMPLIFIED
from oldfriend.prompts.phrasebook import SPOKEN, spoken_language
from oldfriend.turn.perceive import ONE_WIDTH
from oldfriend.turn.suspicion import visible_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Telltales:
    """The words of one language; ``words/en.toml`` says what each list is for."""

    telling_question: re.Pattern[str]
    exclaimed: re.Pattern[str]
    imagined: re.Pattern[str]
    wished: re.Pattern[str]
    once: re.Pattern[str]
    changed: re.Pattern[str]
    reported: re.Pattern[str]
    of_others: re.Pattern[str]
    ironic: re.Pattern[str]
    hyperbole: re.Pattern[str]
    praise: re.Pattern[str]
    mishap: re.Pattern[str]
    preferring: re.Pattern[str]
    stated: re.Pattern[str]
    large_number: re.Pattern[str]
    of_mine: re.Pattern[str]
    usual: re.Pattern[str]
    measured: re.Pattern[str]
    the_person: re.Pattern[str]
    speaker: re.Pattern[str]
    hearer: re.Pattern[str]
    leading_pronoun: re.Pattern[str]
    pronoun: re.Pattern[str]
    whom: re.Pattern[str]
    suggestion: re.Pattern[str]
    refused: re.Pattern[str]
    reminding: re.Pattern[str]
    promise: re.Pattern[str]
    named_time: re.Pattern[str]
    read_in: re.Pattern[str]
    grief: re.Pattern[str]
    joy: re.Pattern[str]
    hurt: re.Pattern[str]
    not_felt: re.Pattern[str]
    strong: re.Pattern[str]
    secret: re.Pattern[str]
    secret_noun: re.Pattern[str]
    order: re.Pattern[str]
    addressed: re.Pattern[str]
    passed_on: re.Pattern[str]
    condition: re.Pattern[str]
    consequence: re.Pattern[str]
    hedged: re.Pattern[str]
    declined: re.Pattern[str]
    denying: re.Pattern[str]
    bygone: re.Pattern[str]
    relapse: re.Pattern[str]
    indefinite: re.Pattern[str]
    unit: re.Pattern[str]
    about_money: re.Pattern[str]
    background: re.Pattern[str]
    mourned: re.Pattern[str]
    laughter: re.Pattern[str]
    likened: re.Pattern[str]
    light: re.Pattern[str]
    supposing: re.Pattern[str]
    opining: re.Pattern[str]
    assent: frozenset[str]


def telltales_of(language: str) -> Telltales:
    """Those of a language; of one that is not spoken here, English ones, which find little."""
    return _read(spoken_language(language))


def every_telltale() -> tuple[Telltales, ...]:
    """Those of all languages, for what must not slip through in another."""
    return tuple(_read(language) for language in SPOKEN)


def folded(text: str) -> str:
    """A text as it is compared: visible characters only, in one width, and in one script."""
    visible = visible_words(text).translate(ONE_WIDTH)
    return visible if visible.isascii() else visible.translate(SIMPLIFIED)


@cache
def _read(language: str) -> Telltales:
    file = resources.files("oldfriend.background.gates") / "words" / f"{language}.toml"
    lists: dict[str, list[str] | str] = tomllib.loads(file.read_text("utf-8"))
    patterns = {
        name: re.compile(source if isinstance(source, str) else "|".join(source), re.IGNORECASE)
        for name, source in lists.items()
        if name != "assent"
    }
    return Telltales(**patterns, assent=frozenset(lists["assent"]))


LISTS = tuple(field.name for field in fields(Telltales))
"""What each of the files has to hold."""
