"""Command-line entry point: parses arguments and runs the command's module.

A command's module is imported only when the command runs, so that no command pays for another's
imports. Typed text is sanitized here, once; file names keep their bytes.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

import argparse
import asyncio
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from oldfriend import __version__
from oldfriend.cli.core_options import add_core_command
from oldfriend.cli.memory_options import add_memory_commands
from oldfriend.cli.options import (
    Subparsers,
    add_command,
    build_common_options,
    parse_days,
    parse_positive,
)
from oldfriend.cli.output import sanitize_output
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.messages import sanitize_text

DESCRIPTION: Final = "A companion that you run yourself and that remembers like an old friend."
QUICK_START: Final = f"""{DESCRIPTION}

  oldfriend serve --open   the page, in your browser
  oldfriend chat           talk here, in the terminal
  oldfriend import FILE    bring in an old chat
  oldfriend --help         everything else"""
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit code."""
    tolerate_bad_input()
    sanitize_output()
    parser = build_parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        print(QUICK_START, file=sys.stderr)
        return EXIT_USAGE
    options, unknown = parser.parse_known_args(arguments)
    if unknown:  # report with the command's own usage, not that of all commands
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    command = importlib.import_module(f"oldfriend.cli.{options.module}")
    try:
        code = int(asyncio.run(command.run(options)))
        sys.stdout.flush()
    except InvalidInput as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OldfriendError as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return EXIT_FAILED
    except OSError as error:
        discard_output()
        what = error.filename or ("standard output" if error.errno else "a file")
        print(f"oldfriend: {what} cannot be used ({error.strerror or error}).", file=sys.stderr)
        return EXIT_FAILED
    return code


def discard_output() -> None:
    """Redirect standard output to the null device: its disk is full or its reader is gone."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
    os.close(null_device)


def tolerate_bad_input() -> None:
    """Replace invalid UTF-8 on standard input instead of failing."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="oldfriend",
        parents=[build_common_options(set_dest="typed_first")],
        description=DESCRIPTION,
    )
    parser.add_argument("--version", action="version", version=f"oldfriend {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_chat_commands(commands)
    add_recall_commands(commands)
    add_memory_commands(commands)
    add_transfer_commands(commands)
    add_server_commands(commands)
    add_connect_command(commands)
    add_forget_command(commands)
    add_admin_commands(commands)
    return parser


def add_chat_commands(commands: Subparsers) -> None:
    """Add the commands for talking to the companion."""
    chat = add_command(commands, "chat", "chat", "talk to your companion in the terminal")
    add_channel_option(chat)
    add_new_person_option(chat)
    say = add_command(commands, "say", "say", "say one thing and print the reply")
    say.add_argument(
        "text",
        type=sanitize_text,
        metavar="TEXT",
        help="what to say; - reads it from standard input",
    )
    add_channel_option(say)
    add_new_person_option(say)
    say.add_argument(
        "--at",
        type=sanitize_text,
        metavar="ISO",
        help="when it was said, if not now: 2024-05-03T18:30",
    )
    say.add_argument("--json", action="store_true", help='print {"reply", "turn", "receipt"}')


def add_channel_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the channel."""
    parser.add_argument(
        "--channel",
        type=sanitize_text,
        default="terminal",
        metavar="NAME",
        help="where you are talking",
    )


def add_new_person_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that allows a new person, so that a typo in a name creates nobody."""
    parser.add_argument(
        "--new-person", action="store_true", help="the --person may be somebody new"
    )


def add_recall_commands(commands: Subparsers) -> None:
    """Add the commands for searching the memory."""
    recall = add_command(
        commands, "recall", "recall", "find what was said or learned that answers a question"
    )
    recall.add_argument("query", type=sanitize_text, metavar="QUERY")
    recall.add_argument(
        "-k", type=parse_positive, default=10, metavar="N", help="how many (default 10)"
    )
    recall.add_argument(
        "--kind",
        action="append",
        metavar="KIND",
        help="only such: message, fact, preference, event, pattern, commitment or expectation",
    )
    recall.add_argument(
        "--around", action="store_true", help="with what was said before and after a message"
    )
    recall.add_argument("--json", action="store_true", help="print a list of hits as JSON")
    hear = add_command(commands, "hear", "hear", "write down what is said in a recording")
    hear.add_argument("file", metavar="FILE", help="such as a voice message: at most 20 MB")
    why = add_command(commands, "why", "why", "explain what a reply stood on")
    why.add_argument(
        "reply",
        nargs="?",
        type=sanitize_text,
        metavar="REPLY",
        help="id of the reply or turn (default: the last)",
    )
    why.add_argument("--json", action="store_true", help="print the receipt as JSON")


def add_transfer_commands(commands: Subparsers) -> None:
    """Add the commands for import, export and conversion."""
    import_ = add_command(
        commands,
        "import",
        "import_cmd",
        "bring in chats: WhatsApp, Telegram, ChatGPT, Claude, text",
    )
    import_.add_argument(
        "what",
        nargs="+",
        metavar="FILE",
        help="a file to import; or: undo BATCH, to take an import out again; or: list",
    )
    import_.add_argument(
        "--me", type=sanitize_text, metavar="NAME", help="which speaker in the file you are"
    )
    import_.add_argument(
        "--zone", type=sanitize_text, metavar="ZONE", help="time zone of times without one"
    )
    add_new_person_option(import_)
    import_.add_argument("--dry-run", action="store_true", help="only check the file and count")
    export = add_command(commands, "export", "export", "write everything that is kept to a file")
    export.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to (default: standard output)"
    )
    convert = add_command(
        commands, "convert", "convert", "copy everything into a database of another kind"
    )
    names = "sqlite:///PATH, json:///PATH or postgresql://…"
    convert.add_argument("source", metavar="FROM", help=names)
    convert.add_argument("target", metavar="TO", help="another of them, with nothing in it")
    add_replay_commands(commands)


