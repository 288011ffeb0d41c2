"""Lookup switches: which lookups outside are on, and what people are told where one is off."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal

from oldfriend.lang.language_pack import load_language_pack
from oldfriend.web.web_access import WebAccess

Lookup = Literal["page", "weather", "search", "currency", "places"]
SETTINGS: Final[Mapping[Lookup, str]] = {
    "page": "`pages = true`",
    "weather": "`weather = true`",
    "search": "`search = …`",
    "currency": "`currency = true`",
    "places": "`places = true`",
}


def is_on(web: WebAccess, lookup: Lookup) -> bool:
    """Tell whether something may be looked up."""
    settings = web.settings
    switches: Mapping[Lookup, bool] = {
        "page": settings.pages,
        "weather": settings.weather,
        "search": web.search_provider is not None,
        "currency": settings.currency,
        "places": settings.places,
    }
    return switches[lookup]


def say_off(lookup: Lookup, language: str) -> str:
    """Say that something may not be looked up, where it is switched on, and who is asked then."""
    words = load_words(language)["off"]
    return str(
        words["say"].format(
            what=words["what"][lookup], setting=SETTINGS[lookup], who=words["who"][lookup]
        )
    )


@cache
def load_words(language: str) -> Mapping[str, Any]:
    """Load the words of a language for looking things up."""
    words: Mapping[str, Any] = load_language_pack(language).read("links")
    return words
