"""Message bodies: the forms in which texts, buttons, audio and templates are sent to WhatsApp."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from oldfriend.channels.splitting import count_utf16_units
from oldfriend.channels.whatsapp.rendering import MAX_TEXT_UNITS, render_plain
from oldfriend.domain.buttons import Button
from oldfriend.domain.json import JsonValue

Body: TypeAlias = Mapping[str, JsonValue]

MAX_BUTTONS: Final = 3
MAX_BUTTON_UNITS: Final = 20
MAX_BUTTON_TEXT_UNITS: Final = 1_024
"""The longest text above buttons; above a list it may be longer."""
MAX_ROWS: Final = 10
MAX_ROW_UNITS: Final = 24
MAX_DESCRIPTION_UNITS: Final = 72
LIST_SIGN: Final = "\u2630"
"""What is pressed to open a list."""
ELLIPSIS: Final = "\u2026"


def build_text(text: str, buttons: Sequence[Button] = ()) -> Body:
    """Return a text with its buttons: as buttons, as a list, or in words, whatever they fit in."""
    units, labels = count_utf16_units(text), [each.label for each in buttons]
    is_distinct = bool(labels) and all(labels) and len(set(labels)) == len(labels)
    longest = max(map(count_utf16_units, labels), default=0)
    are_short = longest <= MAX_BUTTON_UNITS and units <= MAX_BUTTON_TEXT_UNITS
    if is_distinct and are_short and len(buttons) <= MAX_BUTTONS:
        return build_buttons(text, buttons)
    if is_distinct and longest <= MAX_DESCRIPTION_UNITS and len(buttons) <= MAX_ROWS:
        return build_list(text, buttons)
    words = "\n".join(f"{each.label}: {each.command}" for each in buttons)
    told = f"{text}\n\n{render_plain(words).text}" if words else text
    body = told if count_utf16_units(told) <= MAX_TEXT_UNITS else text
    return {"type": "text", "text": {"body": body, "preview_url": False}}


def build_buttons(text: str, buttons: Sequence[Button]) -> Body:
    """Return a text with buttons below it."""
    replies: list[JsonValue] = [
        {"type": "reply", "reply": {"id": each.command, "title": each.label}} for each in buttons
    ]
    return {
        "type": "interactive",
        "interactive": {
            "type": "button",
            "body": {"text": text},
            "action": {"buttons": replies},
        },
    }


def build_list(text: str, buttons: Sequence[Button]) -> Body:
    """Return a text with a list below it, from which one of the buttons is chosen."""
    rows: list[JsonValue] = [build_row(each) for each in buttons]
    return {
        "type": "interactive",
        "interactive": {
            "type": "list",
            "body": {"text": text},
            "action": {"button": LIST_SIGN, "sections": [{"rows": rows}]},
        },
    }


def build_row(button: Button) -> dict[str, JsonValue]:
    """Return a row of a list; what is too long for a title is its description."""
    if count_utf16_units(button.label) <= MAX_ROW_UNITS:
        return {"id": button.command, "title": button.label}
    title = button.label[: MAX_ROW_UNITS // 2 - 1].rstrip() + ELLIPSIS
    return {"id": button.command, "title": title, "description": button.label}


def build_audio(media_id: str, *, is_voice: bool) -> Body:
    """Return uploaded audio, as a voice note if it can be one."""
    return {"type": "audio", "audio": {"id": media_id, "voice": is_voice}}


def build_template(name: str, language: str) -> Body:
    """Return a template that Meta has approved, without parameters."""
    return {"type": "template", "template": {"name": name, "language": {"code": language}}}
