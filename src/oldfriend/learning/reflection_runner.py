"""Reflection runner: calls a model for ideas, validates them, and writes the accepted ones.

Serves reflection, idle reflection and entity descriptions. No transaction is open while a model is
called; ideas whose evidence was deleted meanwhile are dropped. The model is asked once to reword
rejected ideas, within the token quota of the run. Never calls a tool, writes a core block, or
schedules itself.
"""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, get_args

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Cause,
    EvidenceSignal,
    LinkKind,
    MemoryKind,
    MemoryState,
    ObjectLink,
    StoredBelief,
)
from oldfriend.domain.messages import estimate_tokens
from oldfriend.learning.reflection_context import ReflectionContext
from oldfriend.learning.reflection_output import Idea, IdeaKind, ParsedIdeas, parse_ideas
from oldfriend.learning.validation.reflection_checks import (
    IdeaRejectionReason,
    IdeaRules,
    ValidatedIdeas,
    list_ungrounded_idea_words,
    validate_ideas,
)
from oldfriend.learning.validation.tone import ToneViolation
from oldfriend.learning.validation.tone_of_judgment import JudgementViolation
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.glosses import TextInLanguage
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    LanguageModel,
    PromptTurn,
    TextCallback,
    estimate_input_tokens,
)
from oldfriend.memory.belief_corrections import list_mentioned_entities
from oldfriend.memory.belief_views import get_memory_state
from oldfriend.memory.core_blocks import Proposal, suggest
from oldfriend.memory.deletion.audit_log import has_all_sources
from oldfriend.memory.derived_evidence import derive_evidence
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import lock_person
from oldfriend.memory.reflection_log import (
    QUESTION_KEY,
    ReflectionKind,
    ReflectionRecord,
    ReflectionTranscript,
    ReflectionTrigger,
    save_reflection_record,
    sum_reflection_usage,
)
from oldfriend.memory.vectors import save_belief_vectors
from oldfriend.prompts.prompt import get_prompt, join_prompt_ids
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.structured_output import complete_structured, extract_json

SOURCES_DELETED: Final = "overtaken"
"""Counter for a run some of whose sources were deleted meanwhile."""
MEMORY_KINDS: Final[Mapping[IdeaKind, MemoryKind]] = {
    "thought": "thought",
    "question": "thought",
    "expectation": "expectation",
    "pattern": "pattern",
}
"""The kind of belief that each kind of idea becomes."""
REWORDABLE: Final[frozenset[IdeaRejectionReason]] = frozenset(
    {"not told", *get_args(ToneViolation), *get_args(JudgementViolation)}
)
"""Rejection reasons that other words can fix."""
REWORD_PROMPT: Final = "reword/2"
MAX_REWORD_CHARS: Final = 300
"""Characters of an idea that are shown again."""
MIN_OUTPUT_TOKENS: Final = 200
"""A request with less room for its answer is not made."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDeps:
    """Dependencies of a reflection."""

    db: Database
    clock: Clock
    model: Callable[[str], Awaitable[LanguageModel]]  # by call key: a finished call is not repeated
    embed: Callable[[Sequence[TextInLanguage]], Awaitable[Vectors | None]]
    embedder: str  # name of the embedding model
    is_forgotten: Callable[[str, Micros], bool] = field(default=lambda _words, _at: False)
    zone: str = "UTC"  # its midnight ends a day


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionTask:
    """Reflection task: what to reflect on, why now, and the token limits."""

    kind: ReflectionKind
    why: ReflectionTrigger
    person: PersonId
    request: CompletionRequest
    shown_lines: tuple[str, ...]  # the rendered context, one line each
    max_input_tokens: int  # tokens, including one repair of the answer
    max_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionRun:
    """Reflection run: one finished run of a task."""

    task: ReflectionTask
    transcript: ReflectionTranscript
    tokens_in: int
    tokens_out: int

    @property
    def author(self) -> str:
        """The id of the prompt, with its version."""
        return self.task.request.prompt

    def get_author(self, idea: Idea) -> str:
        """Return an idea's prompt id, joined with the rewording prompt's if it was reworded."""
        return join_prompt_ids(self.author, idea.reworded_by)


@dataclass(slots=True)
class TokenQuotaModel:
    """Token quota model: a model with total token limits that keeps its completions."""

    model: LanguageModel
    max_input_tokens: int
    max_output_tokens: int
    completions: list[Completion] = field(default_factory=list)
    input_tokens_used: int = 0
    output_tokens_used: int = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Complete a request. Raises BrokenOutput if the quota leaves no room for an answer."""
        input_tokens, tokens_left = (
            estimate_input_tokens(request),
            self.max_output_tokens - self.output_tokens_used,
        )
        if (
            self.input_tokens_used + input_tokens > self.max_input_tokens
            or tokens_left < MIN_OUTPUT_TOKENS
        ):
            raise BrokenOutput(f"{self.name} has said all that it may, and nothing usable.")
        request = replace(request, max_output_tokens=min(request.max_output_tokens, tokens_left))
        answer = await self.model.complete(request, on_text)
        self.completions.append(answer)
        self.input_tokens_used += answer.usage.input or input_tokens
        self.output_tokens_used += answer.usage.output or estimate_tokens(answer.text)
        return answer