def add_replay_commands(commands: Subparsers) -> None:
    """Add the commands for replaying the log and comparing memories."""
    replay = add_command(
        commands, "replay", "replay", "derive all memory anew from the log, in a second database"
    )
    replay.add_argument(
        "--into", required=True, metavar="DB", help="an empty one: a file, or postgresql://…"
    )
    replay.add_argument(
        "--model",
        type=sanitize_text,
        metavar="PROVIDER:NAME",
        help="who reads all of it, or: rules (default: as it was read)",
    )
    replay.add_argument(
        "--since", type=sanitize_text, metavar="DATE", help="what was believed before it stands"
    )
    replay.add_argument(
        "--limit-usd", type=float, metavar="N", help="what it may cost in all, not by day"
    )
    replay.add_argument(
        "--limit-tokens",
        type=parse_positive,
        metavar="N",
        help="how many tokens all of it may take",
    )
    replay.add_argument("--yes", action="store_true", help="do not ask")
    replay.add_argument("--json", action="store_true", help="print what came of it as JSON")
    diff = add_command(
        commands, "diff", "diff", "what two memories believe differently; exit code 1 if anything"
    )
    diff.add_argument("one", metavar="DB1", help="a file, sqlite:///PATH or postgresql://…")
    diff.add_argument("other", metavar="DB2", help="the other")
    diff.add_argument("--all", action="store_true", help="also what was believed once")
    diff.add_argument("--why", action="store_true", help="with the words behind each side")
    diff.add_argument("--json", action="store_true", help="print it as JSON")


def add_server_commands(commands: Subparsers) -> None:
    """Add the commands for the server process and its upkeep."""
    serve = add_command(commands, "serve", "serve", "be there for everybody, until told to stop")
    serve.add_argument("--open", action="store_true", help="open its page in your browser")
    add_command(commands, "link", "link", "a one-time link that opens it in your browser")
    add_access_commands(commands)
    add_command(commands, "work", "work", "work for the same memory beside a running serve")
    add_command(commands, "stop", "stop", "have serve end what it has begun, and end")
    add_command(commands, "reload", "reload", "have serve read oldfriend.toml again")
    status = add_command(commands, "status", "status", "is it running, what waits, what it uses")
    status.add_argument("--json", action="store_true", help="print it as JSON")
    jobs = add_command(
        commands, "jobs", "jobs", "what waits, and what has failed", aliases=("letters",)
    )
    jobs.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="nothing, to list them; or: retry ID, to try one again; or: drop ID",
    )
    jobs.add_argument(
        "--failed", "--parked", dest="parked", action="store_true", help="list only what has failed"
    )
    jobs.add_argument("--yes", action="store_true", help="drop without asking")
    jobs.add_argument("--json", action="store_true", help="print a list as JSON")
    cost = add_command(commands, "cost", "cost", "what models have cost, and what is left today")
    cost.add_argument(
        "--by",
        choices=("purpose", "day", "model"),
        default="purpose",
        help="what to add up by (default purpose)",
    )
    cost.add_argument(
        "--days", type=parse_days, default=30, metavar="N", help="the last N days (default 30)"
    )
    cost.add_argument("--json", action="store_true", help="print it as JSON")


