"""Page reader: title and text of a page of the web, found by a process of its own."""

import asyncio
import json
import subprocess
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.errors import FetchFailed
from oldfriend.domain.json import JsonValue
from oldfriend.sandbox.child_process import SandboxLimits, limits_to_json, start_child
from oldfriend.web.safe_fetch import FetchedContent, FetchRequest, WebFetcher

SANDBOX_MODULE: Final = "oldfriend.web.page_sandbox"
PAGE_LIMITS: Final = SandboxLimits(memory_bytes=1 << 30, cpu_s=10)
READING_TIMEOUT_S: Final = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page as it was read; all of it is somebody else's words."""

    url: str  # where it was in the end
    title: str
    text: str


async def read_page(
    fetcher: WebFetcher, url: str, *, limits: SandboxLimits = PAGE_LIMITS
) -> WebPage:
    """Fetch and read a page. Raises FetchFailed."""
    content = await fetcher.fetch(FetchRequest(url=url))
    found = await asyncio.to_thread(run_sandbox, content, limits)
    title, text = (str(found.get(name) or "").strip() for name in ("title", "text"))
    if not text and not title:
        raise FetchFailed("unreadable", f"{content.url} has no text that can be read.")
    return WebPage(url=content.url, title=title, text=text)


def run_sandbox(content: FetchedContent, limits: SandboxLimits) -> dict[str, JsonValue]:
    """Have a process of its own find title and text. Raises FetchFailed."""
    task: dict[str, JsonValue] = {
        "limits": limits_to_json(limits),
        "url": content.url,
        "charset": content.charset,
        "content_type": content.content_type,
    }
    try:
        process = start_child(SANDBOX_MODULE)
    except OSError as error:
        raise FetchFailed("unreadable", "No process could be started to read it.") from error
    with process:
        try:
            output, _ = process.communicate(
                json.dumps(task).encode() + b"\n" + content.body, timeout=READING_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise FetchFailed("unreadable", f"{content.url} takes too long to read.") from error
    try:
        found: JsonValue = json.loads(output) if process.returncode == 0 else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise FetchFailed("unreadable", f"{content.url} cannot be read.")
    if found.get("missing"):
        raise FetchFailed("missing", "Reading pages needs the extra “web” of Oldfriend.")
    return found
