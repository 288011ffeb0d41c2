"""Through the whole program: a link is read where that is switched on, and kept with the reply."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import WebSettings
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.receipts import count_source_messages, find_receipt
from oldfriend.replies.reply_worker import answer_message
from oldfriend.turn.intent import RULES_VERSION
from oldfriend.usage.tool_log import LoggedToolUse, list_tool_uses
from oldfriend.web.web_access import WebClient
from tests.clock import FrozenClock
from tests.fakes.web_sites import WebSites, page, web_sites
from tests.web.test_page_reader import ARTICLE

LINK = "http://tea.example/"


def with_web(app: AppContext, web: WebSites, *, pages: bool) -> AppContext:
    """The program with this web, and reading pages switched on or off."""
    settings = replace(app.settings, web=WebSettings(pages=pages))
    return replace(app, settings=settings, web=WebClient(fetcher=web.fetcher()))


async def logged(app: AppContext, chat_context: ChatContext) -> list[LoggedToolUse]:
    """The log of tools."""
    async with app.db.begin_read() as tx:
        return await list_tool_uses(tx, chat_context.person.id, limit=9)


@pytest.mark.parametrize("pages", [False, True])
async def test_link_is_read_only_where_that_is_switched_on(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *, pages: bool
) -> None:
    """Off, the site learns nothing; on, receipt and log name the page."""
    async with web_sites({"tea.example": page(ARTICLE)}) as web:
        clock.tick(minutes=1)
        reply = await answer_message(
            with_web(app, web, pages=pages),
            chat_context,
            MessageSubmission(text=f"read this: {LINK}"),
        )
        assert ("Green tea is steeped" in reply.reply.text) == pages
        assert bool(web.requests) == pages

    uses = await logged(app, chat_context)
    assert [(each.name, each.status) for each in uses] == ([("read_page", "done")] if pages else [])
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id)
        by_rules = await count_source_messages(
            tx, chat_context.person.id, [reply.reply.id], author=RULES_VERSION
        )
    assert receipt is not None
    assert reply.reply.id in by_rules  # a model is told later that rules answered, not what
    assert (LINK in str(receipt.details)) == pages


@pytest.mark.usefixtures("settings_folder")
async def test_what_was_looked_up_is_forgotten_with_its_message(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """That a tool was used stays; with what and for what does not."""
    async with web_sites({"tea.example": page(ARTICLE)}) as web:
        clock.tick(minutes=1)
        reply = await answer_message(
            with_web(app, web, pages=True), chat_context, MessageSubmission(text=LINK)
        )
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(reply.message.id,)))

    assert report.left == ()
    (use,) = await logged(app, chat_context)
    assert (use.arguments, use.result, use.sources) == ({}, "", ())
