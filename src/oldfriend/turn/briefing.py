"""What is the model told for one reply? Sections, each within its budget, as one request.

First what is the same each time (the rules, who is who in people's words), so that providers can
keep it; then what is of this time only: who the person is, the state of things, what came to mind,
what others said; then the conversation. Reads nothing: what is in view is handed in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import Request, Tool, Turn
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import Budget, Priority
from oldfriend.turn.history import TURN_COST, Window, window_of
from oldfriend.turn.inner_sections import (
    GUIDANCE,
    IN_MIND,
    OPINIONS,
    THOUGHTS_SHARE,
    guidance_section,
    in_mind_section,
    opinions_section,
    thoughts_section,
)
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.portrait import portrait, summaries_section
from oldfriend.turn.sections import (
    Section,
    View,
    core_section,
    notes_section,
    passed_on_section,
    recalled_sections,
    rules_section,
    state_section,
    tokens_of,
    tools_section,
)
from oldfriend.turn.sight import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """A request, and what of everything in view went into it."""

    request: Request
    shown: frozenset[str]  # ids of messages and memories whose own words stand in it
    trace: dict[str, JsonValue]  # tokens of each section, and the ids of what was dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a prompt something is told: who gets room first, how much, and what is put there."""

    priority: Priority
    most: Callable[[View], int]  # tokens
    fill: Callable[[View, int], Sequence[Section]]


def most_of_notes(view: View) -> int:
    """What the rules, the tools and the state of things leave of their share."""
    return view.budget.system - tokens_of(view.named("rules", "tools", "state"))


def most_of_summaries(view: View) -> int:
    """What the picture of the person leaves of their share."""
    return view.budget.summaries - tokens_of(view.of("mandatory"))


def most_of_thoughts(view: View) -> int:
    """A share of the room for what is recalled."""
    return view.budget.snippets // THOUGHTS_SHARE


def most_of_snippets(view: View) -> int:
    """What the thoughts leave of it."""
    return view.budget.snippets - tokens_of(view.named("thoughts"))


PLACES: Final = (
    Place(priority="mandatory", most=lambda view: view.budget.known, fill=portrait),
    Place(priority="mandatory", most=lambda _: IN_MIND, fill=in_mind_section),
    Place(priority="high", most=lambda _: GUIDANCE, fill=guidance_section),
    Place(priority="high", most=most_of_notes, fill=notes_section),
    Place(priority="high", most=most_of_summaries, fill=summaries_section),
    Place(priority="medium", most=most_of_thoughts, fill=thoughts_section),
    Place(priority="medium", most=most_of_snippets, fill=recalled_sections),
    Place(priority="low", most=lambda _: OPINIONS, fill=opinions_section),
)
"""What is told as far as it fits, of each priority in this order. One more section is one line."""


def brief(
    said: Utterance, sight: Sight, prompt: Prompt, *, noted: str | None, tools: Sequence[Tool],
    budget: Budget,
) -> Briefing:  # fmt: skip
    """Everything that a model is told for one reply.

    The rules, who is who in people's words, and what was said just now are never cut. What is left
    of the budget goes to the places by their priority, and to the recent messages before the
    "medium" ones.
    """
    rules, core = rules_section(said, prompt), core_section(sight, prompt)
    state = state_section(said, sight, prompt, noted=noted)
    message, passed_on = message_section(said, prompt), passed_on_section(said, sight, prompt)
    fixed = [rules, core, tools_section(tools), state, message, passed_on]
    view = View(said=said, sight=sight, prompt=prompt, budget=budget, sections=fixed)
    fill(view, "mandatory", "high")
    window = window_that_fits(view)
    view.sections.append(recent_section(window))
    fill(view, "medium", "low")
    told = [*view.of("mandatory"), state, *view.of("high"), *view.of("medium"), *view.of("low")]
    return Briefing(
        request=Request(
            purpose="reply",
            prompt=prompt.id,
            stable="\n\n".join(filter(None, [rules.text, core.text])),
            changing=changing_text(told, window, passed_on, prompt),
            turns=conversation(said, window, prompt),
            tools=tuple(tools),
            shown=view.seen,
        ),
        shown=frozenset(view.shown),
        trace=trace_of(view),
    )


def fill(view: View, *priorities: Priority) -> None:
    """Add what fits into the places of these priorities."""
    for place in PLACES:
        if place.priority in priorities:
            room = max(min(left_in(view), place.most(view)), 0)
            view.add(place.fill(view, room), place.priority)


def left_in(view: View) -> int:
    """The tokens that are left; none where what is never cut takes more than the whole budget."""
    return max(view.budget.total - tokens_of(view.sections), 0)


def window_that_fits(view: View) -> Window:
    """The recent messages, fewer of them where there is not enough room."""
    sight, left = view.sight, left_in(view)
    if sight.window.tokens <= left:
        return sight.window
    return window_of(sight.before, sight.quoting, view.prompt, budget=left)


def recent_section(window: Window) -> Section:
    """What the recent messages take; their words become turns."""
    return Section(
        name="recent", tokens=window.tokens, dropped=tuple(each.id for each in window.dropped),
        shown=tuple(each.id for each in window.shown),
    )  # fmt: skip


def message_section(said: Utterance, prompt: Prompt) -> Section:
    """What the person has just said themselves."""
    tokens = TURN_COST + estimate_tokens(turn_of(said, prompt).text)
    return Section(name="message", tokens=tokens, shown=tuple(each.id for each in said.messages))


def turn_of(said: Utterance, prompt: Prompt) -> Turn:
    """The person's own words just now; where there are none, a word of the house."""
    if said.own_words:
        return Turn(role="person", text=said.spoken)
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


def trace_of(view: View) -> dict[str, JsonValue]:
    """What each section took, and what it had to drop."""
    sections = view.sections
    return {
        "budget": view.budget.name,
        "tokens": {section.name: section.tokens for section in sections},
        "dropped": {section.name: [*section.dropped] for section in sections if section.dropped},
    }
