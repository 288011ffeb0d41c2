"""Search providers: web search by a SearXNG of one's own, by Brave or by Tavily.

A key goes to its provider's own address and nowhere else.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from oldfriend.config.settings_schema import SearchProviderName
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

MAX_RESULTS: Final = 5
BRAVE_URL: Final = "https://api.search.brave.com/res/v1/web/search"
TAVILY_URL: Final = "https://api.tavily.com/search"
KEY_ADDRESSES: Final[Mapping[SearchProviderName, str]] = {"brave": BRAVE_URL, "tavily": TAVILY_URL}
"""Where the key of a provider is sent; the others need none."""
KEY_VARIABLES: Final[Mapping[SearchProviderName, str]] = {
    "brave": "BRAVE_API_KEY",
    "tavily": "TAVILY_API_KEY",
}
LABELS: Final[Mapping[SearchProviderName, str]] = {
    "searxng": "SearXNG",
    "brave": "Brave Search",
    "tavily": "Tavily",
}
TAG: Final = re.compile(r"</?(?:strong|b|em)>")
"""How a provider marks the words that were found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProvider:
    """A provider of web search as it is set up."""

    name: SearchProviderName
    url: str = ""  # of a SearXNG
    key: str = field(default="", repr=False)

    async def search(self, fetcher: WebFetcher, query: str) -> list[Finding]:
        """Return what is found, the best first. Raises FetchFailed."""
        match self.name:
            case "searxng":
                url = f"{self.url.rstrip('/')}/search"
                found = await fetch_json(
                    fetcher, url, {"q": query, "format": "json"}, trusted_origin=self.url
                )
                return self._read(found.get("results") if isinstance(found, dict) else None)
            case "brave":
                headers = {"x-subscription-token": self.key}
                found = await fetch_json(
                    fetcher, BRAVE_URL, {"q": query, "count": MAX_RESULTS}, headers=headers
                )
                return self._read(get_object(found, "web").get("results"), "description")
            case "tavily":
                body = json.dumps({"query": query, "max_results": MAX_RESULTS}).encode()
                headers = {"authorization": f"Bearer {self.key}"}
                found = await fetch_json(fetcher, TAVILY_URL, headers=headers, body=body)
                return self._read(found.get("results") if isinstance(found, dict) else None)
            case _:
                raise FetchFailed("missing", "No web search is set up.")

    def _read(self, results: JsonValue, text_name: str = "content") -> list[Finding]:
        """Return the results of any provider."""
        return [
            Finding(
                provider=LABELS[self.name],
                url=url,
                title=title,
                facts=build_facts([("summary", text)]),
            )
            for url, title, text in list_results(list_objects(results), text_name)
        ]


def list_results(
    results: Iterable[dict[str, JsonValue]], text_name: str
) -> list[tuple[str, str, str]]:
    """Return address, title and excerpt of the first results that have an address of the web."""
    found = []
    for each in results:
        url = get_text(each, "url")
        if url.startswith(("http://", "https://")):
            title, text = (
                html.unescape(TAG.sub("", get_text(each, name))) for name in ("title", text_name)
            )
            found.append((url, " ".join(title.split())[:200], text))
    return found[:MAX_RESULTS]
