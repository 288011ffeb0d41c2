"""Two people who are one human become one, by a code and a yes, and two again by an undo."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.audit_trail import AuditFilter, list_audit_trail
from oldfriend.channels.channel import ChatRef, MessageDeletion
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.db.merge_record import list_merges
from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.forgetting.delete import forget
from oldfriend.inbound import person_merge, receive
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.failed_events import keep_event
from oldfriend.inbound.person_merge import MergeResult, merge_people, preview_merge, undo_merge
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.identities import assign_identity, list_usable_codes
from oldfriend.memory.import_batches import list_batches
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.oauth_grants import Consent, redeem_code, redeem_refresh_token, save_code
from oldfriend.memory.people import find_person, get_person
from oldfriend.memory.push_subscriptions import (
    PushSubscription,
    list_push_sessions,
    save_push_subscription,
)
from oldfriend.memory.web_sessions import hash_secret, open_web_session
from oldfriend.proactive.look_planner import LOOK_JOB, build_look_partition
from oldfriend.queues.queue import claim_jobs, list_jobs
from oldfriend.queues.scheduled_jobs import list_due_times
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.maintenance import maintain
from oldfriend.tasks.calendar_files import read_calendar
from oldfriend.tasks.calendar_imports import import_calendar
from oldfriend.tasks.task_store import list_tasks
from oldfriend.transfer.import_run import undo_import_batch
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.inbound.test_receive import ANA, BEN, Talk

engine = both_engines
Merge: TypeAlias = Callable[[], Awaitable[MergeResult]]
MINE = ("I live in Lisbon.", "My cat is called Miso.")
BENS = (
    "I moved to Berlin last week.",
    "My sister is called Lena.",
    "remind me tomorrow at 9 to swim",
)


async def person_called(app: AppContext, name: str | None) -> Person:
    """Somebody, or the owner."""
    async with app.db.begin_read() as tx:
        return await get_person(tx, name)


async def read(app: AppContext, *people: Person) -> None:
    """Have what they said read."""
    for each in people:
        await learn_now(app, each.id, cut_reason="asked")


async def believed_of(app: AppContext, person: PersonId) -> set[str]:
    """What is believed of somebody now, with the home town by its value."""
    async with app.db.begin_read() as tx:
        return {each.memory.text for each in await list_memories(tx, person)}


async def said_by(app: AppContext, person: PersonId) -> list[str]:
    """What they said."""
    async with app.db.begin_read() as tx:
        return [m.text for m in await list_messages(tx, person) if m.role == "person"]


@pytest.fixture
async def two(app: AppContext, say: Say) -> tuple[Person, Person]:
    """The owner and Ben, who have both told something that was read."""
    for text in MINE:
        await say(text)
    for text in BENS:
        await say(text, person="Ben")
    two = await person_called(app, None), await person_called(app, "Ben")
    await read(app, *two)
    return two


@pytest.fixture
def merge(app: AppContext, two: tuple[Person, Person]) -> Merge:
    """Ben sends the code that the owner was shown."""

    async def merge() -> MergeResult:
        return await join(app, *two)

    return merge


async def join(app: AppContext, giver: Person, taker: Person) -> MergeResult:
    """One sends the code that the other was shown."""
    await create_code_for(app.db, app.clock, giver)
    async with app.db.begin_write() as tx:
        codes = await list_usable_codes(tx, now=app.clock())
    (code,) = [each for each in codes if each.person == giver.id]
    return await merge_people(app.db, app.clock, app.settings, code, taker.id)


async def undo(app: AppContext, owner: Person) -> Person:
    """Undo the last merge."""
    async with app.db.begin_read() as tx:
        last = (await list_merges(tx, owner.id, now=app.clock()))[0]
    return await undo_merge(app.db, app.clock, app.settings, owner.id, last.id)


async def test_merge_brings_everything_together_and_undo_takes_it_apart(
    app: AppContext, two: tuple[Person, Person], merge: Merge, say: Say, clock: FrozenClock
) -> None:
    """The newer home town holds; what came since stays; both believe what they believed."""
    owner, ben = two
    mine, bens = await believed_of(app, owner.id), await believed_of(app, ben.id)
    preview = await preview_merge(app.db, owner.id, ben.id)

    assert await merge() == "joined"

    together = await believed_of(app, owner.id)
    assert (preview.counts["messages"], preview.counts["reminders"]) == (3, 1)
    assert [("Lisbon" in old, "Berlin" in new) for old, new in preview.contradictions] == [(1, 1)]
    assert together == (mine | bens) - {old for old, _ in preview.contradictions}
    assert set(await said_by(app, owner.id)) == {*MINE, *BENS}
    reply = await say("What is my cat called?")
    assert "Miso" in reply.reply.text
    async with app.db.begin_read() as tx:
        assert await find_person(tx, "Ben") is None
        assert await list_view_mismatches(tx, owner.id) == []
        assert len(await list_tasks(tx, owner.id)) == 1
        jobs = await tx.rows("SELECT person, partition FROM job WHERE queue = 'agenda'")
    assert not any(ben.id in f"{row}" for row in jobs)
    assert any(f"reminders/{owner.id}" == row[1] for row in jobs)

    await say("My brother is called Tom.")
    clock.tick(minutes=20)
    await read(app, owner)
    back = await undo(app, owner)

    assert (back.id, back.name) == (ben.id, "Ben")
    async with app.db.begin_read() as tx:
        told, _ = await list_audit_trail(tx, owner.id, limit=5, wanted=AuditFilter(kind="merge"))
        kept = await tx.rows("SELECT name, former, settings FROM person_merge")
    assert [each.ending for each in told] == ["undone", "done"]
    assert kept == [("", "", "{}")]
    assert set(await said_by(app, ben.id)) == set(BENS)
    assert {*MINE, "My brother is called Tom."} < set(await said_by(app, owner.id))
    assert await believed_of(app, ben.id) == bens
    after = await believed_of(app, owner.id)
    assert mine < after
    assert after - mine == {each for each in after if "Tom" in each} != set()
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, owner.id) == []
        assert await list_view_mismatches(tx, ben.id) == []
        assert (len(await list_tasks(tx, owner.id)), len(await list_tasks(tx, ben.id))) == (0, 1)
        jobs = await tx.rows("SELECT person, partition FROM job WHERE queue = 'agenda'")
    assert any((ben.id, f"reminders/{ben.id}") == tuple(row) for row in jobs)


async def bring(app: AppContext, person: Person, hour: int) -> int:
    """Bring in a calendar of one event at an hour; returns the import's number."""
    content = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\nUID:d-1\n"
        f"SUMMARY:Dentist\nDTSTART:20350105T{hour}0000\nEND:VEVENT\nEND:VCALENDAR\n"
    ).encode()
    entries, _ = read_calendar(content, zone=person.zone, now=app.clock())
    async with app.db.begin_write() as tx:
        done = await import_calendar(tx, person, entries, content, file="d.ics", now=app.clock())
    assert done.number is not None
    return done.number


