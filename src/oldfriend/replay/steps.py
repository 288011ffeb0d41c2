"""Replay steps: what happened in the source database, in the order in which to repeat it.

Each segment is read once by each extractor that has found something in it, as it reads now, at the
time of its first reading and, by the second extractor, of its last. The person's decisions,
maintenance, summary rollups and reflections keep their original times.

An interrupted replay can therefore resume in any process. The jobs are never due, so no worker
takes them. The checkpoint also records which source database was replayed and its state.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, Literal

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_TIME, Micros
from oldfriend.domain.errors import InvalidInput, NotFound, StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, JournalEntry, JournalObject, StoredBelief, Summary
from oldfriend.learning import llm_dedup_judge, merge_duplicates, summary_rollup
from oldfriend.learning.extractor_factory import ExtractorChoice
from oldfriend.learning.learning_scheduler import is_consolidated, is_extracted_by_rules
from oldfriend.memory.belief_corrections import BY_PERSON
from oldfriend.memory.consolidation_undo import UNDO_AUTHOR
from oldfriend.memory.deletion.journal_redaction import DELETION_AUTHOR, ORPHAN_AUTHOR
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.expiry import BY_CLOCK
from oldfriend.memory.journal import get_memory_version, list_journal
from oldfriend.memory.people import find_companion
from oldfriend.memory.readers import ReaderKind, find_reader
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionRecord, list_reflections
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.prompts.prompt import drop_version
from oldfriend.queues.jobs_table import delete_jobs, find_first_job
from oldfriend.queues.scheduled_jobs import (
    JobSpec,
    count_scheduled_jobs,
    parse_job_spec,
    schedule_job,
)

ALL_EXTRACTORS: Final[Sequence[ExtractorChoice]] = ("rules", "model")
StepKind = Literal["read", "carry", "uphold", "tidy", "fold", "think"]
ExtractorMode = Literal["as then", "rules", "model"]
""""as then" keeps each segment's original extractor; the others use rules or a model for all."""

MAINTENANCE_AUTHORS: Final = frozenset(
    drop_version(each)
    for each in (merge_duplicates.RULES_AUTHOR, llm_dedup_judge.PROMPT, BY_CLOCK.author)
)
"""Authors of maintenance, in any of their versions; rollups likewise."""
ROLLUP_AUTHORS: Final = frozenset({drop_version(summary_rollup.PROMPT)})
CASCADE_AUTHORS: Final = frozenset({UNDO_AUTHOR, DELETION_AUTHOR})
"""Authors of decisions that followed from a retraction."""
PERSON_OPS: Final = frozenset(
    {
        "pinned",
        "unpinned",
        "confirmed",
        "rejected",
        "unrejected",
        "corrected",
        "learned",
        "merged",
        "separated",
    }
)
"""Operations by the person; any other under their name follows from one of these."""

AFTER_ALL_SEQS: Final = 1 << 62
"""Sorts a reflection after everything read at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHistory:
    """A person's decisions, readings and reflections in the source database."""

    journal: Sequence[JournalEntry]
    evidence: Mapping[ObjectId, Sequence[Evidence]]
    segments: Sequence[Segment]
    reflections: Sequence[ReflectionRecord]  # newest first
    histories: Mapping[ObjectId, Sequence[JournalEntry]]  # the journal by object

    def find_change(self, seq: int) -> JournalEntry | None:
        """Return the decision with a number, or None if it was forgotten."""
        index = bisect_left(self.journal, seq, key=lambda each: each.seq)
        found = self.journal[index] if index < len(self.journal) else None
        return found if found is not None and found.seq == seq else None

    def get_belief_before(self, object_id: ObjectId, seq: int) -> BeliefDetails:
        """Return an object as it was believed just before a decision. Raises NotFound."""
        for change in reversed(self.histories.get(object_id, ())):
            if change.seq < seq:
                return BeliefDetails(
                    content=change.after, evidence=tuple(self.evidence.get(object_id, ()))
                )
        raise NotFound(f"What {object_id} was before is forgotten.")


async def load_source_history(tx: Transaction, person: PersonId) -> SourceHistory:
    """Load everything that happened to a person's memory."""
    journal = await list_journal(tx, person)
    return SourceHistory(
        journal=journal,
        histories=group_by_object(journal),
        evidence=await list_evidence(tx, person),
        segments=await list_segments(tx, person),
        reflections=await list_reflections(tx, person, since=0),
    )


