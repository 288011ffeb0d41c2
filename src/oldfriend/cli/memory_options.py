"""Arguments of the commands that show and correct beliefs."""

import argparse
from typing import get_args

from oldfriend.cli.options import Subparsers, add_command
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import sanitize_text

ACTIONS = {
    "list": "list current beliefs",
    "search": "search beliefs",
    "show": "show one belief with the messages it is based on",
    "pin": "keep a belief from fading or being merged",
    "unpin": "let a pinned belief fade again",
    "confirm": "confirm that a belief is true",
    "reject": "reject a belief; it is not learned again from the same messages",
    "edit": "correct a belief; for a name, say who or what it is",
    "merge": "merge two beliefs that say the same: the second into the first",
    "separate": "mark two as different, so that they are never merged",
}
ID_HELP = "an id as shown, or its first or last 4 characters"


def add_memory_commands(commands: Subparsers) -> None:
    """Add the commands about beliefs."""
    add_memory_command(commands)
    add_query_commands(commands)
    add_consolidate_command(commands)
    add_thoughts_command(commands)
    stats = add_command(
        commands,
        "stats",
        "stats",
        "show statistics: messages, beliefs, rejected claims, usefulness",
    )
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    rebuild = add_command(
        commands, "rebuild", "rebuild", "rebuild all beliefs from the journal of decisions"
    )
    rebuild.add_argument("--check", action="store_true", help="only report whether they match")
    undo = add_command(commands, "undo", "undo", "undo a consolidation or an import")
    undo.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="consolidation ID (or last); or: import NUMBER",
    )


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
        parsers[name] = add_command(actions, name, "memory", text)
        parsers[name].set_defaults(action=name)
        parsers[name].add_argument("--json", action="store_true", help="print it as JSON")
    for name in ("list", "search"):
        parsers[name].add_argument("--all", action="store_true", help="also show what has ended")
    kinds = get_args(MemoryKind)
    parsers["list"].add_argument("--kind", choices=kinds, help="only of this kind")
    parsers["search"].add_argument("words", nargs="+", type=sanitize_text, metavar="WORDS")
    for name in ACTIONS.keys() - {"list", "search", "merge"}:
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
        help="the date on which it changed, such as 2027-05-01 (without: it was never right)",
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
        listing.add_argument("--all", action="store_true", help="also show what has ended")
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
    beliefs = add_query_command(commands, "beliefs", "list all beliefs, as of now or of a day")
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
        commands, "thoughts", "thoughts", "show the companion's own thoughts, and what led to them"
    )
    thoughts.add_argument(
        "--about", type=sanitize_text, metavar="NAME", help="only thoughts that mention this name"
    )
    thoughts.add_argument(
        "--subject", choices=("person", "companion"), help="only about you, or about itself"
    )
    thoughts.add_argument("--all", action="store_true", help="also show what has ended")
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
        commands, "consolidate", "consolidate", "learn from messages that have not been read yet"
    )
    group = consolidate.add_mutually_exclusive_group()
    group.add_argument(
        "--now", action="store_true", help="read all unread messages now, as without any option"
    )
    group.add_argument(
        "--with-model",
        action="store_true",
        help="have a model read what none has read",
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
        help="read after at most this many turns (1 to 500), or default, as in "
        "oldfriend.toml; without TURNS, show the current value",
    )
    consolidate.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    consolidate.add_argument("--json", action="store_true", help="print it as JSON")
