"""Time zones: resolved from a name, a city or an offset, in any spelling."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import available_timezones

from oldfriend.domain.clock import get_zone
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.unicode_text import strip_accents

OFFSET_PATTERN: Final = re.compile(
    r"\A(?:utc|gmt)?\s*+([+\-−])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE | re.ASCII
)
MAX_SUGGESTIONS: Final = 4
MIN_SIMILARITY: Final = 0.6
"""The similarity that a name needs to be suggested."""
CITY_ZONES: Final[Mapping[str, str]] = {
    "abu dhabi": "Asia/Dubai",
    "barcelona": "Europe/Madrid",
    "bangalore": "Asia/Kolkata",
    "beijing": "Asia/Shanghai",
    "boston": "America/New_York",
    "cape town": "Africa/Johannesburg",
    "cologne": "Europe/Berlin",
    "dallas": "America/Chicago",
    "delhi": "Asia/Kolkata",
    "frankfurt": "Europe/Berlin",
    "geneva": "Europe/Zurich",
    "guangzhou": "Asia/Shanghai",
    "hamburg": "Europe/Berlin",
    "hanoi": "Asia/Bangkok",
    "houston": "America/Chicago",
    "koln": "Europe/Berlin",
    "kyoto": "Asia/Tokyo",
    "las vegas": "America/Los_Angeles",
    "lisboa": "Europe/Lisbon",
    "lyon": "Europe/Paris",
    "marseille": "Europe/Paris",
    "miami": "America/New_York",
    "milan": "Europe/Rome",
    "montreal": "America/Toronto",
    "mumbai": "Asia/Kolkata",
    "munchen": "Europe/Berlin",
    "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata",
    "osaka": "Asia/Tokyo",
    "philadelphia": "America/New_York",
    "porto": "Europe/Lisbon",
    "rio de janeiro": "America/Sao_Paulo",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "shenzhen": "Asia/Shanghai",
    "st petersburg": "Europe/Moscow",
    "tel aviv": "Asia/Jerusalem",
    "washington": "America/New_York",
    "wien": "Europe/Vienna",
    "北京": "Asia/Shanghai",
    "上海": "Asia/Shanghai",
    "香港": "Asia/Hong_Kong",
    "东京": "Asia/Tokyo",
    "纽约": "America/New_York",
    "伦敦": "Europe/London",
    "巴黎": "Europe/Paris",
    "里斯本": "Europe/Lisbon",
}
"""Large cities after which no zone is named."""
COUNTRY_ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("usa", "us", "america", "estados unidos", "etats-unis", "美国"), "united states"
    ),
    **dict.fromkeys(
        (
            "uk",
            "united kingdom",
            "great britain",
            "england",
            "scotland",
            "wales",
            "reino unido",
            "royaume-uni",
            "英国",
        ),
        "britain (uk)",
    ),
    **dict.fromkeys(("deutschland", "alemania", "allemagne", "德国"), "germany"),
    **dict.fromkeys(("osterreich", "autriche"), "austria"),
    **dict.fromkeys(("schweiz", "suisse", "suiza", "瑞士"), "switzerland"),
    **dict.fromkeys(("espana", "spanien", "espagne", "西班牙"), "spain"),
    **dict.fromkeys(("frankreich", "francia", "法国"), "france"),
    **dict.fromkeys(("中国", "chine"), "china"),
    "日本": "japan",
}
"""Names of countries that the time zone database does not use, without accents."""


def resolve_zone(text: str) -> str:
    """Return the zone with this name, of this city, or with this offset. Raises InvalidInput."""
    if offset := OFFSET_PATTERN.fullmatch(text):
        sign, hours, minutes = offset.groups()
        text = f"{'+' if sign == '+' else '-'}{int(hours):02d}:{minutes or '00'}"
    try:
        get_zone(text)
    except InvalidInput:
        place = normalize_place(text)
        found = load_zones_by_place().get(place) or load_zones_by_place().get(
            place.split(",")[0].strip()
        )
        if found is None:
            raise
        return found
    return text or "UTC"


@cache
def load_zones_by_place() -> Mapping[str, str]:
    """Load zones by full name and by city, normalized; the shortest zone name wins."""
    names = sorted(available_timezones(), key=lambda name: (-len(name), name))
    cities = {normalize_place(name.rsplit("/", 1)[-1]): name for name in names}
    return {**cities, **CITY_ZONES, **{normalize_place(name): name for name in names}}


def normalize_place(name: str) -> str:
    """Return a name in lower case, without accents, underscores and dots."""
    bare = strip_accents(name.casefold())
    return " ".join(bare.replace("_", " ").replace(".", " ").split())


def is_known_place(name: str) -> bool:
    """Tell whether a name is one of the cities and regions whose time zone is known."""
    return normalize_place(name) in load_zones_by_place()


def suggest_zones(text: str) -> list[str]:
    """Return zones that an unknown name may mean: those of a country, or with similar names."""
    place = normalize_place(text)
    near = get_close_matches(
        place, load_zones_by_place(), n=2 * MAX_SUGGESTIONS, cutoff=MIN_SIMILARITY
    )
    country = load_zones_by_country().get(COUNTRY_ALIASES.get(place, place), ())
    found = [*country, *(() if country else (load_zones_by_place()[each] for each in near))]
    return list(dict.fromkeys(found))[:MAX_SUGGESTIONS]


@cache
def load_zones_by_country() -> Mapping[str, tuple[str, ...]]:
    """Load the zones of each country, by its English name, from the time zone database."""
    codes = {code: normalize_place(name) for code, name in load_tz_table("iso3166.tab")}
    found: dict[str, tuple[str, ...]] = {}
    for code, _, zone, *_ in load_tz_table("zone.tab"):
        found[codes[code]] = (*found.get(codes[code], ()), zone)
    return found


def load_tz_table(name: str) -> list[list[str]]:
    """Load the rows of a table of the time zone database."""
    text = (resources.files("tzdata") / "zoneinfo" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