def group_by_object(journal: Iterable[JournalEntry]) -> dict[ObjectId, list[JournalEntry]]:
    """Return the decisions about each object, in order."""
    histories: defaultdict[ObjectId, list[JournalEntry]] = defaultdict(list)
    for change in journal:
        histories[change.object_id].append(change)
    return histories


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStep:
    """One step of a replay, with its original time."""

    kind: StepKind
    at: Micros
    change: int = 0  # seq of the decision to copy or repeat
    segment: SegmentId | None = None  # to read
    extractor: ExtractorChoice = "either"  # which extractor reads it
    reflection: ReflectionKind | None = None  # which reflection to run

    def as_json(self) -> dict[str, JsonValue]:
        """Return the step as stored in its job."""
        return {
            "kind": self.kind,
            "at": self.at,
            "change": self.change,
            "segment": self.segment,
            "by": self.extractor,
            "thinking": self.reflection,
        }


def build_steps(
    source_history: SourceHistory, *, mode: ExtractorMode, since: Micros | None
) -> list[ReplayStep]:
    """Build the steps since a moment (None: all of them), in order."""
    changes, segments = source_history.journal, source_history.segments
    first = map_first_changes(changes)
    found_by = map_extractors(source_history.evidence)
    positioned = (
        [
            (step.at, step.change, step)
            for step in (
                *build_copy_steps(source_history, since=since),
                *build_decision_steps(changes),
                *build_background_steps(changes, MAINTENANCE_AUTHORS, "tidy"),
                *build_background_steps(changes, ROLLUP_AUTHORS, "fold"),
            )
        ]
        + [
            (at, seq, ReplayStep(kind="read", at=at, segment=segment.id, extractor=extractor))
            for segment in segments
            if segment.status != "taken back"
            for at, seq, extractor in list_readings(
                segment,
                found_by.get(segment.id, ()),
                compute_position(segment, first, since=since),
                mode,
            )
        ]
        + [
            (
                tick.ran_at,
                AFTER_ALL_SEQS,
                ReplayStep(kind="think", at=tick.ran_at, reflection=tick.kind),
            )
            for tick in reversed(source_history.reflections)
        ]
    )
    ordered = sorted(positioned, key=lambda each: each[:2])
    return [step for at, _, step in ordered if since is None or at >= since]


def map_first_changes(changes: Sequence[JournalEntry]) -> dict[SegmentId, JournalEntry]:
    """Return the first decision that each segment led to."""
    return {change.segment: change for change in reversed(changes) if change.segment is not None}


def compute_position(
    segment: Segment, first: Mapping[SegmentId, JournalEntry], *, since: Micros | None
) -> tuple[Micros, int]:
    """Return when a segment was first read, and after which decision.

    A segment first read before ``since`` keeps that result, unless it was read again after
    ``since``.
    """
    first_change = first.get(segment.id)
    is_new = segment.generation == 1
    at = segment.ended_at if is_new and segment.ended_at is not None else segment.cut_at
    if first_change is not None:
        at = first_change.decided_at
    if since is not None and at < since and not is_new:
        return segment.ended_at or segment.cut_at, 0
    return at, 0 if first_change is None else first_change.seq


def map_extractors(
    evidence: Mapping[ObjectId, Iterable[Evidence]],
) -> dict[SegmentId, list[ExtractorChoice]]:
    """Return the extractors that have found what is known of each segment, the first one first."""
    found: defaultdict[SegmentId, list[ExtractorChoice]] = defaultdict(list)
    for each in sorted(chain.from_iterable(evidence.values()), key=attrgetter("id")):
        reader = find_reader(each.extractor)
        extractor: ExtractorChoice = "model" if reader is ReaderKind.MODEL else "rules"
        if each.segment is not None and reader is not None and extractor not in found[each.segment]:
            found[each.segment].append(extractor)
    return found


def list_readings(
    segment: Segment,
    found_by: Sequence[ExtractorChoice],
    position: tuple[Micros, int],
    mode: ExtractorMode,
) -> list[tuple[Micros, int, ExtractorChoice]]:
    """Return when to read a segment, after which decision, and by which extractor.

    As then it is read twice where both extractors have found what is known of it.
    """
    last = choose_extractor(segment, mode)
    if mode != "as then" or not is_consolidated(segment):
        return [(*position, last)]
    # A model that came last has summarized it; rules that did may have left all to the model.
    readers = [*found_by, *([last] if last == "model" and last not in found_by else [])]
    if len(readers) < len(ALL_EXTRACTORS):
        return [(*position, readers[0] if readers else last)]
    return [(*position, readers[0]), (segment.ended_at or segment.cut_at, 0, readers[1])]


