"""Time zones: resolved from a name, a city or an offset, in any spelling."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from importlib import resources
from itertools import takewhile
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
    "lissabon": "Europe/Lisbon",
    "londres": "Europe/London",
    "lyon": "Europe/Paris",
    "marseille": "Europe/Paris",
    "miami": "America/New_York",
    "milan": "Europe/Rome",
    "montreal": "America/Toronto",
    "mumbai": "Asia/Kolkata",
    "moscou": "Europe/Moscow",
    "moscu": "Europe/Moscow",
    "moskau": "Europe/Moscow",
    "munchen": "Europe/Berlin",
    "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata",
    "nueva york": "America/New_York",
    "osaka": "Asia/Tokyo",
    "pekin": "Asia/Shanghai",
    "peking": "Asia/Shanghai",
    "philadelphia": "America/New_York",
    "porto": "Europe/Lisbon",
    "rio de janeiro": "America/Sao_Paulo",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "shenzhen": "Asia/Shanghai",
    "st petersburg": "Europe/Moscow",
    "tel aviv": "Asia/Jerusalem",
    "tokio": "Asia/Tokyo",
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

SHORT_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("utc", "gmt"), "UTC"),
    **dict.fromkeys(("est", "edt"), "America/New_York"),
    **dict.fromkeys(("cst", "cdt"), "America/Chicago"),
    **dict.fromkeys(("mst", "mdt"), "America/Denver"),
    **dict.fromkeys(("pst", "pdt"), "America/Los_Angeles"),
    **dict.fromkeys(("akst", "akdt"), "America/Anchorage"),
    **dict.fromkeys(("cet", "cest", "mez", "mesz"), "Europe/Berlin"),
    **dict.fromkeys(("eet", "eest"), "Europe/Athens"),
    **dict.fromkeys(("aest", "aedt"), "Australia/Sydney"),
    "bst": "Europe/London",
    "hkt": "Asia/Hong_Kong",
    "hst": "Pacific/Honolulu",
    "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "msk": "Europe/Moscow",
    "sgt": "Asia/Singapore",
}
"""Zones by the letters that stand behind an hour; in summer, too, many say those of winter."""
OPEN_NAMES: Final = frozenset({"bst", "cst", "ist"})
"""Letters that are those of several zones."""
MIN_LIKE: Final = 4
"""The letters that a word made from a place's name shares with it: "German", "Berliner"."""
MIN_LIKE_SHARE: Final = 0.5


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


def resolve_named_zone(
    name: str, *, is_short: bool = False, is_like: bool = False
) -> tuple[str, bool] | None:
    """Return the zone that words beside an hour name, and whether it is sure; None if none.

    Of a country with several it is "".
    ``is_short``: only letters like "EST"; ``is_like``: also words made from a place's name.
    """
    place = normalize_place(name)
    if place in SHORT_NAMES:
        return SHORT_NAMES[place], place not in OPEN_NAMES
    if is_short or not place:
        return None
    if OFFSET_PATTERN.fullmatch(place):
        return resolve_zone(place), True
    found = load_zones_by_place().get(place)
    if found is not None and found != "Factory":
        return found, True
    zones = load_zones_by_country().get(COUNTRY_ALIASES.get(place, place), ())
    if zones:
        return choose_only_zone(zones), True
    like = find_like_place(place) if is_like else ()
    return (choose_only_zone(like), False) if like else None


def find_like_place(word: str) -> tuple[str, ...]:
    """Return the zones of the city or country from whose name a word is made, if of one."""
    countries = load_zones_by_country()
    zones = {name: countries.get(known, ()) for name, known in COUNTRY_ALIASES.items()}
    cities = {name: (zone,) for name, zone in load_zones_by_place().items() if "/" not in name}
    zones = {**countries, **zones, **cities}
    shared = {name: count_shared(name, word) for name in zones}
    best = max(shared.values())
    if best < max(MIN_LIKE, MIN_LIKE_SHARE * len(word)):
        return ()
    return min((zones[name] for name, count in shared.items() if count == best), key=len)


def count_shared(one: str, other: str) -> int:
    """Count the letters with which two words begin alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def choose_only_zone(zones: Sequence[str]) -> str:
    """Return the zone of those whose clocks all show the same, in winter and summer; "" if not."""
    shown = {
        tuple(datetime(2026, month, 1, tzinfo=get_zone(each)).utcoffset() for month in (1, 7))
        for each in zones
    }
    return zones[0] if len(shown) == 1 else ""


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
