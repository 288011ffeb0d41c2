"""Belief tools: a model corrects what is believed, and prepares what the person wants forgotten.

A correction holds only what the person has just told in words of their own; where they did not
plainly state it, or where something outside was read in the same turn, they are asked first.
Forgetting only shows what would go: the person's own yes does it. What cannot be done yet is noted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from oldfriend.channels.channel import PROGRAM_CHANNELS
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MemoryId, ObjectId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.domain.supersession import get_valid_since
from oldfriend.lang.clause_splitting import PAUSE
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.lang.message_acts import classify_act
from oldfriend.llm.model import ToolCall
from oldfriend.memory.belief_views import get_memory_state, list_entities, list_memories
from oldfriend.memory.chat_history import list_turn_message_ids
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.editable import extract_value, resolve_value, validate_belief_text
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.limitation_store import list_limitations
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.search.name_index import contains_name
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for
from oldfriend.turn.belief_changes import BeginForgetting, CorrectBelief
from oldfriend.turn.intent import perceive
from oldfriend.turn.limitation_changes import NoteLimitation, decide_limitation
from oldfriend.turn.markers import squeeze
from oldfriend.turn.note_extraction import MatchedWords, find_own_words
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.request_handlers.forget_requests import (
    FORGET,
    build_named_request,
    build_question,
    get_turn,
    load_preview,
)
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.tools.confirmation import KeepPendingCall
from oldfriend.turn.tools.task_tools import bind, is_told
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.tools.tool_groups import MEMORY_GROUP
from oldfriend.turn.turn_outcome import Utterance

CORRECT_TOOL: Final = "correct_belief"
FORGET_TOOL: Final = "forget"
LIMITATION_TOOL: Final = "note_limitation"
CORRECT: Final = "correct_confirmed"
"""The tool that corrects what the person was asked about."""
MIN_STATEMENT: Final = 0.8
"""How likely a sentence must be to state something for its words to correct a belief at once."""
MAX_ECHO_CHARS: Final = 80
MAX_LISTED: Final = 5
QUESTION_MARKS: Final = "?\uff1f\u061f\u037e"


def get_belief_prompt() -> Prompt:
    """Return what a model is told about these tools."""
    return get_prompt("belief_tools/2")


def build_refusal(part: str, **given: str) -> InvalidInput:
    """Build the error that tells a model what was wrong with its arguments."""
    echoed = {name: sanitize(value[:MAX_ECHO_CHARS]) for name, value in given.items()}
    return InvalidInput(get_belief_prompt().render(part, **echoed))


def build_correct_tool(context: ToolContext) -> BoundTool:
    """Build the tool that corrects a belief."""
    prompt = get_belief_prompt()

    async def use(arguments: ToolArguments) -> ToolOutput:
        words = find_words(context, arguments)
        if context.utterance.message.channel in PROGRAM_CHANNELS:
            raise build_refusal("in_program")
        state = await find_belief(context, str(arguments["belief"]))
        ids = {each.id for each in context.decided if isinstance(each, CorrectBelief)}
        if ObjectId(state.memory.id) in ids:
            raise build_refusal("corrected_before")
        change = await decide_correction(context, state, arguments)
        added = list_added_terms(context, state.memory, change)
        if not added <= collect_content_terms(words.text, context.utterance.message.language):
            raise build_refusal("not_told", given=change.text)
        is_plain = is_stated(context, words, added)
        if (
            context.has_read_outside
            or not is_plain
            or await may_be_about_another(context, words, state.memory, change, added)
        ):
            return ask_first(context, state.memory, change)
        return correct(context, state.memory, change)

    properties: dict[str, Any] = {
        "belief": {"type": "string", "description": prompt.render("belief")},
        "text": {"type": "string", "description": prompt.render("text")},
        "value": {"type": "string", "description": prompt.render("value")},
        "has_changed": {"type": "boolean", "description": prompt.render("has_changed")},
        "words": {"type": "string", "description": prompt.render("correct_words")},
    }
    description = prompt.render("correct_belief")
    required = ["belief", "text", "words"]
    return bind(CORRECT_TOOL, description, properties, use, required=required)


def find_words(context: ToolContext, arguments: ToolArguments) -> MatchedWords:
    """Return the person's last words that a call rests on. Raises InvalidInput."""
    if context.utterance.is_in_group:
        raise build_refusal("in_group")
    found = find_own_words(context.utterance, str(arguments["words"]))
    if found is None:
        raise build_refusal("not_own")
    return found


