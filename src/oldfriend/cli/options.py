"""Command-line options: shared ones, and those of beliefs, core blocks and own records."""

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import date
from typing import Any, Final, NoReturn, Protocol, get_args

from typing_extensions import override

from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.core_blocks import BLOCK_NAMES, STYLE_ACTIONS

INVALID_CHOICE: Final = ": invalid choice: "
KNOWN_CHOICES: Final = " (choose from "
UNKNOWN_ARGUMENTS: Final = "unrecognized arguments: "
UNFIT_VALUE: Final = re.compile(r"argument (?P<name>\S+): invalid \w+ value: ")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors take one line and say what to do."""

    @override
    def error(self, message: str) -> NoReturn:
        """Say what is wrong, what may have been meant, and where the help is; end with 2."""
        print(f"{self.prog}: {self._explain(message)} See: {self.prog} --help", file=sys.stderr)
        sys.exit(2)

    def _explain(self, message: str) -> str:
        what, _, choice = message.partition(INVALID_CHOICE)
        if choice and what in {"argument COMMAND", "argument ACTION"}:
            given, _, known = choice.rpartition(KNOWN_CHOICES)
            return explain_unknown(given.strip("'"), re.findall(r"'([^']+)'", known))
        if message.startswith(UNKNOWN_ARGUMENTS):
            given = message.removeprefix(UNKNOWN_ARGUMENTS).partition(" ")[0]
            return explain_unknown(given, [*self._option_string_actions])
        if found := UNFIT_VALUE.match(message):
            return f"{found['name']} cannot be {message[found.end() :]}."
        return f"{message}."


def explain_unknown(given: str, known: Sequence[str]) -> str:
    """Say that there is no such thing, and ask whether the nearest of what is known was meant."""
    from difflib import get_close_matches

    near = get_close_matches(given, known, n=1, cutoff=0.6)
    return f"there is no '{given}'.{f' Did you mean {near[0]}?' if near else ''}"


def build_common_options(set_dest: str = "typed") -> argparse.ArgumentParser:
    """Build the options that every command takes, before or after its name.

    ``set_dest`` names where --set is collected: with one name for both places, values after the
    command name would replace those before it.
    """
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument(
        "--data", metavar="DIR", help="folder in which Oldfriend stores everything (OLDFRIEND_DATA)"
    )
    options.add_argument(
        "--database",
        metavar="URL",
        help="the database: sqlite:///PATH, postgresql://… or, as a readable file, "
        "json:///PATH (OLDFRIEND_DATABASE)",
    )
    options.add_argument(
        "--person",
        type=sanitize_text,
        metavar="NAME",
        help="whose memory to use (default: the owner)",
    )
    options.add_argument(
        "--set",
        action="append",
        dest=set_dest,
        metavar="NAME=VALUE",
        help="change a setting for this command, such as limits.lease_s=5",
    )
    return options


def add_port_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the setting that is changed most often when serving."""
    parser.add_argument(
        "--port",
        action="append",
        dest="typed",
        default=argparse.SUPPRESS,
        type="serve.port={}".format,
        metavar="PORT",
        help="the port to listen on (8344; 0: any free one), as --set serve.port=PORT",
    )


class Subparsers(Protocol):
    """The argparse object to which commands are added."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - as argparse has it
        """Add the parser of one command."""
        ...


def add_command(
    commands: Subparsers, name: str, handler: str, text: str, *, aliases: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Add a command with its handler, a one-sentence description and names it had before.

    The handler is a module of ``cli`` and one of its functions, which is ``run`` if left out.
    """
    parser = commands.add_parser(
        name,
        aliases=list(aliases),
        parents=[build_common_options()],
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
    )
    parser.set_defaults(handler=handler, parser=parser)
    return parser


