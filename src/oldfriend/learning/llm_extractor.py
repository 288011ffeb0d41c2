"""LLM extractor: reads claims from a segment with one model call, or two for weak models.

Its output is not believed yet; ``validate`` checks it. Uses no database.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeVar, get_args

from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import OutputTruncated
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    EntityKind,
    EvidenceSignal,
    MemoryKind,
    Mood,
    MoodSignal,
    PatternKind,
    RelationalTag,
    StoredBelief,
    Subject,
)
from oldfriend.domain.relations import RELATION_TYPES
from oldfriend.learning.extraction import (
    Claim,
    EntityMention,
    Extraction,
    ExtractionInput,
    Modality,
    ModelEffect,
    Quote,
    RelationClaim,
    SameAsClaim,
)
from oldfriend.learning.extraction_prompt import (
    PromptAliases,
    assign_aliases,
    render_scene,
    render_segment,
)
from oldfriend.learning.extraction_schema import (
    ALL_PARTS,
    CLAIM_LISTS,
    FIRST_PASS,
    SECOND_PASS,
    build_schema,
)
from oldfriend.learning.field_parsers import (
    Fields,
    clean_text,
    parse_choice,
    parse_end,
    parse_fraction,
    parse_grain,
    parse_int,
    parse_list,
    parse_object,
    parse_optional_text,
    parse_optional_texts,
    parse_scalar,
    parse_start,
    parse_text,
    parse_texts,
)
from oldfriend.learning.validation.segment_view import detect_person_language
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.structured_output import complete_structured

T = TypeVar("T")


BEARINGS: Final[tuple[ModelEffect, ...]] = get_args(ModelEffect)
SUBJECTS: Final[tuple[Subject, ...]] = get_args(Subject)
MODALITIES: Final[tuple[Modality, ...]] = get_args(Modality)
SIGNALS: Final[tuple[EvidenceSignal, ...]] = get_args(EvidenceSignal)
PATTERN_KINDS: Final[tuple[PatternKind, ...]] = get_args(PatternKind)
RELATIONAL_TAGS: Final[tuple[RelationalTag, ...]] = get_args(RelationalTag)
ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
PERSON_ALIASES: Final = frozenset({"", "person", "the person"})
"""Words for the person as an end of a relation."""
MAX_AROUSAL: Final = 10
TIME_FIELDS: Final = ("happened_at", "happened_until", "holds_from", "holds_until", "due_at")
MOOD_SIGNALS: Final[tuple[MoodSignal, ...]] = get_args(MoodSignal)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseContext:
    """Parse context: the prompt's aliases, and the time zone of its times."""

    aliases: PromptAliases
    zone: str

    def get_zone(self, quotes: Sequence[Quote]) -> str:
        """Return the time zone in which the first quoted message was said."""
        zones = {each.id: each.zone for each in self.aliases.messages.values()}
        return next((zones[each.message] for each in quotes if each.message in zones), self.zone)


@dataclass(slots=True)
class ParseErrors:
    """Parse errors: the messages about unreadable items."""

    errors: list[str] = field(default_factory=list)

    def parse_items(self, fields: Fields, part: str, parse: Callable[[Fields], T]) -> list[T]:
        """Parse a list, skipping unreadable items. Raises ValueError if it is not a list."""
        found = []
        for item in parse_list(fields, part):
            try:
                found.append(parse(parse_object(item, "each")))
            except ValueError as error:
                self.errors.append(f"in {part}, {error}")
        return found


def parse_extraction(
    answer: JsonValue, parse_context: ParseContext, *, author: str, parts: Sequence[str]
) -> Extraction:
    """Parse the requested parts of an answer. Raises ValueError, with a message for the model."""
    fields = select_parts(answer, parts)
    errors = ParseErrors()
    claims = parse_claims(fields, parse_context, errors)
    mentions = errors.parse_items(fields, "names", lambda item: parse_mention(item, parse_context))
    relations = errors.parse_items(fields, "ties", lambda item: parse_relation(item, parse_context))
    same_as = errors.parse_items(fields, "same", lambda item: parse_same_as(item, parse_context))
    if errors.errors and not (claims or relations or mentions or same_as):
        raise ValueError(f"nothing in it could be read. The first fault: {errors.errors[0]}")
    return Extraction(
        author=author,
        claims=tuple(claims),
        relations=tuple(relations),
        mentions=tuple(mentions),
        same_as_claims=tuple(same_as),
        topics=parse_optional_texts(fields, "topics"),
        summary=parse_optional_text(fields, "summary"),
        mood=parse_mood(fields.get("mood")),
        self_check=parse_self_check(fields),
        malformed=len(errors.errors),
    )


