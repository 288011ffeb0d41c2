"""oldfriend chat: a conversation in the terminal.

A real terminal gets line editing, history and live messages from other processes in the same chat.
Otherwise lines are read from standard input and answered one by one.
"""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from functools import partial

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import CATCH_UP_LIMIT, try_embed_missing
from oldfriend.cli.conversation import Conversation
from oldfriend.cli.open_context import (
    get_person_option,
    load_settings_from_options,
    open_from_options,
    resolve_chat_person,
)
from oldfriend.cli.output import print_notice
from oldfriend.domain.errors import StoreFull, StoreUnusable
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.replies.offline_spool import ConversationStore
from oldfriend.runtime.health_checks import find_growth_warning
from oldfriend.runtime.learn_now import learn_before_exit, try_process_due_segments
from oldfriend.runtime.maintenance import maintain_briefly
from oldfriend.runtime.wiring import open_app


async def run(options: argparse.Namespace) -> int:
    """Chat until the person leaves; offline in memory as long as the store cannot be opened."""
    async with AsyncExitStack() as stack:
        open_again = partial(open_store, options, stack)
        try:
            store = ConversationStore(*await open_again())
            if (warning := await find_growth_warning(store.app.db, store.app.settings)) is not None:
                print_notice(warning)
        except (StoreFull, StoreUnusable) as error:
            settings = load_settings_from_options(options)
            print_notice(
                f"{error} {load_phrases(choose_language(settings.language)).phrases['not_kept']}"
            )
            app = await stack.enter_async_context(open_app(settings, in_memory=True))
            chat_context = await open_local_chat(
                app.db,
                app.clock,
                app.settings,
                person=get_person_option(options),
                channel=options.channel,
            )
            store = ConversationStore(app, chat_context, open_store=open_again)
        code = await run_chat(store)
        if not store.is_offline:
            await learn_before_exit(store.app, store.chat_context.person.id)
            await maintain_briefly(store.app, store.chat_context.person.id, overdue_s=0.0)
    return code


async def open_store(
    options: argparse.Namespace, stack: AsyncExitStack
) -> tuple[AppContext, ChatContext]:
    """Open the store until the stack closes, and the person's chat. Raises StoreError."""
    async with AsyncExitStack() as attempt:
        app = await attempt.enter_async_context(open_from_options(options, create=True))
        person = await resolve_chat_person(app.db, options)
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person=person, channel=options.channel
        )
        await stack.enter_async_context(attempt.pop_all())
    return app, chat_context


async def run_chat(store: ConversationStore) -> int:
    """Chat at a terminal or through a pipe; return the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return await run_piped_chat(store)

    from oldfriend.cli.terminal import run_terminal_chat

    await run_terminal_chat(store)
    return 0 if not store.is_offline else 1


async def run_piped_chat(store: ConversationStore) -> int:
    """Answer the lines of standard input, then embed some messages that lack a vector.

    Returns 1 if something failed, since nobody may be there to read the message about it.
    """
    conversation = Conversation(
        store, partial(print, flush=True), print_piece, write_notice=print_notice
    )
    trouble = await try_process_due_segments(conversation.app, conversation.chat_context.person.id)
    try:
        while text := await asyncio.to_thread(sys.stdin.readline):
            if not await conversation.handle_line(text.rstrip("\n")):
                break
    finally:
        await conversation.finish()
    if conversation.is_saved:
        trouble = (
            await try_embed_missing(
                conversation.app, conversation.chat_context.person.id, limit=CATCH_UP_LIMIT
            )
            or trouble
        )
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 1 if conversation.has_failed else 0


async def print_piece(piece: str) -> None:
    """Print a reply, or a piece of one, to standard output."""
    print(piece, end="", flush=True)
