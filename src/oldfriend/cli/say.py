"""oldfriend say: sends one message and prints the reply."""

import argparse
import sys

from oldfriend.app.embed_messages import CATCH_UP_LIMIT, try_embed_missing
from oldfriend.cli.open_context import open_from_options, resolve_chat_person
from oldfriend.cli.output import dumps, print_notice
from oldfriend.db.database import Database
from oldfriend.domain.clock import parse_timestamp
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.presenters.receipt_schemas import receipt_as_json, resolve_receipt
from oldfriend.replies.delay_notices import Delay, format_delay
from oldfriend.replies.reply_worker import StoredReply, answer_message
from oldfriend.runtime.learn_now import try_process_due_segments
from oldfriend.runtime.maintenance import maintain_briefly


async def run(options: argparse.Namespace) -> int:
    """Send a message and print the reply; then embed, extract and do other overdue work."""
    text = sys.stdin.read() if options.text == "-" else options.text
    async with open_from_options(options, create=True) as app:
        person = await resolve_chat_person(app.db, options)
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person=person, channel=options.channel
        )
        at, zone = (
            parse_timestamp(options.at, chat_context.person.zone) if options.at else (None, None)
        )
        response = await answer_message(
            app, chat_context, MessageSubmission(text=text, at=at, zone=zone), on_delay=print_delay
        )
        print(
            await to_reply_json(app.db, response) if options.json else response.reply.text,
            flush=True,
        )
        trouble = await try_embed_missing(app, chat_context.person.id, limit=CATCH_UP_LIMIT)
        trouble = await try_process_due_segments(app, chat_context.person.id) or trouble
        await maintain_briefly(app, chat_context.person.id, asks_models=True)
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 0


async def print_delay(delay: Delay) -> None:
    """Print why the reply is delayed."""
    print_notice(format_delay(delay))


async def to_reply_json(db: Database, response: StoredReply) -> str:
    """Convert the reply to JSON."""
    async with db.begin_read() as tx:
        receipt = receipt_as_json(await resolve_receipt(tx, response.receipt))
    return dumps(
        {"reply": response.reply.text, "turn": response.receipt.turn, "receipt": receipt},
    )