async def find_belief(context: ToolContext, text: str) -> MemoryState:
    """Return the belief that says a text, or all of its content words. Raises InvalidInput."""
    async with context.search_deps.db.begin_read() as tx:
        known = await list_memories(tx, context.utterance.person.id)
    wanted = squeeze(text)
    found = [each for each in known if squeeze(each.memory.text) == wanted]
    if not found:
        found = [each for each in known if says_same(text, each.memory)]
    if not found:
        raise build_refusal("no_belief", given=text)
    if len(found) > 1:
        names = "; ".join(each.memory.text[:MAX_ECHO_CHARS] for each in found[:MAX_LISTED])
        raise InvalidInput(get_belief_prompt().render("which_belief", names=sanitize(names)))
    return found[0]


def says_same(text: str, memory: StoredBelief) -> bool:
    """Tell whether a text has the content words of a memory, and no others."""
    terms = collect_content_terms(text, memory.language)
    return bool(terms) and terms == collect_content_terms(memory.text, memory.language)


async def decide_correction(
    context: ToolContext, belief_state: MemoryState, arguments: ToolArguments
) -> CorrectBelief:
    """Return the correction that a model asks for, checked as it will be made.

    Raises InvalidInput.
    """
    memory, text = belief_state.memory, validate_belief_text(str(arguments["text"]))
    if squeeze(text) == squeeze(memory.text):
        raise build_refusal("as_before")
    given = str(arguments.get("value") or "").strip()
    value = resolve_value(memory, text, given) if given else extract_value(memory, text)
    if given and squeeze(given) not in squeeze(text):
        raise build_refusal("not_told", given=given)
    if value != memory.value and memory.kind == "triple":
        await check_entity(context, value)
    return CorrectBelief(
        id=ObjectId(memory.id),
        text=text,
        value=given or None,
        since=find_change(
            context, belief_state, value, has_changed=bool(arguments.get("has_changed"))
        ),
        base=belief_state.base_seq,
    )


async def check_entity(context: ToolContext, value: str) -> None:
    """Raise InvalidInput unless a value names somebody or something known."""
    async with context.search_deps.db.begin_read() as tx:
        known = await list_entities(tx, context.utterance.person.id)
    names = {name.casefold() for each in known for name in (each.name, *each.aliases)}
    if value.casefold() not in names:
        raise InvalidInput(f"No name is known as {sanitize(value[:MAX_ECHO_CHARS])!r}.")


def find_change(
    context: ToolContext, belief_state: MemoryState, value: str, *, has_changed: bool
) -> Micros | None:
    """Return since when a new value holds; None if the old one was wrong."""
    said_at = context.utterance.message.at
    is_later = get_valid_since(belief_state) < said_at <= context.clock()
    return said_at if has_changed and value != belief_state.memory.value and is_later else None


def list_added_terms(
    context: ToolContext, memory: StoredBelief, change: CorrectBelief
) -> frozenset[int]:
    """Return the content words of a correction that the belief did not have."""
    language = context.utterance.message.language
    new, old = (collect_content_terms(each, language) for each in (change.text, memory.text))
    return new - old


async def may_be_about_another(
    context: ToolContext,
    words: MatchedWords,
    memory: StoredBelief,
    change: CorrectBelief,
    added: frozenset[int],
) -> bool:
    """Tell whether the person speaks of somebody whom a belief about themselves does not name.

    "My brother lives in Faro" does not tell where they live. Where clauses in the first person say
    all that is new, no other one counts: "I work at Bosch, they pay better".
    """
    if memory.subject != "person":
        return False
    language = context.utterance.message.language
    plain, named = fold_punctuation(words.source.text), fold_punctuation(change.text)
    cues = load_cues_for(plain, language)[0]
    clauses = [
        each
        for sentence in split_sentences(plain)
        for each in PAUSE.split(sentence)
        if not added.isdisjoint(collect_content_terms(each, language))
    ]
    if clauses and all(cues.subject.search(each) for each in clauses):
        plain = "\n".join(clauses)
    others = {
        found.group()
        for each in (cues.kin, cues.other, cues.theirs)
        for found in each.finditer(plain)
    }
    async with context.search_deps.db.begin_read() as tx:
        known = await list_entities(tx, context.utterance.person.id)
    living = (each for each in known if each.kind in {"person", "pet"})
    others |= {
        name.casefold()
        for each in living
        for name in (each.name, *each.aliases)
        if name and contains_name(plain, name.casefold())
    }
    return any(each not in named for each in others)


def is_stated(context: ToolContext, words: MatchedWords, added: frozenset[int]) -> bool:
    """Tell whether the person plainly states what is new, rather than asks or orders something."""
    language = context.utterance.message.language
    sentences = [
        each
        for each in split_sentences(words.source.text)
        if not added.isdisjoint(collect_content_terms(each, language))
    ]
    return bool(sentences) and all(
        classify_act(each)["statement"] >= MIN_STATEMENT and not each.endswith((*QUESTION_MARKS,))
        for each in sentences
    )


