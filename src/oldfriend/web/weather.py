"""Weather: now and in the next days, by Open-Meteo, which needs no key.

Sends the name of the place, then its coordinates.
"""

from typing import Final

from oldfriend.domain.errors import FetchFailed
from oldfriend.domain.json import JsonValue
from oldfriend.web.findings import (
    Finding,
    build_facts,
    fetch_json,
    get_object,
    get_text,
    list_objects,
)
from oldfriend.web.safe_fetch import WebFetcher

PROVIDER: Final = "Open-Meteo"
SITE: Final = "https://open-meteo.com/"
GEOCODING_URL: Final = "https://geocoding-api.open-meteo.com/v1/search"
FORECAST_URL: Final = "https://api.open-meteo.com/v1/forecast"
FORECAST_DAYS: Final = 3
CURRENT_FIELDS: Final = "temperature_2m,relative_humidity_2m,weather_code,wind_speed_10m"
DAILY_FIELDS: Final = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max"
)
SKY: Final = "sky:"
"""Stands before a code of the sky (WMO 4677), for which the language packs have words."""


async def find_weather(fetcher: WebFetcher, place: str, *, language: str) -> list[Finding]:
    """Return the weather at a place: now, and day by day. Raises FetchFailed."""
    found = await fetch_json(
        fetcher,
        GEOCODING_URL,
        {"name": place, "count": 1, "language": language, "format": "json"},
    )
    places = list_objects(found.get("results") if isinstance(found, dict) else None)
    if not places:
        raise FetchFailed("missing", f"No place is called {place[:80]!r}.")
    there = places[0]
    latitude, longitude = there.get("latitude"), there.get("longitude")
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        raise FetchFailed("unreadable", "The place has no coordinates.")
    forecast = await fetch_json(
        fetcher,
        FORECAST_URL,
        {
            "latitude": round(latitude, 2),
            "longitude": round(longitude, 2),
            "current": CURRENT_FIELDS,
            "daily": DAILY_FIELDS,
            "timezone": "auto",
            "forecast_days": FORECAST_DAYS,
        },
    )
    return read_forecast(forecast, format_place(there))


def format_place(place: dict[str, JsonValue]) -> str:
    """Return a place with its region and country, each once."""
    names = (get_text(place, name) for name in ("name", "admin1", "country"))
    return ", ".join(dict.fromkeys(filter(None, names)))


def read_forecast(forecast: JsonValue, place: str) -> list[Finding]:
    """Return the weather now, and that of each day."""
    current, daily = get_object(forecast, "current"), get_object(forecast, "daily")
    now = build_facts(
        [
            ("place", place),
            ("date", get_text(current, "time").replace("T", " ")),
            ("temperature", with_unit(current.get("temperature_2m"), "°C")),
            ("sky", with_code(current.get("weather_code"))),
            ("wind", with_unit(current.get("wind_speed_10m"), "km/h")),
            ("humidity", with_unit(current.get("relative_humidity_2m"), "%")),
        ]
    )
    if not current:
        raise FetchFailed("unreadable", "The forecast cannot be read.")
    findings = [Finding(provider=PROVIDER, url=SITE, facts=now)]
    days = daily.get("time")
    for number, day in enumerate(days if isinstance(days, list) else []):
        low, high, rain, code = (
            get_nth(daily.get(name), number)
            for name in (
                "temperature_2m_min",
                "temperature_2m_max",
                "precipitation_probability_max",
                "weather_code",
            )
        )
        facts = build_facts(
            [
                ("date", day),
                ("temperature", f"{low} – {high} °C" if None not in {low, high} else None),
                ("sky", with_code(code)),
                ("rain", with_unit(rain, "%")),
            ]
        )
        findings.append(Finding(provider=PROVIDER, url=SITE, facts=facts))
    return findings


def get_nth(values: JsonValue, number: int) -> int | float | None:
    """Return the number at a position of a list, if there is one."""
    found = values[number] if isinstance(values, list) and number < len(values) else None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def with_unit(value: JsonValue, unit: str) -> str | None:
    """Return a number with its unit; None if there is none."""
    return f"{value} {unit}" if isinstance(value, int | float) else None


def with_code(code: JsonValue) -> str | None:
    """Return a code of the sky, to be put into words."""
    return f"{SKY}{round(code)}" if isinstance(code, int | float) else None