def parse_positive(text: str) -> int:
    """Parse a positive integer for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parse_days(text: str) -> int:
    """Parse a number of days, at most 36,500, for argparse."""
    number = parse_positive(text)
    if number > 36_500:
        raise argparse.ArgumentTypeError("must be at most 36500")
    return number


WRITABLE_BLOCKS = {
    "persona": "the companion's character",
    "user": "what the companion should know about you",
    "style": "how the companion talks to you",
}
SUGGESTION_ID_HELP = "id as `core suggestions` shows it; 4 characters are enough"


def add_core_command(commands: Subparsers) -> None:
    """Add the command that shows and writes core blocks."""
    core = add_command(
        commands, "core", "core", "show or write the companion's character in your own words"
    )
    core.set_defaults(action="show", json=False, new_person=False, yes=False)
    add_common_options(core)
    actions = core.add_subparsers(title="actions", metavar="ACTION")
    name_action = add_action(actions, "name", "show or set the companion's name")
    name_action.add_argument(
        "name",
        nargs="?",
        type=sanitize_text,
        metavar="NAME",
        help="its new name, for everybody",
    )
    for name, text in WRITABLE_BLOCKS.items():
        block = add_action(actions, name, f"show or write {text}")
        block.set_defaults(block=name)
        if name == "style":
            block.add_argument(
                "how",
                nargs="?",
                type=sanitize_text,
                metavar="|".join(STYLE_ACTIONS),
                help="what to do with TEXT (default: set)",
            )
        block.add_argument(
            "text",
            nargs="?",
            type=sanitize_text,
            metavar="TEXT",
            help="the new text; - reads it from standard input",
        )
    add_history_actions(actions)
    add_suggestion_actions(actions)


def add_history_actions(actions: Subparsers) -> None:
    """Add the actions that show earlier versions of blocks."""
    history = add_action(actions, "history", "list the versions of a block")
    diff = add_action(actions, "diff", "compare two versions of a block")
    for each in (history, diff):
        each.add_argument("block", choices=("soul", *BLOCK_NAMES), help="the block")
    diff.add_argument(
        "old",
        nargs="?",
        type=parse_positive,
        metavar="OLD",
        help="the older version (default: the one before NEW)",
    )
    diff.add_argument(
        "new",
        nargs="?",
        type=parse_positive,
        metavar="NEW",
        help="the newer version (default: the latest)",
    )


def add_suggestion_actions(actions: Subparsers) -> None:
    """Add the actions for starter personas, drafts and suggestions."""
    start = add_action(actions, "start", "start with one of the personas that come with Oldfriend")
    start.add_argument(
        "name",
        nargs="?",
        type=sanitize_text,
        metavar="NAME",
        help="the persona; leave it out to list them",
    )
    draft = add_action(actions, "draft", "draft the blocks from your own texts, for you to review")
    draft.add_argument(
        "files", nargs="+", metavar="FILE", help="text, Markdown, JSON, CSV or a chat export"
    )
    draft.add_argument("--me", type=sanitize_text, metavar="NAME", help="your name in the chat")
    draft.add_argument("--rules", action="store_true", help="use rules instead of a model")
    for each in (start, draft):
        each.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    suggestions = add_action(actions, "suggestions", "list suggestions that wait for your decision")
    suggestions.add_argument(
        "--all", action="store_true", help="also show those that you have decided"
    )
    accept = add_action(actions, "accept", "accept a suggestion")
    decline = add_action(actions, "decline", "decline a suggestion; it is not made again")
    for each in (accept, decline):
        each.add_argument("id", type=sanitize_text, metavar="ID", help=SUGGESTION_ID_HELP)
    accept.add_argument(
        "text",
        nargs="?",
        type=sanitize_text,
        metavar="TEXT",
        help="use this text instead; - reads it from standard input",
    )


def add_action(actions: Subparsers, name: str, text: str) -> argparse.ArgumentParser:
    """Add one action; options before its name apply, too."""
    parser = add_command(actions, name, "core", text)
    parser.set_defaults(action=name)
    add_common_options(parser)
    return parser


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every action."""
    parser.add_argument(
        "--new-person",
        action="store_true",
        default=argparse.SUPPRESS,
        help="allow --person to name somebody who is not known yet",
    )
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print it as JSON"
    )


ACTIONS = {
    "list": "list current beliefs",
    "unconfirmed": "list claims that wait for you to confirm or reject them",
    "search": "search beliefs",
    "show": "show one belief with the messages it is based on",
    "pin": "keep a belief from fading or being merged",
    "unpin": "let a pinned belief fade again",
    "confirm": "confirm that a belief is true",
    "reject": "reject a belief; it is not learned again from the same messages",
    "edit": "correct a belief; for a name, say who or what it is",
    "merge": "merge two beliefs that say the same thing: the second into the first",
    "separate": "mark two beliefs or names as different, so that they are never merged",
}
ID_HELP = "an id as shown, or its first or last 4 characters"


