"""Arguments of `oldfriend core`."""

import argparse

from oldfriend.cli.options import Subparsers, add_command, parse_positive
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.core_blocks import BLOCK_NAMES, STYLE_ACTIONS

WRITABLE_BLOCKS = {
    "persona": "who your companion is",
    "user": "who you are to it",
    "style": "how it talks to you",
}
ID_HELP = "as `core suggestions` shows it; 4 characters of it do"


def add_core_command(commands: Subparsers) -> None:
    """Add the command that shows and writes core blocks."""
    core = add_command(commands, "core", "core", "who your companion is, in your words")
    core.set_defaults(action="show", json=False, new_person=False, yes=False)
    add_common_options(core)
    actions = core.add_subparsers(title="actions", metavar="ACTION")
    name_action = add_action(
        actions, "name", "what your companion is called: show it, or give it a name"
    )
    name_action.add_argument(
        "name",
        nargs="?",
        type=sanitize_text,
        metavar="NAME",
        help="its name from now on, for everybody",
    )
    for name, text in WRITABLE_BLOCKS.items():
        block = add_action(actions, name, f"{text}: show it, or write it")
        block.set_defaults(block=name)
        if name == "style":
            block.add_argument(
                "how",
                nargs="?",
                type=sanitize_text,
                metavar="|".join(STYLE_ACTIONS),
                help="what to do with TEXT; without it, set",
            )
        block.add_argument(
            "text",
            nargs="?",
            type=sanitize_text,
            metavar="TEXT",
            help="what it says from now on; - reads it from standard input",
        )
    add_history_actions(actions)
    add_suggestion_actions(actions)


def add_history_actions(actions: Subparsers) -> None:
    """Add the actions that show earlier versions of blocks."""
    history = add_action(actions, "history", "every version of a block, or of the soul")
    diff = add_action(actions, "diff", "what has changed from one version to another")
    for each in (history, diff):
        each.add_argument("block", choices=("soul", *BLOCK_NAMES), help="which")
    diff.add_argument(
        "old", nargs="?", type=parse_positive, metavar="OLD", help="default: the one before"
    )
    diff.add_argument(
        "new", nargs="?", type=parse_positive, metavar="NEW", help="default: the newest"
    )


def add_suggestion_actions(actions: Subparsers) -> None:
    """Add the actions for starter personas, drafts and suggestions."""
    start = add_action(actions, "start", "begin with a persona that comes with Oldfriend")
    start.add_argument(
        "name",
        nargs="?",
        type=sanitize_text,
        metavar="NAME",
        help="which; without it, they are listed",
    )
    draft = add_action(actions, "draft", "draft the blocks from texts of yours, to be reviewed")
    draft.add_argument(
        "files", nargs="+", metavar="FILE", help="text, Markdown, JSON, CSV or an export of a chat"
    )
    draft.add_argument(
        "--me", type=sanitize_text, metavar="NAME", help="which speaker of a chat you are"
    )
    draft.add_argument("--rules", action="store_true", help="read it by rules, not by a model")
    for each in (start, draft):
        each.add_argument("--yes", action="store_true", help="do not ask")
    suggestions = add_action(actions, "suggestions", "what waits for your decision, and why")
    suggestions.add_argument("--all", action="store_true", help="also what was decided")
    accept = add_action(actions, "accept", "let a suggestion stand in its block")
    decline = add_action(actions, "decline", "let it be; it is not suggested again")
    for each in (accept, decline):
        each.add_argument("id", type=sanitize_text, metavar="ID", help=ID_HELP)
    accept.add_argument(
        "text",
        nargs="?",
        type=sanitize_text,
        metavar="TEXT",
        help="in these words instead; - reads them from standard input",
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
        help="the --person may be somebody new",
    )
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print it as JSON"
    )
