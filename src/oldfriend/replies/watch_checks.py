"""Watch checks: reads the page of a watch when it is due, and has what was seen told once."""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import get_web_access
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.errors import FetchFailed
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.policy import PACES
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.watches.watch import Watch
from oldfriend.watches.watch_phrases import load_watch_phrases
from oldfriend.watches.watch_store import (
    build_look_key,
    find_watch,
    parse_watch_job,
    save_watch,
    schedule_watch,
)

SAID_WITHIN: Final = 10 * MINUTE
"""So soon after it was asked for, the price that there is answers the request."""
OFF_PAUSE: Final = DAY
"""How long to wait while pages may not be read."""


async def check_watch(app: AppContext, job: Job) -> None:
    """Read the page of a watch, unless it has ended; store what was seen, and plan what follows."""
    assert job.person is not None
    watch_id = parse_watch_job(job)
    async with app.db.begin_read() as tx:
        watch = await find_watch(tx, job.person, watch_id)
    if watch is None or watch.status != "active":
        return
    if watch.next_check_at > app.clock():
        await wait_on(app, job, watch)
        return
    if not get_web_access(app).settings.pages:
        await wait_for_pages(app, watch)
        return
    after = await read_again(app, watch)
    app.on_crash_point("decided")
    await store(app, job.person, watch, after)


async def wait_on(app: AppContext, job: Job, watch: Watch) -> None:
    """Schedule a look for which its own job came too early, as when a clock was put back.

    A look for an earlier time is over: another job waits for the next one.
    """
    if not (job.dedup_key or "").startswith(build_look_key(watch)):
        return
    async with app.db.begin_write() as tx:
        await lock_person(tx, watch.person)
        await schedule_watch(tx, watch, now=app.clock(), is_again=True)
        await tx.notify()
    app.notifier.notify()


async def wait_for_pages(app: AppContext, watch: Watch) -> None:
    """Put a watch off while pages may not be read, and say so once, by day."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        await lock_person(tx, watch.person)
        if await find_watch(tx, watch.person, watch.id) != watch:
            return
        settings = await load_proactive_settings(tx, watch.person)
        zone = (await get_person_by_id(tx, watch.person)).zone
        is_quiet = settings.quiet.contains(now, zone)
        later = watch.postponed(settings.quiet.get_end(now, zone) if is_quiet else now + OFF_PAUSE)
        await save_watch(tx, later)
        await schedule_watch(tx, later, now=now)
        if not is_quiet and "watch" in PACES[settings.level].kinds - settings.muted:
            phrases = load_watch_phrases(watch.language)
            text = phrases.say("pages_off", url=watch.url)
            await send_about(tx, app, watch, text, key=f"off/{watch.changed_at}")
        await tx.notify()
    app.notifier.notify()


async def read_again(app: AppContext, watch: Watch) -> Watch:
    """Return a watch after its page was read, or was not."""
    now = app.clock()
    try:
        page = await get_web_access(app).read_page(watch.url)
    except FetchFailed:
        return watch.after_failure(now=now)
    return watch.after_reading(f"{page.title}\n{page.text}", now=now)


async def store(app: AppContext, person: PersonId, watch: Watch, after: Watch) -> None:
    """Store what was seen, unless the watch was changed meanwhile."""
    async with app.db.begin_write() as tx:
        await lock_person(tx, person)
        if await find_watch(tx, person, watch.id) != watch:
            return
        await save_watch(tx, after)
        await schedule_watch(tx, after, now=app.clock())
        if after.status != "active":
            await plan_next_look(tx, person, now=app.clock())
        elif not watch.seen and app.clock() - watch.created_at <= SAID_WITHIN:
            await tell_first_price(tx, app, after)
        await tx.notify()
    app.notifier.notify()


async def tell_first_price(tx: Transaction, app: AppContext, watch: Watch) -> None:
    """Say which price a page has that somebody has just asked to have watched."""
    text = load_watch_phrases(watch.language).tell_first(watch)
    if text and watch.message is not None:
        await send_about(tx, app, watch, text, key="first")


async def send_about(
    tx: Transaction, app: AppContext, watch: Watch, text: str, *, key: str
) -> None:
    """Say something about a watch, once by a key."""
    asked = () if watch.message is None else (build_listed_item("message", watch.message, 1),)
    message = UnpromptedMessage(
        text=text,
        dedup_key=f"watch/{watch.id}/{key}",
        kind="watch",
        reason=load_watch_phrases(watch.language).say("reason"),
        language=watch.language,
        items=asked,
        chat=watch.chat,
    )
    await send_unprompted(tx, app, watch.person, message, now=app.clock())