def add_memory_commands(commands: Subparsers) -> None:
    """Add the commands about beliefs."""
    add_memory_command(commands)
    add_query_commands(commands)
    add_consolidate_command(commands)
    add_thoughts_command(commands)
    add_own_record_commands(commands)
    stats = add_command(
        commands,
        "stats",
        "stats",
        "show statistics: messages, beliefs, refused claims, usefulness",
    )
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    proactive = add_command(
        commands,
        "proactive",
        "proactive",
        "show when it speaks first, and what it decided to say unasked, with the reasons",
    )
    proactive.add_argument("--json", action="store_true", help="print it as JSON")
    rebuild = add_command(
        commands,
        "rebuild",
        "database_commands:run_rebuild",
        "rebuild all beliefs from the journal of decisions",
    )
    rebuild.add_argument("--check", action="store_true", help="only report whether they match")
    undo = add_command(commands, "undo", "import_cmd:run_undo", "undo a consolidation or an import")
    undo.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="consolidation ID (or last); or: import NUMBER",
    )


def add_own_record_commands(commands: Subparsers) -> None:
    """Add the commands for a person's numbers and their diary."""
    measurements = add_command(
        commands,
        "measurements",
        "diary_and_measurements:run_measurements",
        "show the numbers that are kept, such as a weight",
    )
    measurements.add_argument(
        "name", nargs="?", type=sanitize_text, metavar="NAME", help="left out: what is kept"
    )
    diary = add_command(
        commands,
        "diary",
        "diary_and_measurements:run_diary",
        "show or search the diary",
        aliases=("journal",),
    )
    diary.add_argument(
        "words", nargs="*", type=sanitize_text, metavar="WORD", help="words to search for"
    )
    diary.add_argument("--tag", action="append", metavar="TAG", help="only entries with such a tag")
    diary.add_argument(
        "--limit", type=parse_positive, default=10, metavar="N", help="at most N (default 10)"
    )
    for each in (measurements, diary):
        each.add_argument("--since", type=date.fromisoformat, metavar="DAY", help="the first day")
        each.add_argument("--until", type=date.fromisoformat, metavar="DAY", help="the last day")
        each.add_argument("--json", action="store_true", help="print it as JSON")


def add_memory_command(commands: Subparsers) -> None:
    """Add the command that shows and corrects beliefs."""
    memory = commands.add_parser(
        "memory",
        help="show and correct beliefs",
        description="Show and correct beliefs.",
    )
    actions = memory.add_subparsers(title="actions", metavar="ACTION", required=True)
    parsers = {}
    for name, text in ACTIONS.items():
        parsers[name] = add_command(actions, name, "memory_cmd", text)
        parsers[name].set_defaults(action=name)
        parsers[name].add_argument("--json", action="store_true", help="print it as JSON")
    for name in ("list", "search"):
        parsers[name].add_argument(
            "--all", action="store_true", help="also show beliefs that have ended"
        )
    kinds = get_args(MemoryKind)
    parsers["list"].add_argument("--kind", choices=kinds, help="only of this kind")
    parsers["search"].add_argument("words", nargs="+", type=sanitize_text, metavar="WORDS")
    for name in ACTIONS.keys() - {"list", "unconfirmed", "search", "merge"}:
        parsers[name].add_argument("id", type=sanitize_text, metavar="ID", help=ID_HELP)
    parsers["separate"].add_argument("other", type=sanitize_text, metavar="OTHER", help=ID_HELP)
    for name in ("id", "other"):
        parsers["merge"].add_argument(
            name, nargs="?", type=sanitize_text, metavar=name.upper(), help=ID_HELP
        )
    parsers["merge"].add_argument(
        "--duplicates",
        action="store_true",
        help="find and merge duplicates, and remove faded beliefs",
    )
    parsers["merge"].add_argument(
        "--dry-run", action="store_true", help="only show what would change"
    )
    parsers["edit"].add_argument("text", nargs="*", type=sanitize_text, metavar="TEXT")
    parsers["edit"].add_argument(
        "--value", type=sanitize_text, metavar="V", help="the new value of a fact or preference"
    )
    parsers["edit"].add_argument(
        "--since",
        type=sanitize_text,
        metavar="DATE",
        help="the date on which it changed, such as 2027-05-01 (without it: the "
        "old value was never true)",
    )
    parsers["edit"].add_argument(
        "--due",
        type=sanitize_text,
        metavar="WHEN",
        help="when a promise or expectation is due: 2027-05-01, 2027-05-01T18:00 or none",
    )


