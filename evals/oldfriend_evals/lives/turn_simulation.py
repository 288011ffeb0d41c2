"""Simulation by turns and jobs: somebody talks with the companion for months.

Every line of the person is answered by a turn; everything else is done by the jobs that the
product plans for itself, each when it is due by a clock that goes on from line to line. The
models are scripted. Collects what was to be seen, and judges nothing.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final, get_args

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import ContextSettings, ModelRole
from oldfriend.domain.clock import HOUR, MINUTE, Micros, from_micros, parse_timestamp
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.inbound.accept import MessageSubmission
from oldfriend.learning.learning_scheduler import enqueue_learning_for_import
from oldfriend.llm.model import CompletionRequest, PromptTurn, Purpose
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.core_blocks import BLOCK_NAMES, KeptBlockName, write_block
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.memory.working_memory import UserEmotion
from oldfriend.prompts.token_budget import Preset
from oldfriend.queues.queue import claim_jobs, find_next_due
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.turn.prompt_labels import sanitize
from oldfriend_evals.lives.adversarial_extractor import POISONED, build_adversarial_extractor
from oldfriend_evals.lives.bad_reflector import GivenIdeas, build_bad_reflector
from oldfriend_evals.lives.life import Day, Felt, Life, Line, LineId
from oldfriend_evals.lives.opinion_eval import NOTHING_TO_SAY, add_opinions, build_reply_model
from oldfriend_evals.lives.oracle_judge import build_oracle_judge
from oldfriend_evals.lives.prompt_parser import find_line, parse_prompt
from oldfriend_evals.lives.relation_eval import add_relations
from oldfriend_evals.lives.simulation import ALL, PAUSE, Simulation, build_calendar, create_person
from oldfriend_evals.model_roles import with_models

PRESETS: Final[tuple[Preset, ...]] = get_args(Preset)
A_MOMENT: Final = 1_000
"""Microseconds that go by while anybody looks at the clock."""
LATER: Final = 2 * HOUR
LOOKING_IN: Final[Mapping[str, Sequence[str]]] = {
    "en": ("Me again. It is quieter now.", "Still there?", "I only wanted to hear you."),
    "es": ("Soy yo otra vez. Ahora está más tranquilo.", "¿Seguís ahí?", "Solo quería oírte."),
    "zh": ("又是我，现在安静些了。", "你还在吗？", "就是想听听你说话。"),
}
"""Said once more after the talk of a day, at each budget: nothing is to be learned from it."""
LEASE_S: Final = 30.0
HALF_A_DAY: Final = 12 * HOUR
AMONG_OTHERS: Final = "whatsapp"
"""Where nobody expects the companion to say anything."""
MOCKING_WORDS: Final = "Style modes: sarcastic 70, contrary 30"
WHO: Final[Mapping[KeptBlockName, str]] = {
    "persona": f"An old sailor who has seen most harbours.\n{MOCKING_WORDS}",
    "user": "Somebody whom nobody may ever call by a nickname in the morning.",
    "style": "Never more than one question in a row, and none at the end.",
}
"""What people have written of who is who: by its weights the companion would mostly mock."""
HEAVY_LINE: Final = -4
"""Who tells of something that was felt so is taken to be overwhelmed by it."""
ALSO_HEAVY: Final = 0.1
LIGHT: Final[tuple[UserEmotion, ...]] = ("neutral", "neutral", "excited", "curious", "nostalgic")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTurn:
    """One turn: what was said, what the model was shown, and what should have been."""

    line: LineId
    said: str
    replied: str
    at: Micros
    preset: Preset
    request: CompletionRequest
    session: str
    understood: Mapping[str, JsonValue]
    context: Mapping[str, JsonValue]
    mood: Felt | None  # that should colour it

    @property
    def tokens(self) -> Mapping[str, int]:
        """What each section of the prompt took."""
        counts = _parse_object(self.context.get("tokens"))
        return {name: count for name, count in counts.items() if isinstance(count, int)}


async def retract_nothing(_: Line) -> None:
    """All that was said stays as it was."""


@dataclass(slots=True)
class TurnSimulation:
    """A life under way, talked through."""

    living: Simulation
    models: Mapping[ModelRole, ScriptedModel]
    brooded: GivenIdeas
    regrets: Callable[[Line], Awaitable[None]] = retract_nothing  # before looking in once more
    turns: list[SimulatedTurn] = field(default_factory=list)
    asked: list[tuple[Micros, Purpose]] = field(default_factory=list)  # every call of a model
    speak: Callable[[CompletionRequest], str] = lambda _: (
        NOTHING_TO_SAY
    )  # what the main model says next

    @property
    def app(self) -> AppContext:
        """Where it is lived."""
        return self.living.app

    @property
    def person(self) -> PersonId:
        """Whose life it is."""
        return self.living.person

    @property
    def count_calls_by_day(self) -> Counter[date]:
        """How many calls there were on each day."""
        zone = self.living.life.zone
        return Counter(from_micros(at, zone).date() for at, _ in self.asked)

    async def spend(self, today: date) -> None:
        """Spend a day, silently where nothing is said on it, until what was due is done."""
        life = self.living.life
        day = next((day for day in life.days if day.date == today), None)
        if day is not None:
            await self.say_all_of(day)
        midnight, _ = parse_timestamp(str(today + timedelta(days=1)), life.zone)
        await self.advance(max(midnight - 1, self.living.calendar.now + MINUTE))

    async def say_all_of(self, day: Day) -> None:
        """Say all of a day, and look in once more when it was read."""
        imported = [line for line in day.lines if line.is_imported]
        said = [line for line in day.lines if not line.is_imported]
        for line in said:
            await self.hear(line)
        if imported:
            await self.living.import_lines(imported)
            await self.note()
        own = [line for line in said if is_to_companion(line)]
        if own and self.is_free(own[-1].spoken.at + LATER + PAUSE):
            await self.advance(own[-1].spoken.at + LATER)
            await self.regrets(own[-1])
            for text in LOOKING_IN[self.living.life.language]:
                await self.talk(
                    own[-1], MessageSubmission(text=text), reply=lambda _: NOTHING_TO_SAY
                )

    def is_free(self, until: Micros) -> bool:
        """Whether nothing more is said before a moment."""
        now = self.living.calendar.now
        lines = self.living.life.lines
        return not any(now < each.spoken.at < until for each in lines if not each.is_imported)

    async def hear(self, line: Line) -> None:
        """Take in one line; the person's are answered, in the companion's own words of the life."""
        await self.advance(line.spoken.at)
        if line.channel == AMONG_OTHERS:
            await self.living.hear(line)
            await self.note()
        elif is_to_companion(line):
            said = line.spoken
            await self.talk(
                line,
                MessageSubmission(
                    text=said.text,
                    at=said.at,
                    zone=said.zone,
                    external_id=line.id,
                    trust=said.trust,
                    details={name: str(value) for name, value in said.details.items()},
                ),
                reply=build_reply_model(self.living.life)(line),
            )

    async def note(self) -> None:
        """See to it that what was brought in is read."""
        async with self.app.db.begin_write() as tx:
            await enqueue_learning_for_import(
                tx, self.app.settings, self.person, now=self.living.calendar.now
            )

    async def talk(
        self, line: Line, words: MessageSubmission, *, reply: Callable[[CompletionRequest], str]
    ) -> SimulatedTurn:
        """Say something where a line is said, and have it answered."""
        preset = PRESETS[len(self.turns) % len(PRESETS)]
        settings = replace(self.app.settings, context=ContextSettings(preset=preset))
        app = replace(self.app, settings=settings)
        expected = await self.find_mood(self.living.calendar.now)
        self.speak = reply
        given = await answer_message(app, await self.living.open(line), words)
        talked = SimulatedTurn(
            line=line.id,
            said=words.text,
            replied=given.reply.text,
            at=given.message.at,
            preset=preset,
            request=self.models["main"].requests[-1],
            session=given.message.session,
            understood=_parse_object(given.receipt.details.get("understood")),
            context=_parse_object(given.receipt.details.get("context")),
            mood=expected,
        )
        self.turns.append(talked)
        return talked

    async def advance(self, until: Micros) -> None:
        """Let time go by, and do what a worker would do meanwhile, each thing when it is due."""
        while True:
            async with self.app.db.begin_read() as tx:
                due = await find_next_due(tx, "agenda")
            if due is None or due > until:
                break
            self.living.calendar.reach(due)
            await self.run_due_jobs()
        self.living.calendar.reach(until)

    async def run_due_jobs(self) -> None:
        """Do the jobs of one partition."""
        app = self.app
        async with app.db.begin_write() as tx:
            held = await claim_jobs(tx, "agenda", owner="worker", now=app.clock(), lease_s=LEASE_S)
        if held is not None:
            with suppress(OldfriendError):  # it is put off, and told
                await run_jobs(app, held, asyncio.Event())

    async def find_mood(self, at: Micros) -> Felt | None:
        """Which mood of the truth the newest talk has left that was read, within half a day."""
        async with self.app.db.begin_read() as tx:
            segments = await list_segments(tx, self.person)
            messages = await list_messages(tx, self.person, limit=ALL)
        life = self.living.life
        felt = [(find_line(life, each.line).spoken.text, each) for each in life.truth.moods]
        for segment in sorted(segments, key=lambda each: each.until_at, reverse=True):
            if segment.until_at <= at < segment.until_at + HALF_A_DAY and has_told(segment):
                said = [
                    each.text
                    for each in messages
                    if each.session == segment.session
                    and segment.first_seq <= each.seq <= segment.last_seq
                ]
                if told := [each for text, each in felt if text in said]:
                    return told[-1]
        return None


def is_to_companion(line: Line) -> bool:
    """Whether the person says it where the companion answers."""
    return line.spoken.role == "person" and line.channel != AMONG_OTHERS


def has_told(segment: Segment) -> bool:
    """Whether a reading by a model stands that can have told of a mood."""
    return segment.status in {"done", "trivial"} and (segment.author or "").startswith("extract")


async def begin_simulation(app: AppContext, life: Life, *, seed: int) -> TurnSimulation:
    """The beginning of a life in a house, where people have written who is who."""
    calendar = build_calendar(life)

    def clock() -> Micros:
        calendar.reach(calendar.now + A_MOMENT)
        return calendar.now

    settings = replace(
        app.settings,
        zone=life.zone,
        language=life.language,
        models=replace(app.settings.models, small=("scripted:small",)),
        memory=replace(app.settings.memory, read_within_days=0),  # a few days must show it all
    )
    app = replace(app, settings=settings, clock=clock)
    person = await create_person(app, life)
    async with app.db.begin_write() as tx:
        for name in BLOCK_NAMES:
            await write_block(tx, person, name, WHO[name], now=app.clock())
    living = Simulation(app=app, life=life, calendar=calendar, person=person)
    return begin_with_models(living, seed=seed)


def begin_with_models(living: Simulation, *, seed: int) -> TurnSimulation:
    """A life to be talked through with models that read, think and reply for it."""
    life, brooded = living.life, GivenIdeas()
    scripts: dict[ModelRole, Callable[[CompletionRequest], str]] = {
        "main": lambda request: talking.speak(request),
        "small": build_reading_model(life, seed=seed),
        "reflect": build_bad_reflector(life, seed=seed, given=brooded),
    }

    def noted(answer: Callable[[CompletionRequest], str]) -> Callable[[CompletionRequest], str]:
        def noting(request: CompletionRequest) -> str:
            talking.asked.append((living.calendar.now, request.purpose))
            return answer(request)

        return noting

    models = {
        role: ScriptedModel(noted(script), name=f"scripted:{role}")
        for role, script in scripts.items()
    }
    living.app = with_models(living.app, models)
    talking = TurnSimulation(living=living, models=models, brooded=brooded)
    return talking


def build_reading_model(life: Life, *, seed: int) -> Callable[[CompletionRequest], str]:
    """A small model: reads badly, understands from the truth how somebody feels, sums up."""
    read, deem = (
        build_adversarial_extractor(life, seed=seed, share=POISONED),
        build_oracle_judge(life),
    )
    heavy = list_heavy_lines(life)

    def answer(request: CompletionRequest) -> str:
        match request.purpose:
            case "extract":
                told = add_mood(life, request, read(request))
                return add_relations(life, request, add_opinions(life, request, told))
            case "adjudicate":
                return deem(request)
            case "classify":
                return json.dumps(
                    build_understanding(life, request, heavy, seed=seed), ensure_ascii=False
                )
            case _:
                return json.dumps({"text": life.person, "topics": []}, ensure_ascii=False)

    return answer


def add_mood(life: Life, request: CompletionRequest, answered: str) -> str:
    """An answer whose mood names the line that it comes from; for neither way, no phrase."""
    try:
        parts = json.loads(answered)
    except ValueError:
        return answered
    felt = [felt for felt in life.truth.moods if felt.line in parse_prompt(request, life).lines]
    if felt and parts.get("mood"):
        phrase = get_mood_phrase(felt[-1]) if felt[-1].signal else ""
        parts["mood"] = {**parts["mood"], "phrase": phrase}
    return json.dumps(parts, ensure_ascii=False)


def get_mood_phrase(felt: Felt) -> str:
    """By which words a mood of the truth is known again."""
    return f"{felt.signal} {felt.line}"


def build_understanding(
    life: Life, request: CompletionRequest, heavy: Collection[LineId], *, seed: int
) -> dict[str, JsonValue]:
    """What a message needs: heavy where the truth is heavy, else lightly, and often for a joke."""
    told = " ".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))
    said = next((line for line in life.lines if sanitize(line.spoken.text) in told), None)
    rng = random.Random(f"{seed} {told}")
    emotion, signal = "neutral", "normal"
    if said is not None and (said.id in heavy or rng.random() < ALSO_HEAVY):
        emotion, signal = rng.choice(
            [
                ("overwhelmed", "normal"),
                ("anxious", "normal"),
                ("frustrated", "dry"),
                ("neutral", "stressed"),
            ]
        )
    else:
        emotion, signal = rng.choice(LIGHT), rng.choice(["normal", "dry", "roasting"])
    return {
        "complexity": "simple",
        "emotion": emotion,
        "goal": rng.choice(["inform", "empathize"]),
        "signal": signal,
        "search": True,
        "tool": None,
        "plan": draw_plan(rng),
        "asks_for": [*["how long", "with whom"][: rng.randint(0, 2)]],
    }


def draw_plan(rng: random.Random) -> JsonValue:
    """What the two are about to do, at some length now and then."""
    if rng.random() < 0.5:
        return None
    return {"goal": "see it through " * rng.randint(1, 40), "progress": "begun", "next_step": "go"}


def list_heavy_lines(life: Life) -> frozenset[LineId]:
    """The lines with which something is told that was hard, or after which they were frustrated."""
    hard = {
        quote.line
        for belief in life.truth.beliefs
        for quote in belief.quotes
        if belief.impact <= HEAVY_LINE
    }
    return frozenset(
        {*hard, *(each.line for each in life.truth.moods if each.signal == "frustrated")}
    )


def _parse_object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}
