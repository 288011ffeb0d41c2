"""Oura client: asks for consent, trades codes and refresh tokens, and reads the values of days.

By version 2 of its API: https://cloud.ouraring.com/v2/docs
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final
from urllib.parse import urlencode

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import FetchFailed, OldfriendError
from oldfriend.domain.json import JsonValue
from oldfriend.transfer.formats.health_days import DayReading, parse_finite, parse_usual_day
from oldfriend.web.findings import fetch_json, list_objects
from oldfriend.web.safe_fetch import FORM_TYPE, WebFetcher

REGISTER_URL: Final = "https://cloud.ouraring.com/oauth/applications"
AUTHORIZE_URL: Final = "https://cloud.ouraring.com/oauth/authorize"
TOKEN_URL: Final = "https://api.ouraring.com/oauth/token"
READ_URL: Final = "https://api.ouraring.com/v2/usercollection"
SCOPES: Final = "daily"
REFUSALS: Final = frozenset({400, 401, 403})
MAX_PAGES: Final = 50
DEFAULT_LIFE_S: Final = 3_600
HOUR_S: Final = 3_600.0

FIELDS: Final[Mapping[str, tuple[tuple[str, str, str, float], ...]]] = {
    "daily_sleep": (("score", "sleep_score", "", 1.0),),
    "daily_readiness": (("score", "readiness", "", 1.0),),
    "daily_activity": (
        ("steps", "steps", "", 1.0),
        ("score", "activity_score", "", 1.0),
        ("active_calories", "active_calories", "kcal", 1.0),
    ),
    "sleep": (
        ("total_sleep_duration", "sleep", "h", HOUR_S),
        ("average_hrv", "hrv", "ms", 1.0),
        ("lowest_heart_rate", "resting_heart_rate", "bpm", 1.0),
    ),
}
"""By collection: the field, the measure, its unit, and by how much the value is divided."""
LONGEST_SLEEP: Final = "long_sleep"
"""Of the sleeps of a day, the night; naps are left out."""


class OuraRefused(OldfriendError):
    """Oura takes a code or a token no longer: the person must agree again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OuraApplication:
    """The application that the owner has registered at Oura."""

    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OuraTokens:
    """What reads a person's values, and what gets the next such token, once."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    made_at: Micros
    expires_at: Micros

    def is_fresh(self, now: Micros) -> bool:
        """Tell whether it can be used for a while: more than half of its life is left."""
        return now < (self.made_at + self.expires_at) // 2

    def is_usable(self, now: Micros) -> bool:
        """Tell whether it has not expired."""
        return now < self.expires_at


def build_consent_address(application: OuraApplication, *, redirect: str, state: str) -> str:
    """Return where a person agrees that their values are read."""
    query = {
        "response_type": "code",
        "client_id": application.id,
        "redirect_uri": redirect,
        "scope": SCOPES,
        "state": state,
    }
    return f"{AUTHORIZE_URL}?{urlencode(query)}"


async def trade_code(
    fetcher: WebFetcher, application: OuraApplication, code: str, *, redirect: str, now: Micros
) -> OuraTokens:
    """Return the tokens for a code. Raises OuraRefused, FetchFailed."""
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect}
    return await ask_for_tokens(fetcher, application, grant, now=now)


async def refresh_tokens(
    fetcher: WebFetcher, application: OuraApplication, refresh: str, *, now: Micros
) -> OuraTokens:
    """Return new tokens; the refresh token is spent. Raises OuraRefused, FetchFailed."""
    grant = {"grant_type": "refresh_token", "refresh_token": refresh}
    return await ask_for_tokens(fetcher, application, grant, now=now)


async def ask_for_tokens(
    fetcher: WebFetcher, application: OuraApplication, grant: Mapping[str, str], *, now: Micros
) -> OuraTokens:
    """Ask for tokens. Raises OuraRefused, FetchFailed."""
    form = {**grant, "client_id": application.id, "client_secret": application.secret}
    try:
        answer = await fetch_json(
            fetcher, TOKEN_URL, body=urlencode(form).encode(), body_type=FORM_TYPE
        )
    except FetchFailed as error:
        if error.status in REFUSALS:
            raise OuraRefused("Oura does not accept this any more.") from error
        raise
    found = answer if isinstance(answer, dict) else {}
    access, refresh = found.get("access_token"), found.get("refresh_token")
    if not isinstance(access, str) or not isinstance(refresh, str) or not access or not refresh:
        raise FetchFailed("unreadable", "Oura answered without tokens.")
    life = found.get("expires_in")
    life_s = life if isinstance(life, int) and 0 < life < 10**9 else DEFAULT_LIFE_S
    return OuraTokens(access=access, refresh=refresh, made_at=now, expires_at=now + life_s * SECOND)


async def read_days(
    fetcher: WebFetcher, tokens: OuraTokens, *, first: date, last: date
) -> dict[date, list[DayReading]]:
    """Return the values of some days. Raises OuraRefused, FetchFailed."""
    days: dict[date, list[DayReading]] = {}
    for collection in FIELDS:
        async for item in iterate_items(fetcher, tokens, collection, first=first, last=last):
            for day, reading in read_item(collection, item):
                if first <= day <= last:
                    days.setdefault(day, []).append(reading)
    return days


async def iterate_items(
    fetcher: WebFetcher, tokens: OuraTokens, collection: str, *, first: date, last: date
) -> AsyncIterator[dict[str, JsonValue]]:
    """Yield what a collection has of some days, page by page. Raises OuraRefused, FetchFailed."""
    query = {"start_date": f"{first}", "end_date": f"{last + timedelta(days=1)}"}
    for _ in range(MAX_PAGES):
        try:
            page = await fetch_json(
                fetcher,
                f"{READ_URL}/{collection}",
                query,
                headers={"authorization": f"Bearer {tokens.access}"},
            )
        except FetchFailed as error:
            if error.status == 401:
                raise OuraRefused("Oura does not accept the token any more.") from error
            raise
        found = page if isinstance(page, dict) else {}
        for item in list_objects(found.get("data")):
            yield item
        following = found.get("next_token")
        if not isinstance(following, str) or not following:
            return
        query["next_token"] = following


def read_item(collection: str, item: Mapping[str, JsonValue]) -> Iterator[tuple[date, DayReading]]:
    """Yield the values of one item; what is odd or missing is left out."""
    if collection == "sleep" and item.get("type") != LONGEST_SLEEP:
        return
    day = None
    with suppress(ValueError):
        day = parse_usual_day(str(item.get("day")))
    if day is None:
        return
    for name, measure, unit, divisor in FIELDS[collection]:
        value = item.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                number = round(parse_finite(str(value)) / divisor, 2)
                yield day, DayReading(name=measure, value=number, unit=unit)


def dump_tokens(tokens: OuraTokens) -> str:
    """Return tokens as they are stored."""
    return json.dumps(
        {
            "access": tokens.access,
            "refresh": tokens.refresh,
            "made_at": tokens.made_at,
            "expires_at": tokens.expires_at,
        }
    )


def parse_tokens(text: str) -> OuraTokens | None:
    """Read stored tokens; None if they are damaged."""
    try:
        found = json.loads(text)
        return OuraTokens(
            access=str(found["access"]),
            refresh=str(found["refresh"]),
            made_at=int(found["made_at"]),
            expires_at=int(found["expires_at"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