def ask_first(context: ToolContext, memory: StoredBelief, change: CorrectBelief) -> ToolOutput:
    """Have the person asked whether a correction is right."""
    say = CommandMenu.load(context.utterance.system_language).say
    arguments: dict[str, JsonValue] = {
        "id": change.id,
        "text": change.text,
        "value": change.value or "",
        "since": change.since or 0,
        "base": change.base,
    }
    call = ToolCall(id=new_id(context.clock()), name=CORRECT, arguments=arguments)
    return ToolOutput(
        text=context.prompt.render("asked_first"),
        changes=(KeepPendingCall(call=call),),
        question=say["correct_ask"].format(old=memory.text, new=change.text),
    )


def correct(context: ToolContext, memory: StoredBelief, change: CorrectBelief) -> ToolOutput:
    """Return what is corrected; the person reads it below the reply."""
    say = CommandMenu.load(context.utterance.system_language).say
    told = say["corrected" if change.since is None else "corrected_since"]
    text = told.format(old=memory.text, new=change.text)
    context.decided.append(change)
    return ToolOutput(text=text, changes=(change,), summary=text)


def build_forget_tool(context: ToolContext) -> BoundTool:
    """Build the tool that shows the person what would be forgotten, and asks."""
    prompt = get_belief_prompt()

    async def use(arguments: ToolArguments) -> ToolOutput:
        find_words(context, arguments)
        if context.has_read_outside:
            raise build_refusal("read_outside")
        about, belief = (str(arguments.get(each) or "").strip() for each in ("about", "belief"))
        if bool(about) == bool(belief):
            raise build_refusal("one_of_both")
        if not is_told(context, about or belief, is_whole=bool(about)):
            raise build_refusal("not_told", given=about or belief)
        request = DeletionRequest(about=about) if about else await choose_belief(context, belief)
        return await prepare(context, request, given=about or belief)

    properties: dict[str, Any] = {
        "about": {"type": "string", "description": prompt.render("about")},
        "belief": {"type": "string", "description": prompt.render("belief")},
        "words": {"type": "string", "description": prompt.render("forget_words")},
    }
    return bind(FORGET_TOOL, prompt.render("forget"), properties, use, required=["words"])


async def choose_belief(context: ToolContext, text: str) -> DeletionRequest:
    """Return what forgets a belief and the messages that it was learned from."""
    state = await find_belief(context, text)
    async with context.search_deps.db.begin_read() as tx:
        evidence = await list_evidence(tx, context.utterance.person.id)
    memory = state.memory
    sources = dict.fromkeys(each.message for each in evidence.get(ObjectId(memory.id), ()))
    return DeletionRequest(ids=(memory.id, *sources))


async def prepare(
    context: ToolContext, deletion_request: DeletionRequest, *, given: str
) -> ToolOutput:
    """Show what a request would delete, and ask."""
    utterance = context.utterance
    deletion_request = replace(deletion_request, turns=frozenset({get_turn(utterance)}))
    async with context.search_deps.db.begin_read() as tx:
        preview = await load_preview(tx, utterance.person.id, deletion_request)
    if preview is None:
        raise build_refusal("no_belief", given=given)
    language = perceive(utterance.own_words, utterance.addressee).reply_language
    handled = build_question(utterance, preview, deletion_request, language=language)
    return build_asked_output(context, handled)


async def build_question_anew(
    tx: Transaction, utterance: Utterance, call: ToolCall, *, language: str
) -> tuple[str, ToolCall] | None:
    """Return the question about something to forget as of now, and its call; None if it is gone.

    Every turn in which it was asked goes with it.
    """
    arguments, turn = call.arguments, get_turn(utterance)
    turns = [*(TurnId(each) for each in str(arguments["turn"]).split()), turn]
    ids = str(arguments["ids"]).split()
    named = build_named_request(str(arguments["about"]).splitlines())
    request = replace(named, ids=tuple(ids), turns=frozenset(turns))
    preview = await load_preview(tx, utterance.person.id, request)
    if preview is None:
        return None
    handled = build_question(utterance, preview, request, language=language)
    if handled.asked_call is None:
        return None
    kept = {**handled.asked_call.arguments, "turn": " ".join(turns)}
    return handled.text, replace(handled.asked_call, arguments=kept)


def build_asked_output(context: ToolContext, handled: HandledRequest) -> ToolOutput:
    """Return a question of a request handler as that of a tool."""
    if handled.asked_call is None:
        return ToolOutput(text=handled.text, summary=handled.text)
    asked = KeepPendingCall(call=handled.asked_call)
    text = context.prompt.render("asked_first")
    return ToolOutput(text=text, changes=(asked,), question=handled.text)


