"""Which commands are there, and what do they take? Each is carried out in its own module.

A command's module is imported only when it is called, so that none pays for another. What was
typed is made storable here, once; only names of files stay the bytes that they are.
Exit codes: 0 done, 1 could not, 2 wrong usage.
"""

import argparse
import asyncio
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from oldfriend import __version__
from oldfriend.cli.believing_options import add_believing
from oldfriend.cli.core_options import add_core
from oldfriend.cli.options import Commands, add_command, positive, some_days, where_options
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.messages import storable

ABOUT: Final = "A companion that you run yourself and that remembers like an old friend."
BEGINNING: Final = f"""{ABOUT}

  oldfriend serve --open   the page, in your browser
  oldfriend chat           talk here, in the terminal
  oldfriend import FILE    bring in an old chat
  oldfriend --help         everything else"""
DONE, COULD_NOT, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line; the exit code."""
    parser = build_parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        print(BEGINNING, file=sys.stderr)
        return WRONG_USAGE
    options, unknown = parser.parse_known_args(arguments)
    if unknown:  # argparse itself would show the usage of all commands
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    command = importlib.import_module(f"oldfriend.cli.{options.module}")
    speak_utf8()
    try:
        code = int(asyncio.run(command.run(options)))
        sys.stdout.flush()
    except InvalidInput as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return WRONG_USAGE
    except OldfriendError as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return COULD_NOT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        let_go_of_output()
        return COULD_NOT
    except OSError as error:
        let_go_of_output()
        what = error.filename or "standard output"
        print(f"oldfriend: {what} cannot be used ({error.strerror}).", file=sys.stderr)
        return COULD_NOT
    return code


def let_go_of_output() -> None:
    """Let what is still to be printed go nowhere: it is full, or its reader gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def speak_utf8() -> None:
    """Read any bytes, and print any text on any terminal; what it cannot show is escaped."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="oldfriend", parents=[where_options(typed="typed_first")],
        description=ABOUT,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"oldfriend {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_talking(commands)
    add_looking(commands)
    add_believing(commands)
    add_moving(commands)
    add_running(commands)
    add_connect(commands)
    add_forget(commands)
    add_keeping(commands)
    return parser


def add_talking(commands: Commands) -> None:
    """The commands for talking to the companion."""
    chat = add_command(commands, "chat", "chat", "talk to your companion in the terminal")
    add_channel(chat)
    add_new_person(chat)
    say = add_command(commands, "say", "say", "say one thing and print the reply")
    say.add_argument(
        "text", type=storable, metavar="TEXT", help="what to say; - reads it from standard input"
    )
    add_channel(say)
    add_new_person(say)
    say.add_argument(
        "--at", type=storable, metavar="ISO", help="when it was said, if not now: 2024-05-03T18:30"
    )
    say.add_argument("--json", action="store_true", help='print {"reply", "turn", "receipt"}')


def add_channel(parser: argparse.ArgumentParser) -> None:
    """The option that says where the talk takes place."""
    parser.add_argument(
        "--channel", type=storable, default="terminal", metavar="NAME", help="where you are talking"
    )


def add_new_person(parser: argparse.ArgumentParser) -> None:
    """The option without which a slip in a name makes nobody."""
    parser.add_argument(
        "--new-person", action="store_true", help="the --person may be somebody new"
    )


def add_looking(commands: Commands) -> None:
    """The commands for looking into the memory."""
    recall = add_command(
        commands, "recall", "recall", "find what was said or learned that answers a question"
    )
    recall.add_argument("query", type=storable, metavar="QUERY")
    recall.add_argument("-k", type=positive, default=10, metavar="N", help="how many (default 10)")
    recall.add_argument(
        "--kind", action="append", metavar="KIND",
        help="only such: message, fact, preference, event, pattern, commitment or expectation",
    )  # fmt: skip
    recall.add_argument(
        "--around", action="store_true", help="with what was said before and after a message"
    )
    recall.add_argument("--json", action="store_true", help="print a list of hits as JSON")
    hear = add_command(commands, "hear", "hear", "write down what is said in a recording")
    hear.add_argument("file", metavar="FILE", help="such as a voice message: at most 20 MB")
    why = add_command(commands, "why", "why", "explain what a reply stood on")
    why.add_argument(
        "reply", nargs="?", type=storable, metavar="REPLY",
        help="id of the reply or turn (default: the last)",
    )  # fmt: skip
    why.add_argument("--json", action="store_true", help="print the receipt as JSON")


def add_moving(commands: Commands) -> None:
    """The commands for bringing memories in and taking them out."""
    bring = add_command(
        commands, "import", "bringing", "bring in chats: WhatsApp, Telegram, ChatGPT, Claude, text"
    )
    bring.add_argument(
        "what", nargs="+", metavar="FILE",
        help="a file to import; or: undo BATCH, to take an import out again; or: list",
    )  # fmt: skip
    bring.add_argument(
        "--me", type=storable, metavar="NAME", help="which speaker in the file you are"
    )
    bring.add_argument(
        "--zone", type=storable, metavar="ZONE", help="time zone of times without one"
    )
    add_new_person(bring)
    bring.add_argument("--dry-run", action="store_true", help="only check the file and count")
    export = add_command(commands, "export", "taking", "write everything that is kept to a file")
    export.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to (default: standard output)"
    )
    convert = add_command(
        commands, "convert", "converting", "copy everything into a database of another kind"
    )
    names = "sqlite:///PATH, json:///PATH or postgresql://…"
    convert.add_argument("source", metavar="FROM", help=names)
    convert.add_argument("target", metavar="TO", help="another of them, with nothing in it")
    add_comparing(commands)


def add_comparing(commands: Commands) -> None:
    """The commands for what would be believed otherwise."""
    replay = add_command(
        commands, "replay", "replay", "derive all memory anew from the log, in a second database"
    )
    replay.add_argument(
        "--into", required=True, metavar="DB", help="an empty one: a file, or postgresql://…"
    )
    replay.add_argument(
        "--model", type=storable, metavar="PROVIDER:NAME",
        help="who reads all of it, or: rules (default: as it was read)",
    )  # fmt: skip
    replay.add_argument(
        "--since", type=storable, metavar="DATE", help="what was believed before it stands"
    )
    replay.add_argument(
        "--limit-usd", type=float, metavar="N", help="what it may cost in all, not by day"
    )
    replay.add_argument(
        "--limit-tokens", type=positive, metavar="N", help="how many tokens all of it may take"
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


def add_running(commands: Commands) -> None:
    """The commands for a process that stays, and for looking after it."""
    serve = add_command(commands, "serve", "serve", "be there for everybody, until told to stop")
    serve.add_argument("--open", action="store_true", help="open its page in your browser")
    add_command(commands, "link", "link", "a one-time link that opens it in your browser")
    add_signing(commands)
    add_command(commands, "work", "work", "work for the same memory beside a running serve")
    add_command(commands, "stop", "stop", "have serve end what it has begun, and end")
    add_command(commands, "reload", "reload", "have serve read oldfriend.toml again")
    status = add_command(commands, "status", "status", "is it running, what waits, what it uses")
    status.add_argument("--json", action="store_true", help="print it as JSON")
    letters = add_command(commands, "letters", "letters", "what waits or was set aside")
    letters.add_argument(
        "what", nargs="*", type=storable, metavar="ID",
        help="nothing, to list them; or: retry ID, to try one again; or: drop ID",
    )  # fmt: skip
    letters.add_argument("--parked", action="store_true", help="list only what was set aside")
    letters.add_argument("--yes", action="store_true", help="drop without asking")
    letters.add_argument("--json", action="store_true", help="print a list as JSON")
    cost = add_command(commands, "cost", "cost", "what models have cost, and what is left today")
    cost.add_argument(
        "--by", choices=("purpose", "day", "model"), default="purpose",
        help="what to add up by (default purpose)",
    )  # fmt: skip
    cost.add_argument(
        "--days", type=some_days, default=30, metavar="N", help="the last N days (default 30)"
    )
    cost.add_argument("--json", action="store_true", help="print it as JSON")


def add_signing(commands: Commands) -> None:
    """The commands for who else comes in, and by what."""
    invite = add_command(commands, "invite", "invite", "a link for somebody else, good once")
    invite.add_argument(
        "what", nargs="+", type=storable, metavar="NAME",
        help="whom to invite; or: list; or: end ID",
    )  # fmt: skip
    token = add_command(commands, "token", "token", "what a program shows to use the API")
    token.add_argument(
        "what", nargs="+", type=storable, metavar="WHAT",
        help="new NAME, for what it is; or: list; or: end ID",
    )  # fmt: skip
    token.add_argument(
        "--scope", choices=("read", "write", "admin"), default="read",
        help="look; also talk; also everything about this install (default read)",
    )  # fmt: skip
    token.add_argument("--days", type=positive, default=90, metavar="N", help="how long it is good")


def add_connect(commands: Commands) -> None:
    """The command for choosing models, and where people talk."""
    connect = add_command(commands, "connect", "connect", "choose the models; talk on Telegram")
    connect.add_argument(
        "what", choices=(
            "model", "embedder", "transcriber", "speaker", "telegram", "none", "forget",
        ),
        help="a language model; a model for embedding; who listens; who speaks; a bot on "
        "Telegram, and a code for the --person; none: go offline; forget a kept key",
    )  # fmt: skip
    add_new_person(connect)
    connect.add_argument(
        "--remove", action="store_true", help="with telegram: let the bot go, or the --person there"
    )
    connect.add_argument("--provider", type=storable, metavar="NAME", help="such as ollama")
    connect.add_argument("--name", type=storable, metavar="NAME", help="of the model there")
    connect.add_argument("--base-url", type=storable, metavar="URL", help="where the provider is")
    connect.add_argument(
        "--kind", choices=("openai", "openai-responses", "anthropic"), help="which language it has"
    )
    connect.add_argument(
        "--key-from-env", type=storable, metavar="VAR", help="the variable that holds the key"
    )
    connect.add_argument(
        "--dimension", type=positive, metavar="N", help="of an embedder that is not tested"
    )
    connect.add_argument("--voice", type=storable, metavar="NAME", help="of a speaker")
    connect.add_argument("--no-test", action="store_true", help="do not try it")
    connect.add_argument("--later", action="store_true", help="embed anew later, bit by bit")
    connect.add_argument("--yes", action="store_true", help="do not ask")


def add_forget(commands: Commands) -> None:
    """The command for taking something away for good."""
    forget = add_command(
        commands, "forget", "forgetting", "take something away for good, and prove it"
    )
    forget.add_argument(
        "ids", nargs="*", type=storable, metavar="ID",
        help="of messages, memories, names or summaries; their last 4 characters do",
    )  # fmt: skip
    forget.add_argument(
        "--about", type=storable, metavar="NAME", help="somebody or something, and what tells of it"
    )
    forget.add_argument(
        "--between", nargs=2, type=storable, metavar="DATE",
        help="what was said from one day to another, both included",
    )  # fmt: skip
    forget.add_argument(
        "--import", dest="batch", type=positive, metavar="NUMBER", help="what an import brought"
    )
    forget.add_argument("--everything", action="store_true", help="all that is kept of the person")
    forget.add_argument(
        "--orphan", action="store_true", help="keep the beliefs that rest on it; says which"
    )
    forget.add_argument("--dry-run", action="store_true", help="only show what would go")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument("--json", action="store_true", help="print it as JSON")


def add_keeping(commands: Commands) -> None:
    """The commands for keeping the house in order."""
    add_core(commands)
    person = add_command(commands, "person", "person", "list who is known, or rename somebody")
    person.add_argument(
        "what", nargs="+", type=storable, metavar="WHAT",
        help="list; or: rename OLD NEW",
    )  # fmt: skip
    add_command(commands, "doctor", "doctor", "check that everything is sound")
    add_command(commands, "migrate", "migrate", "bring the database up to this version")
    bench = add_command(commands, "bench", "bench", "measure finding, speed and weight")
    bench.add_argument("--json", metavar="FILE", help="also write the results to a file")
    bench.add_argument("--only", metavar="NAME", action="append", help="only these measurements")
    bench.add_argument("--quick", action="store_true", help="smaller sizes, rougher numbers")
    compare = add_command(commands, "eval", "eval", "compare choices by replays of lives")
    compare.add_argument(
        "what", choices=("scoring",), help="scoring: the scorers of beliefs, also on your own log"
    )
    compare.add_argument("--json", action="store_true", help="print it as JSON")
