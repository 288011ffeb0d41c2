"""Project requests: opens, closes, lists and describes what a person works on.

"/project Garden: Be a patient gardener", "/project off", "/projects".
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Message, clean_name
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.llm.model import ToolCall
from oldfriend.projects.project_store import (
    MAX_NAME_CHARS,
    MAX_PROJECTS,
    MAX_ROLE_CHARS,
    Project,
    ProjectOverview,
    close_project,
    find_open_project,
    list_project_messages,
    list_projects,
    open_project,
    save_project,
)
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.tasks.task_store import list_tasks
from oldfriend.tasks.task_wording import MAX_LISTED, TaskWording
from oldfriend.turn.quotes import extract_excerpt, format_day
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
    list_told,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "projects"
COMMANDS: Final = frozenset({"project", "projects"})
DELETE_PROJECT: Final = "delete_project"
"""The tool that does it, at the person's yes."""
CLOSE_WORDS: Final = frozenset({"off", "close", "none", "-"})
DELETE_WORDS: Final = frozenset({"delete", "remove"})
SHOWN: Final = 3
COLONS: Final = (":", "\uff1a")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenProject:
    """The change that opens a project in the chat of the message, stored as it is to be."""

    project: Project
    is_new_version: bool

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Open it."""
        message = scope.message
        if self.is_new_version:
            await save_project(tx, self.project)
        await open_project(tx, scope.person.id, message.chat, self.project.id, seq=message.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseProject:
    """The change that closes what is open in the chat of the message."""

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Close it."""
        await close_project(tx, scope.person.id, scope.message.chat, seq=scope.message.seq)


async def handle_project(context: HandlerContext) -> HandledRequest | None:
    """Handle a command about projects."""
    command = read_command(context.text)
    if command is None or command.name not in COMMANDS:
        return None
    async with context.db.begin_read() as tx:
        desk = await ProjectDesk.load(tx, context)
        first, _, rest = command.words.partition(" ")
        if command.name == "projects" or not command.words:
            text = desk.list_all() if command.name == "projects" else await desk.show_open(tx)
            return desk.tell(text)
        if first.lower() in DELETE_WORDS and rest.strip():
            return desk.ask_to_delete(rest.strip())
        if command.words.lower() in CLOSE_WORDS:
            return desk.close()
        return await desk.open(tx, *split_name(command.words))


def split_name(words: str) -> tuple[str, str | None]:
    """Return the name and, behind a colon, the instruction; None: there is no colon."""
    words = clean_name(words)
    at = min((words.index(each) for each in COLONS if each in words), default=None)
    if at is None:
        return " ".join(words.split()), None
    return " ".join(words[:at].split()), words[at + 1 :].strip()


