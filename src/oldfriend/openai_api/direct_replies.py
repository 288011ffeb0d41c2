"""Direct replies: a configured model answers a program, alone or with this memory.

The program's own tools are offered to the model; what it calls is handed back and never run here.
Alone, a model is told nothing of the memory, and nothing of its conversation is kept.
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_role_model, forget_answers
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.config.settings_schema import ModelRole
from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import PersonId, TurnId, new_id
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.inbound.accept import ChatContext
from oldfriend.lang.detection import detect_language
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    LanguageModel,
    TextCallback,
    estimate_input_tokens,
)
from oldfriend.memory.core_blocks import get_block_text, get_global_persona_text
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.people import get_companion_name
from oldfriend.openai_api.chat_messages import join_texts
from oldfriend.openai_api.chat_reply import FinishedReply
from oldfriend.openai_api.chat_request import ChatRequest
from oldfriend.openai_api.direct_log import DirectAnswer, log_answer
from oldfriend.openai_api.error_json import ApiRefusal
from oldfriend.openai_api.model_turns import build_turns
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.memory_context import MemoryContext, build_memory_context
from oldfriend.turn.recalled import RecallQuery
from oldfriend.usage.model_calls import CallContext

PROMPT: Final = "openai_api/2"
MEMORY_TOKENS: Final = 2_000
MAX_TOPIC_CHARS: Final = 2_000
NO_MODEL: Final = (
    "This needs a language model, and none is connected: oldfriend connect model. The model "
    "“oldfriend” answers from memory without one, unless a tool or a form of the reply is required."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainReply:
    """The reply of a model that knows nothing of the memory; nothing of it is kept."""

    app: AppContext
    person: PersonId
    turn: TurnId
    request: ChatRequest

    @property
    def id(self) -> str:
        """Return an id of its own."""
        return self.turn

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Have the model answer; the small one where there is one, as it is for small work."""
        role: ModelRole = "main" if self.request.use == "plain" else "small"
        asker = CallContext(person=self.person, turn=self.turn)
        model = await open_model(self.app, asker, role)
        asked = build_request(self.request, join_texts(self.request.messages, "system"))
        async with forget_answers(self.app, asker):
            return to_finished(await complete(model, asked, on_text), asked)

    async def abandon(self) -> None:
        """Do nothing: the call was cut off."""


def build_plain_reply(app: AppContext, person: PersonId, chat_request: ChatRequest) -> PlainReply:
    """Return the reply of a model alone."""
    turn = TurnId(new_id(app.clock()))
    return PlainReply(app=app, person=person, turn=turn, request=chat_request)


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberingReply:
    """The reply of a model that is told what is remembered; it is kept like any other."""

    app: AppContext
    chat_context: ChatContext
    request: ChatRequest
    message: Message | None  # what it answers; None: the person's last words are not known
    fallback_turn: TurnId

    @property
    def id(self) -> str:
        """Return the id of the turn."""
        return self.message.turn or self.fallback_turn if self.message else self.fallback_turn

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Have the model answer with the memory, and log the answer once it is whole."""
        app, person = self.app, self.chat_context.person
        asker = CallContext(person=person.id, turn=TurnId(self.id))
        model = await open_model(app, asker, "main")
        context = await self._build_context()
        system_prompt = await self._build_system_prompt(context)
        asked = replace(build_request(self.request, system_prompt), shown=context.shown_ids)
        async with forget_answers(app, asker):
            completion = await complete(model, asked, on_text)
        if self.message is not None and completion.text.strip() and not completion.calls:
            answer = DirectAnswer(completion=completion, context=context, prompt=PROMPT)
            await log_answer(app, self.chat_context, self.message, answer)
        return to_finished(completion, asked)

    async def abandon(self) -> None:
        """Do nothing: what the person said stays in the log."""

    async def _build_context(self) -> MemoryContext:
        """Return what is known that matters for the person's last words."""
        app, person = self.app, self.chat_context.person
        topic = next(
            (each.text for each in self.request.messages[::-1] if each.role == "user"), ""
        )[:MAX_TOPIC_CHARS]
        await extract_unread(app, person.id)
        fallback = person.language or app.settings.language or "en"
        language = detect_language(topic, fallback=fallback)
        query = RecallQuery(text=topic, language=language, at=app.clock())
        deps = app.with_asker(CallContext(person=person.id)).search_deps
        return await build_memory_context(deps, person, query, budget=MEMORY_TOKENS)

    async def _build_system_prompt(self, context: MemoryContext) -> str:
        """Return who answers, what the program says, and what is remembered."""
        app, person, prompt = self.app, self.chat_context.person, get_prompt(PROMPT)
        said = join_texts(self.request.messages, "system")
        parts = []
        if self.request.use == "companion":
            async with app.db.begin_read() as tx:
                name, soul = await get_companion_name(tx), await get_global_persona_text(tx)
                persona = await get_block_text(tx, person.id, "persona")
            parts.append(prompt.render("companion", name=name))
            parts += [prompt.render("core", text=text) for text in (soul, persona) if text.strip()]
        if said:
            parts.append(prompt.render("program", text=said))
        now = from_micros(app.clock(), person.zone).strftime("%A %Y-%m-%d %H:%M")
        parts.append(prompt.render("state", person=person.name, now=now, zone=person.zone))
        parts.append(prompt.render("limits"))
        if context.text:
            parts.append(prompt.render("memory", known=context.text))
        return "\n\n".join(parts)


async def open_model(app: AppContext, asker: CallContext, model_role: ModelRole) -> LanguageModel:
    """Return the model of a role, or the main one. Raises ApiRefusal, AllowanceUsedUp."""
    used = model_role if model_role in app.models else "main"
    account = UsageAccount(
        db=app.db, settings=app.settings, clock=app.clock, asker=asker, spool=app.spool
    )
    await account.check()
    async with app.db.begin_read() as tx:
        since = (await get_memory_version(tx, asker.person)).rewritten
    model = build_role_model(app, asker, used, since=since)
    if model is None:
        raise ApiRefusal(400, NO_MODEL, code="no_model")
    return model


async def complete(
    model: LanguageModel, asked: CompletionRequest, on_text: TextCallback
) -> Completion:
    """Have a model answer; an answer in a form is passed on whole, for it may come as a call."""
    if asked.output is None:
        return await model.complete(asked, on_text)
    completion = await model.complete(asked)
    await on_text(completion.text)
    return completion


def build_request(chat_request: ChatRequest, system_prompt: str) -> CompletionRequest:
    """Return what the model is asked."""
    return CompletionRequest(
        purpose="reply",
        prompt=PROMPT,
        system_prompt=system_prompt,
        turns=build_turns(chat_request.messages),
        tools=chat_request.tools,
        output=chat_request.output,
        temperature=chat_request.temperature,
        max_output_tokens=chat_request.max_tokens,
    )


def to_finished(completion: Completion, asked: CompletionRequest) -> FinishedReply:
    """Return a model's answer as a reply, with estimates of what it does not tell."""
    used = completion.usage
    return FinishedReply(
        text=completion.text,
        calls=completion.calls,
        tokens_in=used.input or estimate_input_tokens(asked),
        tokens_cached=used.cached,
        tokens_out=used.output or estimate_tokens(completion.text),
        is_truncated=completion.is_truncated,
    )
