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
from oldfriend.cli.options import (
    CommandParser,
    Subparsers,
    add_command,
    add_memory_commands,
    add_new_person_option,
    build_common_options,
    parse_positive,
)
from oldfriend.cli.output import discard_output, sanitize_output
from oldfriend.cli.server_options import (
    add_admin_commands,
    add_connect_command,
    add_server_commands,
)
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
