"""What stands on the lists is forgotten like what was said, whoever made it."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from oldfriend import Memory
from oldfriend.app.app_context import AppContext
from oldfriend.cli.main import main
from oldfriend.config.settings import Settings
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import PersonId
from oldfriend.forgetting.delete import forget, preview_forget
from oldfriend.goals.goal_desk import GoalWishes
from oldfriend.goals.goal_edits import add_goal
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.presenters.deletion_text import is_empty_plan, preview_as_text
from oldfriend.runtime.wiring import open_app
from oldfriend.tasks.task_edits import add_task
from tests.api.conftest import Site, opened_site, told
from tests.chat_fixtures import Say, log_of
from tests.clock import FrozenClock
from tests.conftest import SIZE
from tests.memory.deletion.life import rows_of

LIVES, WISHES = (20, 12) if SIZE == "full" else (1, 4)
LISTS = ("/tasks", "/goals", "/skills", "/projects", "/learning", "/journal", "/log", "/watches")

pytestmark = pytest.mark.usefixtures("settings_folder")


async def text_of(app: AppContext, person: str) -> str:
    """Everything that is kept of a person."""
    return repr(await rows_of(app.db, person))


@pytest.mark.parametrize("wished", ["id", "about", "day"])
async def test_goal_of_a_program_is_forgotten_however_it_is_named(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock, wished: str
) -> None:
    """Shown first, counted, and gone; what is not named stays."""
    await say("I like tea")
    clock.tick(minutes=2880)
    async with app.db.begin_write() as tx:
        goal = await add_goal(tx, chat_context.person, "Zwiebelfisch", GoalWishes(), now=clock())
    clock.tick(minutes=2880)
    async with app.db.begin_write() as tx:
        await add_task(tx, chat_context.person, "Call Otto", due_at=None, now=clock())
    wish = {
        "id": DeletionRequest(ids=(goal.goal.id[:12],)),
        "about": DeletionRequest(about="zwiebelfisch"),
        "day": DeletionRequest(since=clock() - 3 * DAY, until=clock() - DAY),
    }[wished]
    preview = await preview_forget(app.db, chat_context.person.id, wish)
    report = await forget(app, chat_context.person.id, wish, seen_digest=preview.digest)

    assert not is_empty_plan(preview.plan)
    assert "Zwiebelfisch" in preview_as_text(preview)
    assert report.counts == preview.counts
    assert (report.counts["goals"], report.counts["tasks"]) == (1, 0)
    assert report.is_proved
    kept = await text_of(app, chat_context.person.id)
    assert "Zwiebelfisch" not in kept
    assert goal.goal.id not in kept
    assert "Call Otto" in kept


async def test_changed_record_makes_a_preview_stale(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What has come onto a list since was not seen."""
    async with app.db.begin_write() as tx:
        await add_goal(tx, chat_context.person, "Zwiebelfisch", GoalWishes(), now=clock())
    wish = DeletionRequest(about="Zwiebelfisch")
    before = await preview_forget(app.db, chat_context.person.id, wish)
    async with app.db.begin_write() as tx:
        await add_task(tx, chat_context.person, "Ask about Zwiebelfisch", due_at=None, now=clock())
    after = await preview_forget(app.db, chat_context.person.id, wish)

    assert before.digest != after.digest
    assert [each.kind for each in after.plan.records] == ["tasks", "goals"]


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ("/todo Xylofix", "/tasks"),
        ("/todo buy Xylofix", "/tasks"),
        ("/remind tomorrow at 9:00 Xylofix", "What's on tomorrow?"),
        ("/todo Xylofix", "cancel all"),
        ("/goal Xylofix", "/goals"),
        ("/skill Xylofix: be short", "/skills"),
        ("/project Xylofix", "/projects"),
        ("/learning add Xylofix: read it", "/learning"),
        ("/journal Xylofix", "/journal"),
        ("/log xylofix 3 cups", "/log"),
        ("/log xylofix 3 cups", "how much xylofix today?"),
    ],
)
async def test_own_lists_lose_what_is_forgotten_however_short_it_is(
    app: AppContext, chat_context: ChatContext, say: Say, said: str, listed: str
) -> None:
    """The lists and confirmations of the companion keep no word of it."""
    await say(said)
    shown = await say(listed)
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT id FROM message WHERE role = 'person' ORDER BY seq LIMIT 1")
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(rows[0][0],)))

    assert "xylofix" in shown.reply.text.lower()
    assert report.is_proved
    log = await log_of(app, chat_context)
    assert ("person", listed) in log
    assert [text for role, text in log if role == "companion" and "xylofix" in text.lower()] == []
    assert "xylofix" not in (await text_of(app, chat_context.person.id)).lower().replace(listed, "")