def choose_extractor(segment: Segment, mode: ExtractorMode) -> ExtractorChoice:
    """Return which extractor is to read a segment."""
    if mode != "as then":
        return mode
    if not is_consolidated(segment) and segment.author is None:
        return "either"
    return "rules" if is_extracted_by_rules(segment) else "model"


def build_copy_steps(
    source_history: SourceHistory, *, since: Micros | None
) -> Iterator[ReplayStep]:
    """Yield the decisions to copy unchanged, because no message can teach them again.

    These are notes, and beliefs kept when the messages behind them were forgotten. Of beliefs from
    before ``since``, also the decisions that followed from a later retraction.
    """
    changes, supported = source_history.journal, source_history.evidence.keys()
    segment_ids = {segment.id for segment in source_history.segments}
    orphans = {change.object_id for change in changes if change.author == ORPHAN_AUTHOR}
    orphans |= list_unsupported_beliefs(changes, supported)
    earlier_objects = {
        each.object_id for each in changes if since is not None and each.decided_at < since
    }
    known: set[ObjectId] = set()
    for change in changes:
        is_new = change.object_id not in known
        if (
            is_note(change)
            or (change.object_id in earlier_objects and change.author in CASCADE_AUTHORS)
            or (change.object_id in orphans and (is_new or is_kept_orphan(change, segment_ids)))
        ):
            known.add(change.object_id)
            at = change.after.learned_at if is_new else change.decided_at
            yield ReplayStep(kind="carry", at=at, change=change.seq)


def list_unsupported_beliefs(
    changes: Sequence[JournalEntry], supported: Collection[ObjectId]
) -> set[ObjectId]:
    """Return the beliefs that are or were valid although their evidence is gone."""
    newest = {change.object_id: change.after for change in changes}
    return {
        change.object_id
        for change in changes
        if change.previous_seq == 0
        and change.segment is not None
        and not change.causes
        and change.object_id not in supported
        and is_or_was_valid(newest[change.object_id])
    }


def is_or_was_valid(belief: JournalObject) -> bool:
    """Return whether something is believed, or was until it ended naturally."""
    is_over = isinstance(belief, StoredBelief) and belief.status in {
        "fulfilled",
        "expired",
        "superseded",
    }
    return not isinstance(belief, Summary) and (belief.ended_at is None or is_over)


def is_kept_orphan(change: JournalEntry, segment_ids: set[SegmentId]) -> bool:
    """Return whether a decision about an orphan rests on a deleted segment, or keeps the orphan."""
    is_gone = change.segment is not None and change.segment not in segment_ids
    return is_gone or change.author == ORPHAN_AUTHOR


def is_note(change: JournalEntry) -> bool:
    """Return whether a decision is about a note, which the person asked to remember."""
    return isinstance(change.after, StoredBelief) and change.after.kind == "note"


def build_decision_steps(changes: Sequence[JournalEntry]) -> Iterator[ReplayStep]:
    """Yield the person's other decisions; a separation, which is two decisions, counts once."""
    by_person = [each for each in changes if each.author == BY_PERSON.author]
    before: JournalEntry | None = None
    for change in by_person:
        is_second = before is not None and is_same_separation(before, change)
        if change.op in PERSON_OPS and not is_note(change) and not is_second:
            yield ReplayStep(kind="uphold", at=change.decided_at, change=change.seq)
        before = None if is_second else change


def is_same_separation(first: JournalEntry, second: JournalEntry) -> bool:
    """Return whether two decisions separate the same two objects."""
    return first.op == second.op == "separated" and first.seq + 1 == second.seq


def build_background_steps(
    changes: Iterable[JournalEntry], authors: frozenset[str], kind: StepKind
) -> Iterator[ReplayStep]:
    """Yield when background work with visible results was done."""
    done = [
        each
        for each in changes
        if drop_version(each.author) in authors and is_visible_maintenance(each)
    ]
    for before, change in pairwise([None, *done]):
        assert change is not None
        if before is None or before.decided_at != change.decided_at:
            yield ReplayStep(kind=kind, at=change.decided_at, change=change.seq)


def is_visible_maintenance(change: JournalEntry) -> bool:
    """Return whether a decision shows by itself that maintenance or a rollup ran then."""
    if isinstance(change.after, Summary):
        return change.op == "learned"
    return change.op in {"merged", "deprecated", "expired"}


