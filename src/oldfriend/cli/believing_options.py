"""What do the commands take that show what is believed, and set it right?"""

import argparse
from typing import get_args

from oldfriend.cli.options import Commands, add_command
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import storable

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
ID = "an id as it is shown, or 4 characters of it: its first or its last"


def add_believing(commands: Commands) -> None:
    """The commands about what is believed."""
    add_memory(commands)
    add_lists(commands)
    add_reading(commands)
    add_thoughts(commands)
    stats = add_command(commands, "stats", "stats", "how much is kept, believed, refused, of use")
    stats.add_argument("--json", action="store_true", help="print it as JSON")
    rebuild = add_command(commands, "rebuild", "rebuild", "make beliefs anew from the decisions")
    rebuild.add_argument("--check", action="store_true", help="only say whether they are the same")
    undo = add_command(commands, "undo", "undo", "take back what was read, or an import")
    undo.add_argument(
        "what", nargs="+", type=storable, metavar="WHAT",
        help="consolidation ID (or last); or: import NUMBER",
    )  # fmt: skip


def add_memory(commands: Commands) -> None:
    """The command that looks at beliefs and sets them right."""
    memory = commands.add_parser(
        "memory", help="look at what is believed, and set it right",
        description="Look at what is believed, and set it right.",
    )  # fmt: skip
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
    parsers["search"].add_argument("words", nargs="+", type=storable, metavar="WORDS")
    for name in ACTIONS.keys() - {"list", "search", "merge"}:
        parsers[name].add_argument("id", type=storable, metavar="ID", help=ID)
    parsers["separate"].add_argument("other", type=storable, metavar="OTHER", help=ID)
    for name in ("id", "other"):
        parsers["merge"].add_argument(
            name, nargs="?", type=storable, metavar=name.upper(), help=ID
        )  # fmt: skip
    parsers["merge"].add_argument(
        "--duplicates", action="store_true", help="whatever says the same; what has faded goes"
    )
    parsers["merge"].add_argument("--dry-run", action="store_true", help="only say what would be")
    parsers["edit"].add_argument("text", nargs="*", type=storable, metavar="TEXT")
    parsers["edit"].add_argument(
        "--value", type=storable, metavar="V", help="the new value of a fact or preference"
    )
    parsers["edit"].add_argument(
        "--since", type=storable, metavar="DATE",
        help="it was right, and changed then: 2027-05-01 (without: it was a mistake)",
    )  # fmt: skip
    parsers["edit"].add_argument(
        "--due", type=storable, metavar="WHEN",
        help="when a promise or expectation is due: 2027-05-01, 2027-05-01T18:00 or none",
    )  # fmt: skip


def add_lists(commands: Commands) -> None:
    """The commands that list what is known, each in its way."""
    for look, text in {
        "facts": "facts and preferences",
        "entities": "whom and what is known by name",
        "summaries": "what was said, in short",
    }.items():
        listing = add_look(commands, look, text)
        listing.add_argument("--all", action="store_true", help="also what is over")
        if look == "facts":
            listing.add_argument(
                "key", nargs="?", type=storable, metavar="KEY",
                help="only under this key, such as location, or Ana:location",
            )  # fmt: skip
        if look == "entities":
            listing.add_argument(
                "name", nargs="?", type=storable, metavar="NAME",
                help="only this one: to whom and what they are tied, and what else is known",
            )  # fmt: skip
    beliefs = add_look(commands, "beliefs", "everything believed, now or on a day")
    beliefs.add_argument("--as-of", type=storable, metavar="DATE", help="as it was at its end")
    beliefs.add_argument("--about", type=storable, metavar="NAME", help="only what is about them")
    history = add_look(commands, "history", "what was decided about something, and why")
    history.add_argument("id", type=storable, metavar="ID", help=ID)


def add_look(commands: Commands, look: str, text: str) -> argparse.ArgumentParser:
    """A command that lists something."""
    parser = add_command(commands, look, "beliefs", text)
    parser.set_defaults(look=look)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    return parser


def add_thoughts(commands: Commands) -> None:
    """The command that shows what it thinks between conversations."""
    thoughts = add_command(
        commands, "thoughts", "thoughts", "what it thought between conversations, and why"
    )
    thoughts.add_argument("--about", type=storable, metavar="NAME", help="only what names them")
    thoughts.add_argument(
        "--subject", choices=("person", "companion"), help="only about you, or about itself"
    )
    thoughts.add_argument("--all", action="store_true", help="also what is over")
    thoughts.add_argument(
        "--transcripts", nargs="?", const="", type=storable, metavar="ID",
        help="what it said to itself in the last 14 days; all, or one of them",
    )  # fmt: skip
    thoughts.add_argument("--json", action="store_true", help="print it as JSON")


def add_reading(commands: Commands) -> None:
    """The command that has things read."""
    reading = add_command(commands, "consolidate", "consolidate", "read what was said, and learn")
    what = reading.add_mutually_exclusive_group(required=True)
    what.add_argument("--now", action="store_true", help="everything that was said")
    what.add_argument(
        "--with-model", action="store_true", help="have a model read what rules have read"
    )
    what.add_argument("--pause", action="store_true", help="read no more old talk for now")
    what.add_argument("--resume", action="store_true", help="go on, and retry what has failed")
    what.add_argument(
        "--every", nargs="?", const="", type=storable, metavar="TURNS",
        help="after so many turns at the latest from now on (1 to 500), or default: as "
        "oldfriend.toml has it; without TURNS it is only said",
    )  # fmt: skip
    reading.add_argument("--yes", action="store_true", help="do not ask")
    reading.add_argument("--json", action="store_true", help="print it as JSON")
