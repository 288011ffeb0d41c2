"""Ollama discovery: lists the models of an Ollama on this machine; needs no extra."""

import asyncio
import json
from typing import Final
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

from typing_extensions import override

OLLAMA_URL: Final = "http://localhost:11434"

PROBE_TIMEOUT_S: Final = 1.0
"""Short, because a local server answers at once or not at all."""


async def list_ollama_models(base_url: str = OLLAMA_URL) -> list[str]:
    """List the names of the models, most recently changed first; [] if no Ollama answers."""
    return await asyncio.to_thread(_fetch_models, base_url)


def _fetch_models(base_url: str) -> list[str]:
    # No proxy: for a proxy, localhost is its own machine.
    opener = build_opener(ProxyHandler({}), RejectRedirects)
    try:
        with opener.open(f"{base_url.rstrip('/')}/api/tags", timeout=PROBE_TIMEOUT_S) as response:
            tags = json.load(response)
        return [str(model["name"]) for model in tags["models"]]
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return []


class RejectRedirects(HTTPRedirectHandler):
    """Handler that treats a redirect as an error."""

    @override
    def redirect_request(self, *_: object) -> None:
        """Refuse to follow."""
