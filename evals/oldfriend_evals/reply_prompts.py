"""Reply prompts: what they hold of a life, how long they are, how much a provider can cache.

A life of ``blind/`` is read by rules, or by the scripted model of ``model_reading``, which tells
each fact of it. Each question is then asked in a new chat, without a word before; some are asked
one after another in one chat, a minute apart, to see how much of a prompt is as in the turn before.

    python -m oldfriend_evals.reply_prompts [FOLDER ...]
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import MemorySettings
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.ids import MessageId, ObjectId, SessionId, new_id
from oldfriend.domain.messages import estimate_tokens
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.llm.model import CompletionRequest, PromptTurn, move_call_instructions
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.wiring import open_app
from oldfriend.turn.intent import Addressee
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.request_handlers.registry import REQUEST_HANDLERS
from oldfriend.turn.tools.tool import InMemoryToolCallStore
from oldfriend.turn.tools.tool_registry import TOOLS
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Utterance
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target, build_upper_target
from oldfriend_evals.blind_lives import (
    FOLDER,
    BlindLife,
    Record,
    holds,
    load_blind_life,
    say_all,
)
from oldfriend_evals.lives.simulation import Calendar
from oldfriend_evals.model_reading import ReadingCost, ScriptedReader, flatten
from oldfriend_evals.model_roles import with_models
from oldfriend_evals.temporary_stores import build_settings

LIVES: Final = ("en-casual-1", "en-chat-1")
READERS: Final[Mapping[str, bool]] = {"read by rules": False, "read by a model": True}
IN_A_ROW: Final = 8
"""Questions that are asked one after another in one chat."""
HELD, TOKENS, ONCE = 90.0, 2_700, 1.1
"""Percent of the answers whose words are shown, tokens at most, showings of a fact on average."""


@dataclass(slots=True)
class PromptFigures:
    """What the prompts of a life's questions have shown."""

    asked: int = 0
    answerable: int = 0
    messages: int = 0  # questions with the messages that their answer rests on
    evidence: int = 0  # the same, or beliefs that rest on them
    values: int = 0  # questions with the words of their answer
    facts: int = 0  # facts that stand in prompts
    showings: int = 0  # how often these stand there, all together
    tokens: list[int] = field(default_factory=list)
    kept: list[int] = field(
        default_factory=list
    )  # tokens shared with the prompt of the turn before
    total: list[int] = field(default_factory=list)  # tokens of the turns in a row

    @property
    def showings_per_fact(self) -> float:
        """How often a fact stands in a prompt that tells it."""
        return self.showings / max(self.facts, 1)

    def add(self, other: "PromptFigures") -> None:
        """Add the figures of another life."""
        for name in ("asked", "answerable", "messages", "evidence", "values"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.facts, self.showings = self.facts + other.facts, self.showings + other.showings
        self.tokens += other.tokens
        self.kept += other.kept
        self.total += other.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the store of a life holds, by our ids."""

    names: Mapping[str, str]  # the life's ids of messages
    texts: Mapping[str, str]  # of messages and beliefs
    sources: Mapping[str, frozenset[str]]  # the life's ids of the messages that something rests on


async def measure_prompts(folder: Path, *, by_model: bool) -> PromptFigures:
    """Have a life read, ask about it, and look at the prompts."""
    life = load_blind_life(folder)
    figures, calendar = PromptFigures(), Calendar(now=life.end)
    with TemporaryDirectory(prefix="oldfriend-prompts-") as place:
        settings = replace(
            build_settings(Path(place)),
            zone=life.about["zone"],
            language=life.about["language"],
            memory=MemorySettings(imports_by_model=by_model),
        )
        async with open_app(settings, clock=calendar) as app:
            reader = ScriptedReader(life=life, cost=ReadingCost(words=1))
            if by_model:
                app = with_models(app, {"small": ScriptedModel(reader.answer)})
            line = await read_life(app, life)
            known = await load_known(app, line)
            for question in life.questions:
                request = await build_request(app, line, life, question["text"])
                judge_request(figures, life, question, request, known)
            await ask_in_a_row(app, life, figures, calendar)
    return figures


async def read_life(app: AppContext, life: BlindLife) -> ChatContext:
    """Have everything imported, embedded and read."""
    line = await say_all(app, life)
    await learn_now(app, line.person.id, cut_reason="asked")
    return line


async def load_known(app: AppContext, line: ChatContext) -> Known:
    """Load the messages and the beliefs, and what these rest on."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, line.person.id)
        memories = await list_memories(tx, line.person.id, live=False)
        evidence = await list_object_evidence(
            tx, line.person.id, [each.memory.id for each in memories]
        )
    names = {str(each.id): each.external_id or "" for each in messages}
    texts = {str(each.id): each.text for each in messages}
    texts |= {str(each.memory.id): f"{each.memory.text} {each.memory.value}" for each in memories}
    sources = {id_: frozenset({name}) for id_, name in names.items()}
    sources |= {
        str(id_): frozenset(names.get(str(each.message), "") for each in words)
        for id_, words in evidence.items()
    }
    return Known(names=names, texts=texts, sources=sources)


async def build_request(
    app: AppContext, line: ChatContext, life: BlindLife, text: str
) -> CompletionRequest:
    """Return what a model is sent for a question in a new chat; nothing is written."""
    new_line = await open_local_chat(
        app.db, app.clock, app.settings, person=life.about["person"], channel="whatsapp"
    )
    async with app.db.begin_read() as tx:
        last = (await list_messages(tx, line.person.id))[-1]
        companion = await get_companion(tx)
    message = replace(
        last,
        id=MessageId(ObjectId(new_id(life.end))),
        seq=last.seq + 1,
        chat=new_line.chat.id,
        session=SessionId(ObjectId(new_id(life.end))),
        role="person",
        trust="person",
        speaker=life.about["person"],
        text=text,
        at=life.end,
        zone=life.about["zone"],
        external_id=None,
        details={},
    )
    model = ScriptedModel(["Fine."])
    utterance = Utterance(
        message=message,
        person=line.person,
        companion=companion,
        addressee=Addressee(name=companion.name, languages=(life.about["language"],)),
        is_first_in_chat=False,
    )
    deps = TurnDependencies(
        search_deps=app.search_deps,
        model=model,
        call_store=InMemoryToolCallStore(),
        clock=app.clock,
        tools=TOOLS,
        handlers=REQUEST_HANDLERS,
    )
    await run_turn(utterance, deps)
    return model.requests[0]


def judge_request(
    figures: PromptFigures,
    life: BlindLife,
    question: Record,
    request: CompletionRequest,
    known: Known,
) -> None:
    """Say what a prompt holds for a question."""
    prompt = request.system_prompt + "\n\n" + request.call_instructions
    shown, ids = flatten(prompt), [each for each in request.shown if each in known.texts]
    figures.asked += 1
    figures.tokens.append(count_tokens(request))
    by_fact = count_showings(life, ids, known)
    figures.facts += len(by_fact)
    figures.showings += by_fact.total()
    if question["answerable"]:
        resting = {name for each in ids for name in known.sources.get(each, ())}
        told = {each["id"] for each in life.messages if flatten(each["text"]) in shown}
        figures.answerable += 1
        figures.messages += holds_each(question["evidence"], told)
        figures.evidence += holds_each(question["evidence"], told | resting)
        figures.values += all(
            any(holds(shown, form) for form in part) for part in question["answers"]
        )


def holds_each(groups: Iterable[Collection[str]], told: Collection[str]) -> bool:
    """Whether of each group one is told."""
    return all(any(each in told for each in group) for group in groups)


def count_showings(life: BlindLife, ids: Sequence[str], known: Known) -> Counter[str]:
    """Count how often each fact stands in a prompt: as a message, or as a belief that tells it."""
    return Counter(
        fact["id"]
        for each in ids
        for fact in life.facts
        if not known.sources.get(each, frozenset()).isdisjoint(fact["evidence"])
        and any(holds(known.texts[each], value) for value in fact["values"])
    )


def count_tokens(request: CompletionRequest) -> int:
    """Estimate the tokens of a request's texts."""
    return estimate_tokens(render_texts(request))


def render_texts(request: CompletionRequest) -> str:
    """Return all texts of a request in the order in which a provider gets them."""
    request = move_call_instructions(request)
    turns = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)]
    return "\n\n".join([request.system_prompt, request.call_instructions, *turns])


