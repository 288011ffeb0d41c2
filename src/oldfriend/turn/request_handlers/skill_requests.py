"""Skill requests: keeps, shows and switches instructions for a kind of task.

"/skill Letters: Write letters short and warm", "/skill Letters off", "/skills"; "/skill Letters: +
Sign with Nora" adds a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import new_id
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.llm.model import ToolCall
from oldfriend.projects.project_store import MAX_NAME_CHARS
from oldfriend.projects.skill_store import (
    MAX_SKILL_CHARS,
    MAX_SKILLS,
    Skill,
    list_skills,
    save_skill,
)
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.project_context import render_skills
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
    list_told,
)
from oldfriend.turn.request_handlers.project_requests import DELETE_WORDS, split_name
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "skills"
COMMANDS: Final = frozenset({"skill", "skills"})
DELETE_SKILL: Final = "delete_skill"
"""The tool that does it, at the person's yes."""
FURTHER: Final = "+"
"""Begins a line that is added to a skill."""
SWITCHES: Final = {"on": True, "off": False}
MAX_LINE_CHARS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSkill:
    """The change that stores a skill as it is to be."""

    skill: Skill

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it."""
        del scope
        await save_skill(tx, self.skill)


async def handle_skill(context: HandlerContext) -> HandledRequest | None:
    """Handle a command about skills."""
    command = read_command(context.text)
    if command is None or command.name not in COMMANDS:
        return None
    async with context.db.begin_read() as tx:
        stored = {each.id: each for each in await list_skills(tx, context.utterance.person.id)}
    decided = [each.skill for each in context.decided if isinstance(each, SaveSkill)]
    desk = SkillDesk(context, [*{**stored, **{each.id: each for each in decided}}.values()])
    name, text = split_name(command.words)
    if not command.words or command.name == "skills":
        return desk.list_all()
    if text is not None:
        return desk.keep(name, text)
    first, _, rest = name.partition(" ")
    if first.lower() in DELETE_WORDS and rest:
        return desk.ask_to_delete(rest)
    start, _, last = name.rpartition(" ")
    if start and last.lower() in SWITCHES:
        return desk.switch(start, is_on=SWITCHES[last.lower()])
    return desk.show(name)


class SkillDesk:
    """A person's skills, in the language of the reply."""

    def __init__(self, context: HandlerContext, known: list[Skill]) -> None:
        """Take what there is."""
        self.context = context
        self.known = known
        self.say = CommandMenu.load(context.perception.reply_language).say

    def tell(self, text: str) -> HandledRequest:
        """Return a request that only tells something."""
        told = list_told(((each.id, each.name) for each in self.known), text)
        return HandledRequest(name=NAME, text=text, records=told, is_command=True)

    def find(self, name: str) -> Skill | None:
        """Return the skill of a name, whatever its case."""
        return next((each for each in self.known if each.name.casefold() == name.casefold()), None)

    def name_state(self, skill: Skill) -> str:
        """Return whether a skill is on, in words."""
        return self.say["skill_is_on" if skill.is_on else "skill_is_off"]

    def tell_unknown(self, name: str) -> HandledRequest:
        """Tell that no skill is called so."""
        return self.tell(self.say["skill_unknown"].format(name=name[:MAX_NAME_CHARS]))

    def list_all(self) -> HandledRequest:
        """List all skills, and how one is kept."""
        lines = [
            self.say["skill_line"].format(
                name=each.name,
                state=self.name_state(each),
                text=" ".join(each.text.split())[:MAX_LINE_CHARS],
            )
            for each in self.known
        ]
        head = [self.say["skills_head"]] if lines else []
        left_out = self.name_left_out(self.known)
        return self.tell("\n".join([*head, *lines, *left_out, self.say["skills_usage"]]))

    def name_left_out(self, skills: Sequence[Skill]) -> list[str]:
        """Return which of the skills that are on do not fit into a prompt with the others."""
        on = sorted(
            (each for each in skills if each.is_on), key=lambda each: each.changed_at, reverse=True
        )
        fitting = render_skills(on, get_reply_prompt())
        names = [f"“{each.name}”" for each in on if each.id not in fitting]
        return [self.say["skill_left_out"].format(names=", ".join(names))] if names else []

    def show(self, name: str) -> HandledRequest:
        """Show a skill whole."""
        skill = self.find(name)
        if skill is None:
            return self.tell_unknown(name)
        told = self.say["skill_shown"].format(
            name=skill.name, state=self.name_state(skill), text=skill.text
        )
        return self.tell(told)

    def switch(self, name: str, *, is_on: bool) -> HandledRequest:
        """Switch a skill on or off."""
        skill = self.find(name)
        if skill is None:
            return self.tell_unknown(name)
        switched = replace(skill, is_on=is_on, changed_at=self.context.clock())
        text = self.say["skill_switched_on" if is_on else "skill_switched_off"]
        return self.store(switched, text.format(name=skill.name))

    def keep(self, name: str, text: str) -> HandledRequest:
        """Keep a skill, in place of one that is called so."""
        most = {"name": MAX_NAME_CHARS, "text": MAX_SKILL_CHARS}
        if text.startswith(FURTHER):
            skill = self.find(name)
            if skill is None:
                return self.tell_unknown(name)
            text = f"{skill.text}\n{text[len(FURTHER) :].strip()}"
        if not name or not text or len(name) > MAX_NAME_CHARS or len(text) > MAX_SKILL_CHARS:
            return self.tell(self.say["skill_too_long"].format(**most))
        found, now = self.find(name), self.context.clock()
        if found is None and len(self.known) >= MAX_SKILLS:
            return self.tell(self.say["skill_full"].format(most=MAX_SKILLS))
        message = self.context.utterance.message
        skill = Skill(
            id=new_id(now) if found is None else found.id,
            person=self.context.utterance.person.id,
            name=name,
            text=text,
            message=message.id,
            message_seq=message.seq,
            created_at=now if found is None else found.created_at,
            changed_at=now,
        )
        part = "skill_kept" if found is None else "skill_replaced"
        return self.store(skill, self.say[part].format(name=name))

    def store(self, skill: Skill, told: str) -> HandledRequest:
        """Return the request that stores a skill; without a model it has nobody to follow it."""
        if skill.is_on and self.context.model_name is None:
            told = f"{told} {self.say['needs_model']}"
        others = [each for each in self.known if each.id != skill.id]
        told = "\n".join([told, *self.name_left_out([skill, *others])])
        request = self.tell(told)
        records = tuple(dict.fromkeys((*request.records, skill.id)))
        return replace(request, records=records, changes=(SaveSkill(skill=skill),))

    def ask_to_delete(self, name: str) -> HandledRequest:
        """Ask whether to delete a skill."""
        skill = self.find(name)
        if skill is None:
            return self.tell_unknown(name)
        call = ToolCall(
            id=new_id(self.context.clock()), name=DELETE_SKILL, arguments={"id": skill.id}
        )
        text = self.say["skill_delete_ask"].format(name=skill.name)
        return replace(self.tell(text), asked_call=call)


SKILL_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_skill)
