"""What does `oldfriend core` take?"""

import argparse

from oldfriend.cli.options import Commands, add_command, positive
from oldfriend.domain.messages import storable
from oldfriend.memory.core_blocks import BLOCKS, STYLE_ACTIONS

WRITES = {
    "persona": "who your companion is",
    "user": "who you are to it",
    "style": "how it talks to you",
}
ID = "as `core suggestions` shows it; 4 characters of it do"


def add_core(commands: Commands) -> None:
    """The command that shows and writes who is who."""
    core = add_command(commands, "core", "core", "who your companion is, in your words")
    core.set_defaults(action="show", json=False, new_person=False, yes=False)
    add_common(core)
    actions = core.add_subparsers(title="actions", metavar="ACTION")
    called = add_action(
        actions, "name", "what your companion is called: show it, or give it a name"
    )
    called.add_argument(
        "name", nargs="?", type=storable, metavar="NAME", help="its name from now on, for everybody"
    )
    for name, text in WRITES.items():
        block = add_action(actions, name, f"{text}: show it, or write it")
        block.set_defaults(block=name)
        if name == "style":
            block.add_argument(
                "how", nargs="?", type=storable, metavar="|".join(STYLE_ACTIONS),
                help="what to do with TEXT; without it, set",
            )  # fmt: skip
        block.add_argument(
            "text", nargs="?", type=storable, metavar="TEXT",
            help="what it says from now on; - reads it from standard input",
        )  # fmt: skip
    add_looking_back(actions)
    add_deciding(actions)


def add_looking_back(actions: Commands) -> None:
    """The actions that show how blocks have read."""
    history = add_action(actions, "history", "every version of a block, or of the soul")
    diff = add_action(actions, "diff", "what has changed from one version to another")
    for each in (history, diff):
        each.add_argument("block", choices=("soul", *BLOCKS), help="which")
    diff.add_argument(
        "old", nargs="?", type=positive, metavar="OLD", help="default: the one before"
    )
    diff.add_argument("new", nargs="?", type=positive, metavar="NEW", help="default: the newest")


def add_deciding(actions: Commands) -> None:
    """The actions that bring in what others have written, once it is agreed to."""
    start = add_action(actions, "start", "begin with a persona that comes with Oldfriend")
    start.add_argument(
        "name", nargs="?", type=storable, metavar="NAME", help="which; without it, they are listed"
    )
    draft = add_action(actions, "draft", "draft the blocks from texts of yours, to be reviewed")
    draft.add_argument(
        "files", nargs="+", metavar="FILE", help="text, Markdown, JSON, CSV or an export of a chat"
    )
    draft.add_argument(
        "--me", type=storable, metavar="NAME", help="which speaker of a chat you are"
    )
    draft.add_argument("--rules", action="store_true", help="read it by rules, not by a model")
    for each in (start, draft):
        each.add_argument("--yes", action="store_true", help="do not ask")
    suggestions = add_action(actions, "suggestions", "what waits for your decision, and why")
    suggestions.add_argument("--all", action="store_true", help="also what was decided")
    accept = add_action(actions, "accept", "let a suggestion stand in its block")
    decline = add_action(actions, "decline", "let it be; it is not suggested again")
    for each in (accept, decline):
        each.add_argument("id", type=storable, metavar="ID", help=ID)
    accept.add_argument(
        "text", nargs="?", type=storable, metavar="TEXT",
        help="in these words instead; - reads them from standard input",
    )  # fmt: skip


def add_action(actions: Commands, name: str, text: str) -> argparse.ArgumentParser:
    """One action; options that stand before its name hold, too."""
    parser = add_command(actions, name, "core", text)
    parser.set_defaults(action=name)
    add_common(parser)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """What every action takes."""
    parser.add_argument(
        "--new-person", action="store_true", default=argparse.SUPPRESS,
        help="the --person may be somebody new",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print it as JSON"
    )
