"""Findings: what was looked up outside, as labelled facts with their source.

A provider's answer becomes a few facts with units and names, never raw data.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from oldfriend.domain.errors import FetchFailed
from oldfriend.domain.json import JsonValue
from oldfriend.web.safe_fetch import JSON_TYPE, JSON_TYPES, FetchRequest, WebFetcher

MAX_VALUE_CHARS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact under the name of its field."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that was found, and where; all of it is somebody else's words."""

    provider: str
    url: str
    title: str = ""
    facts: tuple[Fact, ...] = ()


def build_facts(values: Iterable[tuple[str, object]]) -> tuple[Fact, ...]:
    """Return facts for values that are there, each on one line."""
    facts = []
    for name, value in values:
        text = " ".join(str("" if value is None else value).split())
        if text:
            facts.append(Fact(name=name, value=text[:MAX_VALUE_CHARS]))
    return tuple(facts)


async def fetch_json(
    fetcher: WebFetcher,
    url: str,
    query: Mapping[str, str | int | float] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    body_type: str = JSON_TYPE,
    trusted_origin: str | None = None,
) -> JsonValue:
    """Return what a provider answers. Raises FetchFailed."""
    request = FetchRequest(
        url=f"{url}?{urlencode(query)}" if query else url,
        content_types=JSON_TYPES,
        headers=headers or {},
        body=body,
        body_type=body_type,
        trusted_origin=trusted_origin,
    )
    content = await fetcher.fetch(request)
    try:
        found: JsonValue = json.loads(content.body)
    except (ValueError, RecursionError) as error:
        raise FetchFailed("unreadable", f"{url} answered unreadably.") from error
    return found


def get_object(value: JsonValue, name: str) -> dict[str, JsonValue]:
    """Return an object within an object; empty if it is not there."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    """Return the objects of a list; empty if it is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def get_text(value: Mapping[str, JsonValue], name: str) -> str:
    """Return a text within an object; empty if it is not there."""
    found = value.get(name)
    return found.strip() if isinstance(found, str) else ""
