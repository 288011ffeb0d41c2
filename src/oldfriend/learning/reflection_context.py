"""Reflection context: the beliefs shown to a reflection, under aliases and within a token budget.

Includes only beliefs that rest on words people said here, not on anything merely read somewhere.
Earlier thoughts are shown so that they are not repeated, and cannot be cited.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Final

import numpy as np

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import Person, estimate_tokens
from oldfriend.learning.belief_nearness import build_nearness_measure
from oldfriend.learning.reflection_output import build_ideas_schema
from oldfriend.llm.model import CompletionRequest, PromptTurn, Purpose
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.people import get_companion, get_person_by_id
from oldfriend.memory.vectors import BeliefVectors, load_belief_vectors
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.search.types import multiply
from oldfriend.turn.prompt_labels import format_iso_day, format_timestamp, sanitize

MAX_EVENTS: Final = 24
MAX_OTHERS: Final = 30
MAX_THOUGHTS: Final = 12
SHOCK_IMPACT: Final = 8
"""Emotional impact from which an event counts as a shock."""
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
class ReflectionContext:
    """Reflection context: what a reflection is shown, the most significant first."""

    person: Person
    companion: str
    now: Micros
    since: Micros  # what was learned after this time is new
    language: str  # the language of most of it
    events: tuple[MemoryState, ...]  # e1, e2 …
    others: tuple[MemoryState, ...]  # k1, k2 …
    thoughts: tuple[MemoryState, ...]  # without aliases
    names: tuple[str, ...]  # all known names of entities

    @property
    def citable(self) -> Mapping[str, MemoryState]:
        """The beliefs that the aliases stand for."""
        events = {f"e{n}": each for n, each in enumerate(self.events, 1)}
        return events | {f"k{n}": each for n, each in enumerate(self.others, 1)}

    @property
    def shown(self) -> tuple[MemoryId, ...]:
        """The ids of everything that the model is shown."""
        return tuple(each.memory.id for each in (*self.events, *self.others, *self.thoughts))

    @property
    def shock(self) -> MemoryState | None:
        """The first new event with a very strong impact, if any."""
        return next((e for e in self.events if is_shock(e) and self.is_new(e)), None)

    @property
    def has_news(self) -> bool:
        """Whether anything shown was learned since."""
        return any(map(self.is_new, (*self.events, *self.others)))

    def is_new(self, known: MemoryState) -> bool:
        """Return whether a belief was learned since."""
        return known.memory.learned_at > self.since

    def is_correction(self, known: MemoryState) -> bool:
        """Return whether a belief is new and corrects an earlier one."""
        return self.is_new(known) and "correction" in known.memory.relational


def is_shock(known: MemoryState) -> bool:
    """Return whether a belief is an event with a very strong impact."""
    return known.memory.kind == "event" and abs(known.memory.impact) >= SHOCK_IMPACT


async def load_reflection_context(
    tx: Transaction, person: PersonId, *, since: Micros, now: Micros, embedder: str
) -> ReflectionContext:
    """Load what there is to reflect on, as it is believed now.

    Of what is so, what is new comes first, and then what is nearest to the events.
    """
    person_record = await get_person_by_id(tx, person)
    companion = await get_companion(tx)
    known = [each for each in await list_memories(tx, person) if is_first_hand(each)]
    events = [each for each in known if each.memory.kind == "event"]
    others = [each for each in known if KINDS_BY_NAME[each.memory.kind].is_reflected_on]
    thoughts = [each for each in known if each.memory.kind == "thought"]

    def telling(each: MemoryState) -> tuple[bool, int, Micros]:
        memory = each.memory
        return memory.learned_at > since, abs(memory.impact), memory.learned_at

    events = sorted(events, key=telling, reverse=True)[:MAX_EVENTS]
    new_events = [each for each in events if each.memory.learned_at > since] or events
    vectors = await load_belief_vectors(tx, person, embedder)
    others = select_nearest_to_events(others, new_events, vectors, since=since)
    entities = [each for each in await list_entities(tx, person) if each.ended_at is None]
    return ReflectionContext(
        names=tuple(name for each in entities for name in (each.name, *each.aliases)),
        person=person_record,
        companion=companion.name,
        now=now,
        since=since,
        language=get_majority_language(events or others, person_record),
        events=tuple(events),
        others=tuple(others),
        thoughts=tuple(
            sorted(thoughts, key=lambda each: each.memory.learned_at, reverse=True)[:MAX_THOUGHTS]
        ),
    )


def select_nearest_to_events(
    others: Sequence[MemoryState],
    events: Sequence[MemoryState],
    vectors: BeliefVectors,
    *,
    since: Micros,
) -> list[MemoryState]:
    """Return what is new, and then what is nearest to some events; equals by strength."""
    get_nearness = build_nearness_measure(
        others, [each.memory.text for each in events], compute_cosines(others, events, vectors)
    )

    def get_sort_key(each: MemoryState) -> tuple[bool, float, float, Micros]:
        is_new = each.memory.learned_at > since
        return is_new, get_nearness(each), each.stats.strength, each.stats.last_seen

    return nlargest(MAX_OTHERS, others, key=get_sort_key)


def compute_cosines(
    others: Sequence[MemoryState], events: Sequence[MemoryState], vectors: BeliefVectors
) -> dict[str, float]:
    """Return the greatest cosine of each belief's text with an event, as far as both have one."""
    rows = [vectors[each.memory.id] for each in events if each.memory.id in vectors]
    known = [each.memory for each in others if each.memory.id in vectors]
    if not rows or not known:
        return {}
    cosines = multiply(np.stack([vectors[each.id] for each in known]), np.stack(rows).T)
    texts = (each.text for each in known)
    return dict(zip(texts, cosines.max(axis=1).tolist(), strict=True))


