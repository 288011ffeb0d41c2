"""Drafts: core blocks proposed from material, by the small model or by rules.

They are suggestions: nothing is written to a block before the person accepts it.

The rules for the person are those of the memory; for the companion they take sentences that address
one, in five languages. Pure.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.ids import BatchId, ChatId, MessageId, SegmentId, SessionId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message, Person, estimate_tokens
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim, ExtractionInput
from oldfriend.learning.field_parsers import (
    Fields,
    parse_choice,
    parse_fraction,
    parse_list,
    parse_object,
    parse_text,
)
from oldfriend.learning.rule_extraction.rule_extractor import RULES_AUTHOR, extract_with_rules
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.memory.core_blocks import DRAFT_AUTHOR_PREFIX, Suggestion, suggest
from oldfriend.persona.sources import (
    FINDING_KINDS,
    TRAIT_TOPICS,
    FindingKind,
    PersonaFinding,
    SourceChunk,
    build_proposals,
)
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.injection_detection import detect_injection
from oldfriend.turn.structured_output import complete_structured
from oldfriend.usage.model_calls import CallContext

RULES_ORIGIN: Final = f"{DRAFT_AUTHOR_PREFIX}-by-{RULES_AUTHOR}"
RULE_CONFIDENCE: Final = 0.6
_SENTENCE: Final = re.compile(r"[^\n.!?…。！？]+[.!?…。！？]*")
_LIST_MARKER: Final = re.compile(r"^[\s\-*•#>\"“]+")
_COMPANION_INSTRUCTION: Final = re.compile(
    r"(?:you(?:'re|’re| are| should| shall| must| never| always| do not| don't| don’t)"
    r"|be|never|always|speak|talk|answer|reply|call me|avoid|don't|don’t|do not"
    r"|du (?:bist|sollst|musst|darfst|redest|sprichst|nennst)|sei|sprich|rede|antworte|nenn mich"
    r"|eres|tú eres|debes|sé|habla|responde|contesta|llámame|evita"
    r"|tu (?:es|dois|ne)|sois|parle|réponds|appelle-moi|évite)\b"
    r"|你(?:是|要|应该|不要|别)|请(?:用|说|叫|不要)|不要|说话要|回答要",
    re.IGNORECASE,
)
_SPEAKING_STYLE: Final = re.compile(
    r"talk|speak|answer|repl(?:y|ies)|\bshort|brief|emoji|joke|\btone|sentence|language"
    r"|sprich|redest?|antwort|kurz|witz|\bsätze|sprache|habla|respond|contest|breve|\bcort"
    r"|broma|frase|idioma|parle|répon|\bcourt|\bbref|blague|phrase|langue"
    r"|说话|回答|语气|简短|句子|笑话|表情",
    re.IGNORECASE,
)


def classify_by_rules(chunk: SourceChunk, person: Person) -> list[PersonaFinding]:
    """Return what a chunk plainly says; facts only from lines without injected instructions."""
    lines = (line for line in chunk.own_text.splitlines() if detect_injection(line).risk == "none")
    return [
        *extract_traits(chunk),
        *extract_facts(replace(chunk, own_text="\n".join(lines)), person),
    ]


def extract_traits(chunk: SourceChunk) -> Iterator[PersonaFinding]:
    """Yield the sentences that address a companion."""
    for found in _SENTENCE.finditer(chunk.own_text):
        sentence = _LIST_MARKER.sub("", found[0]).strip()
        if _COMPANION_INSTRUCTION.match(sentence) and not sentence.endswith(("?", "？")):
            yield PersonaFinding(
                kind="persona_traits",
                text=sentence,
                quote=sentence,
                confidence=RULE_CONFIDENCE,
                about="talk" if _SPEAKING_STYLE.search(sentence) else "character",
                source=f"{chunk.source}:{chunk.line}",
            )


def extract_facts(chunk: SourceChunk, person: Person) -> Iterator[PersonaFinding]:
    """Yield what the rules of the memory find about the person."""
    material = ExtractionInput(
        segment=SegmentId("draft"),
        person=person,
        companion="",
        messages=(to_message(chunk, person),),
    )
    for claim in extract_with_rules(material).claims:
        if (kind := map_claim_kind(claim)) is not None:
            yield PersonaFinding(
                kind=kind,
                text=claim.text,
                quote=claim.quotes[0].text,
                confidence=claim.confidence,
                source=f"{chunk.source}:{chunk.line}",
            )


def map_claim_kind(claim: Claim) -> FindingKind | None:
    """Return the kind of finding that a claim is, or None if a draft does not use it."""
    match claim.kind, claim.subject:
        case ("fact", "other"):
            return "relationship_facts"
        case ("fact" | "preference", "person"):
            return "user_identity_facts"
        case ("event", _):
            return "user_events"
        case ("pattern", _):
            return "user_reflections"
    return None


def to_message(chunk: SourceChunk, person: Person) -> Message:
    """Return the person's own words of a chunk as a message that is never written to the log."""
    language = detect_language(chunk.own_text, fallback=person.language or "en")
    return Message(
        id=MessageId("draft"),
        version=1,
        seq=1,
        person=person.id,
        chat=ChatId("draft"),
        session=SessionId("draft"),
        session_name="",
        channel="",
        role="person",
        author="person",
        speaker=person.name,
        trust="person",
        text=chunk.own_text,
        at=0,
        zone=person.zone,
        language=language,
        tokens=estimate_tokens(chunk.own_text),
        turn=None,
        external_id=None,
        batch=BatchId("draft"),
        details={},
    )


