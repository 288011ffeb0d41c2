"""Is everything sound? The bytes, the fold, the search, the sense for meaning, the disk."""

import shutil

from oldfriend.app.catching_up import IS_OFF
from oldfriend.app.choices.database_url import file_of, names_postgres, shown_url
from oldfriend.app.choices.reaching import choice_of
from oldfriend.app.choices.sections import LOCAL, ROLES
from oldfriend.app.choices.settings import Settings
from oldfriend.app.connecting import keys_at_hand
from oldfriend.app.connecting_speech import what_is_missing
from oldfriend.app.doctor_telegram import ask_telegram, telegram_findings
from oldfriend.app.embedding import embedding_waits_until
from oldfriend.app.finding import Finding
from oldfriend.app.forgotten import BY_ANOTHER_KEY, forgotten_of
from oldfriend.app.forming.tending import why_not_folded
from oldfriend.app.forming.thinking_ahead import status_as_text, status_of, why_not
from oldfriend.app.house import House
from oldfriend.app.showing import NOT_FOUND
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    EmbeddingFailed,
    InvalidInput,
    ModelMisconfigured,
)
from oldfriend.domain.people import Person
from oldfriend.ledger.looking_back import find_last_call
from oldfriend.memory.changes import check_fold
from oldfriend.memory.log import count_messages
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.memory.vectors import count_findable, count_standing_in, models_of

LOW_DISK_BYTES = 200 * 1024 * 1024
MEGABYTE = 1 << 20
NOBODY_SPEAKS = (
    "Replies are to be spoken ([speech] speaks), and nobody speaks. "
    "Choose somebody: oldfriend connect speaker"
)
HAS_ANSWERED = frozenset({"done", "refused", "cut off"})


async def examine(house: House) -> list[Finding]:
    """Look at everything; what is not well says what to do."""
    findings = [
        *await bytes_on_disk(house), *await room_in_store(house), *disk_space(house),
        await sense_for_meaning(house),
    ]  # fmt: skip
    bot = await ask_telegram(house.settings)
    async with house.db.reading() as tx:
        findings += await telegram_findings(tx, house.settings, bot, now=house.clock())
        findings += await language_models(tx, house.settings, now=house.clock())
        findings += await hearing_and_speaking(tx, house.settings, now=house.clock())
        findings += await put_off_embedding(tx, house)
        findings += forming_of(house.settings)
        if (why := why_not(house)) is not None and house.settings.memory.forms:
            findings.append(Finding(is_well=True, text=why))
        for person in await list_people(tx):
            findings += await person_findings(tx, person, house.embedder.model)
            findings += await key_findings(tx, house.settings, person)
            findings += await thinking_findings(tx, house, person)
    return findings


async def bytes_on_disk(house: House) -> list[Finding]:
    """Whether the database is sound."""
    wrong = await house.db.check()
    if not wrong:
        url = house.settings.database
        where = shown_url(url) if names_postgres(url) else file_of(url)
        return [Finding(is_well=True, text=f"The database {where} is sound.")]
    return [
        Finding(is_well=False, text=f"The database is damaged: {line}. Restore a backup.")
        for line in wrong
    ]


async def room_in_store(house: House) -> list[Finding]:
    """Whether a store that may only grow so large has room left."""
    if house.db.most_bytes is None:
        return []
    text = await growing_too_large(house)
    used = f"{await house.db.size() / MEGABYTE:.1f} MB of at most {house.db.most_bytes >> 20}"
    return [Finding(is_well=text is None, text=text or f"The file has {used}.")]


async def growing_too_large(house: House) -> str | None:
    """What to do about a store that is half as large as it may become; None: there is room."""
    size, most = await house.db.size(), house.db.most_bytes
    if most is None or size < most // 2:
        return None
    url = house.settings.database
    moved = f"sqlite:///{file_of(url).with_suffix('.db')}"
    return (
        f"The file has {size >> 20} MB. Each reply writes it anew, and beyond {most >> 20} MB "
        f"nothing more fits. Move to SQLite in good time: oldfriend convert {url} {moved}"
    )


def disk_space(house: House) -> list[Finding]:
    """Whether there is room for the file to grow; a server's disk is its own business."""
    if names_postgres(house.settings.database):
        return []
    folder = file_of(house.settings.database).parent
    free = shutil.disk_usage(folder).free
    room = f"{free / 1024**3:.1f} GB free in {folder}"
    if free < LOW_DISK_BYTES:
        return [Finding(is_well=False, text=f"Only {room}. Make room before it is full.")]
    return [Finding(is_well=True, text=f"{room}.")]


async def sense_for_meaning(house: House) -> Finding:
    """Whether texts can be turned into vectors."""
    try:
        await house.embedder.embed(["hello"])
    except AllowanceUsedUp as error:
        return Finding(is_well=True, text=f"Search goes by words alone for now: {error}")
    except EmbeddingFailed as error:
        return Finding(is_well=False, text=f"Search goes by words alone: {error}")
    return Finding(is_well=True, text=f"The embedding model works ({house.embedder.model}).")


async def put_off_embedding(tx: Transaction, house: House) -> list[Finding]:
    """Whether messages wait to be embedded until something may be spent again."""
    until = await embedding_waits_until(tx, now=house.clock())
    if until is None:
        return []
    when = from_micros(until, house.settings.zone).strftime("%Y-%m-%d %H:%M")
    return [Finding(is_well=True, text=f"Embedding waits for tomorrow's allowance, until {when}.")]


