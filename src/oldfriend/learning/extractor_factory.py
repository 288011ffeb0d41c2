"""Extractor factory: picks the small model if one is configured and affordable, else the rules.

Imported messages are read by rules until the person agrees to use a model: a whole chat history may
cost money, and it leaves the machine.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from oldfriend.app.app_context import LearningContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.app.recorded_models import build_background_model
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.ids import TurnId
from oldfriend.learning.consolidate import ConsolidationDeps
from oldfriend.learning.doubt import drop_doubtful
from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.llm_dedup_judge import judge_duplicate
from oldfriend.learning.llm_extractor import extract_with_model
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.similarity import ClaimOrMemory
from oldfriend.learning.tagged_facts import add_tagged_facts
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.glosses import TextInLanguage, gloss_for_embedder
from oldfriend.llm.model import LanguageModel
from oldfriend.llm.reading import FactTagger
from oldfriend.memory.segments import Segment
from oldfriend.usage.model_calls import CallContext

ExtractorChoice = Literal["rules", "model", "either"]
"""Which extractor to use: "either" is the model if there is one and the words were not imported."""

IMPORT_CUT: Final = "import"


async def build_consolidation_deps(
    app: LearningContext, segment: Segment, *, extractor: ExtractorChoice = "either"
) -> ConsolidationDeps:
    """Build the dependencies for a segment. Raises AllowanceUsedUp if the daily limit is spent."""
    call_context = CallContext(
        person=segment.person,
        turn=TurnId(segment.id),
        answered_versions=f"generation {segment.generation}",
        is_background=True,
    )
    use_model = is_model_requested(app.settings, segment, extractor)
    model = await build_background_model(app, call_context, "small") if use_model else None
    return await build_consolidation_deps_with_model(app, call_context, model)


async def build_consolidation_deps_with_model(
    app: LearningContext, asker: CallContext, model: LanguageModel | None
) -> ConsolidationDeps:
    """Build the dependencies for a model, or for rules (None); ``asker`` pays for embeddings."""
    passes: Literal[1, 2] = 1 if app.settings.memory.passes == 1 else 2
    async with app.db.begin_read() as tx:
        forgotten = await load_deletion_filter(app.settings, tx, asker.person)
    return ConsolidationDeps(
        db=app.db,
        index_cache=app.index_cache,
        clock=app.clock,
        extract=partial(extract_locally, app.fact_tagger)
        if model is None
        else partial(extract_with_model, model, passes=passes),
        extract_small_talk=partial(extract_locally, app.fact_tagger if model is None else None),
        embed=partial(try_embed, app.with_asker(asker).embedder),
        embedder=app.embedder.model,
        judge_duplicate=None if model is None else partial(is_duplicate_by_model, model),
        is_forgotten=forgotten.is_belief_forgotten,
    )


def is_model_requested(settings: Settings, segment: Segment, extractor: ExtractorChoice) -> bool:
    """Return whether a model should extract a segment, if there is one."""
    if extractor == "either":
        return segment.cut_by != IMPORT_CUT or settings.memory.imports_by_model
    return extractor == "model"


async def extract_locally(tagger: FactTagger | None, inputs: ExtractionInput) -> Extraction:
    """Extract by rules and the tagger, if there is one, in a thread: loading them takes seconds."""
    return await asyncio.to_thread(read_locally, inputs, tagger)


def read_locally(inputs: ExtractionInput, tagger: FactTagger | None) -> Extraction:
    """Read by rules and the tagger, if there is one, and leave out what is doubtful."""
    extraction = drop_doubtful(extract_with_rules(inputs), inputs)
    return extraction if tagger is None else add_tagged_facts(extraction, inputs, tagger)


async def is_duplicate_by_model(
    model: LanguageModel, one: ClaimOrMemory, other: ClaimOrMemory, language: str, zone: str
) -> bool:
    """Return whether a model says that two statements mean the same."""
    return (await judge_duplicate(model, one, other, language=language, zone=zone)).is_same


async def try_embed(embedder: Embedder, texts: Sequence[TextInLanguage]) -> Vectors | None:
    """Embed texts; None if there are none or embedding fails, which stops nothing."""
    if not texts:
        return None
    try:
        return await embedder.embed(await gloss_for_embedder(embedder.model, texts))
    except EmbeddingFailed:
        return None