async def list_hours(app: AppContext, person: Person) -> list[int]:
    """The hours of somebody's dentists."""
    async with app.db.begin_read() as tx:
        found = await list_tasks(tx, person.id)
    dues = [each.due_at for each in found if each.text == "Dentist"]
    return [from_micros(each, person.zone).hour for each in dues if each is not None]


async def test_calendars_of_both_are_moved_and_taken_back_after_the_undo(
    app: AppContext, two: tuple[Person, Person], merge: Merge
) -> None:
    """The same appointment of both: one import of it moves both, and each takes back their own."""
    owner, _ = two
    numbers = [await bring(app, each, 10) for each in two]
    assert await merge() == "joined"
    await bring(app, owner, 12)
    together = await list_hours(app, owner)
    await undo(app, owner)
    apart = [await list_hours(app, each) for each in two]
    async with app.db.begin_read() as tx:
        batches = {each.id: await list_batches(tx, each.id) for each in two}
    for each in two:
        for batch in batches[each.id]:
            await undo_import_batch(app.db, each, batch.number, now=app.clock())

    assert (together, apart) == ([12, 12], [[12], [12]])
    assert (len(numbers), [len(batches[each.id]) for each in two]) == (2, [2, 1])
    assert [await list_hours(app, each) for each in two] == [[], []]


