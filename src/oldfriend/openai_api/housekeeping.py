"""Housekeeping: requests that a front end makes about a conversation, not for the person.

A title, tags or follow-up questions are asked for in a message that holds the conversation itself.
Nobody said that, so it is neither remembered nor answered from memory. It is recognized by what it
holds, in any language: a transcript that is marked as one, or the last words of both sides.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.openai_api.chat_request import ChatRequest
from oldfriend.openai_api.prompt_templates import has_heading
from oldfriend.openai_api.resent_history import flatten

TRANSCRIPT_TAGS: Final = ("chat_history", "conversation", "transcript")
"""Tags around a transcript in the prompts of Open WebUI and others."""
SPEAKERS: Final = ("user:", "assistant:")
"""What a line of such a transcript begins with."""
MIN_QUOTED_CHARS: Final = 12
"""Of a reply; a shorter one may be repeated by chance."""
MAX_QUOTED_CHARS: Final = 200
"""Of each side, compared from the start: a front end may cut the rest."""
QUOTED_WINDOW: Final = 12
"""How many of the chat's last messages may be quoted."""


def is_housekeeping(chat_request: ChatRequest, recent: Sequence[Message]) -> bool:
    """Tell whether a request is about the conversation; ``recent`` are the chat's last messages."""
    said = [each for each in chat_request.messages if each.role != "system"]
    if not said:
        return True
    if chat_request.tools or len(said) > 1:
        return False
    text = said[-1].text
    if is_task_template(text):
        return True
    return quotes_both_sides(flatten(text), recent[-QUOTED_WINDOW:])


def is_task_template(text: str) -> bool:
    """Tell whether a text is a task in sections about a marked transcript.

    Whoever pastes a transcript and says something about it writes no such sections.
    """
    for tag in TRANSCRIPT_TAGS:
        before, _, rest = text.partition(f"<{tag}>")
        transcript, end, _ = rest.partition(f"</{tag}>")
        lines = [each.strip().lower() for each in transcript.splitlines()]
        has_speakers = any(each.startswith(SPEAKERS) for each in lines)
        if end and has_speakers and has_heading(before):
            return True
    return False


def quotes_both_sides(text: str, recent: Sequence[Message]) -> bool:
    """Tell whether a text holds a reply of ours after the words that it answers."""
    for reply in recent:
        words = flatten(reply.text)[:MAX_QUOTED_CHARS]
        place = text.find(words)
        if reply.role != "companion" or len(words) < MIN_QUOTED_CHARS or place < 0:
            continue
        asked = (each for each in recent if each.turn == reply.turn and each.role == "person")
        if any(flatten(each.text)[:MAX_QUOTED_CHARS] in text[:place] for each in asked):
            return True
    return False
