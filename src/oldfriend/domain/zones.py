"""Which time zone is meant? By its name, by that of a city, or by its offset, however written."""

import re
import unicodedata
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import available_timezones

from oldfriend.domain.clock import zone_named
from oldfriend.domain.errors import InvalidInput

OFFSET: Final = re.compile(r"(?:utc|gmt)?\s*([+\-−])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
MOST_NEAR: Final = 4
LIKE: Final = 0.6
"""So much of a name must be right."""
CITIES: Final[Mapping[str, str]] = {
    "abu dhabi": "Asia/Dubai", "barcelona": "Europe/Madrid", "bangalore": "Asia/Kolkata",
    "beijing": "Asia/Shanghai", "boston": "America/New_York", "cape town": "Africa/Johannesburg",
    "cologne": "Europe/Berlin", "dallas": "America/Chicago", "delhi": "Asia/Kolkata",
    "frankfurt": "Europe/Berlin", "geneva": "Europe/Zurich", "guangzhou": "Asia/Shanghai",
    "hamburg": "Europe/Berlin", "hanoi": "Asia/Bangkok", "houston": "America/Chicago",
    "koln": "Europe/Berlin", "kyoto": "Asia/Tokyo", "las vegas": "America/Los_Angeles",
    "lisboa": "Europe/Lisbon", "lyon": "Europe/Paris", "marseille": "Europe/Paris",
    "miami": "America/New_York", "milan": "Europe/Rome", "montreal": "America/Toronto",
    "mumbai": "Asia/Kolkata", "munchen": "Europe/Berlin", "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata", "osaka": "Asia/Tokyo", "philadelphia": "America/New_York",
    "porto": "Europe/Lisbon", "rio de janeiro": "America/Sao_Paulo",
    "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles",
    "shenzhen": "Asia/Shanghai", "st petersburg": "Europe/Moscow", "tel aviv": "Asia/Jerusalem",
    "washington": "America/New_York", "wien": "Europe/Vienna",
    "北京": "Asia/Shanghai", "上海": "Asia/Shanghai", "香港": "Asia/Hong_Kong",
    "东京": "Asia/Tokyo", "纽约": "America/New_York", "伦敦": "Europe/London",
    "巴黎": "Europe/Paris", "里斯本": "Europe/Lisbon",
}  # fmt: skip
"""Large cities after which no zone is named."""
COUNTRIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("usa", "us", "america", "estados unidos", "etats-unis", "美国"), "united states"
    ),
    **dict.fromkeys(
        ("uk", "united kingdom", "great britain", "england", "scotland", "wales", "reino unido",
         "royaume-uni", "英国"), "britain (uk)",
    ),
    **dict.fromkeys(("deutschland", "alemania", "allemagne", "德国"), "germany"),
    **dict.fromkeys(("osterreich", "autriche"), "austria"),
    **dict.fromkeys(("schweiz", "suisse", "suiza", "瑞士"), "switzerland"),
    **dict.fromkeys(("espana", "spanien", "espagne", "西班牙"), "spain"),
    **dict.fromkeys(("frankreich", "francia", "法国"), "france"),
    **dict.fromkeys(("中国", "chine"), "china"), "日本": "japan",
}  # fmt: skip
"""What people call countries that the time zone database calls otherwise, in plain letters."""


def find_zone(asked: str) -> str:
    """The zone of this name, of the city with it, or of an offset. Raises InvalidInput."""
    if offset := OFFSET.fullmatch(asked):
        sign, hours, minutes = offset.groups()
        asked = f"{'+' if sign == '+' else '-'}{int(hours):02d}:{minutes or '00'}"
    try:
        zone_named(asked)
    except InvalidInput:
        place = plain(asked)
        found = zones_by_place().get(place) or zones_by_place().get(place.split(",")[0].strip())
        if found is None:
            raise
        return found
    return asked or "UTC"


@cache
def zones_by_place() -> Mapping[str, str]:
    """Zones by their whole name and by their city, in plain letters; the shortest name wins."""
    names = sorted(available_timezones(), key=lambda name: (-len(name), name))
    cities = {plain(name.rsplit("/", 1)[-1]): name for name in names}
    return {**cities, **CITIES, **{plain(name): name for name in names}}


def plain(name: str) -> str:
    """A name in lower case, without accents, underscores and dots."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(bare.replace("_", " ").replace(".", " ").split())


def near_zones(asked: str) -> list[str]:
    """Zones that may be meant by a name that is none: of a country, or written alike."""
    place = plain(asked)
    near = get_close_matches(place, zones_by_place(), n=2 * MOST_NEAR, cutoff=LIKE)
    country = zones_by_country().get(COUNTRIES.get(place, place), ())
    found = [*country, *(() if country else (zones_by_place()[each] for each in near))]
    return list(dict.fromkeys(found))[:MOST_NEAR]


@cache
def zones_by_country() -> Mapping[str, tuple[str, ...]]:
    """The zones of each country, by its English name; what the time zone database tells."""
    codes = {code: plain(name) for code, name in table("iso3166.tab")}
    found: dict[str, tuple[str, ...]] = {}
    for code, _, zone, *_ in table("zone.tab"):
        found[codes[code]] = (*found.get(codes[code], ()), zone)
    return found


def table(name: str) -> list[list[str]]:
    """The rows of a table of the time zone database."""
    text = (resources.files("tzdata") / "zoneinfo" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