def select_parts(answer: JsonValue, parts: Sequence[str]) -> Fields:
    """Return the requested parts of an answer. Raises ValueError if it has none of them."""
    fields = parse_object(answer, "the answer")
    found = {part: fields[part] for part in parts if part in fields}
    if not found:
        raise ValueError(f"it has none of the keys {', '.join(parts)}.")
    return found


def parse_claims(fields: Fields, parse_context: ParseContext, errors: ParseErrors) -> list[Claim]:
    """Parse the readable claims of all lists."""
    claims: list[Claim] = []
    for part, kind in CLAIM_LISTS.items():

        def read(item: Fields, kind: MemoryKind = kind) -> Claim:
            return parse_claim(item, kind, parse_context)

        claims += errors.parse_items(fields, part, read)
    return claims


def parse_claim(item: Fields, kind: MemoryKind, parse_context: ParseContext) -> Claim:
    """Parse one claim. Raises ValueError if a field is invalid.

    A claim that repeats a known memory may leave fields out: they are filled in from that memory.
    """
    effect = parse_choice(item, "bearing", BEARINGS, "new")
    alias = parse_text(item, "target")
    target = parse_context.aliases.known.get(alias)
    repeated = target if effect in {"reinforces", "contradicts", "fulfils"} else None
    text = parse_text(item, "text") or (repeated.text if repeated else "")
    if not text:
        raise ValueError("a claim has no text.")
    quotes = parse_quotes(item, parse_context)
    zone = parse_context.get_zone(quotes)
    return Claim(
        kind=kind,
        text=text,
        quotes=quotes,
        effect=effect,
        target=target.id if target else MemoryId(ObjectId(alias)) if alias else None,
        confidence=parse_fraction(item, "confidence", 0.7),
        signal=parse_choice(item, "signal", SIGNALS, "explicit"),
        modality=parse_choice(item, "modality", MODALITIES, "asserted"),
        subject=parse_choice(item, "subject", SUBJECTS, repeated.subject if repeated else "person"),
        key=parse_text(item, "key") or (repeated.key if repeated else ""),
        value=parse_scalar(item, "value") or (repeated.value if repeated else ""),
        pattern=parse_pattern(item, repeated),
        impact=parse_int(item, "impact", 0),
        tags=parse_texts(item, "tags"),
        arousal=parse_arousal(item),
        cues=parse_texts(item, "cues"),
        relational=tuple(tag for tag in RELATIONAL_TAGS if tag in parse_texts(item, "relational")),
        importance=parse_fraction(item, "importance", 0.5),
        happened_at=parse_start(item, "happened_at", zone),
        happened_until=parse_happened_until(item, zone),
        holds_from=parse_start(item, "holds_from", zone),
        holds_until=parse_end(item, "holds_until", zone),
        due_at=parse_end(item, "due_at", zone),
        grain=parse_grain(item, TIME_FIELDS, zone),
        names=tuple(resolve_name_alias(name, parse_context) for name in parse_texts(item, "names")),
    )


def parse_happened_until(item: Fields, zone: str) -> Micros | None:
    """Parse the end of an event; of one in a month or a year, at the latest the end of that."""
    until = parse_end(item, "happened_until", zone)
    is_rough = bool(parse_grain(item, ["happened_at"], zone))
    return parse_end(item, "happened_at", zone) if until is None and is_rough else until


def parse_arousal(item: Fields) -> int | None:
    """Parse how strongly something was felt, 0 to 10; None if unreadable."""
    arousal = item.get("arousal")
    return arousal if type(arousal) is int and 0 <= arousal <= MAX_AROUSAL else None


