"""Life with a model: a blind life read and asked about with a language model in all roles.

    python -m oldfriend_evals.life_with_model FOLDER --requests DIR [--out FILE] [--questions N]
    python -m oldfriend_evals.life_with_model FOLDER --regrade DIR [--out FILE]

The model is whoever writes the answers (``answer_files``): each request waits in DIR. Run again
with the same DIR, and what was answered is not asked again. ``--messages N`` plays the beginning of
a life alone. ``--regrade`` grades the replies that stand in DIR anew, without a model. Tokens are
estimates; a value of one digit can match by chance, days count in whatever form they are written.
"""

import argparse
import asyncio
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias
from unittest.mock import patch

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import MemorySettings, ModelSettings, ProviderSettings
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning import validate
from oldfriend.learning.extraction import Claim, EntityMention, RelationClaim, SameAsClaim
from oldfriend.learning.learning_scheduler import maintain_memory
from oldfriend.learning.summary_rollup import count_words
from oldfriend.learning.validate import ClaimCheck
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView
from oldfriend.memory.receipts import find_receipt
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.maintenance import maintain
from oldfriend.runtime.wiring import open_app
from oldfriend.turn import companion_state, message_analysis
from oldfriend_evals.answer_files import AnswerFiles, list_written, serve_answers
from oldfriend_evals.blind_lives import (
    BlindLife,
    Record,
    Stored,
    holds,
    list_stored,
    load_blind_life,
    matches,
    say_all,
)
from oldfriend_evals.reply_grading import grade_reply
from oldfriend_evals.temporary_stores import build_settings

Quoted: TypeAlias = Claim | RelationClaim | EntityMention | SameAsClaim
ClaimOrReason: TypeAlias = Claim | validate.UnconfirmedClaim | RejectionReason
PATIENCE_S: Final = 1e6
"""How long an answer is waited for."""
PROVIDER: Final = "answers"
READING: Final = "reading"
"""Label of all requests that are made before the first question."""
AT_ONCE: Final = 10
"""Questions that wait for answers at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A claim that a gate of the validation refused, and the messages that it quotes."""

    gate: str
    text: str
    messages: tuple[str, ...]


def build_model_settings(place: Path, life: BlindLife, address: str) -> Settings:
    """Settings with the answer files as the model of every role, which may take any time."""
    settings = build_settings(place)
    return replace(
        settings,
        zone=life.about["zone"],
        models=ModelSettings(
            small=(f"{PROVIDER}:small",),
            main=(f"{PROVIDER}:main",),
            reflect=(f"{PROVIDER}:reflect",),
        ),
        providers={PROVIDER: ProviderSettings(base_url=address, silence_s=PATIENCE_S)},
        limits=replace(settings.limits, turn_timeout_s=PATIENCE_S),
        memory=MemorySettings(imports_by_model=True),
    )


@contextmanager
def record_refusals() -> Iterator[list[Refusal]]:
    """Record what the validation refuses, claim by claim."""
    refusals: list[Refusal] = []
    validate_claim, iter_valid = validate.validate_claim, validate.iter_valid

    def check_claim(claim: Claim, view: SegmentView, checks: Sequence[ClaimCheck]) -> ClaimOrReason:
        outcome = validate_claim(claim, view, checks)
        if isinstance(outcome, str):
            refusals.append(build_refusal(outcome, claim))
        return outcome

    def check_others(
        candidates: Iterable[Quoted],
        check: object,
        view: object,
        rejected: Counter[str],
        *,
        is_sure: object,
    ) -> Iterator[Quoted]:
        for each in candidates:
            reasons = Counter[str]()
            yield from iter_valid([each], check, view, reasons, is_sure=is_sure)  # type: ignore[arg-type]
            refusals.extend(build_refusal(reason, each) for reason in reasons)
            rejected.update(reasons)

    with ExitStack() as patches:
        patches.enter_context(patch.object(validate, "validate_claim", check_claim))
        patches.enter_context(patch.object(validate, "iter_valid", check_others))
        yield refusals


def build_refusal(gate: str, refused: Quoted) -> Refusal:
    """Describe what was refused."""
    messages = tuple(dict.fromkeys(str(each.message) for each in refused.quotes))
    return Refusal(gate=gate, text=describe_refused(refused), messages=messages)