async def test_other_entries_of_a_redacted_list_stay(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """What a program made beside it is not taken for words of the companion."""
    other = "Pay the rent on the first day of every single month"
    async with app.db.begin_write() as tx:
        await add_task(tx, chat_context.person, other, due_at=None, now=clock())
        added = await add_task(tx, chat_context.person, "Buy Xylofix", due_at=None, now=clock())
    await say("/tasks")
    wish = DeletionRequest(ids=(added.saved[0][0].id,))
    preview = await preview_forget(app.db, chat_context.person.id, wish)
    await forget(app, chat_context.person.id, wish)

    assert [each.text for each in preview.plan.records] == ["Buy Xylofix"]
    assert len(preview.plan.redacted_replies) == 1
    kept = await text_of(app, chat_context.person.id)
    assert other in kept
    assert "Xylofix" not in kept


async def test_message_that_made_a_record_stays_and_is_named(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """As with beliefs: the record goes, and the words that it came from are shown."""
    await say("/todo buy Xylofix")
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT id FROM task")
    wish = DeletionRequest(ids=(rows[0][0],))
    preview = await preview_forget(app.db, chat_context.person.id, wish)
    report = await forget(app, chat_context.person.id, wish)

    assert [each.text for each in preview.plan.near_duplicates] == ["/todo buy Xylofix"]
    assert len(report.read_from) == 1
    assert report.counts["tasks"] == 1
    assert report.is_proved


@dataclass(frozen=True, kw_only=True)
class House:
    """Every door by which something gets onto a list."""

    site: Site
    browser: httpx.AsyncClient
    person: PersonId
    folder: Path
    clock: FrozenClock

    async def chat(self, text: str) -> None:
        """Say it on the page."""
        self.clock.tick(minutes=1)
        await told(self.browser, text)

    async def post(self, path: str, **values: object) -> None:
        """Have a program do it."""
        answer = await self.browser.post(path, json=values)
        assert answer.status_code == 201, answer.text

    async def run(self, *words: str) -> None:
        """Do it at the command line."""
        settings = self.site.app.settings
        places = ("--data", str(settings.data), "--database", settings.database)
        assert await asyncio.to_thread(main, [*words, *places]) == 0

    async def bring(self, text: str) -> None:
        """Import a diary."""
        file = self.folder / f"{text}.json"
        entry = {"uuid": text, "text": text, "creationDate": "2023-05-03T21:30:00Z", "tags": [text]}
        file.write_text(json.dumps({"metadata": {"version": "1.0"}, "entries": [entry]}))
        await self.run("import", str(file))
        file.unlink()

    async def import_calendar(self, text: str) -> None:
        """Import a calendar file."""
        file = self.folder / "calendar.ics"
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", f"UID:{text}"]
        lines += ["DTSTART:20350301T090000Z", f"SUMMARY:{text}", "END:VEVENT", "END:VCALENDAR", ""]
        file.write_text("\r\n".join(lines))
        await self.run("tasks", "import", str(file))
        file.unlink()

    async def keep(self, what: str, text: str) -> None:
        """Have a program that uses the library do it."""
        settings = self.site.app.settings
        async with Memory.open(settings.database, maintenance_s=0) as memory:
            await (memory.add_goal(text) if what == "goal" else memory.add_task(text))


Make = Callable[[House, str], Awaitable[None]]
MAKERS: Sequence[Make] = (
    lambda house, word: house.chat(f"/todo {word}"),
    lambda house, word: house.chat(f"/remind tomorrow at 9:00 see {word}"),
    lambda house, word: house.chat(f"/goal {word} twice a week"),
    lambda house, word: house.chat(f"My goal is to visit {word}"),
    lambda house, word: house.chat(f"/journal {word} was green #{word}"),
    lambda house, word: house.chat(f"/skill {word}: answer as {word} does"),
    lambda house, word: house.chat(f"/project {word}: be like {word}"),
    lambda house, word: house.chat(f"/learning add {word}: read {word} aloud"),
    lambda house, word: house.chat(f"/log {word} 3 cups"),
    lambda house, word: house.post("/tasks", text=f"Fetch {word}"),
    lambda house, word: house.post("/goals", text=word, next_action=f"Ask {word}"),
    lambda house, word: house.post("/diary", text=f"Saw {word}. #{word}", day="2020-05-01"),
    lambda house, word: house.post(
        "/measurements", items=[{"name": word, "value": 7, "unit": "cups"}]
    ),
    lambda house, word: house.post("/watches", url=f"https://{word}.example/page"),
    lambda house, word: house.import_calendar(word),
    lambda house, word: house.run("goals", "add", word),
    lambda house, word: house.keep("goal", word),
    lambda house, word: house.keep("task", f"Bring {word}"),
    lambda house, word: house.bring(word),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LIVES))
async def test_nothing_on_any_list_outlives_its_forgetting(
    settings: Settings, clock: FrozenClock, tmp_path: Path, seed: int
) -> None:
    """Made by every door and told by the companion; looked for in all tables and files."""
    chance, gone = random.Random(seed), set[str]()
    settings = replace(settings, web=replace(settings.web, pages=True))
    async with open_app(settings, clock=clock) as app, opened_site(app) as site:
        async with site.browser() as browser, app.db.begin_read() as tx:
            rows = await tx.rows("SELECT id FROM person WHERE is_owner = 1")
        async with site.browser() as browser:
            house = House(
                site=site,
                browser=browser,
                person=PersonId(rows[0][0]),
                folder=tmp_path,
                clock=clock,
            )
            words = await fill(house, chance)
            for listed in LISTS:
                await house.chat(listed)
            for word in chance.sample(words, k=WISHES):
                await forget_word(house, word, chance)
                gone.add(word)
                kept = (await text_of(app, house.person)).lower()
                assert [each for each in gone if each in kept] == []
                assert [each for each in set(words) - gone if each not in kept] == []
            await forget(app, house.person, DeletionRequest(everything=True))
            kept = (await text_of(app, house.person)).lower()
            assert [each for each in words if each in kept] == []
    if settings.database.startswith("sqlite"):
        held = b"\n".join(
            each.read_bytes().lower() for each in settings.data.rglob("*") if each.is_file()
        )
        assert [each for each in words if each.encode() in held] == []


async def fill(house: House, chance: random.Random) -> list[str]:
    """Make one thing by each door, in any order; return the word of each."""
    makers, words = list(enumerate(MAKERS)), []
    chance.shuffle(makers)
    for number, make in makers:
        word = f"zq{number}{''.join(chance.choices('bcdfgklmnprstvxz', k=6))}"
        await make(house, word)
        words.append(word)
        house.clock.tick(minutes=90)
    return words


async def forget_word(house: House, word: str, chance: random.Random) -> None:
    """Forget what holds a word: by itself, by the ids of all that holds it, or by its day."""
    app, person = house.site.app, house.person
    wish = DeletionRequest(about=word)
    preview = await preview_forget(app.db, person, wish)
    made = [at for each in preview.plan.records for at in each.times]
    ids = {each.id for each in preview.plan.records if each.message is None}
    ids |= {each.id for each in preview.plan.messages if each.role == "person"}
    way = chance.choice(("about", "ids", "day"))
    if way == "ids":
        wish = DeletionRequest(ids=tuple(sorted(ids)))
    elif way == "day" and made and all(each.message is None for each in preview.plan.records):
        wish = DeletionRequest(since=max(made), until=max(made) + 1)
    seen = await preview_forget(app.db, person, wish)
    assert not is_empty_plan(seen.plan)
    report = await forget(app, person, wish, seen_digest=seen.digest)
    assert report.is_proved, (word, way, report.left)