async def test_nothing_is_merged_while_one_of_them_is_answered(
    app: AppContext, two: tuple[Person, Person], merge: Merge
) -> None:
    """The turn is finished first; the code is good for another try."""
    _, ben = two
    async with app.db.begin_write() as tx:
        await tx.run("UPDATE job SET due_at = 1 WHERE person = :ben", ben=ben.id)
        await tx.run("UPDATE job_partition SET ready_at = 1 WHERE ready_at IS NOT NULL")
        lease = await claim_jobs(
            tx, "agenda", owner="w", now=app.clock(), lease_s=30, partition=f"reminders/{ben.id}"
        )

    assert lease is not None
    assert await merge() == "join_busy"
    assert set(await said_by(app, ben.id)) == set(BENS)


@pytest.mark.parametrize(
    ("name", "asked"),
    [(None, "/purge"), ("Ben", "/purge"), (None, "/forget Miso"), ("Ben", "/forget Lena")],
)
async def test_nothing_is_merged_while_something_of_one_is_to_be_forgotten(
    app: AppContext,
    two: tuple[Person, Person],
    merge: Merge,
    say: Say,
    name: str | None,
    asked: str,
) -> None:
    """The other one has not said yes to that."""
    await say(asked, person=name)
    await say("yes", person=name)

    assert await merge() == "join_busy"
    assert [set(await said_by(app, each.id)) for each in two] == [
        {*MINE, *(() if name else (asked, "yes"))},
        {*BENS, *((asked, "yes") if name else ())},
    ]


@pytest.mark.parametrize("name", [None, "Ben"])
async def test_yes_after_a_merge_answers_no_question_from_before(
    app: AppContext, two: tuple[Person, Person], merge: Merge, say: Say, name: str | None
) -> None:
    """It showed the numbers of one of the two."""
    owner, _ = two
    await say("/purge", person=name)
    assert await merge() == "joined"
    await say("yes")
    await maintain(app, owner.id, within_s=60, overdue_s=15.0)

    assert {*MINE, *BENS} < set(await said_by(app, owner.id))


async def test_failed_event_of_somebody_goes_with_them(
    app: AppContext, two: tuple[Person, Person], merge: Merge
) -> None:
    """It is forgotten with whoever they are now."""
    owner, ben = two
    spot = ChatRef(channel="telegram", address="8", title="Ben", is_private=True)
    deletion = MessageDeletion(chat_ref=spot, external_id="message:8:1")
    assert await keep_event(app.db, app.clock, deletion, ValueError(), owner=ben.id)

    assert await merge() == "joined"

    async with app.db.begin_read() as tx:
        kept = await list_jobs(tx, is_dead_letter=True)
    assert [each.person for each in kept] == [owner.id]