def describe_refused(refused: Quoted) -> str:
    """Return what a refused claim says."""
    match refused:
        case Claim():
            return f"{refused.kind}: {refused.text} {refused.value}".rstrip()
        case RelationClaim():
            return f"{refused.kind}: {refused.claim.text}"
        case EntityMention():
            return f"name: {refused.name}"
        case SameAsClaim():
            return f"same: {refused.one}, {refused.other}"


async def play_life(app: AppContext, life: BlindLife) -> ChatContext:
    """Have everything said, read by the model, rolled up, merged and thought over."""
    line = await say_all(app, life)
    await learn_now(app, line.person.id, cut_reason="asked")
    await maintain(app, line.person.id)
    await maintain_memory(app, line.person.id)
    await maintain(app, line.person.id)
    return line


async def measure_reading(
    app: AppContext, life: BlindLife, line: ChatContext, refusals: Sequence[Refusal]
) -> dict[str, Any]:
    """Count what was read, at which cost, and what became of the claims."""
    person = line.person.id
    async with app.db.begin_read() as tx:
        calls = await tx.rows(
            """SELECT purpose, outcome, count(*), sum(tokens_in), sum(tokens_out) FROM model_call
               WHERE person = :person GROUP BY purpose, outcome ORDER BY purpose, outcome""",
            person=person,
        )
        segments = await list_segments(tx, person)
    names = await load_external_ids(app, person)
    stored = await list_stored(app, line)
    captured = {
        fact["id"] for fact in life.facts for each in stored if matches(each, fact, "evidence")
    }
    words = sum(count_words(message["text"]) for message in life.messages)
    spent = sum(row[3] + row[4] for row in calls if row[0] == "extract")
    return {
        "words": words,
        "segments": dict(Counter(each.status for each in segments)),
        "calls": [
            dict(zip(("purpose", "outcome", "calls", "in", "out"), row, strict=True))
            for row in calls
        ],
        "tokens_per_word": round(spent / max(words, 1), 1),
        "facts": len(life.facts),
        "captured": len(captured),
        "missed": [fact["statement"] for fact in life.facts if fact["id"] not in captured],
        "beliefs": [judge_belief(life, each) for each in stored],
        "gates": dict(count_outcomes(segments, "rejected").most_common()),
        "resolution": dict(count_outcomes(segments, "refused").most_common()),
        "refusals": [judge_refusal(life, each, names, captured) for each in refusals],
    }


async def load_external_ids(app: AppContext, person: PersonId) -> dict[str, str]:
    """Load the names that the life gives to messages, by our ids."""
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT id, external_id FROM message WHERE person = :p", p=person)
    return {row[0]: row[1] or "" for row in rows}


def count_outcomes(segments: Sequence[Segment], part: str) -> Counter[str]:
    """Add up a count of all segments' outcomes."""
    counts = Counter[str]()
    for each in segments:
        outcome = each.outcome.get(part)
        counts.update(outcome if isinstance(outcome, dict) else {})
    return counts


def judge_belief(life: BlindLife, belief: Stored) -> dict[str, Any]:
    """Say whether a belief is right, as a trap would have it, or junk."""
    right = [fact["id"] for fact in life.facts if matches(belief, fact, "evidence")]
    trapped = any(matches(belief, trap, "messages") for trap in life.traps)
    verdict = "right" if right else "trap" if trapped else "junk"
    return {
        "verdict": verdict,
        "text": belief.text.strip(),
        "messages": sorted(belief.messages),
        "facts": right,
    }


def judge_refusal(
    life: BlindLife, refusal: Refusal, names: Mapping[str, str], captured: set[str]
) -> dict[str, Any]:
    """Say which facts a refused claim tells, and which of them were learned from no other."""
    quoted = frozenset(names.get(each, each) for each in refusal.messages)
    claim = Stored(text=refusal.text, messages=quoted)
    facts = [fact["id"] for fact in life.facts if matches(claim, fact, "evidence")]
    return {
        **asdict(refusal),
        "messages": sorted(quoted),
        "facts": facts,
        "lost": [each for each in facts if each not in captured],
    }