async def run_task(
    deps: ReflectionDeps,
    reflection_task: ReflectionTask,
    parse: Callable[[JsonValue], T],
    refine: Callable[[T, TokenQuotaModel], Awaitable[T]] | None = None,
) -> tuple[T, ReflectionRun]:
    """Call the model and parse its answer; ``refine`` may ask once more. Records failed runs, too.

    Raises BrokenOutput, and what the model raises.
    """
    model = await deps.model(await get_call_key(deps, reflection_task))
    quota_model = TokenQuotaModel(
        model=model,
        max_input_tokens=reflection_task.max_input_tokens,
        max_output_tokens=reflection_task.max_output_tokens,
    )
    try:
        result = await complete_structured(quota_model, reflection_task.request, parse)
    except BrokenOutput as error:
        await write_failed_run(deps, build_run(reflection_task, quota_model), error)
        raise
    if refine is not None and len(quota_model.completions) == 1:
        result = await refine(result, quota_model)
    return result, build_run(reflection_task, quota_model)


async def get_call_key(deps: ReflectionDeps, reflection_task: ReflectionTask) -> str:
    """Return the key by which a call that finished before a crash is found again."""
    async with deps.db.begin_read() as tx:
        before = await sum_reflection_usage(tx, reflection_task.person, reflection_task.kind, 0)
    shown = hashlib.sha256(" ".join(reflection_task.request.shown).encode()).hexdigest()
    return f"{reflection_task.kind} {before.runs} {shown[:16]}"


async def run_reflection(
    deps: ReflectionDeps,
    reflection_task: ReflectionTask,
    reflection: ReflectionContext,
    keys: Sequence[str],
    rules: IdeaRules,
) -> ReflectionRecord:
    """Run a task, and believe the ideas that pass validation.

    Raises BrokenOutput, and what the model raises.
    """

    def parse(answer: JsonValue) -> ParsedIdeas:
        return parse_ideas(answer, keys, zone=reflection.person.zone)

    def validate(found: ParsedIdeas) -> ValidatedIdeas:
        return validate_ideas(found.ideas, reflection, rules, malformed=found.malformed)

    async def refine(found: ParsedIdeas, quota_model: TokenQuotaModel) -> ParsedIdeas:
        first = validate(found)
        instruction = render_reword_instruction(first, reflection)
        reworded = (
            await ask_to_reword(
                quota_model, reflection_task.request, instruction, REWORD_PROMPT, parse
            )
            if instruction
            else None
        )
        return found if reworded is None else replace_reworded(found, first, reworded)

    found, run = await run_task(deps, reflection_task, parse, refine)
    return await write_ideas(deps, run, reflection, validate(found))


def render_reword_instruction(validated: ValidatedIdeas, reflection: ReflectionContext) -> str:
    """Render the request to reword rejected ideas; "" if there are none."""
    prompt = get_prompt(REWORD_PROMPT)
    lines = [
        prompt.render(
            "refused",
            text=sanitize(idea.text[:MAX_REWORD_CHARS]),
            why=explain_rejection(idea, reason, reflection),
        )
        for idea, reason in validated.rejected_ideas
        if reason in REWORDABLE
    ]
    return prompt.render("wish", refused="\n".join(lines)) if lines else ""