def parse_pattern(item: Fields, target: StoredBelief | None) -> PatternKind | None:
    """Parse the kind of a pattern; None if missing."""
    if not parse_text(item, "pattern"):
        return target.pattern if target else None
    return parse_choice(item, "pattern", PATTERN_KINDS, PATTERN_KINDS[0])


def parse_relation(item: Fields, parse_context: ParseContext) -> RelationClaim:
    """Parse a relation. Raises ValueError. Known entities are returned by id."""
    first, second, text = (parse_text(item, name) for name in ("first", "second", "text"))
    relation_type = next((each for each in RELATION_TYPES if each == parse_text(item, "tie")), None)
    if relation_type is None:
        raise ValueError(f'"tie" must be one of {", ".join(RELATION_TYPES)}.')
    if not second or not text:
        raise ValueError('a tie needs "first", "second" and "text".')
    is_of_person = first.casefold() in PERSON_ALIASES
    quotes = parse_quotes(item, parse_context)
    zone = parse_context.get_zone(quotes)
    claim = Claim(
        kind="triple",
        text=text,
        quotes=quotes,
        key=relation_type,
        subject="person" if is_of_person else "other",
        confidence=parse_fraction(item, "confidence", 0.7),
        signal=parse_choice(item, "signal", SIGNALS, "explicit"),
        modality=parse_choice(item, "modality", MODALITIES, "asserted"),
        holds_from=parse_start(item, "holds_from", zone),
        holds_until=parse_end(item, "holds_until", zone),
        grain=parse_grain(item, TIME_FIELDS, zone),
    )
    return RelationClaim(
        kind=relation_type,
        first="" if is_of_person else resolve_entity_alias(first, parse_context),
        second=""
        if second.casefold() in PERSON_ALIASES
        else resolve_entity_alias(second, parse_context),
        claim=claim,
    )


def resolve_entity_alias(text: str, parse_context: ParseContext) -> str:
    """Return the id of a known entity, because names may be shared; else the text itself."""
    known = parse_context.aliases.entities.get(text)
    return known.id if known else text


def parse_mention(item: Fields, parse_context: ParseContext) -> EntityMention:
    """Parse a named person or thing. Raises ValueError."""
    name = parse_text(item, "name")
    if not name:
        raise ValueError("somebody is named without a name.")
    return EntityMention(
        name=name,
        kind=parse_choice(item, "kind", ENTITY_KINDS, "other"),
        quotes=parse_quotes(item, parse_context),
        aliases=parse_texts(item, "aliases"),
    )


def parse_same_as(item: Fields, parse_context: ParseContext) -> SameAsClaim:
    """Parse whether two names mean one entity; known ones are given by id. Raises ValueError."""
    one, other = (parse_text(item, side) for side in ("one", "other"))
    is_same = item.get("same")
    if not one or not other or not isinstance(is_same, bool):
        raise ValueError('"one" and "other" must name the two, and "same" be true or false.')
    known = parse_context.aliases.entities
    return SameAsClaim(
        one=known[one].id if one in known else one,
        other=known[other].id if other in known else other,
        is_same=is_same,
        quotes=parse_quotes(item, parse_context),
    )


def resolve_name_alias(text: str, parse_context: ParseContext) -> str:
    """Return the name of a known entity for its alias; else the text itself."""
    entity = parse_context.aliases.entities.get(text)
    return entity.name if entity else text


def parse_quotes(item: Fields, parse_context: ParseContext) -> tuple[Quote, ...]:
    """Parse the quotes of an item. Raises ValueError."""
    return tuple(
        parse_quote(parse_object(quote, "a quote"), parse_context)
        for quote in parse_list(item, "quotes")
    )


def parse_quote(quote: Fields, parse_context: ParseContext) -> Quote:
    """Parse one quote and the id of its message. Raises ValueError."""
    alias = parse_text(quote, "message")
    message = parse_context.aliases.messages.get(alias)
    return Quote(
        message=message.id if message else MessageId(alias), text=parse_text(quote, "text")
    )


