"""oldfriend say: sends one message and prints the reply."""

import argparse
import sys

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import CATCH_UP_LIMIT, try_embed_missing
from oldfriend.app.process_registry import has_living
from oldfriend.cli.open_context import open_from_options, resolve_chat_person
from oldfriend.cli.output import dumps, print_notice
from oldfriend.db.database import Database
from oldfriend.domain.clock import parse_timestamp
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.memory.message_log import list_messages_after_seq
from oldfriend.presenters.receipt_schemas import receipt_as_json
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.replies.delay_notices import Delay, format_delay
from oldfriend.replies.reply_worker import StoredReply, answer_message
from oldfriend.replies.unprompted_messages import build_external_id
from oldfriend.runtime.learn_now import try_process_due_segments
from oldfriend.runtime.maintenance import maintain_briefly
from oldfriend.tasks.task_store import list_tasks
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.turn.belief_changes import FORGET_NOTICE, PURGE_JOB


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
        await warn_if_nobody_reminds(app, response)
        trouble = await try_embed_missing(app, chat_context.person.id, limit=CATCH_UP_LIMIT)
        trouble = await try_process_due_segments(app, chat_context.person.id) or trouble
        await maintain_briefly(app, chat_context.person.id, asks_models=True)
        if not options.json:
            await print_purge_notice(app.db, response)
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 0


async def warn_if_nobody_reminds(app: AppContext, response: StoredReply) -> None:
    """Print that reminders need a running process, if one was set and none runs beside this."""
    person, now = response.message.person, app.clock()
    if app.process_folder is None or has_living(app.process_folder):
        return
    async with app.db.begin_read() as tx:
        coming = await list_tasks(tx, person, statuses=("open", "asking"))
    told = [each for each in coming if each.message == response.message.id and each.due_at]
    if told:
        wording = TaskWording(told[0].language, zone=told[0].zone, now=now)
        print_notice(wording.say("only_while_running"))


async def print_purge_notice(db: Database, response: StoredReply) -> None:
    """Print what was written when something was forgotten, if it was asked for."""
    said = response.message
    async with db.begin_read() as tx:
        written = await list_messages_after_seq(tx, said.person, said.chat, after=said.seq)
    begins = tuple(build_external_id(f"{each}/") for each in (PURGE_JOB, FORGET_NOTICE))
    for each in written:
        if each.external_id is not None and each.external_id.startswith(begins):
            print(f"\n{each.text}", flush=True)


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