def add_access_commands(commands: Subparsers) -> None:
    """Add the commands for invitations and API tokens."""
    invite = add_command(commands, "invite", "invite", "a link for somebody else, good once")
    invite.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="NAME",
        help="whom to invite; or: list; or: end ID",
    )
    token = add_command(commands, "token", "token", "what a program shows to use the API")
    token.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="new NAME, for what it is; or: list; or: end ID",
    )
    token.add_argument(
        "--scope",
        choices=("read", "write", "admin"),
        default="read",
        help="look; also talk; also everything about this install (default read)",
    )
    token.add_argument(
        "--days", type=parse_positive, default=90, metavar="N", help="how long it is good"
    )


def add_connect_command(commands: Subparsers) -> None:
    """Add the command for choosing models and connecting Telegram."""
    connect = add_command(commands, "connect", "connect", "choose the models; talk on Telegram")
    connect.add_argument(
        "what",
        choices=(
            "model",
            "embedder",
            "transcriber",
            "speaker",
            "telegram",
            "none",
            "forget",
        ),
        help="a language model; a model for embedding; who listens; who speaks; a bot on "
        "Telegram, and a code for the --person; none: go offline; forget a kept key",
    )
    add_new_person_option(connect)
    connect.add_argument(
        "--remove", action="store_true", help="with telegram: let the bot go, or the --person there"
    )
    connect.add_argument("--provider", type=sanitize_text, metavar="NAME", help="such as ollama")
    connect.add_argument("--name", type=sanitize_text, metavar="NAME", help="of the model there")
    connect.add_argument(
        "--base-url", type=sanitize_text, metavar="URL", help="where the provider is"
    )
    connect.add_argument(
        "--kind", choices=("openai", "openai-responses", "anthropic"), help="which language it has"
    )
    connect.add_argument(
        "--key-from-env", type=sanitize_text, metavar="VAR", help="the variable that holds the key"
    )
    connect.add_argument(
        "--dimension", type=parse_positive, metavar="N", help="of an embedder that is not tested"
    )
    connect.add_argument("--voice", type=sanitize_text, metavar="NAME", help="of a speaker")
    connect.add_argument("--no-test", action="store_true", help="do not try it")
    connect.add_argument("--later", action="store_true", help="embed anew later, bit by bit")
    connect.add_argument("--yes", action="store_true", help="do not ask")


def add_forget_command(commands: Subparsers) -> None:
    """Add the command for deleting data."""
    forget = add_command(commands, "forget", "forget", "take something away for good, and prove it")
    forget.add_argument(
        "ids",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="of messages, memories, names or summaries; their last 4 characters do",
    )
    forget.add_argument(
        "--about",
        type=sanitize_text,
        metavar="NAME",
        help="somebody or something, and what tells of it",
    )
    forget.add_argument(
        "--between",
        nargs=2,
        type=sanitize_text,
        metavar="DATE",
        help="what was said from one day to another, both included",
    )
    forget.add_argument(
        "--import",
        dest="batch",
        type=parse_positive,
        metavar="NUMBER",
        help="what an import brought",
    )
    forget.add_argument("--everything", action="store_true", help="all that is kept of the person")
    forget.add_argument(
        "--orphan", action="store_true", help="keep the beliefs that rest on it; says which"
    )
    forget.add_argument("--dry-run", action="store_true", help="only show what would go")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument("--json", action="store_true", help="print it as JSON")


def add_admin_commands(commands: Subparsers) -> None:
    """Add the commands for administration and measurement."""
    add_core_command(commands)
    person = add_command(commands, "person", "person", "list who is known, or rename somebody")
    person.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="list; or: rename OLD NEW",
    )
    add_command(commands, "doctor", "doctor", "check that everything is sound")
    add_command(commands, "migrate", "migrate", "bring the database up to this version")
    bench = add_command(commands, "bench", "evals", "measure finding, speed and weight")
    bench.set_defaults(measurement="bench")
    bench.add_argument("--json", metavar="FILE", help="also write the results to a file")
    bench.add_argument("--only", metavar="NAME", action="append", help="only these measurements")
    bench.add_argument("--quick", action="store_true", help="smaller sizes, rougher numbers")
    compare = add_command(commands, "eval", "evals", "compare choices by replays of lives")
    compare.set_defaults(measurement="eval")
    compare.add_argument(
        "what", choices=("scoring",), help="scoring: the scorers of beliefs, also on your own log"
    )
    compare.add_argument("--json", action="store_true", help="print it as JSON")
