"""What of the person themselves goes into a prompt? Who they are, what is open, who is named.

Always there, whatever came to mind; and what was talked about, in short.
"""

from collections.abc import Sequence
from dataclasses import replace

from oldfriend.domain.memories import Known
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.acquaintance import About
from oldfriend.turn.budget import fitting
from oldfriend.turn.context import cost_of
from oldfriend.turn.labelling import (
    belief_label,
    inert,
    open_label,
    profile_label,
    summary_label,
)
from oldfriend.turn.sections import Section, View, chosen

SHORTEST_LABEL = 16
"""Tokens of a belief in its label, at least: what cannot fit is not put into words."""


def portrait(view: View, budget: int) -> list[Section]:
    """What is always known, within one budget: the profile, what is open, who is named.

    What is said of the person is not said again of somebody named.
    """
    prompt, now, zone = view.prompt, view.said.message.at, view.said.message.zone
    profile = view.sight.acquaintance.profile
    kept = [*profile.facts, *profile.preferences][: budget // SHORTEST_LABEL]
    lines = [profile_label(prompt, each, zone=zone) for each in kept]
    who = listed("profile", prompt.render("profile"), kept, lines, budget)
    budget -= who.tokens
    promises = profile.promises[: budget // SHORTEST_LABEL]
    lines = [open_label(prompt, each, now=now, zone=zone) for each in promises]
    still_open = listed("open", prompt.render("open"), promises, lines, budget)
    budget -= still_open.tokens
    sections, told = [who, still_open], {*who.shown, *still_open.shown}
    for about in view.sight.acquaintance.about:
        section = about_section(about, prompt, told, zone=zone, budget=budget)
        sections.append(section)
        budget -= section.tokens
        told |= set(section.shown)
    return sections


def about_section(
    about: About, prompt: Prompt, told: set[str], *, zone: str, budget: int
) -> Section:  # fmt: skip
    """What is believed about somebody or something that is named."""
    entity = about.entity
    called = ", ".join(inert(name) for name in (entity.name, *entity.aliases))
    title = prompt.render("about", name=f"{called} ({entity.kind})")
    known = [each for each in about.told if each.memory.id not in told]
    lines = [belief_label(prompt, each, zone=zone) for each in known]
    section = listed(f"about {entity.name}", title, known, lines, budget)
    return replace(section, made_of=(entity.id,) if section.shown else ())


def summaries_section(view: View, budget: int) -> tuple[Section]:
    """What was talked about: the highest level first, the newest kept when not all fit."""
    summaries = view.sight.acquaintance.summaries
    lines = {
        place: summary_label(view.prompt, each, zone=view.said.message.zone)
        for place, each in enumerate(summaries)
    }
    by_worth = sorted(lines, key=lambda place: (-summaries[place].level, -summaries[place].from_at))
    ids = [each.id for each in summaries]
    title = view.prompt.render("summaries")
    return (chosen("summaries", title, lines, ids, by_worth=by_worth, budget=budget),)


def listed(
    name: str, title: str, known: Sequence[Known], lines: Sequence[str], budget: int
) -> Section:
    """A section of beliefs: those that fit, first come first served."""
    kept = fitting([*map(cost_of, lines)], budget - cost_of(title))
    ids = [each.memory.id for each in known]
    dropped = tuple(ids[place] for place in range(len(ids)) if place not in kept)
    if not kept:
        return Section(name=name, dropped=dropped)
    text = "\n".join([title, *(lines[place] for place in kept)])
    shown = tuple(ids[place] for place in kept)
    return Section(name=name, text=text, tokens=cost_of(text), shown=shown, dropped=dropped)