def add_query_commands(commands: Subparsers) -> None:
    """Add the commands that list beliefs by kind."""
    for look, text in {
        "facts": "list facts and preferences",
        "entities": "list known people, places, pets and things",
        "summaries": "list summaries of conversations, which a language model writes",
    }.items():
        listing = add_query_command(commands, look, text)
        listing.add_argument("--all", action="store_true", help="also show beliefs that have ended")
        if look == "facts":
            listing.add_argument(
                "key",
                nargs="?",
                type=sanitize_text,
                metavar="KEY",
                help="only this attribute, such as location or Ana:location",
            )
        if look == "entities":
            listing.add_argument(
                "name",
                nargs="?",
                type=sanitize_text,
                metavar="NAME",
                help="only this one, with its relations and everything known about it",
            )
    beliefs = add_query_command(
        commands, "beliefs", "list all beliefs, as they are now or were on a past day"
    )
    beliefs.add_argument(
        "--as-of", type=sanitize_text, metavar="DATE", help="as they were at the end of this day"
    )
    beliefs.add_argument(
        "--about",
        type=sanitize_text,
        metavar="NAME",
        help="only beliefs about this person or thing",
    )
    history = add_query_command(
        commands, "history", "show the history of a belief: each decision and its reason"
    )
    history.add_argument("id", type=sanitize_text, metavar="ID", help=ID_HELP)


def add_query_command(commands: Subparsers, name: str, text: str) -> argparse.ArgumentParser:
    """Add one listing command."""
    parser = add_command(commands, name, "beliefs", text)
    parser.set_defaults(look=name)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    return parser


def add_thoughts_command(commands: Subparsers) -> None:
    """Add the command that shows thoughts and transcripts."""
    thoughts = add_command(
        commands,
        "thoughts",
        "beliefs:run_thoughts",
        "show the companion's own thoughts, and what led to them",
    )
    thoughts.add_argument(
        "--about", type=sanitize_text, metavar="NAME", help="only thoughts that mention this name"
    )
    thoughts.add_argument(
        "--subject", choices=("person", "companion"), help="only about you, or about itself"
    )
    thoughts.add_argument("--all", action="store_true", help="also show beliefs that have ended")
    thoughts.add_argument(
        "--transcripts",
        nargs="?",
        const="",
        type=sanitize_text,
        metavar="ID",
        help="show the full transcripts of its thinking in the last 14 days, or one of them",
    )
    thoughts.add_argument("--json", action="store_true", help="print it as JSON")


def add_consolidate_command(commands: Subparsers) -> None:
    """Add the command that extracts beliefs."""
    consolidate = add_command(
        commands,
        "consolidate",
        "consolidate_cmd",
        "learn from messages that have not been read yet",
    )
    group = consolidate.add_mutually_exclusive_group()
    group.add_argument(
        "--now", action="store_true", help="read all unread messages now (the default)"
    )
    group.add_argument(
        "--with-model",
        action="store_true",
        help="let a language model read what no model has read yet",
    )
    group.add_argument("--pause", action="store_true", help="pause reading imported messages")
    group.add_argument(
        "--resume", action="store_true", help="resume reading, and retry what has failed"
    )
    group.add_argument(
        "--every",
        nargs="?",
        const="",
        type=sanitize_text,
        metavar="TURNS",
        help="read after at most this many turns (1 to 500); default: as set in oldfriend.toml; "
        "without TURNS, show the current value",
    )
    consolidate.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    consolidate.add_argument("--json", action="store_true", help="print it as JSON")


def add_new_person_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that allows a new person, so that a typo in a name creates nobody."""
    parser.add_argument(
        "--new-person",
        action="store_true",
        help="allow --person to name somebody who is not known yet",
    )