async def ask(
    folder: Path, life: BlindLife, question: Record, files: AnswerFiles
) -> dict[str, Any]:
    """Ask one question in a copy of the store, and grade the reply and its prompt."""
    label = str(question["id"])
    with TemporaryDirectory(prefix="oldfriend-life-") as copied:
        place = Path(copied) / "data"
        shutil.copytree(folder, place)
        settings = build_model_settings(place, life, files.address(label))
        async with open_app(settings, clock=lambda: life.end) as app:
            line = await open_local_chat(
                app.db, app.clock, app.settings, person=life.about["person"], channel="terminal"
            )
            answered = await answer_message(app, line, MessageSubmission(text=question["text"]))
            async with app.db.begin_read() as tx:
                receipt = await find_receipt(tx, line.person.id)
    exchanges = files.list_exchanges(label, "main")
    prompt = exchanges[-1].prompt.replace(question["text"], "") if exchanges else ""
    others = files.list_exchanges(label, "small")
    return {
        **{part: question[part] for part in ("id", "kind", "text", "answerable", "answers")},
        "reply": answered.reply.text,
        **grade_reply(life, question, answered.reply.text),
        **grade_prompt(life, question, prompt),
        "requests": [each.number for each in [*others, *exchanges]],
        "prompt_tokens": exchanges[-1].tokens_in if exchanges else 0,
        "all_tokens": sum(each.tokens_in + each.tokens_out for each in [*others, *exchanges]),
        "context": {} if receipt is None else receipt.details.get("context", {}),
    }


def grade_prompt(life: BlindLife, question: Record, prompt: str) -> dict[str, Any]:
    """Say whether a prompt holds the messages, and the values, that an answer needs."""
    shown = flatten(prompt)
    texts = {message["id"]: flatten(message["text"]) for message in life.messages}
    absent = [
        group
        for group in question["evidence"]
        if not any(texts[each] in shown for each in group if each in texts)
    ]
    return {
        "evidence_in_prompt": not absent,
        "evidence_absent": absent,
        "values_in_prompt": all(
            any(holds(shown, form) for form in part) for part in question["answers"]
        ),
    }


def regrade(life: BlindLife, requests: Path) -> list[dict[str, Any]]:
    """Grade the replies that were written into a folder, of each question the last."""
    replies = {each.label: each for each in list_written(requests) if each.model == "main"}
    return [
        {
            **{part: question[part] for part in ("id", "kind", "text", "answerable", "answers")},
            "reply": written.reply,
            **grade_reply(life, question, written.reply),
            **grade_prompt(life, question, written.prompt.replace(question["text"], "")),
            "requests": [written.number],
            "prompt_tokens": written.tokens_in,
        }
        for question in life.questions
        if (written := replies.get(str(question["id"]))) is not None
    ]


def flatten(text: str) -> str:
    """Return a text with single blanks."""
    return " ".join(text.split())


def choose_questions(questions: Sequence[Record], count: int | None) -> list[Record]:
    """Choose so many questions, evenly over their kinds, in their own order."""
    by_kind: dict[str, list[Record]] = {}
    for each in questions:
        by_kind.setdefault(each["kind"], []).append(each)
    in_turn = [each for each in chain(*zip_longest(*by_kind.values())) if each is not None]
    chosen = {each["id"] for each in in_turn[:count]}
    return [each for each in questions if each["id"] in chosen]


def shorten_life(life: BlindLife, count: int | None) -> BlindLife:
    """Return the first messages of a life, and what rests on these alone."""
    messages = life.messages[:count]
    ids = {message["id"] for message in messages}
    return replace(
        life,
        messages=messages,
        facts=[each for each in life.facts if ids.issuperset(each["evidence"])],
        traps=[each for each in life.traps if ids.issuperset(each["messages"])],
        questions=[each for each in life.questions if ids.issuperset(chain(*each["evidence"]))],
    )


async def measure_life(
    life: BlindLife, requests: Path, questions: int | None = None
) -> dict[str, Any]:
    """Play a life, ask about it, and report."""
    chosen = choose_questions(life.questions, questions)
    with (
        TemporaryDirectory(prefix="oldfriend-life-") as stored,
        patch.object(message_analysis, "ANALYSIS_TIMEOUT_S", PATIENCE_S),
        patch.object(companion_state, "derive_random_value", choose_first_style),
        record_refusals() as refusals,
    ):
        place = Path(stored) / "data"
        place.mkdir()
        async with serve_answers(requests) as files:
            settings = build_model_settings(place, life, files.address(READING))
            async with open_app(settings, clock=lambda: life.end) as app:
                line = await play_life(app, life)
                reading = await measure_reading(app, life, line, refusals)
            sys.stdout.write(format_reading(reading))
            sys.stdout.flush()
            answers = await ask_all(place, life, chosen, files)
    return {"life": life.name, "reading": reading, "questions": answers}