def is_first_hand(known: MemoryState) -> bool:
    """Return whether a belief rests on words of people here and is not tentative."""
    return known.memory.trust != "outside" and known.memory.status != "tentative"


def get_majority_language(known: Sequence[MemoryState], person: Person) -> str:
    """Return the language of most beliefs; the person's language if there are none."""
    counts = Counter(each.memory.language for each in known)
    return counts.most_common(1)[0][0] if counts else person.language or "en"


def trim_to_budget(
    reflection: ReflectionContext, prompt: Prompt, *, most_tokens: int
) -> ReflectionContext:
    """Drop the least significant beliefs until the rendered context fits into ``most_tokens``."""
    while estimate_tokens(render_context(reflection, prompt)) > most_tokens:
        longest = max((reflection.thoughts, reflection.others, reflection.events), key=len)
        if len(longest) <= 1:
            return reflection
        if longest is reflection.thoughts:
            reflection = replace(reflection, thoughts=longest[:-1])
        elif longest is reflection.others:
            reflection = replace(reflection, others=longest[:-1])
        else:
            reflection = replace(reflection, events=longest[:-1])
    return reflection


def render_scene(reflection: ReflectionContext, prompt: Prompt) -> str:
    """Render whose life it is, what day it is, and in which language to think."""
    zone, now = reflection.person.zone, reflection.now
    return prompt.render(
        "scene",
        person=sanitize(reflection.person.name),
        companion=sanitize(reflection.companion),
        weekday=WEEKDAYS[from_micros(now, zone).weekday()],
        when=format_timestamp(now, zone),
        language=reflection.language,
    )


def render_context(reflection: ReflectionContext, prompt: Prompt) -> str:
    """Render everything that a reflection is shown."""
    parts: list[tuple[str, list[str]]] = [
        ("events_title", list(format_beliefs(reflection.events, "e", reflection, prompt))),
        ("known_title", list(format_beliefs(reflection.others, "k", reflection, prompt))),
        ("thoughts_title", [format_thought(each, prompt) for each in reflection.thoughts]),
    ]
    return "\n\n".join("\n".join([prompt.render(title), *lines]) for title, lines in parts if lines)


def format_beliefs(
    known: Iterable[MemoryState], prefix: str, reflection: ReflectionContext, prompt: Prompt
) -> Iterator[str]:
    """Yield beliefs with their aliases, one per line."""
    zone = reflection.person.zone
    for number, each in enumerate(known, 1):
        memory = each.memory
        at = memory.happened_at if memory.due_at is None else memory.due_at
        yield prompt.render(
            "event" if memory.kind == "event" else "known",
            **{
                "id": f"{prefix}{number}",
                "kind": memory.pattern or memory.kind,
                "when": format_iso_day(each.stats.last_seen, zone)
                if at is None
                else format_iso_day(at, get_told_zone(memory, zone), memory.grain),
                "felt": f"{memory.impact:+d}" if memory.impact else "0",
                "new": "yes" if reflection.is_new(each) else "no",
                "class": memory.trust,
                "text": sanitize(memory.text),
            },
        )


def format_thought(known: MemoryState, prompt: Prompt) -> str:
    """Render an earlier thought."""
    return prompt.render("thought", about=known.memory.subject, text=sanitize(known.memory.text))


def build_reflection_request(
    reflection: ReflectionContext,
    prompt: str,
    *,
    purpose: Purpose,
    wanted: Sequence[str],
    max_output_tokens: int,
) -> CompletionRequest:
    """Build the request for a reflection."""
    template = get_prompt(prompt)
    return CompletionRequest(
        purpose=purpose,
        prompt=template.id,
        system_prompt=template.render("system_prompt"),
        call_instructions=render_scene(reflection, template),
        turns=(
            PromptTurn(
                role="instruction",
                text=template.render("ask", life=render_context(reflection, template)),
            ),
        ),
        output=build_ideas_schema(wanted),
        max_output_tokens=max_output_tokens,
        shown=reflection.shown,
    )