DRAFT_PROMPT: Final = "draft/2"
MAX_OUTPUT_TOKENS: Final = 2_000
FINDINGS_SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "found": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"enum": [*FINDING_KINDS]},
                    "text": {"type": "string"},
                    "quote": {"type": "string"},
                    "confidence": {"type": "number"},
                    "about": {"enum": [*TRAIT_TOPICS]},
                },
                "required": ["kind", "text", "quote", "confidence"],
            },
        }
    },
    "required": ["found"],
}


async def classify_by_model(model: LanguageModel, chunk: SourceChunk) -> list[PersonaFinding]:
    """Return what a model finds in a chunk. Raises BrokenOutput, and what the model raises."""
    prompt = get_prompt(DRAFT_PROMPT)
    ask = prompt.render("ask", source=chunk.source, text=chunk.text)
    request = CompletionRequest(
        purpose="classify",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        turns=(PromptTurn(role="instruction", text=ask),),
        output=FINDINGS_SCHEMA,
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
    return await complete_structured(model, request, lambda answer: parse_findings(answer, chunk))


def parse_findings(answer: JsonValue, chunk: SourceChunk) -> list[PersonaFinding]:
    """Parse the findings of an answer that quote the chunk. Raises ValueError."""
    found = [parse_object(each, "each") for each in parse_list(parse_object(answer, "it"), "found")]
    findings = [parse_finding(each, chunk) for each in found]
    return [each for each in findings if each.text and each.quote and each.quote in chunk.text]


def parse_finding(fields: Fields, chunk: SourceChunk) -> PersonaFinding:
    """Parse one finding. Raises ValueError."""
    quote = fields.get("quote")
    return PersonaFinding(
        kind=parse_choice(fields, "kind", FINDING_KINDS, FINDING_KINDS[1]),
        text=parse_text(fields, "text"),
        quote=quote.strip() if isinstance(quote, str) else "",
        confidence=parse_fraction(fields, "confidence", 0.0),
        about=parse_choice(fields, "about", TRAIT_TOPICS, TRAIT_TOPICS[0]),
        source=f"{chunk.source}:{chunk.line}",
    )


FindingExtractor = Callable[[SourceChunk], Awaitable[list[PersonaFinding]]]
DraftProgress = Callable[[int, int], None]
"""Receives how many chunks are done, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlockDraft:
    """The suggestions that were drafted, and how much was left out and why."""

    suggestions: tuple[Suggestion, ...]
    skipped: Mapping[str, int]
    author: str  # the id of the prompt or the rules


def ignore_progress(_done: int, _total: int) -> None:
    """Ignore the progress."""


async def draft_core_blocks(
    app: AppContext,
    person: Person,
    chunks: Sequence[SourceChunk],
    *,
    with_model: bool,
    on_progress: DraftProgress = ignore_progress,
) -> CoreBlockDraft:
    """Draft suggestions for a person's core blocks from chunks of material.

    Raises AllowanceUsedUp, and what the model raises; then nothing is suggested.
    """
    asker = CallContext(person=person.id, is_background=True)
    model = await build_background_model(app, asker, "small") if with_model else None
    findings, unreadable = await extract_all(chunks, build_extractor(model, person), on_progress)
    author = RULES_ORIGIN if model is None else DRAFT_PROMPT
    files = list(dict.fromkeys(chunk.source for chunk in chunks))
    drafted = build_proposals(findings, author=author, files=files)
    left_out = Counter(drafted.skipped)
    suggestions: list[Suggestion] = []
    async with app.db.begin_write() as tx:
        for proposal in drafted.proposals:
            suggestion = await suggest(tx, person.id, proposal, now=app.clock())
            left_out["suggested or written already"] += suggestion is None
            suggestions += [suggestion] if suggestion is not None else []
    left_out["pieces that the model could not read"] += unreadable
    skipped = {what: count for what, count in left_out.items() if count}
    return CoreBlockDraft(suggestions=tuple(suggestions), skipped=skipped, author=author)


def build_extractor(model: LanguageModel | None, person: Person) -> FindingExtractor:
    """Return the extractor: a model if there is one, otherwise rules."""

    async def read(piece: SourceChunk) -> list[PersonaFinding]:
        return (
            classify_by_rules(piece, person)
            if model is None
            else await classify_by_model(model, piece)
        )

    return read


async def extract_all(
    chunks: Sequence[SourceChunk], extract: FindingExtractor, on_progress: DraftProgress
) -> tuple[list[PersonaFinding], int]:
    """Extract the findings of all chunks, and count the chunks that could not be read."""
    findings: list[PersonaFinding] = []
    unreadable = 0
    for done, chunk in enumerate(chunks):
        on_progress(done, len(chunks))
        try:
            findings += await extract(chunk)
        except BrokenOutput:
            unreadable += 1
    return findings, unreadable


def estimate_draft_tokens(chunks: Sequence[SourceChunk]) -> tuple[int, int]:
    """Estimate how many tokens a model takes to read the chunks, and may return at most."""
    instructions = estimate_tokens(get_prompt(DRAFT_PROMPT).parts["system_prompt"])
    taken = sum(instructions + estimate_tokens(chunk.text) for chunk in chunks)
    return taken, MAX_OUTPUT_TOKENS * len(chunks) // 4
