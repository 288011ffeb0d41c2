"""Answering: has the connected model answer a question from what was recalled for it."""

from dataclasses import dataclass
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import ModelNotSetUp
from oldfriend.domain.messages import Person
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.presenters.hit_schemas import RecalledHits
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.full_recall import recall_in_full
from oldfriend.turn.memory_context import build_recalled_parts
from oldfriend.turn.recalled import RecallQuery, RecallResult, get_item_id
from oldfriend.usage.model_calls import CallContext

PROMPT: Final = "ask/2"
MAX_RECALLED: Final = 30
MAX_RECORD_TOKENS: Final = 3000
MAX_ANSWER_TOKENS: Final = 1024
NO_MODEL_MESSAGE: Final = (
    "No language model is connected, so nothing can be answered in words; use recall() or "
    "context(). To connect one to the companion's own memory: oldfriend connect model. For any "
    'other memory, set OLDFRIEND_MODELS_MAIN="ollama:qwen3:8b" or "openai:gpt-5" (with '
    "OPENAI_API_KEY) before it is opened."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question, in words, and what it was given by."""

    text: str
    hits: RecalledHits  # what was recalled, best first; the model is shown what fits
    model: str  # "provider:name" of the model that answered


def require_model(app: AppContext) -> None:
    """Raise ModelNotSetUp, which says what to do, where no language model is connected."""
    if "main" not in app.models:
        raise ModelNotSetUp(NO_MODEL_MESSAGE)


async def answer_question(app: AppContext, person: Person, query: RecallQuery) -> Answer:
    """Answer a question from what is recalled; nothing of it is stored but the call's record.

    Raises ModelNotSetUp without a model, AllowanceUsedUp, and what the model raises.
    """
    require_model(app)
    model = await build_background_model(app, CallContext(person=person.id), "main")
    assert model is not None
    found = await recall_in_full(app.search_deps, person, query, limit=MAX_RECALLED)
    completion = await model.complete(build_answer_request(person, query, found))
    return Answer(
        text=completion.text.strip(),
        hits=RecalledHits.from_ranking(found, person.zone),
        model=completion.model,
    )


def build_answer_request(
    person: Person, query: RecallQuery, found: RecallResult
) -> CompletionRequest:
    """Build the request for an answer from the recalled items that fit."""
    prompt = get_prompt(PROMPT)
    parts, shown = build_recalled_parts(found, (), person, MAX_RECORD_TOKENS)
    records = "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)
    text = prompt.render(
        "ask",
        today=from_micros(query.at, person.zone).strftime("%Y-%m-%d, %H:%M"),
        name=person.name,
        records=records or prompt.render("nothing"),
        question=query.text,
    )
    return CompletionRequest(
        purpose="reply",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        turns=(PromptTurn(role="person", text=text),),
        max_output_tokens=MAX_ANSWER_TOKENS,
        shown=tuple(dict.fromkeys(map(get_item_id, shown))),
    )
