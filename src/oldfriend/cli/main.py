"""Command-line entry point: parses arguments and runs the command's module.

A command's module is imported only when the command runs, so that no command pays for another's
imports. Typed text is sanitized here, once; file names keep their bytes.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

import argparse
import asyncio
import importlib
import sys
from collections.abc import Sequence
from typing import Final

from oldfriend import __version__
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.options import (
    CommandParser,
    Subparsers,
    add_command,
    add_core_command,
    add_memory_commands,
    build_common_options,
    parse_days,
    parse_positive,
)
from oldfriend.cli.output import discard_output, sanitize_output
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.messages import sanitize_text

DESCRIPTION: Final = "A companion that you run yourself and that remembers like an old friend."
QUICK_START: Final = f"""{DESCRIPTION}

  oldfriend serve --open   open Oldfriend in your browser
  oldfriend chat           chat in the terminal
  oldfriend import FILE    import an old chat
  oldfriend --help         list all commands"""
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
    module, _, function = options.handler.partition(":")
    run = getattr(importlib.import_module(f"oldfriend.cli.{module}"), function or "run")
    try:
        code = int(asyncio.run(run(options)))
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


def tolerate_bad_input() -> None:
    """Replace invalid UTF-8 on standard input instead of failing."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = CommandParser(
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
    say = add_command(commands, "say", "say", "send one message and print the reply")
    say.add_argument(
        "text",
        type=sanitize_text,
        metavar="TEXT",
        help="the message; - reads it from standard input",
    )
    add_channel_option(say)
    add_new_person_option(say)
    say.add_argument(
        "--at",
        type=sanitize_text,
        metavar="ISO",
        help="when you said it, if not now, such as 2024-05-03T18:30",
    )
    say.add_argument("--json", action="store_true", help='print {"reply", "turn", "receipt"}')


def add_channel_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the channel."""
    parser.add_argument(
        "--channel",
        type=sanitize_text,
        default="terminal",
        metavar="NAME",
        help="the channel you are talking on (default: terminal)",
    )


def add_new_person_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that allows a new person, so that a typo in a name creates nobody."""
    parser.add_argument(
        "--new-person",
        action="store_true",
        help="allow --person to name somebody who is not known yet",
    )


def add_recall_commands(commands: Subparsers) -> None:
    """Add the commands for searching the memory."""
    recall = add_command(
        commands, "recall", "recall", "search your messages and what was learned from them"
    )
    recall.add_argument("query", type=sanitize_text, metavar="QUERY")
    recall.add_argument(
        "-k", type=parse_positive, default=10, metavar="N", help="number of results (default 10)"
    )
    recall.add_argument(
        "--kind",
        action="append",
        metavar="KIND",
        help="only this kind: message, fact, preference, event, pattern, commitment or expectation",
    )
    recall.add_argument(
        "--around",
        action="store_true",
        help="also show the messages before and after each one found",
    )
    recall.add_argument("--json", action="store_true", help="print the results as JSON")
    hear = add_command(commands, "hear", "hear", "transcribe a recording")
    hear.add_argument(
        "file", metavar="FILE", help="an audio file, such as a voice message, of at most 20 MB"
    )
    why = add_command(commands, "why", "recall:run_why", "show what a reply is based on")
    why.add_argument(
        "reply",
        nargs="?",
        type=sanitize_text,
        metavar="REPLY",
        help="id of a reply or turn (default: the last reply)",
    )
    why.add_argument("--json", action="store_true", help="print the receipt as JSON")


def add_transfer_commands(commands: Subparsers) -> None:
    """Add the commands for import, export and conversion."""
    import_ = add_command(
        commands,
        "import",
        "import_cmd",
        "import chats from WhatsApp, Telegram, ChatGPT, Claude or text files",
    )
    import_.add_argument(
        "what",
        nargs="+",
        metavar="FILE",
        help="the file to import; or: list, to show all imports; or: undo NUMBER, to remove one",
    )
    import_.add_argument("--me", type=sanitize_text, metavar="NAME", help="your name in the file")
    import_.add_argument(
        "--zone",
        type=sanitize_text,
        metavar="ZONE",
        help="time zone for times in the file that do not name one",
    )
    add_new_person_option(import_)
    import_.add_argument(
        "--dry-run",
        action="store_true",
        help="check the file and count its messages, but import nothing",
    )
    export = add_command(commands, "export", "export", "export everything to a file")
    export.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="the file to write (default: standard output)",
    )
    convert = add_command(
        commands,
        "convert",
        "database_commands:run_convert",
        "copy everything into another type of database",
    )
    names = "sqlite:///PATH, json:///PATH or postgresql://…"
    convert.add_argument("source", metavar="FROM", help=names)
    convert.add_argument("target", metavar="TO", help="an empty database of another type")
    add_replay_commands(commands)


