"""Step execution: repeats one recorded step with the original code, at its original time.

Where nothing matches a correction, the belief is copied together with the decision and its
evidence.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeVar

from oldfriend.app.app_context import RoleModel
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ModelRole
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    BrokenOutput,
    InvalidInput,
    ModelRefusal,
    NotFound,
    RequestRejected,
)
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId, TurnId
from oldfriend.domain.job_types import Job
from oldfriend.domain.memories import Entity, Evidence, JournalEntry, JournalObject, StoredBelief
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extractor_factory import (
    build_consolidation_deps_with_model,
    is_model_requested,
)
from oldfriend.learning.learning_scheduler import (
    is_consolidated,
    is_extracted_by_rules,
    mark_consolidation_failed,
)
from oldfriend.learning.merge_duplicates import (
    DuplicateMerge,
    merge_duplicate_memories,
    write_merges,
)
from oldfriend.learning.reflection_scheduler import (
    DESCRIBE_JOB,
    IDLE_REFLECTION_JOB,
    REFLECT_JOB,
    REFLECTION_JOBS,
    ReflectionRunner,
)
from oldfriend.learning.reflection_scheduler import (
    build_reflection_deps_with_model as thinking_with,
)
from oldfriend.learning.summary_rollup import roll_up
from oldfriend.llm.model import LanguageModel
from oldfriend.memory import belief_corrections as correcting
from oldfriend.memory.belief_corrections import BY_PERSON
from oldfriend.memory.belief_views import get_memory_state
from oldfriend.memory.deletion.journal_redaction import ORPHAN_AUTHOR
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.expiry import expire_overdue
from oldfriend.memory.journal import Provenance, list_object_journal, record_decision
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.reflection_log import ReflectionKind, expire_questions
from oldfriend.memory.retraction import record_next_decision
from oldfriend.memory.segments import get_segment, reopen_segment
from oldfriend.replay.alignment import TargetSnapshot, find_counterpart
from oldfriend.replay.cached_model import CachedModel, ReplayCache
from oldfriend.replay.replay_types import ReplayContext
from oldfriend.replay.steps import ReplayStep, SourceHistory, ack_step
from oldfriend.usage.model_calls import CallContext

BeliefT = TypeVar("BeliefT", bound=JournalObject)
OPS_ON_ENDED: Final = frozenset({"confirmed", "unrejected", "separated"})
"""Operations allowed on an object that is no longer believed."""
ENDORSING_OPS: Final = frozenset({"pinned", "confirmed"})
"""Operations by which the person says that a belief is true."""


async def reapply_decision(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Apply a decision of the person in the target.

    Raises NotFound, InvalidInput where it cannot.
    """
    person = change.person
    await lock_person(tx, person)
    match change.op:
        case "learned":
            await reapply_correction(tx, source_history, snapshot, change, now=now)
        case "merged":
            await reapply_merge(tx, source_history, snapshot, change, now=now)
        case "separated":
            await reapply_separation(tx, source_history, snapshot, change, now=now)
        case _:
            counterpart = await find_or_copy_counterpart(
                tx, source_history, snapshot, change.object_id, change
            )
            if counterpart is not None:
                await reapply_action(tx, change, counterpart, now=now)


async def reapply_action(
    tx: Transaction, change: JournalEntry, target: JournalObject, *, now: Micros
) -> None:
    """Pin, unpin, confirm, reject, unreject or edit the counterpart."""
    match change.op:
        case "pinned":
            await correcting.pin(tx, change.person, target.id, now=now)
        case "unpinned":
            await correcting.unpin(tx, change.person, target.id, now=now)
        case "confirmed":
            await correcting.confirm(tx, change.person, target.id, now=now)
        case "rejected":
            await correcting.reject(tx, change.person, target.id, now=now)
        case "unrejected":
            await correcting.unreject(tx, change.person, target.id, now=now)
        case "corrected":
            text, value = get_corrected_text(change.after)
            await correcting.edit(tx, change.person, target.id, text, value=value, now=now)


def get_corrected_text(after: JournalObject) -> tuple[str, str | None]:
    """Return the text the person wrote, and the value it states."""
    if isinstance(after, Entity):
        return after.description, None
    return after.text, after.value if isinstance(after, StoredBelief) else None


