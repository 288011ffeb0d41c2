"""Entity descriptions: a model describes who or what an entity is, from three events on.

Never changes a description that the person has written. Scheduling is elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import Person
from oldfriend.learning.extraction_schema import TEXT, array_schema, object_schema
from oldfriend.learning.field_parsers import parse_object, parse_text, parse_texts
from oldfriend.learning.reflection_runner import (
    ReflectionDeps,
    ReflectionRun,
    ReflectionTask,
    list_causes,
    run_task,
    write_run,
)
from oldfriend.learning.validation.safety import has_prompt_injection, has_secret
from oldfriend.learning.validation.thought_grounding import is_grounded
from oldfriend.learning.validation.tone import check_tone
from oldfriend.learning.validation.tone_of_judgment import check_description_judgement
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.memory.derived_evidence import (
    DescriptionCandidate,
    list_description_candidates,
    save_description,
)
from oldfriend.memory.journal import get_latest_seq
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.reflection_log import TRANSCRIPT_TTL, ReflectionRecord, list_reflections
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.prompt_labels import format_iso_day, sanitize

PROMPT: Final = "describe/2"
BATCH_SIZE: Final = 3
"""Entities described per run."""
MAX_EVENTS: Final = 12
MIN_CITATIONS: Final = 2
MAX_LENGTH: Final = 400
MAX_TOKENS: Final = 300
MAX_INPUT_TOKENS: Final = 5_000
MAX_OUTPUT_TOKENS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionDraft:
    """Draft description: what a model says of an entity, before it is believed."""

    text: str
    cites: tuple[str, ...]


async def describe_entities(deps: ReflectionDeps, person: PersonId) -> list[ReflectionRecord]:
    """Describe the entities with enough new events; returns the records of the runs.

    Raises BrokenOutput, and what the model raises.
    """
    async with deps.db.begin_read() as tx:
        person_record = await get_person_by_id(tx, person)
        last_shown = await load_last_shown(tx, person, since=deps.clock() - TRANSCRIPT_TTL)
        candidates = [
            each
            for each in await list_description_candidates(tx, person)
            if has_new_events(each, last_shown)
        ]
    candidates = candidates[:BATCH_SIZE]
    return [await describe_entity(deps, person_record, each) for each in candidates]


async def load_last_shown(
    tx: Transaction, person: PersonId, *, since: Micros
) -> Mapping[str, frozenset[str]]:
    """Return what the model was shown when each entity was last described, whatever the outcome."""
    records = await list_reflections(tx, person, since=since)
    described = [each for each in reversed(records) if each.kind == "description"]
    return {about: frozenset(each.shown) for each in described for about in each.shown[:1]}


def has_new_events(
    candidate: DescriptionCandidate, last_shown: Mapping[str, frozenset[str]]
) -> bool:
    """Return whether an event is newer than all shown last time, lest it ask forever."""
    shown = last_shown.get(candidate.entity.id, frozenset())
    times = [each.memory.learned_at for each in candidate.events if each.memory.id in shown]
    return not times or candidate.events[0].memory.learned_at > max(times)


async def describe_entity(
    deps: ReflectionDeps, person: Person, candidate: DescriptionCandidate
) -> ReflectionRecord:
    """Describe one entity. Raises BrokenOutput, and what the model raises."""
    events = candidate.events[:MAX_EVENTS]
    request = build_description_request(person, candidate, events)
    task = ReflectionTask(
        kind="description",
        why="events",
        person=person.id,
        request=request,
        shown_lines=format_events(person, events),
        max_input_tokens=MAX_INPUT_TOKENS,
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
    draft, run = await run_task(deps, task, parse_description)
    rejection = check_description(
        draft, events, (person.name, candidate.entity.name, *candidate.entity.aliases)
    )
    return await write_description(deps, run, candidate, draft, events, rejection=rejection)


async def write_description(
    deps: ReflectionDeps,
    run: ReflectionRun,
    candidate: DescriptionCandidate,
    draft: DescriptionDraft,
    events: tuple[MemoryState, ...],
    *,
    rejection: str | None,
) -> ReflectionRecord:
    """Save an accepted description, and record the run."""
    now, person = deps.clock(), run.task.person
    async with deps.db.begin_write() as tx:
        await lock_person(tx, person)
        cited = [events[int(each[1:]) - 1] for each in draft.cites] if rejection is None else []
        if rejection is None and not await is_still_current(tx, candidate, cited):
            rejection = "no longer believed"
        if rejection is None:
            await save_description(
                tx,
                candidate.entity,
                draft.text,
                base=candidate.base,
                author=run.author,
                now=now,
                causes=await list_causes(tx, person, [each.memory.id for each in cited]),
            )
        outcome: dict[str, JsonValue] = {"rejected": {} if rejection is None else {rejection: 1}}
        outcome["learned"] = {"description": 1} if rejection is None else {}
        return await write_run(tx, run, outcome, now=now)


async def is_still_current(
    tx: Transaction, candidate: DescriptionCandidate, cited: Sequence[MemoryState]
) -> bool:
    """Return whether neither the entity nor the cited events have changed meanwhile."""
    entity = candidate.entity
    if await get_latest_seq(tx, entity.person, entity.id) != candidate.base:
        return False
    bases = [await get_latest_seq(tx, entity.person, each.memory.id) for each in cited]
    return bases == [each.base_seq for each in cited]


def build_description_request(
    person: Person, candidate: DescriptionCandidate, events: tuple[MemoryState, ...]
) -> CompletionRequest:
    """Build the request for a description."""
    prompt, entity = get_prompt(PROMPT), candidate.entity
    language, event_lines = events[0].memory.language, "\n".join(format_events(person, events))
    return CompletionRequest(
        purpose="describe",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        call_instructions=prompt.render(
            "scene",
            person=sanitize(person.name),
            language=language,
            name=sanitize(entity.name),
            kind=entity.kind,
        ),
        turns=(PromptTurn(role="instruction", text=prompt.render("ask", events=event_lines)),),
        output=object_schema(
            {"text": TEXT, "cites": array_schema(TEXT)}, required=["text", "cites"]
        ),
        max_output_tokens=MAX_TOKENS,
        shown=(entity.id, *(each.memory.id for each in events)),
    )


def format_events(person: Person, events: tuple[MemoryState, ...]) -> tuple[str, ...]:
    """Render each event as one line."""
    prompt = get_prompt(PROMPT)
    return tuple(
        prompt.render(
            "event",
            id=f"e{number}",
            text=sanitize(each.memory.text),
            when=format_iso_day(
                each.memory.happened_at or each.stats.last_seen,
                get_told_zone(each.memory, person.zone),
                each.memory.grain if each.memory.happened_at is not None else "",
            ),
        )
        for number, each in enumerate(events, 1)
    )


def parse_description(answer: JsonValue) -> DescriptionDraft:
    """Parse a model's answer. Raises ValueError, with a message for the model."""
    fields = parse_object(answer, "the answer")
    return DescriptionDraft(text=parse_text(fields, "text"), cites=parse_texts(fields, "cites"))


def check_description(
    draft: DescriptionDraft, events: tuple[MemoryState, ...], known_names: tuple[str, ...]
) -> str | None:
    """Return why a description is rejected, or None; the entity's names count as grounded."""
    aliases = {f"e{number}" for number in range(1, len(events) + 1)}
    if not draft.text:
        return "too short"
    if not aliases.issuperset(draft.cites):
        return "unknown citation"
    if len(draft.cites) < MIN_CITATIONS:
        return "no citation"
    if len(draft.text) > MAX_LENGTH:
        return "too long"
    if has_secret(draft.text) or has_prompt_injection(draft.text):
        return "order"
    language = events[0].memory.language
    sources = [*known_names, *(each.memory.text for each in events)]
    return (
        check_tone(draft.text, language=language)
        or check_description_judgement(draft.text, language=language)
        or (None if is_grounded(draft.text, sources, language=language) else "not told")
    )
