"""What of its inner life is a model told? What is in mind, how to talk, what it thinks and holds.

Its words stand in the prompt; how much of it there is room for is not decided here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from oldfriend.domain.memories import Known
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.context import day_of
from oldfriend.turn.labelling import inert
from oldfriend.turn.portrait import listed
from oldfriend.turn.sections import Section, View, whole

IN_MIND: Final = 150
GUIDANCE: Final = 150
"""Tokens, at most (ACCEPTANCE J13)."""
OPINIONS: Final = 120
"""50 there; with its title that holds not even one."""
THOUGHTS_SHARE: Final = 4
"""So much of the room for what is recalled is for thoughts, at most: a quarter."""

Line: TypeAlias = tuple[str, Sequence[str]]
"""A line, and the ids of the messages and memories that it was made of."""


def in_mind_section(view: View, room: int) -> Sequence[Section]:
    """What was agreed and asked lately, what a tool gave, how the person seemed."""
    working, prompt = view.sight.inner.working, view.prompt
    lines: list[Line] = []
    if working.plan is not None:
        plan = working.plan
        words = {"text": plan.goal, "result": plan.progress, "until": plan.next_step}
        lines.append((rendered(prompt, "plan", **words), plan.seen))
    if working.slots:
        names = ", ".join(slot.name for slot in working.slots)
        seen = [each for slot in working.slots for each in slot.seen]
        lines.append((rendered(prompt, "asked_for", names=names), seen))
    if working.last_result:
        result = rendered(prompt, "last_result", result=working.last_result)
        lines.append((result, working.result_seen))
    if any(emotion != "neutral" for emotion in working.trajectory):
        lines.append((rendered(prompt, "seemed", names=", ".join(working.trajectory)), ()))
    lines += [
        (rendered(prompt, "turn_before", text=brief.said, result=brief.replied), brief.messages)
        for brief in working.briefs
        if view.sight.window.dropped
    ]
    return [fitting_lines("in mind", prompt.render("in_mind"), lines, room)]


def guidance_section(view: View, room: int) -> Sequence[Section]:
    """How to talk now, and how the companion feels; what does not fit is left out from the end."""
    inner, prompt = view.sight.inner, view.prompt
    manner, understanding = inner.manner, inner.understanding
    if manner is None or understanding is None:
        return []
    lines = [
        prompt.render(f"style_{manner.style}"),
        prompt.render(f"tone_{manner.tone.emotion}"),
        prompt.render(f"goal_{understanding.goal}"),
        prompt.render(f"length_{manner.tone.length}"),
        prompt.render(f"emoji_{manner.tone.emoji}"),
    ]
    if inner.mood is not None:
        mood = inner.mood
        lines.append(rendered(prompt, "mood", text=mood.phrase, count=str(mood.energy)))
    own = [(line, ()) for line in lines]
    return [fitting_lines("guidance", prompt.render("guidance"), own, room)]


def thoughts_section(view: View, room: int) -> Sequence[Section]:
    """What it has made of what it knows: there whatever is said, as far as there is room."""
    return [memories_section(view, "thoughts", view.sight.inner.thoughts, room)]


def opinions_section(view: View, room: int) -> Sequence[Section]:
    """What it has said it thinks of what is talked about."""
    return [memories_section(view, "opinions", view.sight.inner.opinions, room)]


def memories_section(view: View, name: str, known: Sequence[Known], room: int) -> Section:
    """Memories of one kind under their title."""
    zone = view.said.message.zone
    lines = [
        view.prompt.render(
            "own_line", text=inert(each.memory.text), when=day_of(each.standing.last_seen, zone),
            who=each.memory.subject,
        )
        for each in known
    ]  # fmt: skip
    return listed(name, view.prompt.render(name), known, lines, room)


def rendered(prompt: Prompt, part: str, **words: str) -> str:
    """A part with words that can be taken for nothing else."""
    return prompt.render(part, **{name: inert(text) for name, text in words.items()})


def fitting_lines(name: str, title: str, lines: Sequence[Line], room: int) -> Section:
    """Lines under their title, as many from the first on as there is room for."""
    kept = list(lines)
    while kept:
        section = whole(name, [title, *(line for line, _ in kept)])
        if section.tokens <= room:
            seen = dict.fromkeys(each for _, ids in kept for each in ids)
            return replace(section, made_of=tuple(seen))
        kept.pop()
    return Section(name=name)
