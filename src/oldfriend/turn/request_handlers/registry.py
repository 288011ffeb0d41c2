"""Request handler registry: every handler, in the order in which they are asked."""

from typing import Final

from oldfriend.lang.command_menu import read_command, translate_command
from oldfriend.turn.request_handlers.action_requests import COMMANDS as ACTION_COMMANDS
from oldfriend.turn.request_handlers.action_requests import build_action_handler
from oldfriend.turn.request_handlers.agenda_requests import AGENDA
from oldfriend.turn.request_handlers.calculator_requests import CALCULATOR
from oldfriend.turn.request_handlers.cancel_all_requests import (
    CANCEL_ALL_REQUESTS,
    LIKELY_CANCEL_REQUESTS,
)
from oldfriend.turn.request_handlers.checklist_requests import CHECKLIST_REQUESTS
from oldfriend.turn.request_handlers.checklist_requests import COMMAND as CHECKLIST_COMMAND
from oldfriend.turn.request_handlers.clock_requests import CLOCK
from oldfriend.turn.request_handlers.command_requests import (
    HELP,
    MEMORY_COMMANDS,
    build_unknown_command_handler,
)
from oldfriend.turn.request_handlers.diary_requests import DIARY
from oldfriend.turn.request_handlers.forget_requests import FORGET_IN_WORDS, FORGET_REQUESTS
from oldfriend.turn.request_handlers.goal_requests import COMMAND as GOAL_COMMAND
from oldfriend.turn.request_handlers.goal_requests import COMMANDS as GOAL_COMMANDS
from oldfriend.turn.request_handlers.goal_requests import GOAL_REQUESTS
from oldfriend.turn.request_handlers.handler import UNDO, RequestHandler
from oldfriend.turn.request_handlers.hint_requests import HINT_REQUESTS
from oldfriend.turn.request_handlers.language_requests import LANGUAGE_REQUESTS
from oldfriend.turn.request_handlers.learning_requests import COMMANDS as LEARNING_COMMANDS
from oldfriend.turn.request_handlers.learning_requests import LEARNING_REQUESTS
from oldfriend.turn.request_handlers.limit_requests import LIMIT_VALUES
from oldfriend.turn.request_handlers.measurement_requests import (
    MEASUREMENTS,
    NUMBERS_FIRST,
)
from oldfriend.turn.request_handlers.memory_requests import MEMORY_REQUESTS
from oldfriend.turn.request_handlers.own_data_requests import COMMANDS as OWN_DATA_COMMANDS
from oldfriend.turn.request_handlers.own_data_requests import OWN_DATA_REQUESTS
from oldfriend.turn.request_handlers.personality_requests import NAME as PERSONALITY
from oldfriend.turn.request_handlers.personality_requests import PERSONALITY_REQUESTS
from oldfriend.turn.request_handlers.proactive_requests import COMMANDS as PROACTIVE_COMMANDS
from oldfriend.turn.request_handlers.proactive_requests import PROACTIVE_REQUESTS
from oldfriend.turn.request_handlers.project_requests import COMMANDS as PROJECT_COMMANDS
from oldfriend.turn.request_handlers.project_requests import PROJECT_REQUESTS
from oldfriend.turn.request_handlers.recap_requests import RECAP
from oldfriend.turn.request_handlers.skill_requests import COMMANDS as SKILL_COMMANDS
from oldfriend.turn.request_handlers.skill_requests import SKILL_REQUESTS
from oldfriend.turn.request_handlers.state_requests import (
    COST_COMMANDS,
    LINK_COMMANDS,
    STATE_REQUESTS,
)
from oldfriend.turn.request_handlers.task_requests import COMMANDS as TASK_COMMANDS
from oldfriend.turn.request_handlers.task_requests import TASK_REQUESTS
from oldfriend.turn.request_handlers.zone_requests import ZONE_REQUESTS