async def language_models(tx: Transaction, settings: Settings, *, now: Micros) -> list[Finding]:
    """Whether the chosen models could be asked, and what could be chosen; none is asked here."""
    chosen = dict.fromkeys(name for role in ROLES for name in settings.models.for_role(role))
    if not chosen:
        text = "No language model is connected: answers come from the memory alone."
        at_hand = [f"{offer.provider} ({offer.why})" for offer in keys_at_hand(settings)]
        if at_hand:
            text += f" At hand, and not used: {', '.join(at_hand)}. See: oldfriend connect model"
        return [Finding(is_well=True, text=text)]
    return [await language_model(tx, settings, name, now=now) for name in chosen]


async def language_model(tx: Transaction, settings: Settings, name: str, *, now: Micros) -> Finding:
    """Whether all that is needed to reach a model is there, and whether it answered last time."""
    try:
        choice = choice_of(settings, name)
    except (ModelMisconfigured, InvalidInput) as error:
        return Finding(is_well=False, text=f"{name} cannot be asked: {error}")
    last = await find_last_call(tx, name)
    if last is None or last.outcome in HAS_ANSWERED:
        return Finding(is_well=True, text=f"{name} is connected, at {choice.base_url}.")
    minutes = max(now - last.made_at, 0) // MINUTE
    text = f"{name} did not answer when it was asked last, {minutes:,} min ago: {last.error}"
    return Finding(is_well=False, text=text)


async def hearing_and_speaking(
    tx: Transaction, settings: Settings, *, now: Micros
) -> list[Finding]:
    """Whether all is there of what is needed to hear and to speak, where that was chosen."""
    speech = settings.speech
    findings: list[Finding] = []
    for name in (speech.transcriber, speech.speaker):
        if name is None:
            continue
        if (why := what_is_missing(settings, name)) is not None:
            findings.append(Finding(is_well=False, text=f"{name} cannot be asked: {why}"))
        elif name.startswith(f"{LOCAL}:"):
            findings.append(Finding(is_well=True, text=f"{name} can listen, on this machine."))
        else:
            findings.append(await language_model(tx, settings, name, now=now))
    if speech.speaks == "always" and speech.speaker is None:
        findings.append(Finding(is_well=False, text=NOBODY_SPEAKS))
    return findings


async def person_findings(tx: Transaction, person: Person, model: str) -> list[Finding]:
    """Whether one person's memory is whole."""
    findable, embedded = await count_findable(tx, person.id, model)
    standing_in = {
        former: await count_standing_in(tx, person.id, model, former)
        for former in await models_of(tx, person.id)
        if former != model
    }
    by_words = findable - embedded - sum(standing_in.values())
    kept = await count_messages(tx, person.id)
    words = f"{person.name}: {kept:,} messages are kept, {findable:,} of them can be found"
    if kept > findable:
        words += f" ({NOT_FOUND})"
    if by_words > 0:
        words += f", {by_words:,} of them by words only until the next chat or import ends"
    for former, count in standing_in.items():
        words += f", {count:,} of them as {former} understood them until they are embedded anew"
    findings = [Finding(is_well=True, text=words + ".")]
    findings += await reading_findings(tx, person)
    for memory in await check_fold(tx, person.id):
        text = f"{person.name}: memory {memory} is not what the journal says. Report this."
        findings.append(Finding(is_well=False, text=text))
    return findings


def forming_of(settings: Settings) -> list[Finding]:
    """Whether memory forms by itself."""
    if settings.memory.forms:
        return []
    return [Finding(is_well=True, text=IS_OFF)]


async def key_findings(tx: Transaction, settings: Settings, person: Person) -> list[Finding]:
    """Whether what was forgotten can be known again here."""
    forgotten = await forgotten_of(settings, tx, person.id)
    if not forgotten.is_by_another_key:
        return []
    return [Finding(is_well=False, text=f"{person.name}: {BY_ANOTHER_KEY}")]


async def thinking_findings(tx: Transaction, house: House, person: Person) -> list[Finding]:
    """Whether it thinks between conversations, where it is to."""
    status = await status_of(tx, house, person.id)
    if status.why_not is not None:
        return []
    text = f"{person.name}: {status_as_text(status)}"
    return [Finding(is_well=not status.is_failing, text=text)]


async def reading_findings(tx: Transaction, person: Person) -> list[Finding]:
    """Whether what was said could be read."""
    failed = await list_segments(tx, person.id, status=["failed"])
    findings = [
        Finding(is_well=False, text=f"{person.name}: {unread_as_text(each, person.zone)}")
        for each in failed
    ]
    if (why := await why_not_folded(tx, person.id)) is not None:
        text = f"{person.name}: old summaries could not be folded, and stay as they are: {why}"
        findings.append(Finding(is_well=False, text=text))
    if failed:
        text = f"{person.name}: try again with oldfriend consolidate --resume"
        findings.append(Finding(is_well=False, text=text))
    return findings


def unread_as_text(segment: Segment, zone: str) -> str:
    """A stretch of talk that could not be read."""
    when = from_micros(segment.from_at, zone).strftime("%Y-%m-%d %H:%M")
    many = f"{segment.messages:,} messages of {when}"
    return f"{many} could not be read, and were set aside: {segment.error}"
