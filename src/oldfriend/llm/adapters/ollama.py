"""Which models does an Ollama on this machine have? Asked of it alone; needs no extra."""

import asyncio
import json
from typing import Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

OLLAMA: Final = "http://localhost:11434"

LOOK_S: Final = 1.0
"""What is on this machine answers at once, or is not there."""


async def find_ollama(base_url: str = OLLAMA) -> list[str]:
    """The names of its models, the last changed first; none where there is no Ollama."""
    return await asyncio.to_thread(_ask_for_models, base_url)


def _ask_for_models(base_url: str) -> list[str]:
    opener = build_opener(ProxyHandler({}))  # a proxy would be asked for its own machine
    try:
        with opener.open(f"{base_url.rstrip('/')}/api/tags", timeout=LOOK_S) as response:
            tags = json.load(response)
        return [str(model["name"]) for model in tags["models"]]
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return []