def parse_mood(value: JsonValue) -> Mood | None:
    """Parse the companion's mood after the segment; None if unreadable (nothing depends on it)."""
    match value:
        case {"phrase": str(phrase), "energy": int(energy), **others} if 0 <= energy <= 10:
            signal = others.get("signal")
            word = next((word for word in MOOD_SIGNALS if word == signal), None)
            return Mood(phrase=clean_text(phrase), energy=int(energy), signal=word)
        case _:
            return None


def parse_self_check(fields: Fields) -> Mapping[str, str]:
    """Parse the model's notes from its self-check; what it leaves out is missing."""
    check = fields.get("self_check")
    notes = check if isinstance(check, dict) else {}
    names = ("missed_peak", "attribution")
    return {name: text for name in names if (text := parse_optional_text(notes, name))}


PROMPT: Final = "extract/9"
"""Prompt of the extraction; named as the author of all that it extracts."""

MAX_TOKENS: Final = 6_000
"""Tokens of an answer: three events, five patterns and a dozen facts with quotes take half."""

PASSES: Final[dict[int, tuple[Sequence[str], ...]]] = {
    1: (ALL_PARTS,),
    2: (FIRST_PASS, SECOND_PASS),
}


async def extract_with_model(
    model: LanguageModel, inputs: ExtractionInput, *, passes: Literal[1, 2] = 1
) -> Extraction:
    """Extract claims with a model, with the quotes as the model gave them.

    An answer that ends at its limit is asked for again in two passes. Raises BrokenOutput if the
    answer is unusable twice, and what the model raises.
    """
    try:
        found = [await extract_parts(model, inputs, wanted) for wanted in PASSES[passes]]
    except OutputTruncated:
        if passes == 2:
            raise
        return await extract_with_model(model, inputs, passes=2)
    return merge_extractions(found)


async def extract_parts(
    model: LanguageModel, inputs: ExtractionInput, parts: Sequence[str]
) -> Extraction:
    """Extract some parts with one model call."""
    prompt = get_prompt(PROMPT)
    context = ParseContext(aliases=assign_aliases(inputs), zone=inputs.messages[0].zone)

    def parse(answer: JsonValue) -> Extraction:
        return parse_extraction(answer, context, author=prompt.id, parts=parts)

    return await complete_structured(model, build_extraction_request(inputs, prompt, parts), parse)


def build_extraction_request(
    inputs: ExtractionInput, prompt: Prompt, parts: Sequence[str]
) -> CompletionRequest:
    """Build the request for an extraction."""
    instructions = [render_scene(inputs, prompt, detect_person_language(inputs))]
    if parts != ALL_PARTS:
        instructions.append(prompt.render("wanted", wanted=", ".join(parts)))
    return CompletionRequest(
        purpose="extract",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        call_instructions="\n\n".join(instructions),
        turns=(
            PromptTurn(
                role="instruction",
                text=prompt.render("ask", messages=render_segment(inputs, prompt)),
            ),
        ),
        output=build_schema(parts),
        output_form=prompt.render("form"),
        max_output_tokens=MAX_TOKENS,
        shown=list_shown_ids(inputs),
    )


def list_shown_ids(inputs: ExtractionInput) -> tuple[str, ...]:
    """Return the ids of everything that the model is shown."""
    return (
        *(message.id for message in (*inputs.context_messages, *inputs.messages)),
        *(known.memory.id for known in inputs.shown),
        *(entity.id for entity in inputs.entities),
    )


def merge_extractions(extractions: Sequence[Extraction]) -> Extraction:
    """Merge the extractions of several passes into one."""
    first, *rest = extractions
    for more in rest:
        first = replace(
            first,
            claims=first.claims + more.claims,
            relations=first.relations + more.relations,
            mentions=first.mentions + more.mentions,
            same_as_claims=first.same_as_claims + more.same_as_claims,
            topics=first.topics or more.topics,
            summary=first.summary or more.summary,
            mood=first.mood or more.mood,
            self_check=merge_self_checks(first, more),
            malformed=first.malformed + more.malformed,
        )
    return first


def merge_self_checks(one: Extraction, other: Extraction) -> dict[str, str]:
    """Join the self-check notes of both passes."""
    return {
        name: " ".join(filter(None, [one.self_check.get(name), other.self_check.get(name)]))
        for name in {**one.self_check, **other.self_check}
    }