def choose_first_style(_: MessageId) -> float:
    """Choose the most usual style of a reply, which would else depend on a random id."""
    return 0.0


async def ask_all(
    place: Path, life: BlindLife, questions: Sequence[Record], files: AnswerFiles
) -> list[dict[str, Any]]:
    """Ask all questions, some of them at once."""
    free = asyncio.Semaphore(AT_ONCE)

    async def ask_one(question: Record) -> dict[str, Any]:
        async with free:
            return await ask(place, life, question, files)

    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(ask_one(each)) for each in questions]
    return [each.result() for each in asked]


def format_reading(reading: Mapping[str, Any]) -> str:
    """Format what was read as lines of text."""
    verdicts = Counter(each["verdict"] for each in reading["beliefs"])
    refused_right = [each for each in reading["refusals"] if each["facts"]]
    lost = {fact for each in refused_right for fact in each["lost"]}
    lines = [
        f"{'purpose':12} {'outcome':8} {'calls':>5} {'tokens in':>10} {'tokens out':>10}",
        *map(format_calls, reading["calls"]),
        f"segments: {format_counts(reading['segments'])}",
        f"tokens of reading per word said: {reading['tokens_per_word']} ({reading['words']} words)",
        f"facts captured: {reading['captured']} of {reading['facts']}",
        f"beliefs: {len(reading['beliefs'])}, {format_counts(verdicts)}",
        f"claims refused: {format_counts(reading['gates'])}",
        f"refused in resolution: {format_counts(reading['resolution'])}",
        f"refused although right: {len(refused_right)}, facts lost by it: {len(lost)}",
    ]
    return "\n".join(lines) + "\n"


def format_calls(row: Mapping[str, Any]) -> str:
    """Format the calls of one purpose."""
    return (
        f"{row['purpose']:12} {row['outcome']:8} {row['calls']:5} {row['in']:10,} {row['out']:10,}"
    )


def format_counts(counts: Mapping[str, int]) -> str:
    """Format counts on a line."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def format_answers(answers: Sequence[Mapping[str, Any]]) -> str:
    """Format a line for each kind of question, and one for all."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for each in answers:
        by_kind.setdefault(each["kind"], []).append(each)
    head = (
        f"{'kind':16} {'asked':>5} {'answerable':>10} {'right':>5} {'mixed':>5} {'declined':>8} "
        f"{'wrong':>5} {'unanswerable':>12} {'declined':>8} {'wrong values':>12} "
        f"{'evidence':>8} {'values':>6} {'tokens':>6}"
    )
    rows = [format_row(kind, some) for kind, some in [*by_kind.items(), ("all", answers)]]
    return "\n".join([head, *rows]) + "\n"


def format_row(name: str, answers: Sequence[Mapping[str, Any]]) -> str:
    """Format the counts of some answers."""
    answerable = [each for each in answers if each["answerable"]]
    verdicts = Counter(each["verdict"] for each in answerable)
    declined = sum(not each["answerable"] and each["verdict"] == "declined" for each in answers)
    tokens = sum(each["prompt_tokens"] for each in answers) // max(len(answers), 1)
    return (
        f"{name:16} {len(answers):5} {len(answerable):10} {verdicts['right']:5} "
        f"{verdicts['mixed']:5} {verdicts['declined']:8} {verdicts['wrong']:5} "
        f"{len(answers) - len(answerable):12} {declined:8} "
        f"{sum(bool(each['wrong_values']) for each in answers):12} "
        f"{sum(each['evidence_in_prompt'] for each in answerable):8} "
        f"{sum(each['values_in_prompt'] for each in answerable):6} {tokens:6}"
    )


def main() -> None:
    """Measure the life that the command line names."""
    parser = argparse.ArgumentParser(prog="life_with_model", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--requests", type=Path)
    parser.add_argument("--regrade", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--questions", type=int)
    parser.add_argument("--messages", type=int)
    options = parser.parse_args()
    life = shorten_life(load_blind_life(options.folder), options.messages)
    if (options.requests is None) == (options.regrade is None):
        parser.error("give one of --requests and --regrade")
    if options.regrade is not None:
        report: dict[str, Any] = {"life": life.name, "questions": regrade(life, options.regrade)}
    else:
        report = asyncio.run(measure_life(life, options.requests, options.questions))
    if options.out is not None:
        options.out.write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")
    sys.stdout.write(format_answers(report["questions"]))


if __name__ == "__main__":
    main()
