"""Arguments of the commands that show and correct beliefs."""

import argparse
from typing import get_args

from oldfriend.cli.options import Subparsers, add_command
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import sanitize_text

ACTIONS = {
    "list": "what is believed now",
    "search": "what is believed about some words",
    "show": "one belief, with the words it rests on",
    "pin": "let it never fade, nor be merged away",
    "unpin": "let it fade like others",
    "confirm": "it is so",
    "reject": "it is not so; it is not learned again from the same words",
    "edit": "say it right; of a name, who or what it is",
    "merge": "two say the same: the second joins the first",
    "separate": "two are not the same, and stay two",
}
ID_HELP = "an id as it is shown, or 4 characters of it: its first or its last"


def add_memory_commands(commands: Subparsers) -> None:
    """Add the commands about beliefs."""
    add_memory_command(commands)
    add_query_commands(commands)
    add_consolidate_command(commands)
    add_thoughts_command(commands)
    stats = add_command(commands, "stats", "stats", "how much is kept, believed, refused, of use")
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    rebuild = add_command(commands, "rebuild", "rebuild", "make beliefs anew from the decisions")
    rebuild.add_argument("--check", action="store_true", help="only say whether they are the same")
    undo = add_command(commands, "undo", "undo", "take back what was read, or an import")
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
        help="look at what is believed, and set it right",
        description="Look at what is believed, and set it right.",
    )
    actions = memory.add_subparsers(title="actions", metavar="ACTION", required=True)
    parsers = {}
    for name, text in ACTIONS.items():
        parsers[name] = add_command(actions, name, "memory", text)
        parsers[name].set_defaults(action=name)
        parsers[name].add_argument("--json", action="store_true", help="print it as JSON")
    for name in ("list", "search"):
        parsers[name].add_argument("--all", action="store_true", help="also what is over")
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
        "--duplicates", action="store_true", help="whatever says the same; what has faded goes"
    )
    parsers["merge"].add_argument("--dry-run", action="store_true", help="only say what would be")
    parsers["edit"].add_argument("text", nargs="*", type=sanitize_text, metavar="TEXT")
    parsers["edit"].add_argument(
        "--value", type=sanitize_text, metavar="V", help="the new value of a fact or preference"
    )
    parsers["edit"].add_argument(
        "--since",
        type=sanitize_text,
        metavar="DATE",
        help="it was right, and changed then: 2027-05-01 (without: it was a mistake)",
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
        "facts": "facts and preferences",
        "entities": "whom and what is known by name",
        "summaries": "what was said, in short",
    }.items():
        listing = add_query_command(commands, look, text)
        listing.add_argument("--all", action="store_true", help="also what is over")
        if look == "facts":
            listing.add_argument(
                "key",
                nargs="?",
                type=sanitize_text,
                metavar="KEY",
                help="only under this key, such as location, or Ana:location",
            )
        if look == "entities":
            listing.add_argument(
                "name",
                nargs="?",
                type=sanitize_text,
                metavar="NAME",
                help="only this one: to whom and what they are tied, and what else is known",
            )
    beliefs = add_query_command(commands, "beliefs", "everything believed, now or on a day")
    beliefs.add_argument("--as-of", type=sanitize_text, metavar="DATE", help="as it was at its end")
    beliefs.add_argument(
        "--about", type=sanitize_text, metavar="NAME", help="only what is about them"
    )
    history = add_query_command(commands, "history", "what was decided about something, and why")
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
        commands, "thoughts", "thoughts", "what it thought between conversations, and why"
    )
    thoughts.add_argument(
        "--about", type=sanitize_text, metavar="NAME", help="only what names them"
    )
    thoughts.add_argument(
        "--subject", choices=("person", "companion"), help="only about you, or about itself"
    )
    thoughts.add_argument("--all", action="store_true", help="also what is over")
    thoughts.add_argument(
        "--transcripts",
        nargs="?",
        const="",
        type=sanitize_text,
        metavar="ID",
        help="what it said to itself in the last 14 days; all, or one of them",
    )
    thoughts.add_argument("--json", action="store_true", help="print it as JSON")


def add_consolidate_command(commands: Subparsers) -> None:
    """Add the command that extracts beliefs."""
    consolidate = add_command(
        commands, "consolidate", "consolidate", "read what was said, and learn"
    )
    group = consolidate.add_mutually_exclusive_group(required=True)
    group.add_argument("--now", action="store_true", help="everything that was said")
    group.add_argument(
        "--with-model", action="store_true", help="have a model read what rules have read"
    )
    group.add_argument("--pause", action="store_true", help="read no more old talk for now")
    group.add_argument("--resume", action="store_true", help="go on, and retry what has failed")
    group.add_argument(
        "--every",
        nargs="?",
        const="",
        type=sanitize_text,
        metavar="TURNS",
        help="after so many turns at the latest from now on (1 to 500), or default: as "
        "oldfriend.toml has it; without TURNS it is only said",
    )
    consolidate.add_argument("--yes", action="store_true", help="do not ask")
    consolidate.add_argument("--json", action="store_true", help="print it as JSON")