def build_limitation_tool(context: ToolContext) -> BoundTool:
    """Build the tool that notes what the person asked for and cannot be done yet."""
    prompt = get_belief_prompt()

    async def use(arguments: ToolArguments) -> ToolOutput:
        find_words(context, arguments)
        title, description, plan = (
            sanitize(str(arguments.get(each) or "")) for each in ("title", "description", "plan")
        )
        if context.has_read_outside:
            description, plan = "", ""  # they may stem from there, and nobody is shown them
        utterance, now = context.utterance, context.clock()
        async with context.search_deps.db.begin_read() as tx:
            known = await list_limitations(tx, utterance.person.id)
        decided = [e.limitation for e in context.decided if isinstance(e, NoteLimitation)]
        change = decide_limitation(
            [*decided, *known], utterance, title, description=description, plan=plan, now=now
        )
        if change is None:
            raise build_refusal("noted_before")
        say = CommandMenu.load(utterance.system_language).say
        text = say["limitation_noted"].format(title=change.limitation.title)
        context.decided.append(change)
        records = (change.limitation.id,)
        return ToolOutput(text=text, changes=(change,), records=records, summary=text)

    properties: dict[str, Any] = {
        each: {"type": "string", "description": prompt.render(each)}
        for each in ("title", "description", "plan")
    }
    properties["words"] = {"type": "string", "description": prompt.render("limitation_words")}
    description = prompt.render("note_limitation")
    required = ["title", "words"]
    return bind(LIMITATION_TOOL, description, properties, use, required=required)


def build_confirmed_correction(context: ToolContext) -> BoundTool:
    """Build the tool that makes the correction that the person was asked about."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        person, wanted = context.utterance.person.id, str(arguments["id"])
        async with context.search_deps.db.begin_read() as tx:
            state = await get_memory_state(tx, person, MemoryId(ObjectId(wanted)))
        change = CorrectBelief(
            id=ObjectId(wanted),
            text=str(arguments["text"]),
            value=str(arguments["value"]) or None,
            since=int(str(arguments["since"])) or None,
            base=int(str(arguments["base"])),
        )
        if state.base_seq != change.base or state.memory.ended_at is not None:
            say = CommandMenu.load(context.utterance.system_language).say
            return ToolOutput(text=say["asked_changed"], summary=say["asked_changed"])
        return correct(context, state.memory, change)

    texts = {each: {"type": "string"} for each in ("id", "text", "value")}
    numbers = {each: {"type": "integer"} for each in ("since", "base")}
    properties: dict[str, Any] = {**texts, **numbers}
    return bind(
        CORRECT, "Corrects a belief.", properties, use, required=[*properties], max_uses=None
    )


def build_confirmed_forgetting(context: ToolContext) -> BoundTool:
    """Build the tool that has forgotten what the person was shown."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        ids, about = str(arguments["ids"]).split(), str(arguments["about"]).splitlines()
        utterance = context.utterance
        asked = [TurnId(each) for each in str(arguments["turn"]).split()]
        person, turns = utterance.person.id, (*asked, get_turn(utterance))
        language = utterance.system_language
        say = CommandMenu.load(language).say
        async with context.search_deps.db.begin_read() as tx:
            for turn in asked:
                ids += await list_turn_message_ids(tx, person, turn)  # they tell it, too
            request = replace(build_named_request(about), ids=tuple(ids), turns=frozenset(turns))
            preview = await load_preview(tx, person, request)
        if preview is None or preview.digest != arguments["seen"]:
            return ToolOutput(text=say["asked_changed"], summary=say["asked_changed"])
        change = BeginForgetting(
            language=language, request=request, turns=turns, seen=preview.digest
        )
        text = say["forget_begun"]
        return ToolOutput(text=text, changes=(change,), summary=text)

    texts = {each: {"type": "string"} for each in ("about", "ids", "turn", "seen")}
    description = "Forgets what was shown."
    return bind(FORGET, description, texts, use, required=[*texts], max_uses=None)


BELIEF_TOOLS: Final[Sequence[ToolSpec]] = (
    ToolSpec(name=CORRECT_TOOL, build=build_correct_tool, group=MEMORY_GROUP),
    ToolSpec(name=FORGET_TOOL, build=build_forget_tool, group=MEMORY_GROUP),
    ToolSpec(name=LIMITATION_TOOL, build=build_limitation_tool, group=MEMORY_GROUP),
)
CONFIRMED_BELIEF_TOOLS: Final[Sequence[ToolSpec]] = (
    ToolSpec(name=CORRECT, build=build_confirmed_correction, needs_confirmation=True),
    ToolSpec(name=FORGET, build=build_confirmed_forgetting, needs_confirmation=True),
)
