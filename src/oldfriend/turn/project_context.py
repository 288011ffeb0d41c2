"""Project context: the project that is open in a chat, the skills that are on, and the goals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.goals.goal import GoalState
from oldfriend.goals.goal_store import list_goals
from oldfriend.projects.project_store import Project, find_open_project, list_project_messages
from oldfriend.projects.skill_store import Skill, list_skills
from oldfriend.prompts.prompt import Prompt
from oldfriend.prompts.token_budget import select_fitting
from oldfriend.turn.prompt_labels import sanitize, sanitize_core_block
from oldfriend.turn.turn_outcome import Utterance

MAX_PROJECT_MESSAGES: Final = 12
MAX_SKILL_TOKENS: Final = 500
"""Of all skills together: they stand in every prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectContext:
    """How the person wants to work in this chat."""

    project: Project | None = None
    messages: tuple[Message, ...] = ()  # what they last said in the project, oldest first
    skills: tuple[Skill, ...] = ()  # those that are on, the one written last first
    goals: tuple[GoalState, ...] = ()  # those that are active

    @property
    def source_ids(self) -> Sequence[str]:
        """Return the ids of the instructions, and of the messages in which they were written."""
        project = () if self.project is None else (self.project,)
        written = [(each.id, each.message) for each in (*self.skills, *project)]
        return [each for pair in written for each in pair if each is not None]


NO_PROJECT: Final = ProjectContext()


async def load_project_context(tx: Transaction, utterance: Utterance) -> ProjectContext:
    """Load what is open and on; in a group, whose memory belongs to no member alone, nothing is."""
    if utterance.is_in_group:
        return NO_PROJECT
    person, first = utterance.person.id, utterance.messages[0]
    project = await find_open_project(tx, person, first.chat)
    messages: list[Message] = []
    if project is not None:
        messages = await list_project_messages(
            tx, person, project.id, limit=MAX_PROJECT_MESSAGES, before=first.seq
        )
    skills = [each for each in await list_skills(tx, person) if each.is_on]
    now = first.at
    goals = [each for each in await list_goals(tx, person) if each.goal.is_open(now)]
    return ProjectContext(
        project=project, messages=tuple(messages), skills=tuple(skills), goals=tuple(goals)
    )


def render_skills(skills: Sequence[Skill], prompt: Prompt) -> dict[str, str]:
    """Return those skills that fit, as they stand in a prompt, by id; the first ones come first."""
    rendered = [
        prompt.render(
            "core",
            kind="skill",
            text=prompt.render(
                "skill", name=sanitize(each.name), text=sanitize_core_block(each.text)
            ),
        )
        for each in skills
    ]
    fitting = select_fitting([estimate_tokens(each) for each in rendered], MAX_SKILL_TOKENS)
    return {skills[each].id: rendered[each] for each in fitting}