def explain_rejection(
    idea: Idea, reason: IdeaRejectionReason, reflection: ReflectionContext
) -> str:
    """Explain to the model why an idea's wording was rejected."""
    prompt, words = get_prompt(REWORD_PROMPT), list_ungrounded_idea_words(idea, reflection)
    ungrounded = ", ".join(dict.fromkeys(words))
    return prompt.render("untold", words=sanitize(ungrounded)) if reason == "not told" else reason


async def ask_to_reword(
    quota_model: TokenQuotaModel,
    request: CompletionRequest,
    instruction: str,
    prompt: str,
    parse: Callable[[JsonValue], T],
) -> T | None:
    """Ask the model to reword its answer; None if unusable or the quota is used up.

    The request is attributed to both prompts.
    """
    turns = (
        *request.turns,
        quota_model.completions[-1].turn,
        PromptTurn(role="instruction", text=instruction),
    )
    reword_request = replace(request, prompt=join_prompt_ids(request.prompt, prompt), turns=turns)
    try:
        answer = await quota_model.complete(reword_request)
        return parse(extract_json(answer.text))
    except (ValueError, BrokenOutput):
        return None


def replace_reworded(
    found: ParsedIdeas, validated: ValidatedIdeas, again: ParsedIdeas
) -> ParsedIdeas:
    """Return all ideas, with reworded ones in place of those that had to be reworded."""
    left_out = [idea for idea, reason in validated.rejected_ideas if reason in REWORDABLE]
    kept = [idea for idea in found.ideas if idea not in left_out]
    kept_texts = {idea.text for idea in kept}
    new = [
        replace(idea, reworded_by=REWORD_PROMPT)
        for idea in again.ideas
        if idea.text not in kept_texts
    ]
    return replace(found, ideas=(*kept, *new), malformed=found.malformed + again.malformed)


def build_run(reflection_task: ReflectionTask, quota_model: TokenQuotaModel) -> ReflectionRun:
    """Build the record of a run."""
    answered = tuple(each.text for each in quota_model.completions)
    return ReflectionRun(
        task=reflection_task,
        transcript=ReflectionTranscript(shown=reflection_task.shown_lines, answered=answered),
        tokens_in=quota_model.input_tokens_used,
        tokens_out=quota_model.output_tokens_used,
    )


async def write_failed_run(deps: ReflectionDeps, run: ReflectionRun, error: BrokenOutput) -> None:
    """Record a failed run with what the model answered."""
    async with deps.db.begin_write() as tx:
        await lock_person(tx, run.task.person)
        await write_run(tx, run, {}, now=deps.clock(), error=type(error).__name__)


async def write_ideas(
    deps: ReflectionDeps,
    run: ReflectionRun,
    reflection: ReflectionContext,
    validated: ValidatedIdeas,
) -> ReflectionRecord:
    """Write the accepted ideas and the record of the run in one transaction."""
    texts = [(idea.text, reflection.language) for idea, _ in validated.accepted]
    vectors = await deps.embed(texts)
    now = deps.clock()
    async with deps.db.begin_write() as tx:
        await lock_person(tx, run.task.person)
        learned: Counter[str] = Counter()
        rejected = Counter(validated.rejection_counts)
        if await has_all_sources(tx, run.task.person, run.task.request.shown):
            for number, (idea, cited) in enumerate(validated.accepted):
                outcome = await write_idea(tx, run, reflection, idea, cited, now=now)
                if outcome is not None and not isinstance(outcome, StoredBelief):
                    rejected[outcome] += 1
                    continue
                learned[idea.kind] += 1
                if vectors is not None and outcome is not None:
                    vector_by_id = {outcome.id: vectors[number]}
                    await save_belief_vectors(tx, run.task.person, deps.embedder, vector_by_id)
        counts: dict[str, JsonValue] = {
            "learned": dict(learned),
            "rejected": {str(why): n for why, n in rejected.items()},
            "noticed": {str(what): n for what, n in validated.warnings.items()},
        }
        return await write_run(tx, run, counts, now=now)


