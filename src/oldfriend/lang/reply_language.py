"""Reply language: how somebody says in which language they want to be answered."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Literal

from oldfriend.lang.language_pack import (
    LANGUAGES,
    choose_language_with,
    list_languages,
    load_language_pack,
)

MAX_ASK_CHARS: Final = 80
PLACEHOLDER: Final = "LANG"
EDGES: Final = " \t\n.,;:!?¡¿…\"'“”„«»。，！？"
AUTO: Final = "auto"

LanguageChoice = str | Literal["auto"]
"""The code of a language, or that of whatever the person writes in."""


def read_language_ask(text: str) -> LanguageChoice | None:
    """Return the language that a whole text asks to be answered in; None for any other text."""
    if len(text) > MAX_ASK_CHARS:
        return None
    is_question = text.rstrip().endswith(("?", "\uff1f"))
    for language in list_languages("reply_language"):
        pack = load_pack(language)
        if is_question and not any(each in text.lower() for each in pack["polite"]):
            continue
        plain = strip_fillers(text, pack["fillers"])
        if plain in load_asks(language, AUTO):
            return AUTO
        for code, names in load_names().items():
            for name in names:
                asked = plain.replace(name, PLACEHOLDER, 1)
                if asked != plain and asked in load_asks(language, "asks"):
                    return code
    return None


def find_language(name: str) -> LanguageChoice | None:
    """Return the language of a code or a name in any language; None if nothing is called so."""
    plain = normalize_ask(name)
    if plain in {AUTO, *LANGUAGES}:
        return plain
    if any(plain in load_pack(each)["names_of_auto"] for each in list_languages("reply_language")):
        return AUTO
    return next((code for code, names in load_names().items() if plain in names), None)


def find_first_language(text: str) -> LanguageChoice | None:
    """Return the language that a text names first; None if it names none."""
    plain = normalize_ask(text)
    places = [
        (found.start(), -len(found[0]), code)
        for code, pattern in load_name_patterns().items()
        if (found := pattern.search(plain)) is not None
    ]
    return min(places)[2] if places else None


def names_unlisted(text: str) -> bool:
    """Whether a text names a language that cannot be chosen."""
    return load_unlisted_pattern().search(normalize_ask(text)) is not None


@cache
def load_unlisted_pattern() -> re.Pattern[str]:
    """Compile the names of languages that cannot be chosen, as all packs have them."""
    packs = [load_pack(each) for each in list_languages("reply_language")]
    return compile_names({name for pack in packs for name in pack["unlisted"].split()})


@cache
def load_name_patterns() -> Mapping[str, re.Pattern[str]]:
    """Compile what each language is called: a whole word, where words are parted by spaces."""
    return {code: compile_names(names) for code, names in load_names().items()}


def compile_names(names: Iterable[str]) -> re.Pattern[str]:
    """Compile names of languages, as whole words where words are parted by spaces."""
    return re.compile(
        "|".join(
            rf"\b{re.escape(each)}\b" if each[0] < "\u2e80" else re.escape(each)
            for each in sorted(names)
        )
    )


def name_language(code: str, *, language: str) -> str:
    """Return what a language is called in another."""
    names: list[str] = load_pack(language)["names"].get(code, [code])
    return names[0]


def load_pack(language: str) -> dict[str, Any]:
    """Load how it is said in a language, or in English."""
    code = choose_language_with("reply_language", language)
    return load_language_pack(code).read("reply_language")


def get_texts(language: str) -> Mapping[str, str]:
    """Return what is said of it in a language, or in English."""
    texts: Mapping[str, str] = load_pack(language)["say"]
    return texts


@cache
def load_asks(language: str, part: str) -> frozenset[str]:
    """Load whole requests of a language without their fillers."""
    pack = load_pack(language)
    return frozenset(strip_fillers(each, pack["fillers"]) for each in pack[part])


@cache
def load_names() -> Mapping[str, tuple[str, ...]]:
    """Load what each language is called in any, the longest first."""
    packs = [load_pack(each) for each in list_languages("reply_language")]
    return {
        code: tuple(
            sorted(
                {normalize_ask(name) for pack in packs for name in pack["names"][code]},
                key=lambda each: (-len(each), each),
            )
        )
        for code in LANGUAGES
    }


def strip_fillers(text: str, fillers: list[str]) -> str:
    """Return a request without the words beside it."""
    plain = normalize_ask(text)
    for filler in sorted(fillers, key=len, reverse=True):
        if filler.isascii() or " " in filler or filler[0] < "\u2e80":
            plain = f" {plain} ".replace(f" {filler} ", " ").replace(f" {filler}, ", " ").strip()
        else:
            plain = plain.replace(filler, "")
    return " ".join(plain.strip(EDGES).split())


def normalize_ask(text: str) -> str:
    """Return a text in lower case without what surrounds it, but for the placeholder."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip(EDGES)
    return PLACEHOLDER.join(each.lower() for each in plain.split(PLACEHOLDER))
