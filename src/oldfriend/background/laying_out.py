"""How is a stretch of talk laid before a model? Labelled, under small names instead of ids.

All words of people stand inside labels that they cannot close. Knows nothing of what is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.background.extraction import Material
from oldfriend.domain.clock import from_micros
from oldfriend.domain.memories import Entity, Known, Memory
from oldfriend.domain.messages import Message
from oldfriend.domain.trust import TrustClass
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.context import source_of
from oldfriend.turn.labelling import inert, moment
from oldfriend.turn.quoting import excerpt

LONGEST_MESSAGE: Final[Mapping[TrustClass, int]] = {
    "person": 40_000, "tool": 4_000, "other": 4_000, "outside": 2_000, "companion": 1_500,
}  # fmt: skip
"""Characters of one message that are read; the beginning, where one is longer."""

LONGEST_CONTEXT: Final = 400
"""Characters of a message that only helps to understand."""

WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Aliases:
    """What the small names in a prompt stand for."""

    messages: Mapping[str, Message]
    known: Mapping[str, Memory]
    entities: Mapping[str, Entity]


def aliases_of(material: Material) -> Aliases:
    """m1, m2 … for messages, k1 … for what is known, e1 … for whom."""
    return Aliases(
        messages={f"m{n}": message for n, message in enumerate(material.messages, 1)},
        known={f"k{n}": known.memory for n, known in enumerate(material.known, 1)},
        entities={f"e{n}": entity for n, entity in enumerate(material.entities, 1)},
    )


def scene_of(material: Material, prompt: Prompt, language: str) -> str:
    """Who talks, when and where it began, in which language."""
    first = material.messages[0]
    return prompt.render(
        "scene",
        person=inert(material.person.name),
        companion=inert(material.companion),
        weekday=WEEKDAYS[from_micros(first.at, first.zone).weekday()],
        when=moment(first.at, first.zone),
        zone=inert(first.zone),
        language=language,
    )


def talk_of(material: Material, prompt: Prompt) -> str:
    """All that is to be read, and what is known that bears on it."""
    parts: list[tuple[str, Sequence[str]]] = [
        ("context_title", [context_label(prompt, message) for message in material.before]),
        ("known_title", list(known_labels(prompt, material.known, material.messages[0].zone))),
        ("entities_title", list(entity_labels(prompt, material.entities))),
        ("messages_title", list(message_labels(prompt, material.messages))),
    ]
    return "\n\n".join("\n".join([prompt.render(title), *lines]) for title, lines in parts if lines)


def context_label(prompt: Prompt, message: Message) -> str:
    """Words that were said just before."""
    text = excerpt(message.text, (), longest=LONGEST_CONTEXT)
    return prompt.render(
        "context",
        **{
            "when": moment(message.at, message.zone), "who": inert(source_of(message)),
            "class": message.trust, "text": inert(text),
        },
    )  # fmt: skip


def message_labels(prompt: Prompt, messages: Sequence[Message]) -> Iterator[str]:
    """The messages that are to be read, with who said them and when by their own clocks."""
    for number, message in enumerate(messages, 1):
        text = excerpt(message.text, (), longest=LONGEST_MESSAGE[message.trust])
        yield prompt.render(
            "message",
            **{
                "id": f"m{number}", "when": moment(message.at, message.zone),
                "who": inert(source_of(message)), "class": message.trust, "text": inert(text),
            },
        )  # fmt: skip


def known_labels(prompt: Prompt, known: Sequence[Known], zone: str) -> Iterator[str]:
    """What is believed already; when it is due by the clocks of the talk."""
    for number, each in enumerate(known, 1):
        memory = each.memory
        yield prompt.render(
            "known",
            id=f"k{number}",
            kind=memory.kind,
            status=memory.status,
            key=inert(memory.key),
            due="" if memory.due_at is None else moment(memory.due_at, zone),
            text=inert(memory.text),
        )


def entity_labels(prompt: Prompt, entities: Sequence[Entity]) -> Iterator[str]:
    """Whom and what is known by name."""
    for number, entity in enumerate(entities, 1):
        yield prompt.render(
            "entity",
            id=f"e{number}",
            kind=entity.kind,
            status=entity.status,
            name=inert(entity.name),
            aliases=inert(", ".join(entity.aliases)),
            text=inert(entity.description),
        )