REPLAY_JOB: Final = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCheckpoint:
    """A replay in progress: its options and the source database."""

    model: str  # reads all segments; empty: the original extractors
    since: Micros | None
    people: tuple[PersonId, ...]
    source: Mapping[str, JsonValue]  # fingerprint of the source database

    def as_json(self) -> dict[str, JsonValue]:
        """Return the checkpoint as stored."""
        return {
            "model": self.model,
            "since": self.since,
            "people": [*self.people],
            "source": dict(self.source),
        }


async def fingerprint_database(
    tx: Transaction, person_ids: Sequence[PersonId]
) -> dict[str, JsonValue]:
    """Return what identifies a database and changes whenever data is deleted from it."""
    companion = await find_companion(tx)
    rewritten: dict[str, JsonValue] = {
        each: (await get_memory_version(tx, each)).rewritten for each in person_ids
    }
    return {"companion": "" if companion is None else companion.id, "rewritten": rewritten}


async def find_checkpoint(tx: Transaction) -> ReplayCheckpoint | None:
    """Return the unfinished replay of this database, or None."""
    job = await find_first_job(tx, "agenda", REPLAY_JOB)
    if job is None:
        return None
    match parse_job_spec(job).arguments:
        case {
            "model": str(model),
            "since": int() | None as since,
            "people": list(people),
            "source": dict(source),
        }:
            return ReplayCheckpoint(
                model=model,
                since=since,
                people=tuple(PersonId(str(each)) for each in people),
                source=source,
            )
    return None


async def save_checkpoint(tx: Transaction, checkpoint: ReplayCheckpoint, *, now: Micros) -> None:
    """Record that a replay begins."""
    job = JobSpec(name=REPLAY_JOB, arguments=checkpoint.as_json())
    await schedule_job(tx, REPLAY_JOB, job, person=None, now=now, due_at=MAX_TIME)


async def enqueue_steps(
    tx: Transaction, person: PersonId, steps: Sequence[ReplayStep], *, now: Micros
) -> None:
    """Enqueue a person's steps in order."""
    for index, step in enumerate(steps):
        job = JobSpec(name=REPLAY_JOB, arguments=step.as_json())
        # Distinct and ordered, so that the next step is found at once.
        due_at = MAX_TIME - len(steps) + index
        await schedule_job(
            tx, build_replay_partition(person), job, person=person, now=now, due_at=due_at
        )


def build_replay_partition(person: PersonId) -> str:
    """Return the partition of a person's steps."""
    return f"{REPLAY_JOB}:{person}"


async def find_next_step(tx: Transaction, person: PersonId) -> tuple[Job, ReplayStep] | None:
    """Return a person's next step; None if all are done."""
    queued = await find_first_job(tx, "agenda", build_replay_partition(person))
    return None if queued is None else (queued, parse_step(parse_job_spec(queued)))


def parse_step(job: JobSpec) -> ReplayStep:
    """Parse the step of a job. Raises InvalidInput."""
    match job.arguments:
        case {
            "kind": "read" | "carry" | "uphold" | "tidy" | "fold" | "think" as kind,
            "at": int(at),
            "change": int(change),
            "segment": str() | None as segment,
            "by": "rules" | "model" | "either" as by,
            "thinking": "reflection" | "slow tick" | "description" | None as thinking,
        }:
            segment_id = None if segment is None else SegmentId(segment)
            return ReplayStep(
                kind=kind,
                at=at,
                change=change,
                segment=segment_id,
                extractor=by,
                reflection=thinking,
            )
    raise InvalidInput(f"This is no step of a replay: {dict(job.arguments)}")


async def count_remaining_steps(tx: Transaction, person_ids: Sequence[PersonId]) -> int:
    """Return how many steps are left for these people."""
    return await count_scheduled_jobs(
        tx, REPLAY_JOB, partitions=[build_replay_partition(each) for each in person_ids]
    )


async def ack_step(tx: Transaction, person: PersonId, job: Job) -> None:
    """Delete a finished step in the transaction that does its work. Raises StaleDecision.

    The caller holds the person's lock, so that no other process runs the same step.
    """
    next_job = await find_first_job(tx, job.queue, job.partition)
    if next_job is None or next_job.seq != job.seq:
        raise StaleDecision(f"Another process goes on with the replay of {person}.")
    await delete_jobs(tx, [job])


async def delete_checkpoint(tx: Transaction) -> None:
    """Delete the checkpoint of a finished replay."""
    job = await find_first_job(tx, "agenda", REPLAY_JOB)
    if job is not None:
        await delete_jobs(tx, [job])