async def write_run(
    tx: Transaction,
    run: ReflectionRun,
    outcome: Mapping[str, JsonValue],
    *,
    now: Micros,
    error: str | None = None,
) -> ReflectionRecord:
    """Record a run; without its transcript if a source has been deleted meanwhile."""
    shown = run.task.request.shown
    is_kept = await has_all_sources(tx, run.task.person, shown)
    record = ReflectionRecord(
        id=new_id(now),
        person=run.task.person,
        kind=run.task.kind,
        why=run.task.why,
        ran_at=now,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        outcome=outcome if is_kept else {SOURCES_DELETED: 1},
        error=error,
        shown=shown if is_kept else (),
        transcript=run.transcript if is_kept else None,
    )
    await save_reflection_record(tx, record)
    return record


async def write_idea(
    tx: Transaction,
    run: ReflectionRun,
    reflection: ReflectionContext,
    idea: Idea,
    cited: Sequence[MemoryState],
    *,
    now: Micros,
) -> StoredBelief | IdeaRejectionReason | None:
    """Believe an idea on the current evidence of what it cites, or return why not.

    A suggestion is shown to the person, and not believed (None).
    """
    states = [await get_memory_state(tx, run.task.person, each.memory.id) for each in cited]
    if any(
        not state.memory.is_live or state.memory.text != then.memory.text
        for state, then in zip(states, cited, strict=True)
    ):
        return "no longer believed"
    source_ids = [ObjectId(each.memory.id) for each in states]
    causes = await list_causes(tx, run.task.person, source_ids)
    if not causes:
        return "no words"
    if idea.kind == "suggestion":
        return await write_suggestion(tx, run, idea, source_ids, now=now)
    entities = await list_mentioned_entities(tx, run.task.person, idea.text)
    thought = replace(build_memory(idea, run, reflection, source_ids, now=now), entities=entities)
    author = run.get_author(idea)
    provenance = Provenance(author=author, causes=causes)
    await record_decision(tx, thought, op="learned", base=0, provenance=provenance, now=now)
    signal: EvidenceSignal | None = None if idea.kind == "pattern" else "implicit"
    await derive_evidence(
        tx, run.task.person, thought.id, source_ids, extractor=author, now=now, signal=signal
    )
    return thought


async def write_suggestion(
    tx: Transaction, run: ReflectionRun, idea: Idea, source_ids: Sequence[ObjectId], *, now: Micros
) -> IdeaRejectionReason | None:
    """Suggest a core block change; returns why not if the person has seen it already."""
    proposal = Proposal(
        block=idea.block,
        text=idea.text,
        reason=idea.reason,
        author=run.get_author(idea),
        cites=tuple(source_ids),
    )
    suggestion = await suggest(tx, run.task.person, proposal, now=now)
    return "thought already" if suggestion is None else None


async def list_causes(
    tx: Transaction, person: PersonId, source_ids: Sequence[ObjectId]
) -> tuple[Cause, ...]:
    """Return the message versions that currently support these beliefs."""
    evidence = await list_object_evidence(tx, person, source_ids)
    causes = (
        Cause(message=item.message, version=item.version)
        for each in evidence.values()
        for item in each
        if item.stance == "supports"
    )
    return tuple(dict.fromkeys(causes))


def build_memory(
    idea: Idea,
    run: ReflectionRun,
    reflection: ReflectionContext,
    source_ids: Sequence[ObjectId],
    *,
    now: Micros,
) -> StoredBelief:
    """Build the memory of an idea.

    An expectation is tentative until somebody says it.
    """
    link: LinkKind = "parent_of" if idea.kind == "pattern" else "rests_on"
    return StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=run.task.person,
        kind=MEMORY_KINDS[idea.kind],
        text=idea.text,
        language=reflection.language,
        subject=idea.about,
        trust="companion",
        key=QUESTION_KEY if idea.kind == "question" else "",
        pattern=idea.pattern,
        impact=idea.impact,
        tags=idea.tags,
        status="tentative" if idea.kind == "expectation" else "active",
        due_at=idea.due_at,
        zone=reflection.person.zone,
        relations=tuple(ObjectLink(kind=link, target=each) for each in source_ids),
        learned_at=now,
    )
