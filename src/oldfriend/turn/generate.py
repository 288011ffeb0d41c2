"""Generate: the model loop of one turn, with its tool calls.

The model may ask for tools until it answers in words; calls and results always come in pairs. A
call counts only if it stands in the model's own output of this turn. A model that cannot call tools
may write markers instead, which are run as calls once it has answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.domain.errors import BrokenOutput, ModelError
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.model import Completion, CompletionRequest, LanguageModel, ToolCall
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.failure_messages import FailureKind, classify_failure
from oldfriend.turn.intent import Perception
from oldfriend.turn.markers import build_call_form, build_calls, find_cited_records
from oldfriend.turn.note_extraction import find_own_part
from oldfriend.turn.prompt_builder import BuiltPrompt, build_reply_prompt
from oldfriend.turn.prompt_sections import find_person_name
from oldfriend.turn.recalled import RecalledItem, get_item_id
from oldfriend.turn.record_keys import RecordKeys
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.reply_stream import ReplyStream
from oldfriend.turn.tools.confirmation import build_question
from oldfriend.turn.tools.tool import ToolContext
from oldfriend.turn.tools.tool_executor import (
    SUCCESS_STATUSES,
    Ask,
    ToolExecutor,
    ToolUse,
    ask_nobody,
    is_same_call,
)
from oldfriend.turn.tools.tool_words import load_tool_words
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Utterance

MAX_IDLE_ROUNDS: Final = 2
"""After this many rounds of calls without progress, the model answers without tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """What was done for a reply, and why no model answered if none did."""

    built_prompt: BuiltPrompt | None = None
    completions: tuple[Completion, ...] = ()
    tool_uses: tuple[ToolUse, ...] = ()
    failure_kind: FailureKind | None = None
    error: str = ""
    # Ids of the records that the model says its reply rests on; None: it does not say.
    cited: tuple[str, ...] | None = None

    @property
    def tool_items(self) -> tuple[RecalledItem, ...]:
        """Return the records that tools have shown, each once."""
        items = {get_item_id(each): each for use in self.tool_uses for each in use.items}
        return tuple(items.values())

    @property
    def seen_ids(self) -> tuple[str, ...]:
        """Return the ids of everything shown to the model for the reply."""
        shown = () if self.built_prompt is None else self.built_prompt.request.shown
        return (*shown, *(each for use in self.tool_uses for each in use.seen_ids))


@dataclass(slots=True)
class ToolLoop:
    """A conversation with the model that ends when it has answered in words or failed."""

    model: LanguageModel
    executor: ToolExecutor
    stream: ReplyStream
    record_keys: RecordKeys
    words: str = ""  # the person's last ones, for calls that are written as markers
    cited: tuple[str, ...] | None = None  # the records that the model says it has used
    completions: list[Completion] = field(default_factory=list)

    async def run(self, request: CompletionRequest) -> None:
        """Ask the model, run its tool calls and ask again while that makes progress.

        Raises what the model raises, and BrokenOutput if it ends its turn without a word.
        """
        idle_rounds = 0
        while True:
            length_before = len(self.stream.text)
            may_call = not self.executor.is_exhausted and idle_rounds < MAX_IDLE_ROUNDS
            completion = await self._complete(replace(request, may_call=may_call))
            if not may_call or not completion.calls or completion.is_truncated:
                break
            results = [await self.executor.execute(call) for call in completion.calls]
            idle_rounds = count_idle_rounds(self.executor.uses, len(results), idle_rounds)
            seen = (each for use in self.executor.uses[-len(results) :] for each in use.seen_ids)
            request = replace(
                request,
                turns=(*request.turns, completion.turn, *results),
                tools=self.executor.definitions,
                shown=tuple(dict.fromkeys([*request.shown, *seen])),
            )
        self.cited = find_cited_records(self.stream.markers, request, self.record_keys)
        written = build_calls(self.stream.markers, request, words=self.words)
        for call in written:
            await self.executor.execute(call)
        if len(self.stream.text) == length_before and not written:
            model = completion.model
            message = f"{model} ended its turn without a word."
            raise BrokenOutput(localizable("answer_empty", message, model=model))

    async def _complete(self, request: CompletionRequest) -> Completion:
        """Ask the model once and stream what it says."""
        say = self.stream.write if self.stream.listener is not None else None
        completion = await self.model.complete(request, say)
        self.completions.append(completion)
        await self.stream.end_paragraph(completion.text, is_truncated=completion.is_truncated)
        return completion


