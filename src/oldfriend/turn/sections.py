"""Of which sections does a prompt consist, and what of each fits into its budget?

A section knows what it shows and what it had to drop, by id. How much each may take, and which
comes first when not all fits, is not decided here.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import Tool
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.budget import Budget, Priority, fitting
from oldfriend.turn.context import cost_of
from oldfriend.turn.labelling import (
    heard_label,
    inert,
    moment,
    note_label,
    quoted_label,
    replied_to_label,
    thing_label,
    written,
)
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.recall import Recollection, Thing, id_of
from oldfriend.turn.sight import Sight
from oldfriend.turn.worth_showing import promising, without_both

ASKING = re.compile("[?\uff1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of what a model is told."""

    name: str
    text: str = ""
    tokens: int = 0
    shown: tuple[str, ...] = ()  # ids of messages and memories
    made_of: tuple[str, ...] = ()  # ids of others, which stand here in other words
    dropped: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class View:
    """What sections are made of, and what the prompt holds by now: it grows."""

    said: Utterance
    sight: Sight
    prompt: Prompt
    budget: Budget
    sections: list[Section]  # made so far
    by_priority: dict[Priority, list[Section]] = field(default_factory=dict)
    """Of these not what is never cut, nor the talk itself."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The ids of messages and memories that are in the prompt by now."""
        return tuple(each for section in self.sections for each in section.shown)

    @property
    def seen(self) -> tuple[str, ...]:
        """The same, with what stands there in other words, each once."""
        behind = (each for section in self.sections for each in section.made_of)
        return tuple(dict.fromkeys([*self.shown, *behind]))

    def of(self, priority: Priority) -> list[Section]:
        """The sections of a priority."""
        return self.by_priority.get(priority, [])

    def add(self, sections: Sequence[Section], priority: Priority) -> None:
        """Put these into the prompt."""
        self.sections += sections
        self.by_priority.setdefault(priority, []).extend(sections)

    def named(self, *names: str) -> list[Section]:
        """The sections of these names."""
        return [section for section in self.sections if section.name in names]


def tokens_of(sections: Iterable[Section]) -> int:
    """What sections take together."""
    return sum(section.tokens for section in sections)


def rules_section(said: Utterance, prompt: Prompt) -> Section:
    """How the companion behaves, whoever it is: the same in every turn."""
    return whole("rules", [prompt.render("stable", name=inert(said.companion.name))])


def core_section(sight: Sight, prompt: Prompt) -> Section:
    """Who the companion is and who the person is, in people's words: the same in most turns."""
    known = sight.acquaintance
    told = [("soul", known.soul), *((each.name, each.text) for each in known.blocks)]
    parts = [
        prompt.render("core", kind=kind, text=written(text)) for kind, text in told if text.strip()
    ]
    return whole("core", parts)


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
            "state_in_group" if said.is_in_group else "state",
            person=inert(said.person.name), who=inert(message.speaker),
            now=f"{now:%A} {now:%Y-%m-%d %H:%M}", zone=message.zone,
            language=said.person.language or message.language,
        )
    ]  # fmt: skip
    if sight.before:
        when = moment(sight.before[-1].at, message.zone)
        lines.append(prompt.render("pause", when=when))
    if may_ask_whether_same(sight):
        one, other = sight.acquaintance.unsure[0]
        names = {"name": inert(one.name), "names": inert(other.name)}
        lines.append(prompt.render("perhaps_same", **names))
    if noted is not None:
        when = moment(message.at, message.zone)
        lines.append(prompt.render("noted"))
        lines.append(prompt.render("note_line", when=when, text=inert(noted)))
    return replace(whole("state", lines), made_of=unsure_of(sight))


def unsure_of(sight: Sight) -> tuple[str, ...]:
    """The ids of two who may be the same, where they are named in the state of things."""
    return (
        tuple(each.id for each in sight.acquaintance.unsure[0])
        if may_ask_whether_same(sight)
        else ()
    )


def may_ask_whether_same(sight: Sight) -> bool:
    """Whether two who may be the same are named now, and none such was asked about lately."""
    unsure = sight.acquaintance.unsure
    if not unsure:
        return False
    names = [each.name.casefold() for pair in unsure for each in pair]
    return not any(
        message.role == "companion"
        and ASKING.search(message.text)
        and sum(name in message.text.casefold() for name in names) > 1
        for message in sight.before
    )


def passed_on_section(said: Utterance, sight: Sight, prompt: Prompt) -> Section:
    """What the person has just passed on, never cut; and to what they reply. Not in their role."""
    passed_on = [each for each in said.messages if each.trust == "outside"]
    lines = [replied_to_label(prompt, each) for each in sight.replied_to]
    lines += [quoted_label(prompt, each) for each in said.messages if "quoted" in each.details]
    lines += [heard_label(prompt, each, is_whole=True) for each in passed_on]
    return replace(whole("passed on", lines), made_of=tuple(each.id for each in sight.replied_to))


def notes_section(view: View, budget: int) -> tuple[Section]:
    """The newest notes that fit, oldest first."""
    ids = [note.memory.id for note in view.sight.notes]
    lines = {place: note_label(view.prompt, note) for place, note in enumerate(view.sight.notes)}
    newest_first = range(len(lines))[::-1]
    title = view.prompt.render("notes")
    return (chosen("notes", title, lines, ids, by_worth=newest_first, budget=budget),)


def recalled_sections(view: View, budget: int) -> tuple[Section, Section]:
    """The best of what came to mind that fits: beliefs, then messages, as they were said.

    They share one budget, the better one first. What is shown already is not shown again; of a
    belief and the words that it rests on, the one that answers better is.
    """
    recollection, prompt, known = view.sight.recollection, view.prompt, frozenset(view.shown)
    zone = view.said.message.zone
    worth_showing = without_both(promising(recollection), known)
    lines = [thing_label(prompt, each, zone=zone) for each in worth_showing]
    titles = prompt.render("beliefs"), memories_title(recollection, prompt)
    left = budget - sum(map(cost_of, titles))
    kept = {id_of(worth_showing[nth]) for nth in fitting([*map(cost_of, lines)], left)}
    by_id = {id_of(each): line for each, line in zip(worth_showing, lines, strict=True)}
    beliefs = [each for each in recollection.beliefs if id_of(each) not in known]
    messages = sorted(recollection.found, key=lambda each: (each.message.at, each.message.seq))
    return (
        section_of("beliefs", titles[0], beliefs, by_id, kept),
        section_of("memories", titles[1], messages, by_id, kept),
    )


def memories_title(recollection: Recollection, prompt: Prompt) -> str:
    """What is said of the messages that came to mind: whether one of them seems to answer."""
    return prompt.render("memories" if recollection.is_good_enough else "memories_unsure")


def section_of(
    name: str, title: str, things: Sequence[Thing], lines: Mapping[str, str], kept: Collection[str]
) -> Section:
    """A section with those of its things that were kept, in their own order."""
    shown = tuple(id_of(each) for each in things if id_of(each) in kept)
    dropped = tuple(id_of(each) for each in things if id_of(each) not in kept)
    if not shown:
        return Section(name=name, dropped=dropped)
    text = "\n".join([title, *(lines[each] for each in shown)])
    return Section(name=name, text=text, tokens=cost_of(text), shown=shown, dropped=dropped)


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
