"""Drafts: core blocks proposed from material, by the small model or by rules.

They are suggestions: nothing is written to a block before the person accepts it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.messages import estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.llm.model import LanguageModel
from oldfriend.memory.suggestions import Suggestion, suggest
from oldfriend.persona.findings import PersonaFinding, build_proposals
from oldfriend.persona.llm_classifier import DRAFT_PROMPT, MAX_OUTPUT_TOKENS, classify_by_model
from oldfriend.persona.rule_classifier import RULES_ORIGIN, classify_by_rules
from oldfriend.persona.sources import SourceChunk
from oldfriend.prompts.prompt import get_prompt
from oldfriend.usage.model_calls import CallContext

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
    instructions = estimate_tokens(get_prompt(DRAFT_PROMPT).parts["stable"])
    taken = sum(instructions + estimate_tokens(chunk.text) for chunk in chunks)
    return taken, MAX_OUTPUT_TOKENS * len(chunks) // 4