async def act(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    deps: TurnDependencies,
    stream: ReplyStream,
) -> Actions:
    """Have the model answer, with its tools; a model failure is recorded, not raised."""
    if deps.model is None:
        return Actions()
    if deps.unavailable_reason is not None:
        return Actions(failure_kind="resting", error=deps.unavailable_reason)
    prompt = get_reply_prompt()
    shown_ids: set[str] = set()  # of the prompt, as soon as it is built
    tool_context = ToolContext(
        prompt=prompt,
        clock=deps.clock,
        utterance=utterance,
        search_deps=deps.search_deps,
        person_name=find_person_name(utterance, context) or prompt.render("the_person"),
        recall_tokens=deps.limits.budget.snippets,
        shown_ids=shown_ids,
        noted_text=perception.note,
        decided=[*context.handled_changes],
    )
    executor = build_executor(tool_context, deps, ask=build_asking(utterance, perception, deps))
    built_prompt = build_reply_prompt(
        utterance,
        context,
        prompt,
        noted_text=perception.note,
        tools=executor.definitions,
        budget=deps.limits.budget,
    )
    shown_ids |= built_prompt.shown_ids
    tool_context.record_keys.ids.update(built_prompt.record_ids)
    stream.limit_keys(tool_context.record_keys.ids)
    loop = ToolLoop(
        model=deps.model,
        executor=executor,
        stream=stream,
        record_keys=tool_context.record_keys,
        words=find_own_part(utterance),
    )
    call_form = build_call_form([*executor.tools_by_name])
    failure_kind: FailureKind | None = None
    error = ""
    try:
        await loop.run(replace(built_prompt.request, call_form=call_form))
    except ModelError as failure:
        failure_kind, error = classify_failure(failure), str(failure)
        await stream.end_paragraph(is_broken=True)
    return Actions(
        built_prompt=built_prompt,
        completions=tuple(loop.completions),
        tool_uses=tuple(executor.uses),
        failure_kind=failure_kind,
        error=error,
        cited=loop.cited,
    )


def build_asking(utterance: Utterance, perception: Perception, deps: TurnDependencies) -> Ask:
    """Return how the person is asked before a call; nobody is in a group, or if nothing is kept."""
    if utterance.is_in_group or not utterance.is_persisted:
        return ask_nobody
    words = load_tool_words(perception.reply_language)
    labels = {spec.name: words.get_label(spec.name, spec.label) for spec in deps.tools}
    return lambda call: build_question(call, labels[call.name], words)


def build_executor(
    context: ToolContext,
    deps: TurnDependencies,
    *,
    ask: Ask = ask_nobody,
    confirmed: ToolCall | None = None,
) -> ToolExecutor:
    """Build the tool executor of this turn."""
    limits = deps.limits
    return ToolExecutor(
        [spec.bind(context) for spec in deps.tools],
        deps.call_store,
        context.prompt,
        max_calls=limits.max_tool_calls,
        call_timeout_s=limits.tool_timeout_s,
        ask=ask,
        confirmed=confirmed,
    )


def count_idle_rounds(tool_uses: Sequence[ToolUse], new_count: int, idle_rounds: int) -> int:
    """Return how many rounds in a row made no progress.

    The last ``new_count`` calls are the new round. A round makes progress if one of its calls is
    made for the first time in the turn and gives a result. A round that repeats the calls of the
    round before counts as the last one.
    """
    earlier, new = tool_uses[:-new_count], tool_uses[-new_count:]
    calls = [use.call for use in earlier]
    if any(
        use.status in SUCCESS_STATUSES and not any(is_same_call(use.call, call) for call in calls)
        for use in new
    ):
        return 0
    last = calls[-new_count:]
    is_repeated = len(last) == new_count and all(
        is_same_call(use.call, call) for use, call in zip(new, last, strict=True)
    )
    return MAX_IDLE_ROUNDS if is_repeated else idle_rounds + 1