async def ask_in_a_row(
    app: AppContext, life: BlindLife, figures: PromptFigures, calendar: Calendar
) -> None:
    """Ask some questions in one chat, and see how much of each prompt was in the one before."""
    main = ScriptedModel(["Fine."])
    app = with_models(app, {"main": main})
    line = await open_local_chat(
        app.db, app.clock, app.settings, person=life.about["person"], channel="terminal"
    )
    for question in life.questions[:IN_A_ROW]:
        calendar.now += MINUTE
        await answer_message(app, line, MessageSubmission(text=question["text"]))
    texts = [*map(render_texts, main.requests)]
    for before, text in pairwise(texts):
        figures.kept.append(estimate_tokens(find_common_prefix(before, text)))
        figures.total.append(estimate_tokens(text))


def find_common_prefix(one: str, other: str) -> str:
    """Return the characters with which both texts begin."""
    pairs = zip(one, other, strict=False)
    return "".join(char for char, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def compute_mean(values: Sequence[float]) -> float:
    """Return the mean of some values, 0 of none."""
    return sum(values) / max(len(values), 1)


def format_figures(name: str, figures: PromptFigures) -> str:
    """Say in a line what the prompts of a life held."""
    return (
        f"{name}: evidence as messages {figures.messages}/{figures.answerable}, also as beliefs "
        f"{figures.evidence}, values {figures.values}; tokens "
        f"{compute_mean(figures.tokens):.0f} on average, {max(figures.tokens)} at most; each fact "
        f"shown {figures.showings_per_fact:.2f} times; "
        f"in a row {compute_mean(figures.kept):.0f} of {compute_mean(figures.total):.0f} "
        "tokens as before"
    )


async def measure_lives(folders: Iterable[Path]) -> None:
    """Measure the lives, and print a line for each and one for all, for each way of reading."""
    lives = [*folders]
    for name, by_model in READERS.items():
        total = PromptFigures()
        for folder in lives:
            figures = await measure_prompts(folder, by_model=by_model)
            sys.stdout.write(f"{format_figures(f'{folder.name}, {name}', figures)}\n")
            sys.stdout.flush()
            total.add(figures)
        sys.stdout.write(f"{format_figures(f'all, {name}', total)}\n")


async def measure_reply_prompts(_scope: Scope) -> list[Measure]:
    """What the prompts hold of two lives that a model has read."""
    figures = PromptFigures()
    for name in LIVES:
        figures.add(await measure_prompts(FOLDER / name, by_model=True))
    held = 100 * figures.values / max(figures.answerable, 1)
    kept = 100 * sum(figures.kept) / max(sum(figures.total), 1)
    return [
        Measure(
            name="reply prompts: hold the words of the answer",
            value=held,
            unit="%",
            target=build_lower_target(HELD),
            note=f"{figures.values} of {figures.answerable}; training side",
        ),
        Measure(
            name="reply prompts: longest",
            value=float(max(figures.tokens)),
            unit="tokens",
            target=build_upper_target(TOKENS),
            note=f"{compute_mean(figures.tokens):.0f} on average, in a new chat",
        ),
        Measure(
            name="reply prompts: showings of a fact",
            value=figures.showings_per_fact,
            unit="times",
            target=build_upper_target(ONCE),
            note="as a belief or a message, in a prompt that tells it",
        ),
        Measure(
            name="reply prompts: beginning as in the turn before",
            value=kept,
            unit="%",
            note="what a provider's cache can keep",
        ),
    ]


if __name__ == "__main__":
    asyncio.run(
        measure_lives(
            map(Path, sys.argv[1:]) if sys.argv[1:] else [FOLDER / name for name in LIVES]
        )
    )