async def test_merge_that_breaks_off_leaves_two(
    app: AppContext, two: tuple[Person, Person], merge: Merge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever: it is one transaction."""
    owner, ben = two

    async def die(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(person_merge, "settle_rivals", die)
    with pytest.raises(RuntimeError):
        await merge()

    assert set(await said_by(app, owner.id)) == set(MINE)
    assert set(await said_by(app, ben.id)) == set(BENS)


async def test_undo_ends_after_thirty_days(
    app: AppContext, two: tuple[Person, Person], merge: Merge, clock: FrozenClock
) -> None:
    """And nobody else can do it."""
    owner, _ = two
    await merge()
    async with app.db.begin_read() as tx:
        (last,) = await list_merges(tx, owner.id, now=app.clock())
    clock.tick(minutes=31 * 24 * 60)

    assert last.undo_until - last.merged_at == 30 * DAY
    with pytest.raises(NotFound):
        await undo_merge(app.db, app.clock, app.settings, owner.id, last.id)


async def test_forgetting_after_a_merge_reaches_both(
    app: AppContext, two: tuple[Person, Person], merge: Merge
) -> None:
    """A word of one of them, and then everything, also what would undo it."""
    owner, _ = two
    await merge()
    await forget(app, owner.id, DeletionRequest(about="Lena"))
    async with app.db.begin_read() as tx:
        tables = [table.name for table in await tx.list_tables()]
        held = [f"{row}" for name in tables for row in await tx.rows(f"SELECT * FROM {name}")]
    assert not [row for row in held if "Lena" in row]

    report = await forget(app, owner.id, DeletionRequest(everything=True))

    async with app.db.begin_read() as tx:
        assert await tx.rows("SELECT * FROM merged_row") == []
        assert await tx.rows("SELECT * FROM person_merge") == []
    assert report.left == ()
    assert await said_by(app, owner.id) == []


async def test_a_code_shows_what_would_come_together_and_a_second_command_does_it(
    app: AppContext, two: tuple[Person, Person]
) -> None:
    """Typed on the other side, by whoever is asked; a group can't."""
    talk = Talk(
        replace(
            app,
            settings=replace(app.settings, channels={"telegram": TelegramSettings(allowed=("8",))}),
        )
    )
    owner, _ = two
    await talk.says(BEN, "I like tea.")
    shown = await create_code_for(app.db, app.clock, owner)
    told = await talk.is_told(BEN, f"/link {shown}")
    assert f"/join {shown}" in told
    assert "messages: 1" in told
    assert await said_by(app, owner.id) == [*MINE]

    assert "belongs together now" in await talk.is_told(BEN, f"/join {shown}")

    assert "I like tea." in await said_by(app, owner.id)
    assert await talk.is_told(BEN, f"/join {shown}") != ""
    code = await talk.is_told(BEN, "/link")
    digits = "".join(each for each in code.partition(".")[0] if each.isdigit())
    assert "Now I know who you are" in await talk.is_told(ANA, digits)
    assert "don't know you at this address" in await talk.is_told(BEN, "/unlink")
    assert "I've kept nothing" in await Talk(app).is_told(BEN, "hello?")
    with pytest.raises(InvalidInput, match="a lot of codes"):
        for _ in range(6):
            await create_code_for(app.db, app.clock, owner)


async def test_message_that_arrives_while_two_become_one_is_kept(
    app: AppContext,
    two: tuple[Person, Person],
    merge: Merge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its sender was known as somebody who is gone by the time it is stored."""
    owner, ben = two
    async with app.db.begin_write() as tx:
        await assign_identity(tx, ben.id, channel="telegram", address="8", now=app.clock())
    talk = Talk(app)
    resolve = receive.resolve_chat

    async def resolve_and_merge(*given: object) -> object:
        monkeypatch.setattr(receive, "resolve_chat", resolve)
        found = await resolve(*given)
        assert await merge() == "joined"
        return found

    monkeypatch.setattr(receive, "resolve_chat", resolve_and_merge)
    await talk.says(BEN, "I like tea.")

    assert "I like tea." in await said_by(app, owner.id)


async def test_codes_are_not_guessed_forwarded_replayed_or_taken_in_a_group(
    app: AppContext, clock: FrozenClock
) -> None:
    """Whoever is known may guess five times, too; a forwarded command is nobody's own."""
    allowed = TelegramSettings(allowed=("7", "8"))
    talk = Talk(replace(app, settings=replace(app.settings, channels={"telegram": allowed})))
    await talk.says(ANA, "hola")
    await talk.says(BEN, "I like tea.")
    ana = await person_called(app, "Ana")
    code = await create_code_for(app.db, app.clock, ana)
    wrong = "000000" if code != "000000" else "000001"
    await talk.says(BEN, f"/join {code}", is_own_words=False)
    group = ChatRef(channel="telegram", address="-1", title="Family", is_private=False)
    await talk.says(BEN, f"/join {code}", chat_ref=group)
    in_group = await talk.says(BEN, "/link", chat_ref=group)
    guesses = [await talk.is_told(BEN, f"/link {wrong}") for _ in range(7)]
    late = await talk.is_told(BEN, f"/join {code}")
    async with app.db.begin_read() as tx:
        still_two = await find_person(tx, "Ben")
    clock.tick(minutes=11)
    code = await create_code_for(app.db, app.clock, ana)
    unseen = await talk.is_told(BEN, f"/join {code}")
    joined = await talk.is_told(BEN, f"/join {code}")
    replayed = await talk.is_told(BEN, f"/join {code}")

    assert in_group is None or code not in in_group.text
    assert [bool(each) for each in guesses] == [True] * 5 + [False] * 2
    assert late == ""
    assert still_two is not None
    assert f"/join {code}" in unseen
    assert "belongs together now" in joined
    assert "no me sirve" in replayed


async def test_merge_is_confirmed_only_where_it_was_seen(
    app: AppContext, two: tuple[Person, Person]
) -> None:
    """What one address was shown, another cannot confirm."""
    talk = Talk(app)
    owner, ben = two
    async with app.db.begin_write() as tx:
        for person, each in ((owner, ANA), (ben, BEN)):
            await assign_identity(
                tx, person.id, channel="telegram", address=each.address, now=app.clock()
            )
    await create_code_for(app.db, app.clock, ben)
    code = await create_code_for(app.db, app.clock, ben)
    settled = replace(ANA, address="77")
    async with app.db.begin_write() as tx:
        await assign_identity(tx, owner.id, channel="telegram", address="77", now=app.clock())

    first = await talk.is_told(ANA, f"/join {code}")
    elsewhere = await talk.is_told(settled, f"/join {code}")

    assert f"/join {code}" in first
    assert f"/join {code}" in elsewhere
    assert set(await said_by(app, ben.id)) == set(BENS)
    assert "run this installation" in elsewhere


async def sign_in(app: AppContext, person: Person) -> None:
    """Give somebody a browser, a program and a passkey."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        await tx.run(
            """INSERT INTO web_session (print, person, made_at, expires_at)
               VALUES (:print, :person, :now, :now)""",
            print=f"{person.id}{now}",
            person=person.id,
            now=now,
        )
        await tx.run(
            """INSERT INTO web_token (id, print, person, name, scope, made_at, expires_at)
               VALUES (:print, :print, :person, 'all', 'admin', :now, :now)""",
            print=f"{person.id}{now}",
            person=person.id,
            now=now,
        )
    await create_code_for(app.db, app.clock, person)


async def list_ways_in(app: AppContext, person: Person) -> list[str]:
    """Which browsers, programs, codes and addresses are somebody's."""
    async with app.db.begin_read() as tx:
        return [
            name
            for name in ("web_session", "web_token", "link_code", "identity")
            for _ in await tx.rows(f"SELECT 1 FROM {name} WHERE person = :p", p=person.id)
        ]


async def test_guest_joined_to_the_owner_has_no_way_in_from_before_nor_after_an_undo(
    app: AppContext, two: tuple[Person, Person], merge: Merge, clock: FrozenClock
) -> None:
    """Their token would be the owner's, and one made meanwhile would stay so."""
    owner, ben = two
    await sign_in(app, ben)
    await sign_in(app, owner)
    await merge()
    async with app.db.begin_read() as tx:
        sessions = await tx.rows("SELECT print FROM web_session")
    clock.tick(minutes=20)
    await sign_in(app, owner)
    async with app.db.begin_write() as tx:
        await assign_identity(tx, owner.id, channel="telegram", address="9", now=app.clock())
    await undo(app, owner)

    assert [row[0].startswith(owner.id) for row in sessions] == [True]
    assert await list_ways_in(app, ben) == ["identity"]  # where they talked before
    assert await list_ways_in(app, owner) == ["web_session", "web_token", "identity"]


async def test_browser_that_is_the_others_again_hears_nothing_of_whoever_was_kept(
    app: AppContext, two: tuple[Person, Person], say: Say
) -> None:
    """It was told for them while the two were one."""
    _, ben = two
    await say("I like tea.", person="Ana")
    ana = await person_called(app, "Ana")
    async with app.db.begin_write() as tx:
        await open_web_session(tx, ben.id, "secret", "page", now=app.clock())
    assert await join(app, ana, ben) == "joined"
    subscription = PushSubscription(
        session=hash_secret("secret"), person=ana.id, print="p", sealed=b"s", shows="words"
    )
    async with app.db.begin_write() as tx:
        await save_push_subscription(tx, subscription, now=app.clock())
        assert await list_push_sessions(tx, ana.id, now=app.clock())
    await undo(app, ana)

    async with app.db.begin_read() as tx:
        assert await tx.rows("SELECT person FROM web_session") == [(ben.id,)]
        assert await tx.rows("SELECT person FROM push_subscription") == []


async def test_hosted_program_has_to_be_let_in_again_after_a_merge_and_after_its_undo(
    app: AppContext, two: tuple[Person, Person], say: Say, clock: FrozenClock
) -> None:
    """What it could renew is gone, and so is what it has in hand; of whoever is kept it stays."""
    _, ben = two
    await say("I like tea.", person="Ana")
    ana = await person_called(app, "Ana")
    await let_in(app, ben)
    mine = await let_in(app, ana)
    assert await join(app, ana, ben) == "joined"
    assert await list_connections(app) == [("Claude", ana.id)]
    clock.tick(minutes=5)
    async with app.db.begin_write() as tx:
        renewed = await redeem_refresh_token(tx, mine, client="c", now=app.clock())
    assert renewed is not None
    await let_in(app, ana)
    await undo(app, ana)

    assert await list_connections(app) == [("Claude", ana.id)]
    async with app.db.begin_write() as tx:
        assert await redeem_refresh_token(tx, renewed.refresh, client="c", now=app.clock())
        tokens = await tx.rows("SELECT DISTINCT token FROM oauth_grant")
    assert len(tokens) == 1


async def let_in(app: AppContext, person: Person) -> str:
    """Let a hosted program in; what it renews its token with."""
    redirect = "https://a.test/cb"
    consent = Consent(client="c", name="Claude", redirect=redirect, challenge="c", scope="read")
    async with app.db.begin_write() as tx:
        code = await save_code(tx, person.id, consent, now=app.clock())
        issued = await redeem_code(
            tx, code, client="c", redirect=redirect, challenge="c", now=app.clock()
        )
    assert issued is not None
    return issued.refresh


async def list_connections(app: AppContext) -> list[tuple[str, str]]:
    """Which hosted programs are let in, and by whom."""
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT name, person FROM web_token WHERE mcp_until IS NOT NULL")
    return [(str(name), str(person)) for name, person in rows]


async def test_what_was_asked_for_in_the_others_chat_does_not_go_there_after_an_undo(
    app: AppContext, two: tuple[Person, Person], merge: Merge, clock: FrozenClock
) -> None:
    """The chat is the other one's again; what was said since is kept elsewhere."""
    owner, ben = two
    async with app.db.begin_write() as tx:
        await assign_identity(tx, ben.id, channel="telegram", address="8", now=app.clock())
    talk = Talk(app)
    await talk.says(BEN, "I like tea.")
    async with app.db.begin_write() as tx:
        await tx.run("DELETE FROM job WHERE queue = 'inbox'")
    await merge()
    clock.tick(minutes=5)
    await talk.says(BEN, "I like coffee.")
    async with app.db.begin_write() as tx:
        await tx.run("DELETE FROM job WHERE queue = 'inbox'")
    await undo(app, owner)
    async with app.db.begin_read() as tx:
        at = await tx.rows("SELECT person FROM chat WHERE channel = 'telegram' AND address = '8'")

    assert at == [(ben.id,)]
    assert "I like coffee." in await said_by(app, owner.id)


async def test_what_was_forgotten_before_an_undo_stays_forgotten_for_both(
    app: AppContext, two: tuple[Person, Person], merge: Merge, clock: FrozenClock
) -> None:
    """An import of theirs would bring it again."""
    owner, _ = two
    await merge()
    clock.tick(minutes=1)
    await forget(app, owner.id, DeletionRequest(about="Lena"))
    await undo(app, owner)
    async with app.db.begin_read() as tx:
        owners, bens = [
            await tx.rows(
                "SELECT print, laid_at FROM tombstone WHERE person = :p ORDER BY print", p=each.id
            )
            for each in two
        ]

    assert owners == bens != []


async def test_who_comes_back_is_looked_after_again(
    app: AppContext, two: tuple[Person, Person], merge: Merge, say: Say, clock: FrozenClock
) -> None:
    """A goal that was set before is asked about after an undo, though nothing new is said."""
    owner, ben = two
    await say("My goal is to run twice a week.", person="Ben")
    await merge()
    clock.tick(minutes=20)
    await undo(app, owner)
    async with app.db.begin_read() as tx:
        looks = await list_due_times(tx, LOOK_JOB, partition=build_look_partition(ben.id))
    assert looks != []