class ProjectDesk:
    """A person's projects, in the language of the reply."""

    def __init__(
        self, context: HandlerContext, known: list[ProjectOverview], opened: Project | None
    ) -> None:
        """Take what there is."""
        self.context = context
        self.known = known
        self.opened = opened
        self.message: Message = context.utterance.message
        self.say = CommandMenu.load(context.perception.reply_language).say
        self.book = load_phrases(context.perception.offline_reply_language)

    @classmethod
    async def load(cls, tx: Transaction, context: HandlerContext) -> "ProjectDesk":
        """Load a person's projects, and the one that is open in this chat."""
        person, chat = context.utterance.person.id, context.utterance.message.chat
        known = await list_projects(tx, person)
        return cls(context, known, await find_open_project(tx, person, chat))

    def tell(self, text: str) -> HandledRequest:
        """Return a request that only tells something."""
        known = ((each.project.id, each.project.name) for each in self.known)
        return HandledRequest(name=NAME, text=text, records=list_told(known, text), is_command=True)

    def find(self, name: str) -> ProjectOverview | None:
        """Return the project of a name, whatever its case."""
        wanted = name.casefold()
        return next((each for each in self.known if each.project.name.casefold() == wanted), None)

    def list_all(self) -> str:
        """List all projects, the one that was worked on last first."""
        if not self.known:
            return self.say["project_usage"]
        return "\n".join([self.say["projects_head"], *map(self.format_line, self.known)])

    def format_line(self, found: ProjectOverview) -> str:
        """Format a project as a line."""
        is_open = self.opened is not None and self.opened.id == found.project.id
        part = "project_line" if found.last_at is not None else "project_line_empty"
        line = self.say[part].format(
            name=found.project.name,
            messages=found.messages,
            day=""
            if found.last_at is None
            else format_day(self.book, found.last_at, self.message.zone),
        )
        return f"{line} {self.say['project_here']}" if is_open else line

    async def show_open(self, tx: Transaction) -> str:
        """Show the project that is open here."""
        found = None if self.opened is None else self.find(self.opened.name)
        if found is None:
            return self.say["project_usage"]
        return "\n".join([self.format_line(found), *await self.describe(tx, found.project)])

    async def describe(self, tx: Transaction, project: Project) -> list[str]:
        """Return the role in a project, what is to be done and was last said in it, as lines."""
        role = [self.say["project_role"].format(role=project.role)] if project.role else []
        messages = await list_project_messages(
            tx, project.person, project.id, limit=SHOWN, before=self.message.seq
        )
        said = [
            self.say["memory_line"].format(
                day=format_day(self.book, each.at, self.message.zone),
                text=extract_excerpt(each.text, ()),
            )
            for each in messages
        ]
        return [
            *role,
            *await self.list_tasks(tx, project),
            *([self.say["project_said"], *said] if said else []),
        ]

    async def list_tasks(self, tx: Transaction, project: Project) -> list[str]:
        """Return what is to be done in a project, as lines."""
        zone, now = self.message.zone, self.context.clock()
        wording = TaskWording(self.context.perception.reply_language, zone=zone, now=now)
        listed = await list_tasks(tx, project.person, now=now)
        lines = [
            self.say["project_task"].format(text=each.text, at=wording.format_listed_time(each))
            for each in listed
            if each.project == project.id
        ]
        return [self.say["project_tasks"], *lines[:MAX_LISTED]] if lines else []

    def close(self) -> HandledRequest:
        """Close what is open here."""
        if self.opened is None:
            return self.tell(self.say["project_usage"])
        text = self.say["project_off"].format(name=self.opened.name)
        return replace(self.tell(text), changes=(CloseProject(),))

    async def open(self, tx: Transaction, name: str, role: str | None) -> HandledRequest:
        """Open a project, which is new if none is called so, and say how to be in it."""
        found = self.find(name)
        if not name or len(name) > MAX_NAME_CHARS or len(role or "") > MAX_ROLE_CHARS:
            most = {"name": MAX_NAME_CHARS, "role": MAX_ROLE_CHARS}
            return self.tell(self.say["project_too_long"].format(**most))
        if found is None and len(self.known) >= MAX_PROJECTS:
            return self.tell(self.say["project_full"].format(most=MAX_PROJECTS))
        now = self.context.clock()
        project = (
            Project(
                id=new_id(now),
                person=self.context.utterance.person.id,
                name=name,
                created_at=now,
                changed_at=now,
            )
            if found is None
            else found.project
        )
        is_new_version = found is None or role is not None
        if is_new_version:
            project = replace(
                project,
                role=project.role if role is None else role,
                message=self.message.id,
                message_seq=self.message.seq,
                changed_at=now,
            )
        part = "project_new" if found is None else "project_open"
        lines = [self.say[part].format(name=project.name), *await self.describe(tx, project)]
        if project.role and self.context.model_name is None:
            lines.append(self.say["needs_model"])
        return HandledRequest(
            name=NAME,
            text="\n".join(lines),
            changes=(OpenProject(project=project, is_new_version=is_new_version),),
            items=()
            if project.message in {None, self.message.id}
            else (build_listed_item("message", str(project.message), 1),),
            is_command=True,
        )

    def ask_to_delete(self, name: str) -> HandledRequest:
        """Ask whether to delete a project."""
        found = self.find(name)
        if found is None:
            return self.tell(self.say["project_unknown"].format(name=name[:MAX_NAME_CHARS]))
        call = ToolCall(
            id=new_id(self.context.clock()),
            name=DELETE_PROJECT,
            arguments={"id": found.project.id},
        )
        text = self.say["project_delete_ask"].format(name=found.project.name)
        return replace(self.tell(text), asked_call=call)


PROJECT_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_project)
