"""Web access: what may be looked up outside as the settings say, with a memory of some minutes."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeVar

from oldfriend.config.keys import find_key
from oldfriend.config.settings_schema import SearchProviderName, WebSettings
from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.web.findings import (
    Finding,
    build_facts,
    fetch_json,
    get_object,
    get_text,
    list_objects,
)
from oldfriend.web.page_reader import WebPage, read_page
from oldfriend.web.safe_fetch import WebFetcher
from oldfriend.web.search_providers import KEY_ADDRESSES, KEY_VARIABLES, SearchProvider
from oldfriend.web.weather import find_weather

PLACES_PROVIDER: Final = "OpenStreetMap, by Nominatim"
SEARCH_URL: Final = "https://nominatim.openstreetmap.org/search"
MAP_URL: Final = "https://www.openstreetmap.org"
MIN_INTERVAL_S: Final = 1.0
MAX_PLACES: Final = 5


async def find_places(fetcher: WebFetcher, query: str, *, language: str) -> list[Finding]:
    """Return places that are called so, the best first. Raises FetchFailed."""
    found = await fetch_json(
        fetcher,
        SEARCH_URL,
        {"q": query, "format": "jsonv2", "limit": MAX_PLACES, "accept-language": language},
    )
    return [
        Finding(
            provider=PLACES_PROVIDER,
            url=f"{MAP_URL}/{get_text(each, 'osm_type')}/{each.get('osm_id')}",
            facts=build_facts(
                [
                    ("name", get_text(each, "name")),
                    ("place", get_text(each, "display_name")),
                    ("kind", get_text(each, "type").replace("_", " ")),
                ]
            ),
        )
        for each in list_objects(found)[:MAX_PLACES]
    ]


RATES_PROVIDER: Final = "European Central Bank, by Frankfurter"
RATES_URL: Final = "https://api.frankfurter.dev/v1/latest"
CURRENCY: Final = re.compile(r"[A-Z]{3}")
MAX_AMOUNT: Final = 10**15


async def convert(fetcher: WebFetcher, amount: float, source: str, target: str) -> list[Finding]:
    """Return an amount in another currency. Raises FetchFailed, InvalidInput."""
    codes = [each.strip().upper() for each in (source, target)]
    for code in codes:
        if not CURRENCY.fullmatch(code):
            raise InvalidInput(f"{code[:20]!r} is no currency. Write it as EUR or USD.")
    if not abs(amount) <= MAX_AMOUNT:
        raise InvalidInput("That is no amount of money.")
    base, symbol = codes
    found = await fetch_json(fetcher, RATES_URL, {"base": base, "symbols": symbol})
    rate = 1 if base == symbol else get_object(found, "rates").get(symbol)
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not isinstance(found, dict):
        raise FetchFailed("unreadable", f"No rate from {base} to {symbol} is known.")
    converted = Decimal(str(amount)) * Decimal(str(rate))
    facts = build_facts(
        [
            ("amount", f"{amount:,.2f} {base} = {converted:,.2f} {symbol}"),
            ("rate", f"1 {base} = {rate} {symbol}"),
            ("date", get_text(found, "date")),
        ]
    )
    return [Finding(provider=RATES_PROVIDER, url="https://frankfurter.dev/", facts=facts)]


MAX_KEPT: Final = 200
MINUTE_S: Final = 60.0
HOUR_S: Final = 3_600.0

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class WebClient:
    """The fetcher of a process, with what it has fetched lately and how fast it may ask."""

    fetcher: WebFetcher = field(default_factory=WebFetcher)
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _kept: dict[tuple[str, ...], tuple[float, Any]] = field(default_factory=dict)
    _next_places_at: float = 0.0

    async def remember(
        self, cache_key: tuple[str, ...], for_s: float, look_up: Callable[[], Awaitable[T]]
    ) -> T:
        """Return what was looked up lately under a key, else look it up. Failures are not kept."""
        kept = self._kept.get(cache_key)
        if kept is not None and kept[0] > self.now():
            found: T = kept[1]
            return found
        found = await look_up()
        self._kept.pop(cache_key, None)
        self._kept[cache_key] = (self.now() + for_s, found)
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    async def wait_for_places(self) -> None:
        """Wait until places may be asked for again."""
        now = self.now()
        at = max(now, self._next_places_at)
        self._next_places_at = at + MIN_INTERVAL_S
        if at > now:
            await self.sleep(at - now)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAccess:
    """What may be looked up, as it is set up."""

    client: WebClient
    settings: WebSettings
    search_provider: SearchProvider | None = None  # None: not set up

    @property
    def is_search_paid(self) -> bool:
        """Tell whether a search may cost money."""
        return self.search_provider is not None and self.search_provider.name in KEY_ADDRESSES

    async def read_page(self, url: str) -> WebPage:
        """Return a page. Raises FetchFailed."""
        client = self.client
        return await client.remember(
            ("page", url), 10 * MINUTE_S, lambda: read_page(client.fetcher, url)
        )

    async def search(self, query: str) -> list[Finding]:
        """Search the web. Raises FetchFailed."""
        client, provider = self.client, self.search_provider
        assert provider is not None
        return await client.remember(
            ("search", provider.name, query),
            10 * MINUTE_S,
            lambda: provider.search(client.fetcher, query),
        )

    async def find_weather(self, place: str, *, language: str) -> list[Finding]:
        """Return the weather at a place. Raises FetchFailed."""
        client = self.client
        return await client.remember(
            ("weather", place.casefold(), language),
            10 * MINUTE_S,
            lambda: find_weather(client.fetcher, place, language=language),
        )

    async def convert(self, amount: float, source: str, target: str) -> list[Finding]:
        """Convert money. Raises FetchFailed, InvalidInput."""
        client = self.client
        return await client.remember(
            ("money", str(amount), source, target),
            HOUR_S,
            lambda: convert(client.fetcher, amount, source, target),
        )

    async def find_places(self, query: str, *, language: str) -> list[Finding]:
        """Find places. Raises FetchFailed."""
        client = self.client

        async def look_up() -> list[Finding]:
            await client.wait_for_places()
            return await find_places(client.fetcher, query, language=language)

        return await client.remember(("places", query, language), 24 * HOUR_S, look_up)


def find_search_key(
    name: SearchProviderName, environment: Mapping[str, str], *, data: Path
) -> str | None:
    """Return the key of a search provider; None without one that may be read."""
    try:
        found = find_key(
            name,
            environment,
            variable=KEY_VARIABLES[name],
            data=data,
            address=KEY_ADDRESSES[name],
        )
    except InvalidInput:  # others can read the file of keys: "oldfriend doctor" says so
        return None
    return None if found is None else found.value


def build_web_access(
    client: WebClient, web_settings: WebSettings, environment: Mapping[str, str], *, data: Path
) -> WebAccess:
    """Return web access as the settings say; a search without its key or address is none."""
    name = web_settings.search
    provider: SearchProvider | None = None
    if name == "searxng" and web_settings.search_url:
        provider = SearchProvider(name=name, url=web_settings.search_url)
    elif name in KEY_ADDRESSES:
        key = find_search_key(name, environment, data=data)
        provider = None if key is None else SearchProvider(name=name, key=key)
    return WebAccess(client=client, settings=web_settings, search_provider=provider)
