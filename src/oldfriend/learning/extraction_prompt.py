"""Extraction prompt: renders a segment with labels, and with short aliases instead of ids.

Everything people wrote stands inside labels that it cannot close. Knows nothing of the
instructions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.domain.memories import Entity, MemoryState, StoredBelief
from oldfriend.domain.messages import Message, TrustClass
from oldfriend.learning.extraction import ExtractionInput
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.prompt_labels import (
    format_due_time,
    format_speaker,
    format_timestamp,
    sanitize,
    sanitize_attribute,
)
from oldfriend.turn.quotes import extract_excerpt

MAX_MESSAGE_LENGTH: Final[Mapping[TrustClass, int]] = {
    "person": 40_000,
    "tool": 4_000,
    "other": 4_000,
    "outside": 2_000,
    "companion": 1_500,
}
"""Characters read of one message; the beginning, if it is longer."""
MAX_READ_LENGTH: Final = max(MAX_MESSAGE_LENGTH.values())

MAX_CONTEXT_LENGTH: Final = 400
"""Characters of a message that only gives context."""

WEEKDAYS: Final = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptAliases:
    """Prompt aliases: the objects that the short names in a prompt stand for."""

    messages: Mapping[str, Message]
    known: Mapping[str, StoredBelief]
    entities: Mapping[str, Entity]


def assign_aliases(inputs: ExtractionInput) -> PromptAliases:
    """Assign m1, m2 … to messages, k1 … to known memories, e1 … to entities."""
    return PromptAliases(
        messages={f"m{n}": message for n, message in enumerate(inputs.messages, 1)},
        known={f"k{n}": known.memory for n, known in enumerate(inputs.shown, 1)},
        entities={f"e{n}": entity for n, entity in enumerate(inputs.entities, 1)},
    )


def render_scene(inputs: ExtractionInput, prompt: Prompt, language: str) -> str:
    """Render who talks, where and when the segment began, and in which language."""
    first = inputs.messages[0]
    return prompt.render(
        "scene",
        person=sanitize(inputs.person.name),
        companion=sanitize(inputs.companion),
        weekday=WEEKDAYS[from_micros(first.at, first.zone).weekday()],
        when=format_timestamp(first.at, first.zone),
        zone=sanitize(first.zone),
        language=language,
    )


def render_segment(inputs: ExtractionInput, prompt: Prompt) -> str:
    """Render the messages to read, and what is known that is relevant to them."""
    parts: list[tuple[str, Sequence[str]]] = [
        (
            "context_title",
            [format_context_message(prompt, message) for message in inputs.context_messages],
        ),
        ("known_title", list(format_known(prompt, inputs.shown, inputs.messages[0].zone))),
        ("entities_title", list(format_entities(prompt, inputs.entities))),
        ("messages_title", list(format_messages(prompt, inputs.messages))),
    ]
    return "\n\n".join("\n".join([prompt.render(title), *lines]) for title, lines in parts if lines)


def format_context_message(prompt: Prompt, message: Message) -> str:
    """Render a message from just before the segment."""
    text = extract_excerpt(message.text, (), max_chars=MAX_CONTEXT_LENGTH)
    return prompt.render(
        "context",
        **{
            "when": format_timestamp(message.at, message.zone),
            "who": sanitize_attribute(format_speaker(message)),
            "class": message.trust,
            "text": sanitize(text),
        },
    )


def format_messages(prompt: Prompt, messages: Sequence[Message]) -> Iterator[str]:
    """Yield the rendered messages to read, with their speakers and local times."""
    for number, message in enumerate(messages, 1):
        text = extract_excerpt(message.text, (), max_chars=MAX_MESSAGE_LENGTH[message.trust])
        yield prompt.render(
            "message",
            **{
                "id": f"m{number}",
                "when": format_timestamp(message.at, message.zone),
                "who": sanitize_attribute(format_speaker(message)),
                "class": message.trust,
                "text": sanitize(text),
            },
        )


def format_known(prompt: Prompt, known: Sequence[MemoryState], zone: str) -> Iterator[str]:
    """Yield the rendered known beliefs; due times are in the zone of the segment."""
    for number, each in enumerate(known, 1):
        memory = each.memory
        marks = {
            "status": "" if memory.status == "active" else memory.status,
            "key": sanitize_attribute(memory.key),
            "due": format_due_time(memory, zone),
        }
        rendered = [
            prompt.render("mark", name=name, value=value) for name, value in marks.items() if value
        ]
        yield prompt.render(
            "known",
            id=f"k{number}",
            kind=memory.kind,
            marks="".join(f" {mark}" for mark in rendered),
            text=sanitize(memory.text),
        )


def format_entities(prompt: Prompt, entities: Sequence[Entity]) -> Iterator[str]:
    """Yield the rendered known entities."""
    for number, entity in enumerate(entities, 1):
        yield prompt.render(
            "entity",
            id=f"e{number}",
            kind=entity.kind,
            status=entity.status,
            name=sanitize_attribute(entity.name),
            aliases=sanitize_attribute(", ".join(entity.aliases)),
            text=sanitize(entity.description),
        )
