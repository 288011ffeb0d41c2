"""Links: finds the addresses that somebody wrote in a text."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.domain.errors import FetchFailed
from oldfriend.web.public_addresses import is_inner_target, parse_target

LINK: Final = re.compile(r"\bhttps?://[^\s<>\"“”«»]{1,2000}", re.IGNORECASE)
TRAILING: Final = ".,;:!?'\"*_。，；：！？、…）】」"
"""What ends a sentence rather than an address."""


def list_links(text: str) -> Iterator[str]:
    """Yield the addresses in a text as they are asked for."""
    for found in LINK.finditer(text):
        link = strip_trailing(found.group())
        normal = normalize_link(link)
        if normal is not None:
            yield normal


def strip_trailing(link: str) -> str:
    """Return an address without what ends its sentence, such as a bracket that it did not open."""
    link = link.rstrip(TRAILING)
    while link.endswith(")") and link.count(")") > link.count("("):
        link = link[:-1].rstrip(TRAILING)
    return link


def normalize_link(link: str) -> str | None:
    """Return an address as it is asked for; None for one that never is."""
    try:
        return parse_target(link).url
    except FetchFailed:
        return None


def normalize_public_link(link: str) -> str | None:
    """Return an address as it is asked for; None also for one of this network, as written."""
    try:
        target = parse_target(link)
    except FetchFailed:
        return None
    return None if is_inner_target(target) else target.url


def remove_links(text: str) -> str:
    """Return a text without its addresses."""
    return " ".join(LINK.sub(" ", text).split())


def list_all_links(texts: Iterable[str]) -> set[str]:
    """Return the addresses in several texts."""
    return {link for text in texts for link in list_links(text)}
