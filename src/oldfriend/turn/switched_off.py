"""Switched-off lookups: says that what a message asks for outside is off, and how to switch it on.

What is switched on needs a language model, which is said where there is none.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import list_languages
from oldfriend.turn.intent import EDGE_PUNCTUATION
from oldfriend.turn.link_requests import find_only_link
from oldfriend.turn.lookup_switches import Lookup, is_on, load_words, say_off
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.web.web_access import WebAccess

ASKED: Final[Sequence[Lookup]] = ("weather", "search", "currency", "places")
NAME: Final = "switched_off"
MAX_CHARS: Final = 240
MAX_LOOKED_AT: Final = 4_000
"""A longer text, with all its spaces, is no question."""


def build_switched_off_handler(web: WebAccess, *, has_model: bool) -> RequestHandler:
    """Build the handler of requests for what may not be looked up."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        asked = find_lookup(context.text, context.perception.language)
        if asked is None:
            return None
        lookup, language = asked
        if not is_on(web, lookup):
            return HandledRequest(name=NAME, text=say_off(lookup, language))
        is_answered = has_model or lookup == "page"
        needs_model = load_words(language)["off"]["needs_model"]
        return None if is_answered else HandledRequest(name=NAME, text=needs_model)

    return RequestHandler(name=NAME, handle=handle, reads_questions=True)


def find_lookup(text: str, language: str) -> tuple[Lookup, str] | None:
    """Return what a whole message asks to have looked up, and the language that asks.

    An address that stands alone asks for nothing.
    """
    link = find_only_link(text)
    if link is not None:
        return ("page", link[1]) if link[1] else None
    if len(text) > MAX_LOOKED_AT:
        return None
    spoken = text.replace("\u2019", "'").replace(",", " ")
    plain = to_simplified(" ".join(spoken.split())).strip(EDGE_PUNCTUATION)
    if not plain or len(plain) > MAX_CHARS:
        return None
    languages = list_languages("links")
    has_mark = text.rstrip().endswith(("?", "\uff1f"))
    for code in sorted(languages, key=lambda each: each != language):
        for lookup, said in load_questions(code, has_mark=has_mark):
            if said.fullmatch(plain):
                return lookup, code
    return None


@cache
def load_questions(language: str, *, has_mark: bool) -> Sequence[tuple[Lookup, re.Pattern[str]]]:
    """Compile how each lookup is asked for in a language, with or without a question mark."""
    asks = load_words(language)["ask"]
    marked: Sequence[tuple[Lookup, str]] = [("weather", each) for each in asks["weather_asked"]]
    always = [(each, said) for each in ASKED for said in asks[each]]
    said = [*always, *(marked if has_mark else ())]
    return [(lookup, re.compile(each, re.IGNORECASE)) for lookup, each in said]
