"""What is the model told for one reply? Sections, each within its budget, as one request.

First what is the same each time (who the companion is, its rules), so that providers can keep it;
then what is of this time only: who the person is, the state of things, what came to mind, what
others said; then the conversation. Reads nothing: what is in view is handed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import Request, Tool, Turn
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import Budget
from oldfriend.turn.history import TURN_COST, Window, window_of
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.portrait import portrait, summaries_section
from oldfriend.turn.sections import (
    Section,
    notes_section,
    passed_on_section,
    recalled_sections,
    rules_section,
    state_section,
    tools_section,
)
from oldfriend.turn.sight import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """A request, and what of everything in view went into it."""

    request: Request
    shown: frozenset[str]  # ids of messages and memories
    trace: dict[str, JsonValue]  # tokens of each section, and the ids of what was dropped


def brief(
    said: Utterance, sight: Sight, prompt: Prompt, *, noted: str | None, tools: Sequence[Tool],
    budget: Budget,
) -> Briefing:  # fmt: skip
    """Everything that a model is told for one reply.

    The rules and what was said just now are never cut. What is left of the budget goes to notes and
    to who the person is, then to summaries, to the recent messages, and to what came to mind, which
    goes first when it does not all fit.
    """
    rules, state = rules_section(said, prompt), state_section(said, sight, prompt, noted=noted)
    message, passed_on = message_section(said, prompt), passed_on_section(said, prompt)
    system = [rules, tools_section(tools), state]
    fixed = [*system, message, passed_on]
    left = budget.total - tokens_of(fixed)
    notes = notes_section(sight, prompt, min(left, budget.system - tokens_of(system)))
    left -= notes.tokens
    known = portrait(said, sight, prompt, min(left, budget.known))
    left -= tokens_of(known)
    room = budget.summaries - tokens_of(known)
    summaries = summaries_section(said, sight, prompt, min(left, room))
    left -= summaries.tokens
    window = sight.window
    if window.tokens > left:
        window = window_of(sight.before, sight.quoting, prompt, budget=left)
    room = min(left - window.tokens, budget.snippets)
    told = {each for section in known for each in section.shown}
    beliefs, memories = recalled_sections(said, sight, prompt, room, known=told)
    recent = Section(
        name="recent", tokens=window.tokens, dropped=tuple(each.id for each in window.dropped),
        shown=tuple(each.id for each in window.shown),
    )  # fmt: skip
    sections = [*fixed, *known, notes, summaries, recent, beliefs, memories]
    shown = tuple(each for section in sections for each in section.shown)
    return Briefing(
        request=Request(
            purpose="reply",
            prompt=prompt.id,
            stable=rules.text,
            changing=changing_text(
                [*known, state, notes, summaries, beliefs, memories], window, passed_on, prompt
            ),
            turns=conversation(said, window, prompt),
            tools=tuple(tools),
            shown=shown,
        ),
        shown=frozenset(shown),
        trace=trace_of(sections, budget),
    )


def message_section(said: Utterance, prompt: Prompt) -> Section:
    """What the person has just said themselves."""
    tokens = TURN_COST + estimate_tokens(turn_of(said, prompt).text)
    return Section(name="message", tokens=tokens, shown=tuple(each.id for each in said.messages))


def turn_of(said: Utterance, prompt: Prompt) -> Turn:
    """The person's own words just now; where there are none, a word of the house."""
    if said.own_words:
        return Turn(role="person", text=said.own_words)
    return Turn(role="house", text=prompt.render("passed_on"))


def conversation(said: Utterance, window: Window, prompt: Prompt) -> tuple[Turn, ...]:
    """The recent messages and what was said just now; each side's words in a row are one turn."""
    now = turn_of(said, prompt)
    if not window.turns or window.turns[-1].role != now.role:
        return (*window.turns, now)
    *earlier, last = window.turns
    return (*earlier, replace(last, text=f"{last.text}\n\n{now.text}"))


def changing_text(
    sections: Sequence[Section], window: Window, passed_on: Section, prompt: Prompt
) -> str:
    """The instructions of this time only; what was heard comes last, the newest at its end."""
    heard = [*window.heard, *filter(None, [passed_on.text])]
    parts = [section.text for section in sections if section.text]
    return "\n\n".join([*parts, *(["\n".join([prompt.render("heard"), *heard])] if heard else [])])


def trace_of(sections: Sequence[Section], budget: Budget) -> dict[str, JsonValue]:
    """What each section took, and what it had to drop."""
    return {
        "budget": budget.name,
        "tokens": {section.name: section.tokens for section in sections},
        "dropped": {section.name: [*section.dropped] for section in sections if section.dropped},
    }


def tokens_of(sections: Sequence[Section]) -> int:
    """What sections take together."""
    return sum(section.tokens for section in sections)