def add_replay_commands(commands: Subparsers) -> None:
    """Add the commands for replaying the log and comparing memories."""
    replay = add_command(
        commands,
        "replay",
        "replay",
        "rebuild the memory from all messages in a second database, for example with another model",
    )
    replay.add_argument(
        "--into", required=True, metavar="DB", help="an empty database: a file, or postgresql://…"
    )
    replay.add_argument(
        "--model",
        type=sanitize_text,
        metavar="PROVIDER:NAME",
        help="the model that reads everything, or: rules (default: what read it before)",
    )
    replay.add_argument(
        "--since", type=sanitize_text, metavar="DATE", help="keep what was learned before this date"
    )
    replay.add_argument(
        "--limit-usd", type=float, metavar="N", help="the most it may cost in total, in US dollars"
    )
    replay.add_argument(
        "--limit-tokens",
        type=parse_positive,
        metavar="N",
        help="the most tokens it may use in total",
    )
    replay.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    replay.add_argument("--json", action="store_true", help="print the result as JSON")
    diff = add_command(
        commands, "diff", "diff", "compare two memories; the exit code is 1 if they differ"
    )
    diff.add_argument("one", metavar="DB1", help="a file, sqlite:///PATH or postgresql://…")
    diff.add_argument("other", metavar="DB2", help="the other")
    diff.add_argument("--all", action="store_true", help="also compare beliefs that have ended")
    diff.add_argument("--why", action="store_true", help="also show the messages behind each side")
    diff.add_argument("--json", action="store_true", help="print it as JSON")


def add_server_commands(commands: Subparsers) -> None:
    """Add the commands for the server process and its upkeep."""
    serve = add_command(
        commands,
        "serve",
        "serve",
        "run the companion with its web page and chat platforms until it is stopped",
    )
    serve.add_argument("--open", action="store_true", help="open the page in your browser")
    add_command(commands, "link", "link", "print a one-time link that signs you in to the web page")
    add_access_commands(commands)
    add_command(commands, "work", "work", "run an additional worker for the same memory")
    add_command(
        commands,
        "stop",
        "server_signals:run_stop",
        "stop the server once it has finished the replies it has begun",
    )
    add_command(
        commands,
        "reload",
        "server_signals:run_reload",
        "make the running server read oldfriend.toml again",
    )
    status = add_command(
        commands,
        "status",
        "status",
        "show whether the server is running, what is waiting, and which models are used",
    )
    status.add_argument("--json", action="store_true", help="print it as JSON")
    jobs = add_command(
        commands,
        "jobs",
        "jobs",
        "list, retry or drop background jobs that are waiting or have failed",
        aliases=("letters",),
    )
    jobs.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="leave it out to list the jobs; or: retry ID; or: drop ID",
    )
    jobs.add_argument(
        "--failed", "--parked", dest="parked", action="store_true", help="list only failed jobs"
    )
    jobs.add_argument("--yes", action="store_true", help="drop without asking for confirmation")
    jobs.add_argument("--json", action="store_true", help="print the list as JSON")
    cost = add_command(
        commands,
        "cost",
        "stats:run_cost",
        "show what models have cost, and what is left of today's budget",
    )
    cost.add_argument(
        "--by",
        choices=("purpose", "day", "model"),
        default="purpose",
        help="how to group the cost (default purpose)",
    )
    cost.add_argument(
        "--days", type=parse_days, default=30, metavar="N", help="the last N days (default 30)"
    )
    cost.add_argument("--json", action="store_true", help="print it as JSON")


def add_access_commands(commands: Subparsers) -> None:
    """Add the commands for invitations and API tokens."""
    invite = add_command(
        commands, "invite", "access:run_invite", "invite somebody with a link that works once"
    )
    invite.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="NAME",
        help="the name of the person; or: list, to show invitations; or: end ID, to withdraw one",
    )
    token = add_command(
        commands, "token", "access:run_token", "create, list or revoke API tokens for programs"
    )
    token.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="new NAME, to create one; or: list; or: end ID, to revoke one",
    )
    token.add_argument(
        "--scope",
        choices=("read", "write", "admin"),
        default="read",
        help="read; also write; also administer this installation (default read)",
    )
    token.add_argument(
        "--days",
        type=parse_positive,
        default=90,
        metavar="N",
        help="days until it expires (default 90)",
    )


