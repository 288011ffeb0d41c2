"""Message worth: whether a message holds anything to find again, or to learn from."""

from oldfriend.measurements.lexicon import list_lexicons
from oldfriend.measurements.measurement_corrections import is_bare_number
from oldfriend.turn.intent import Perception
from oldfriend.turn.request_handlers.registry import is_command


def is_worth_finding(text: str, perception: Perception) -> bool:
    """Tell whether a text is more than a question, a command or a bare number.

    What a bare number is of stands in the numbers that are kept.
    """
    if is_command(text) or perception.is_only_question:
        return False
    return not is_bare_number(text, list_lexicons(perception.language)[0])
