"""Arguments of `oldfriend core`."""

import argparse

from oldfriend.cli.options import Subparsers, add_command, parse_positive
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.core_blocks import BLOCK_NAMES, STYLE_ACTIONS

WRITABLE_BLOCKS = {
    "persona": "the companion's character",
    "user": "what the companion should know about you",
    "style": "how the companion talks to you",
}
ID_HELP = "id as `core suggestions` shows it; 4 characters are enough"


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
        "old", nargs="?", type=parse_positive, metavar="OLD", help="default: the one before"
    )
    diff.add_argument(
        "new", nargs="?", type=parse_positive, metavar="NEW", help="default: the newest"
    )


def add_suggestion_actions(actions: Subparsers) -> None:
    """Add the actions for starter personas, drafts and suggestions."""
    start = add_action(actions, "start", "start with one of the personas that come with Oldfriend")
    start.add_argument(
        "name",
        nargs="?",
        type=sanitize_text,
        metavar="NAME",
        help="the persona; without a name, they are listed",
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
    suggestions.add_argument("--all", action="store_true", help="also show decided ones")
    accept = add_action(actions, "accept", "accept a suggestion")
    decline = add_action(actions, "decline", "decline a suggestion; it is not made again")
    for each in (accept, decline):
        each.add_argument("id", type=sanitize_text, metavar="ID", help=ID_HELP)
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
