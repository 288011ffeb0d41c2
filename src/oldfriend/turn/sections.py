"""Of which sections does a prompt consist, and what of each fits into its budget?

A section knows what it shows and what it had to drop, by id. How much each may take is not
decided here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import Tool
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import fitting
from oldfriend.turn.context import cost_of
from oldfriend.turn.labelling import heard_label, inert, moment, note_label, recalled_label
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.sight import Sight

MOST_UNSURE = 5
"""When nothing recalled seems to answer, so much of it may still help to understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of what a model is told."""

    name: str
    text: str = ""
    tokens: int = 0
    shown: tuple[str, ...] = ()  # ids of messages and memories
    dropped: tuple[str, ...] = ()


def rules_section(said: Utterance, prompt: Prompt) -> Section:
    """Who the companion is and how it behaves: the same in every turn."""
    return whole("rules", [prompt.render("stable", name=inert(said.companion.name))])


def tools_section(tools: Sequence[Tool]) -> Section:
    """What the tools' names and forms take."""
    forms = [tool.name + tool.description + json.dumps(dict(tool.parameters)) for tool in tools]
    return Section(name="tools", tokens=sum(estimate_tokens(form) for form in forms))


def state_section(said: Utterance, sight: Sight, prompt: Prompt, *, noted: str | None) -> Section:
    """Who is talking, when, and what a rule has noted of it."""
    message = said.message
    now = from_micros(message.at, message.zone)
    lines = [
        prompt.render(
            "state", person=inert(said.person.name), now=f"{now:%A} {now:%Y-%m-%d %H:%M}",
            zone=message.zone, language=said.person.language or message.language,
        )
    ]  # fmt: skip
    if sight.before:
        when = moment(sight.before[-1].at, message.zone)
        lines.append(prompt.render("pause", when=when))
    if noted is not None:
        when = moment(message.at, message.zone)
        lines.append(prompt.render("noted"))
        lines.append(prompt.render("note_line", when=when, text=inert(noted)))
    return whole("state", lines)


def passed_on_section(said: Utterance, prompt: Prompt) -> Section:
    """What the person has just passed on: never cut, and never in their role."""
    passed_on = [each for each in said.messages if each.trust != "person"]
    lines = [heard_label(prompt, each, is_whole=True) for each in passed_on]
    return whole("passed on", lines)


def notes_section(sight: Sight, prompt: Prompt, budget: int) -> Section:
    """The newest notes that fit, oldest first."""
    ids = [note.memory.id for note in sight.notes]
    lines = {place: note_label(prompt, note) for place, note in enumerate(sight.notes)}
    newest_first = range(len(lines))[::-1]
    title = prompt.render("notes")
    return chosen("notes", title, lines, ids, by_worth=newest_first, budget=budget)


def memories_section(sight: Sight, prompt: Prompt, budget: int) -> Section:
    """The best of what was recalled that fits, in the order in which it was said."""
    recollection = sight.recollection
    is_sure = recollection.is_good_enough
    title = prompt.render("memories" if is_sure else "memories_unsure")
    in_order = sorted(recollection.found, key=lambda each: (each.message.at, each.message.seq))
    places = {each.message.id: place for place, each in enumerate(in_order)}
    best_first = [places[each.message.id] for each in recollection.found]
    by_worth = best_first if is_sure else best_first[:MOST_UNSURE]
    lines = {place: recalled_label(prompt, in_order[place]) for place in by_worth}
    return chosen("memories", title, lines, list(places), by_worth=by_worth, budget=budget)


def chosen(
    name: str, title: str, lines: Mapping[int, str], ids: Sequence[str], *,
    by_worth: Sequence[int], budget: int,
) -> Section:  # fmt: skip
    """A section under its title: of its lines those that fit, by worth, in their own order.

    ``lines`` holds those that are worth anything, each by its place among the ids.
    """
    costs = [cost_of(lines[place]) for place in by_worth]
    kept = sorted(by_worth[nth] for nth in fitting(costs, budget - cost_of(title)))
    dropped = tuple(ids[place] for place in range(len(ids)) if place not in kept)
    if not kept:
        return Section(name=name, dropped=dropped)
    text = "\n".join([title, *(lines[place] for place in kept)])
    shown = tuple(ids[place] for place in kept)
    return Section(name=name, text=text, tokens=cost_of(text), shown=shown, dropped=dropped)


def whole(name: str, lines: Sequence[str]) -> Section:
    """A section that is never cut."""
    text = "\n".join(lines)
    return Section(name=name, text=text, tokens=cost_of(text) if text else 0)