DIARY_COMMANDS: Final = frozenset({"/journal", "/diary"})
OWN_WORDS: Final = DIARY_COMMANDS | {"/goal"}
"""Those that hold the person's own words."""
OTHER_COMMANDS: Final = frozenset({"/yes", "/no"})
"""Those that are handled elsewhere."""

COMMANDS: Final[frozenset[str]] = frozenset(
    {
        *(f"/{each}" for each in TASK_COMMANDS),
        *PROACTIVE_COMMANDS,
        *GOAL_COMMANDS,
        *ACTION_COMMANDS,
        *DIARY_COMMANDS,
        "/watch",
        "/watches",
        "/log",
        *(f"/{each}" for each in MEMORY_COMMANDS | OWN_DATA_COMMANDS),
        *(f"/{each}" for each in COST_COMMANDS | LINK_COMMANDS),
        *(f"/{each}" for each in PROJECT_COMMANDS | SKILL_COMMANDS),
        f"/{CHECKLIST_COMMAND}",
        *(f"/{each}" for each in LEARNING_COMMANDS),
        f"/{PERSONALITY}",
        "/status",
        "/tips",
        "/language",
        "/zone",
        f"/{UNDO}",
        "/help",
        "/start",
        "/stop",
        "/retry",
    }
)
"""What a message may begin with to be handled; no channel keeps these to itself."""

OTHER_HANDLERS: Final = (
    FORGET_REQUESTS,
    OWN_DATA_REQUESTS,
    CANCEL_ALL_REQUESTS,
    HINT_REQUESTS,
    PROJECT_REQUESTS,
    SKILL_REQUESTS,
    CHECKLIST_REQUESTS,
    LEARNING_REQUESTS,
    PERSONALITY_REQUESTS,
    DIARY,
    AGENDA,
    GOAL_REQUESTS,
    LIMIT_VALUES,
    NUMBERS_FIRST,
    PROACTIVE_REQUESTS,
    TASK_REQUESTS,
    LANGUAGE_REQUESTS,
    MEASUREMENTS,
)
"""Those that may change something; an action that one of them would do is refused."""
ACTION_REQUESTS: Final = build_action_handler(OTHER_HANDLERS)
REQUEST_HANDLERS: Final[tuple[RequestHandler, ...]] = (
    HELP,
    FORGET_REQUESTS,
    MEMORY_REQUESTS,
    STATE_REQUESTS,
    OWN_DATA_REQUESTS,
    CANCEL_ALL_REQUESTS,
    HINT_REQUESTS,
    PROJECT_REQUESTS,
    SKILL_REQUESTS,
    CHECKLIST_REQUESTS,
    LEARNING_REQUESTS,
    PERSONALITY_REQUESTS,
    DIARY,
    RECAP,
    AGENDA,
    PROACTIVE_REQUESTS,
    GOAL_REQUESTS,
    ACTION_REQUESTS,
    LIMIT_VALUES,
    NUMBERS_FIRST,
    TASK_REQUESTS,
    LANGUAGE_REQUESTS,
    ZONE_REQUESTS,
    MEASUREMENTS,
    CALCULATOR,
    CLOCK,
    LIKELY_CANCEL_REQUESTS,
    FORGET_IN_WORDS,
    build_unknown_command_handler(COMMANDS | OTHER_COMMANDS),
)
"""All handlers; each reads what the ones before have left."""
ACTING_HANDLERS: Final = (
    GOAL_REQUESTS,
    ACTION_REQUESTS,
    TASK_REQUESTS,
    PROACTIVE_REQUESTS,
    LANGUAGE_REQUESTS,
)
"""Those that act on more than one record; an action at its time is not left to them."""


def is_command(text: str) -> bool:
    """Tell whether a message only tells the companion what to do, and holds nothing to remember."""
    command = read_command(text)
    if command is None:
        return False
    if command.text == "/goal" and GOAL_COMMAND.fullmatch(translate_command(text)) is None:
        return True  # too long for one, and refused
    if command.text in OWN_WORDS:
        return False
    return command.text in COMMANDS or not command.words