async def reapply_correction(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Supersede the counterpart of a corrected belief with the person's value."""
    assert isinstance(change.after, StoredBelief)
    old = next(link.target for link in change.after.relations if link.kind == "supersedes")
    counterpart = await find_or_copy_counterpart(tx, source_history, snapshot, old, change)
    if counterpart is not None:
        second = source_history.find_change(change.seq + 1)
        superseded = None if second is None else second.after
        is_change = isinstance(superseded, StoredBelief) and superseded.status == "superseded"
        await correcting.edit(
            tx,
            change.person,
            counterpart.id,
            change.after.text,
            value=change.after.value,
            since=change.after.holds_from if is_change else None,
            now=now,
        )


async def reapply_merge(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Merge the counterparts of two objects."""
    after = change.after
    survivor_id = after.same_as if isinstance(after, Entity) else find_merge_target(after)
    merged = await find_or_copy_counterpart(tx, source_history, snapshot, change.object_id, change)
    survivor = (
        None
        if survivor_id is None
        else await find_or_copy_counterpart(tx, source_history, snapshot, survivor_id, change)
    )
    if survivor is None or merged is None or survivor.id == merged.id:
        return  # they are merged already
    if isinstance(after, Entity):
        await correcting.merge_entities(
            tx, change.person, EntityId(survivor.id), EntityId(merged.id), now=now
        )
        return
    stronger = await get_memory_state(tx, change.person, MemoryId(survivor.id))
    weaker = await get_memory_state(tx, change.person, MemoryId(merged.id))
    merge = DuplicateMerge(stronger=stronger, weaker=weaker, author=BY_PERSON.author)
    await write_merges(tx, change.person, [merge], now=now)


def find_merge_target(after: JournalObject) -> ObjectId | None:
    """Return the memory that another was merged into, if it was."""
    return correcting.find_merge_survivor(after) if isinstance(after, StoredBelief) else None


async def reapply_separation(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Separate the counterparts of two objects."""
    second = source_history.find_change(change.seq + 1)
    if second is None or second.op != "separated":
        return  # the other object was forgotten
    one = await find_or_copy_counterpart(tx, source_history, snapshot, change.object_id, change)
    other = await find_or_copy_counterpart(tx, source_history, snapshot, second.object_id, change)
    if one is None or other is None or one.id == other.id:
        return
    if isinstance(one, Entity):
        await correcting.separate_entities(
            tx, change.person, EntityId(one.id), EntityId(other.id), now=now
        )
    else:
        await correcting.separate_memories(
            tx, change.person, MemoryId(one.id), MemoryId(other.id), now=now
        )


async def find_or_copy_counterpart(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    object_id: ObjectId,
    change: JournalEntry,
) -> JournalObject | None:
    """Return the counterpart of an object that the person decided about, copying it if needed.

    None where a copy would be pointless, such as to unpin what is not known.
    """
    before = source_history.get_belief_before(object_id, change.seq)
    known = await snapshot.list_all(tx)
    is_waiting = isinstance(before.content, StoredBelief) and before.content.status == "unconfirmed"
    is_any = change.op in OPS_ON_ENDED or is_waiting
    candidates = [each for each in known if is_any or each.content.ended_at is None]
    says_value = change.op in {"learned", "corrected"}
    found = find_counterpart(before, candidates, is_strict=not says_value)
    if found is not None:
        return found.content
    if change.op == "unpinned" or any(each.content.id == object_id for each in known):
        return None
    return await copy_belief(tx, before, known, change, now=change.decided_at)


async def copy_belief(
    tx: Transaction,
    belief: BeliefDetails,
    known: Iterable[BeliefDetails],
    change: JournalEntry,
    *,
    now: Micros,
) -> JournalObject:
    """Copy a belief to the target, where nothing corresponds to it.

    If the person vouched for it, competing beliefs are superseded.
    """
    after = filter_links(belief.content, {each.content.id for each in known})
    if change.op in ENDORSING_OPS and isinstance(after, StoredBelief) and is_single_valued(after):
        ended = replace(after, ended_at=now)
        after = replace(await correcting.supersede_competing(tx, ended, now=now), ended_at=None)
    provenance = Provenance(author=BY_PERSON.author)
    await record_decision(tx, after, op="learned", base=0, provenance=provenance, now=now)
    await copy_evidence(tx, after.person, after.id, belief.evidence, now=now)
    return after


async def copy_evidence(
    tx: Transaction,
    person: PersonId,
    object_id: ObjectId,
    evidence: Iterable[Evidence],
    *,
    now: Micros,
) -> None:
    """Copy the evidence of an object, keeping the extractors."""
    for each in evidence:
        source = await get_message(tx, person, each.message, version=each.version)
        found = NewEvidence(
            source=source,
            quote=each.quote,
            stance=each.stance,
            signal=each.signal,
            confidence=each.confidence,
        )
        await add_evidence(tx, person, object_id, [found], extractor=each.extractor, now=now)


async def drop_missing_links(tx: Transaction, snapshot: TargetSnapshot, belief: BeliefT) -> BeliefT:
    """Drop links to objects that are not in the target; a belief without links stays as it is."""
    if filter_links(belief, set()) == belief:
        return belief
    return filter_links(belief, {each.content.id for each in await snapshot.list_all(tx)})


def filter_links(belief: BeliefT, object_ids: set[ObjectId]) -> BeliefT:
    """Drop links to all but the given objects."""
    if isinstance(belief, StoredBelief):
        return replace(
            belief,
            entities=tuple(each for each in belief.entities if each in object_ids),
            relations=tuple(each for each in belief.relations if each.target in object_ids),
        )
    if isinstance(belief, Entity):
        return replace(belief, same_as=belief.same_as if belief.same_as in object_ids else None)
    return belief


async def copy_decision(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Repeat a decision unchanged, about the same object."""
    person, object_id = change.person, change.object_id
    await lock_person(tx, person)
    history = await list_object_journal(tx, person, object_id)
    after = await drop_missing_links(tx, snapshot, change.after)
    provenance = Provenance(author=change.author, causes=change.causes)
    if not history:
        await record_decision(tx, after, op="learned", base=0, provenance=provenance, now=now)
        evidence = (
            source_history.evidence.get(object_id, ()) if isinstance(after, StoredBelief) else ()
        )
        await copy_evidence(tx, person, object_id, filter_unextracted(evidence), now=now)
        return
    final = history[-1].after if change.author == ORPHAN_AUTHOR else after
    await record_next_decision(tx, final, change.op, provenance, now=now)


def filter_unextracted(evidence: Iterable[Evidence]) -> Iterable[Evidence]:
    """Return the evidence that no reading will find again."""
    return (each for each in evidence if each.segment is None)


REFLECTION_RUNNERS: Final[Mapping[ReflectionKind, ReflectionRunner]] = MappingProxyType(
    {
        "reflection": REFLECTION_JOBS[REFLECT_JOB],
        "slow tick": REFLECTION_JOBS[IDLE_REFLECTION_JOB],
        "description": REFLECTION_JOBS[DESCRIBE_JOB],
    }
)


async def execute_step(
    context: ReplayContext,
    person: PersonId,
    queued: tuple[Job, ReplayStep],
    *,
    cache: ReplayCache,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
) -> None:
    """Execute one queued step."""
    job, step = queued
    match step.kind:
        case "read":
            await replay_consolidation(context, person, job, step, cache)
        case "tidy" | "fold":
            asker = CallContext(person=person, is_background=True)
            await replay_maintenance(
                context, person, job, step, build_cached_model(context, cache, asker)
            )
        case "think":
            await replay_reflection(context, person, job, step, cache)
        case "carry" | "uphold":
            await replay_decision(context, person, job, step, source_history, snapshot)


async def replay_consolidation(
    context: ReplayContext, person: PersonId, job: Job, step: ReplayStep, cache: ReplayCache
) -> None:
    """Read a segment again; mark it failed if a model cannot make sense of it."""
    assert step.segment is not None
    app, result = context.app, context.result
    async with app.db.begin_write() as tx:
        segment = await get_segment(tx, person, step.segment)
        if is_consolidated(segment) and is_extracted_by_rules(segment) != (
            step.extractor == "rules"
        ):
            segment = await reopen_segment(tx, segment)  # it is the second reading
    asker = CallContext(
        person=person,
        turn=TurnId(segment.id),
        answered_versions=f"generation {segment.generation}",
        is_background=True,
    )
    is_by_model = is_model_requested(app.settings, segment, step.extractor)
    model = build_cached_model(context, cache, asker) if is_by_model else None
    deps = replace(
        await build_consolidation_deps_with_model(app, asker, model), clock=lambda: step.at
    )
    try:
        result.read += await consolidate(deps, segment) is not None
    except (BrokenOutput, ModelRefusal) as error:
        if isinstance(error, RequestRejected) and cache.misses == 1:
            raise  # the first request was rejected, so all others would be too
        result.failed += 1
        async with app.db.begin_write() as tx:
            await mark_consolidation_failed(tx, person, segment.id, str(error), now=step.at)
    await finish_step(app.db, person, job)


async def replay_maintenance(
    context: ReplayContext,
    person: PersonId,
    job: Job,
    step: ReplayStep,
    model: LanguageModel | None,
) -> None:
    """Run maintenance or a rollup at the time of the step."""
    app = context.app
    if step.kind == "tidy":
        async with app.db.begin_write() as tx:
            await lock_person(tx, person)
            await expire_overdue(tx, person, now=step.at)
            await expire_questions(tx, person, now=step.at)
        await merge_duplicate_memories(
            app.db, person, model=model, embedder=app.embedder.model, now=step.at
        )
    elif model is not None:
        await roll_up(app.db, person, model=model, now=step.at)
    await finish_step(app.db, person, job)


async def replay_reflection(
    context: ReplayContext, person: PersonId, job: Job, step: ReplayStep, cache: ReplayCache
) -> None:
    """Reflect as at the time of the step; unusable model output is ignored."""
    app = context.app

    async def model(asked: str) -> LanguageModel:
        asker = CallContext(
            person=person, turn=TurnId(person), answered_versions=asked, is_background=True
        )
        found = build_cached_model(context, cache, asker, "reflect")
        assert found is not None
        return found

    if step.reflection is not None and has_reflection_model(context):
        deps = await thinking_with(app, person, model)
        with suppress(BrokenOutput, ModelRefusal):
            await REFLECTION_RUNNERS[step.reflection](replace(deps, clock=lambda: step.at), person)
    await finish_step(app.db, person, job)


def has_reflection_model(context: ReplayContext) -> bool:
    """Return whether a model for reflection is configured."""
    return "reflect" in context.app.models and context.request.mode != "rules"


async def finish_step(db: Database, person: PersonId, job: Job) -> None:
    """Mark a step done whose work was committed in other transactions."""
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        await ack_step(tx, person, job)


async def replay_decision(
    context: ReplayContext,
    person: PersonId,
    job: Job,
    step: ReplayStep,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
) -> None:
    """Repeat a decision, or record why it could not be repeated."""
    apply_decision = copy_decision if step.kind == "carry" else reapply_decision
    change = source_history.find_change(step.change)
    if change is not None:
        try:
            async with context.app.db.begin_write() as tx:
                await apply_decision(tx, source_history, snapshot, change, now=step.at)
                await ack_step(tx, person, job)
            context.result.upheld += 1
        except (InvalidInput, NotFound) as error:
            snapshot.invalidate()
            context.result.lost.append(f"{change.op} {change.object_id}: {error}")
        else:
            return
    await finish_step(context.app.db, person, job)


def build_cached_model(
    context: ReplayContext, cache: ReplayCache, asker: CallContext, model_role: ModelRole = "small"
) -> LanguageModel | None:
    """Return the cached model of a role, or None if rules read."""
    role_model = context.app.models.get(model_role)
    if role_model is None or context.request.mode == "rules":
        return None
    return CachedModel(
        name=role_model.name,
        models=list_model_names(context.app.settings, role_model, model_role),
        chain=role_model.build_chain,
        cache=cache,
        asker=asker,
        spend_limit=context.spend_limit,
    )


def list_model_names(settings: Settings, make: RoleModel, model_role: ModelRole) -> tuple[str, ...]:
    """Return the models whose answers count as the model's own: all in its fallback chain."""
    return tuple(dict.fromkeys((make.name, *settings.models.for_role(model_role))))