def add_connect_command(commands: Subparsers) -> None:
    """Add the command for choosing models and connecting chat platforms."""
    titles = " or ".join(spec.title for spec in CHANNELS.values())
    bots = "; ".join(
        f"{spec.name}: a {spec.title} bot, and a code for --person to send to it"
        for spec in CHANNELS.values()
    )
    connect = add_command(
        commands, "connect", "connect", f"set up language models, voice or {titles}"
    )
    connect.add_argument(
        "what",
        choices=(
            "model",
            "embedder",
            "transcriber",
            "speaker",
            *CHANNELS,
            "none",
            "forget",
        ),
        help="model: a language model; embedder: an embedding model; transcriber: speech to "
        f"text; speaker: text to speech; {bots}; none: use no model; forget: delete a stored key",
    )
    add_new_person_option(connect)
    connect.add_argument(
        "--remove",
        action="store_true",
        help=f"with {' or '.join(CHANNELS)}: disconnect the bot; with --person, only that person",
    )
    connect.add_argument(
        "--provider", type=sanitize_text, metavar="NAME", help="the provider, such as ollama"
    )
    connect.add_argument(
        "--name", type=sanitize_text, metavar="NAME", help="the model's name at the provider"
    )
    connect.add_argument(
        "--base-url", type=sanitize_text, metavar="URL", help="the provider's address"
    )
    connect.add_argument(
        "--kind",
        choices=("openai", "openai-responses", "anthropic", "ollama"),
        help="the API that the provider speaks",
    )
    connect.add_argument(
        "--key-from-env",
        type=sanitize_text,
        metavar="VAR",
        help="the environment variable that holds the API key",
    )
    connect.add_argument(
        "--dimension",
        type=parse_positive,
        metavar="N",
        help="the length of the vectors of an embedding model that is saved without a test",
    )
    connect.add_argument(
        "--voice", type=sanitize_text, metavar="NAME", help="the voice of a text-to-speech model"
    )
    connect.add_argument("--no-test", action="store_true", help="save without a test")
    connect.add_argument(
        "--later", action="store_true", help="compute the new embeddings later, in the background"
    )
    connect.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def add_forget_command(commands: Subparsers) -> None:
    """Add the command for deleting data."""
    forget = add_command(
        commands, "forget", "forget", "delete something for good, and prove that it is gone"
    )
    forget.add_argument(
        "ids",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="ids of messages, beliefs, names or summaries; the last 4 characters are enough",
    )
    forget.add_argument(
        "--about",
        type=sanitize_text,
        metavar="NAME",
        help="a person or thing, and everything about them",
    )
    forget.add_argument(
        "--between",
        nargs=2,
        type=sanitize_text,
        metavar="DATE",
        help="everything said between two days, including both",
    )
    forget.add_argument(
        "--import",
        dest="batch",
        type=parse_positive,
        metavar="NUMBER",
        help="everything that an import added",
    )
    forget.add_argument(
        "--everything", action="store_true", help="everything that is stored about the person"
    )
    forget.add_argument(
        "--orphan", action="store_true", help="keep the beliefs that are based on it, and list them"
    )
    forget.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    forget.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    forget.add_argument("--json", action="store_true", help="print it as JSON")


def add_admin_commands(commands: Subparsers) -> None:
    """Add the commands for administration and measurement."""
    add_core_command(commands)
    person = add_command(
        commands,
        "person",
        "access:run_person",
        "list the people who use this memory, or rename one",
    )
    person.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="list; or: rename OLD NEW",
    )
    add_command(commands, "doctor", "doctor", "check the database, settings and connections")
    add_command(
        commands, "migrate", "database_commands:run_migrate", "update the database to this version"
    )
    bench = add_command(commands, "bench", "evals", "measure search quality, speed and size")
    bench.set_defaults(measurement="bench")
    bench.add_argument("--json", metavar="FILE", help="also write the results to a file")
    bench.add_argument("--only", metavar="NAME", action="append", help="only these measurements")
    bench.add_argument(
        "--quick", action="store_true", help="smaller sizes: faster, but with rougher figures"
    )
    compare = add_command(
        commands, "eval", "evals", "compare settings by replaying simulated lives"
    )
    compare.set_defaults(measurement="eval")
    compare.add_argument(
        "what", choices=("scoring",), help="scoring: the scorers of beliefs, also on your own log"
    )
    compare.add_argument("--json", action="store_true", help="print it as JSON")
