"""Link requests: without a model, a message that is only a link is answered by what its page says.

So is one that asks in plain words to have it read. Only the person's own words count.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from oldfriend.domain.errors import FetchFailed
from oldfriend.lang.language_pack import list_languages, load_language_pack
from oldfriend.llm.model import ToolCall
from oldfriend.turn.intent import EDGE_PUNCTUATION
from oldfriend.turn.quotes import SENTENCE_BREAK
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.tools.tool_executor import ToolUse
from oldfriend.usage.tool_log import ToolSource
from oldfriend.web.links import list_links, remove_links
from oldfriend.web.page_reader import WebPage
from oldfriend.web.web_access import WebAccess

HANDLER_NAME: Final = "read_page"
MAX_SHOWN_CHARS: Final = 600
MAX_REQUEST_CHARS: Final = 80
"""Characters beside the link; with more, the message tells something."""
MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWords:
    """How pages are asked for in a language, and what is said of them."""

    read: re.Pattern[str]
    say: Mapping[str, str]


@cache
def load_link_words(language: str) -> LinkWords:
    """Load the words of a language, or of English."""
    code = language if language in list_languages("links") else "en"
    words = load_language_pack(code).read("links")
    return LinkWords(read=re.compile("|".join(words["read"]), re.IGNORECASE), say=words["say"])


def build_link_handler(web: WebAccess) -> RequestHandler:
    """Build the handler that reads the page of a link."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        return await read_link(context, web)

    return RequestHandler(name=HANDLER_NAME, handle=handle)


async def read_link(context: HandlerContext, web: WebAccess) -> HandledRequest | None:
    """Read the page that a message is only about; None for any other message."""
    asked = find_only_link(context.text)
    if asked is None:
        return None
    link, language = asked
    clock = asyncio.get_running_loop().time
    begun, words = clock(), load_link_words(language or context.perception.language)
    call = ToolCall(id=HANDLER_NAME, name=HANDLER_NAME, arguments={"url": link})
    try:
        page = await web.read_page(link)
    except FetchFailed as error:
        text = words.say[error.reason]
        use = ToolUse(call=call, status="failed", result=str(error))
    else:
        shown = extract_beginning(page)
        text = words.say["page"].format(title=page.title or page.url, text=shown, url=page.url)
        source = ToolSource(provider=page.url, url=page.url, title=page.title, at=context.clock())
        use = ToolUse(call=call, status="done", result=shown, sources=(source,))
    use = replace(use, latency_us=round((clock() - begun) * MICROSECONDS))
    return HandledRequest(name=HANDLER_NAME, text=text.strip(), uses=(use,))


def find_only_link(text: str) -> tuple[str, str] | None:
    """Return the one address of a message that asks for nothing but to read it.

    With it the language of the request, "" if the address stands alone.
    """
    links = list(dict.fromkeys(list_links(text)))
    if len(links) != 1:
        return None
    rest = remove_links(text).strip(EDGE_PUNCTUATION)
    if len(rest) > MAX_REQUEST_CHARS:
        return None
    folded = rest.replace("’", "'")
    if not rest:
        return links[0], ""
    return next(
        (
            (links[0], each)
            for each in list_languages("links")
            if load_link_words(each).read.fullmatch(folded)
        ),
        None,
    )


def extract_beginning(page: WebPage) -> str:
    """Return the first sentences of a page, whole ones as far as they fit."""
    text = page.text[: 4 * MAX_SHOWN_CHARS]
    shown, length = list[str](), 0
    for sentence in filter(None, map(str.strip, SENTENCE_BREAK.split(text))):
        if sentence == page.title and not shown:
            continue
        if shown and length + len(sentence) > MAX_SHOWN_CHARS:
            break
        shown.append(sentence)
        length += len(sentence) + 1
    return " ".join(shown)[: 2 * MAX_SHOWN_CHARS]
