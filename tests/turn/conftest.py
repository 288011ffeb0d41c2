"""A chat whose turns are run by hand: what is said is written, the turn run, its reply written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_missing
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message, Role, TrustClass, UnloggedMessage
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.llm.model import CompletionRequest, ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.intent import Addressee
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.request_handlers.registry import REQUEST_HANDLERS
from oldfriend.turn.tools.tool import InMemoryToolCallStore, ToolContext
from oldfriend.turn.tools.tool_registry import TOOLS
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Outcome, Utterance
from tests.clock import FrozenClock


@dataclass(slots=True)
class Talk:
    """A person and a companion in one chat."""

    app: AppContext
    chat_context: ChatContext
    clock: FrozenClock
    said: list[str] = field(default_factory=list)  # what was heard live of the last reply

    async def tell(
        self,
        text: str,
        *,
        minutes: float = 1,
        role: Role = "person",
        speaker: str = "Nora",
        trust: TrustClass | None = None,
        turn: TurnId | None = None,
        chat_context: ChatContext | None = None,
    ) -> Message:
        """Write down what somebody said, some minutes after what came before."""
        now = self.clock.tick(minutes=minutes)
        trusts: dict[Role, TrustClass] = {"person": "person", "companion": "companion"}
        spoken = UnloggedMessage(
            role=role,
            speaker=speaker,
            text=text,
            at=now,
            zone="Europe/Lisbon",
            trust=trust or trusts.get(role, "other"),
        )
        chat_context = chat_context or self.chat_context
        async with self.app.db.begin_write() as tx:
            place = WriteTarget(
                chat=chat_context.chat,
                session=await ensure_open_session(tx, chat_context.chat, now),
                turn=turn,
            )
            findable = role in {"person", "other"}
            message = await write_message(tx, place, spoken, now=now, is_searchable=findable)
        assert message is not None
        return message

    async def remembers(
        self, text: str, *, chat_context: ChatContext | None = None, **how: object
    ) -> Message:
        """Put words into the log of another chat long ago, ready to be found by meaning."""
        elsewhere = chat_context or await open_local_chat(
            self.app.db, self.app.clock, self.app.settings, person="Nora", channel="signal"
        )
        message = await self.tell(text, minutes=-60 * 24 * 30, chat_context=elsewhere, **how)
        self.clock.now += 30 * 24 * 60 * MINUTE
        await embed_missing(self.app, self.chat_context.person.id)
        return message

    async def hears(
        self, *texts: str, trust: TrustClass = "person", speaker: str = "Nora"
    ) -> Utterance:
        """What the companion is to answer: all that was said in one burst."""
        turn = TurnId(new_id(self.clock()))
        messages = [
            await self.tell(text, turn=turn, trust=trust, speaker=speaker) for text in texts
        ]
        async with self.app.db.begin_write() as tx:
            companion = await ensure_companion(tx, now=self.clock())
            person = await get_person_by_id(tx, self.chat_context.person.id)
        return Utterance(
            message=messages[-1],
            earlier=tuple(messages[:-1]),
            person=person,
            companion=companion,
            is_first_in_chat=False,
            addressee=Addressee(name=companion.name, languages=(person.language, "en")),
        )

    def mind(self, *answers: ScriptedAnswer, **changes: object) -> TurnDependencies:
        """A mind with a model that answers so, one after another; none: offline."""
        mind = TurnDependencies(
            search_deps=self.app.search_deps,
            model=ScriptedModel(answers) if answers else None,
            call_store=InMemoryToolCallStore(),
            clock=self.clock,
            tools=TOOLS,
            handlers=REQUEST_HANDLERS,
        )
        return replace(mind, **changes)

    def tool_context(self, said: Utterance, *, recall_tokens: int = 1_500) -> ToolContext:
        """What a tool may use in the turn that answers this."""
        return ToolContext(
            prompt=get_reply_prompt(),
            clock=self.clock,
            utterance=said,
            search_deps=self.app.search_deps,
            person_name=said.person.name,
            recall_tokens=recall_tokens,
            shown_ids=set(),
        )

    async def turn(self, said: Utterance, mind: TurnDependencies) -> Outcome:
        """Run the turn, and write what it decides."""
        self.said.clear()
        outcome = await run_turn(said, mind, say=self.listen)
        await self.tell(
            outcome.reply.text,
            minutes=0,
            role="companion",
            speaker="Oldfriend",
            turn=said.message.turn,
        )
        if outcome.failure_kind is not None:
            await self.tell(outcome.failure_kind, minutes=0, role="marker", trust="tool")
        async with self.app.db.begin_write() as tx:
            for note in outcome.notes:
                await learn_note(
                    tx, note.text, source=note.source, author=note.author, now=self.clock()
                )
        return outcome

    async def ask(
        self, text: str, *answers: ScriptedAnswer
    ) -> tuple[Outcome, Sequence[CompletionRequest]]:
        """Say something to a model that answers so; the outcome, and what the model was asked."""
        mind = self.mind(*answers)
        assert isinstance(mind.model, ScriptedModel)
        return await self.turn(await self.hears(text), mind), mind.model.requests

    async def listen(self, piece: str) -> None:
        """Hear the reply while it is being written."""
        self.said.append(piece)

    @property
    def heard(self) -> str:
        """All that was heard live of the last reply."""
        return "".join(self.said)


@pytest.fixture
async def talk(app: AppContext, clock: FrozenClock) -> Talk:
    """Nora on the terminal."""
    return Talk(
        app=app,
        clock=clock,
        chat_context=await open_local_chat(
            app.db, app.clock, app.settings, person="Nora", channel="terminal"
        ),
    )


def wants(name: str, number: int = 0, /, **arguments: JsonValue) -> ScriptedReply:
    """An answer that asks for a tool."""
    return ScriptedReply(calls=(ToolCall(id=f"call-{number}", name=name, arguments=arguments),))


def results_in(request: CompletionRequest) -> list[str]:
    """What the tools gave, as the model read it."""
    return [turn.text for turn in request.turns if isinstance(turn, ToolResult)]
