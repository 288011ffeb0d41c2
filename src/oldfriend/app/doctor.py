"""Is everything sound? The bytes, the fold, the search, the sense for meaning, the disk."""

import shutil
from collections.abc import Mapping

from oldfriend.app.catching_up import IS_OFF
from oldfriend.app.choices.database_url import file_of, names_postgres, shown_url
from oldfriend.app.choices.reaching import choice_of
from oldfriend.app.choices.sections import LOCAL, ROLES
from oldfriend.app.choices.settings import Settings
from oldfriend.app.connecting import keys_at_hand
from oldfriend.app.connecting_speech import what_is_missing
from oldfriend.app.doctor_telegram import ask_telegram, telegram_findings
from oldfriend.app.embedding import embedding_waits_until
from oldfriend.app.finding import Finding, amiss, well
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
from oldfriend.domain.sayings import Saying, saying
from oldfriend.ledger.looking_back import find_last_call
from oldfriend.memory.changes import check_fold
from oldfriend.memory.log import count_messages
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.memory.vectors import count_findable, count_standing_in, models_of

LOW_DISK_BYTES = 200 * 1024 * 1024
MEGABYTE = 1 << 20
NOBODY_SPEAKS = saying(
    "nobody_speaks",
    "Replies are to be spoken ([speech] speaks), and nobody speaks. "
    "Choose somebody: oldfriend connect speaker",
)  # fmt: skip
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
        return [well("database_sound", f"The database {where} is sound.", where=str(where))]
    return [
        amiss("database_damaged", f"The database is damaged: {line}. Restore a backup.", line=line)
        for line in wrong
    ]


async def room_in_store(house: House) -> list[Finding]:
    """Whether a store that may only grow so large has room left."""
    if house.db.most_bytes is None:
        return []
    text = await growing_too_large(house)
    if text is not None:
        return [Finding(is_well=False, text=text)]
    used, most = round(await house.db.size() / MEGABYTE, 1), house.db.most_bytes >> 20
    return [well("file_has", f"The file has {used} MB of at most {most}.", used=used, most=most)]


async def growing_too_large(house: House) -> str | None:
    """What to do about a store that is half as large as it may become; None: there is room."""
    size, most = await house.db.size(), house.db.most_bytes
    if most is None or size < most // 2:
        return None
    url = house.settings.database
    moved = f"sqlite:///{file_of(url).with_suffix('.db')}"
    return saying(
        "file_grows",
        f"The file has {size >> 20} MB. Each reply writes it anew, and beyond {most >> 20} MB "
        f"nothing more fits. Move to SQLite in good time: oldfriend convert {url} {moved}",
        mb=size >> 20, most=most >> 20, old=url, new=moved,
    )  # fmt: skip


def disk_space(house: House) -> list[Finding]:
    """Whether there is room for the file to grow; a server's disk is its own business."""
    if names_postgres(house.settings.database):
        return []
    folder = file_of(house.settings.database).parent
    free = shutil.disk_usage(folder).free
    gb = round(free / 1024**3, 1)
    room = f"{gb} GB free in {folder}"
    if free < LOW_DISK_BYTES:
        told = f"Only {room}. Make room before it is full."
        return [amiss("disk_low", told, gb=gb, folder=str(folder))]
    return [well("disk_free", f"{room}.", gb=gb, folder=str(folder))]


async def sense_for_meaning(house: House) -> Finding:
    """Whether texts can be turned into vectors."""
    try:
        await house.embedder.embed(["hello"])
    except AllowanceUsedUp as error:
        return well("words_for_now", f"Search goes by words alone for now: {error}", why=error.says)
    except EmbeddingFailed as error:
        return amiss("words_alone", f"Search goes by words alone: {error}", why=error.says)
    return well(
        "embedder_works",
        f"The embedding model works ({house.embedder.model}).",
        model=house.embedder.model,
    )


async def put_off_embedding(tx: Transaction, house: House) -> list[Finding]:
    """Whether messages wait to be embedded until something may be spent again."""
    until = await embedding_waits_until(tx, now=house.clock())
    if until is None:
        return []
    when = from_micros(until, house.settings.zone).strftime("%Y-%m-%d %H:%M")
    return [
        well(
            "embedding_waits",
            f"Embedding waits for tomorrow's allowance, until {when}.",
            when=when,
        )
    ]


async def language_models(tx: Transaction, settings: Settings, *, now: Micros) -> list[Finding]:
    """Whether the chosen models could be asked, and what could be chosen; none is asked here."""
    chosen = dict.fromkeys(name for role in ROLES for name in settings.models.for_role(role))
    if not chosen:
        offers = {offer.provider: offer.why for offer in keys_at_hand(settings)}
        at_hand = [f"{provider} ({why})" for provider, why in offers.items()]
        text = "No language model is connected: answers come from the memory alone."
        if not at_hand:
            return [well("no_model_connected", text)]
        text += f" At hand, and not used: {', '.join(at_hand)}. See: oldfriend connect model"
        return [well("no_model_connected_yet", text, there=", ".join(offers))]
    return [await language_model(tx, settings, name, now=now) for name in chosen]


async def language_model(tx: Transaction, settings: Settings, name: str, *, now: Micros) -> Finding:
    """Whether all that is needed to reach a model is there, and whether it answered last time."""
    try:
        choice = choice_of(settings, name)
    except (ModelMisconfigured, InvalidInput) as error:
        return amiss(
            "model_not_asked", f"{name} cannot be asked: {error}", name=name, why=error.says
        )
    last = await find_last_call(tx, name)
    if last is None or last.outcome in HAS_ANSWERED:
        return well(
            "model_connected",
            f"{name} is connected, at {choice.base_url}.",
            name=name,
            address=choice.base_url,
        )
    minutes = max(now - last.made_at, 0) // MINUTE
    return amiss(
        "model_silent",
        f"{name} did not answer when it was asked last, {minutes:,} min ago: {last.error}",
        name=name, minutes=minutes, error=last.error or "",
    )  # fmt: skip


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
            findings.append(
                amiss("model_not_asked", f"{name} cannot be asked: {why}", name=name, why=why)
            )
        elif name.startswith(f"{LOCAL}:"):
            findings.append(well("listens_here", f"{name} can listen, on this machine.", name=name))
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
    more = found_otherwise(by_words, standing_in)
    if kept > findable:
        more = saying("person_unfound", f" ({NOT_FOUND}){more}", more=more)
    findings = [well(
        "person_memory",
        f"{person.name}: {kept:,} messages are kept, {findable:,} of them can be found{more}.",
        name=person.name, kept=kept, findable=findable, more=more,
    )]  # fmt: skip
    findings += await reading_findings(tx, person)
    for memory in await check_fold(tx, person.id):
        findings.append(amiss(
            "fold_differs",
            f"{person.name}: memory {memory} is not what the journal says. Report this.",
            name=person.name, memory=memory,
        ))  # fmt: skip
    return findings


def found_otherwise(by_words: int, standing_in: Mapping[str, int]) -> str:
    """How what is not found by the chosen model is found until then; nothing where all is."""
    more = ""
    for former, count in reversed([*standing_in.items()]):
        more = saying(
            "person_by_former",
            f", {count:,} of them as {former} understood them until they are embedded anew{more}",
            count=count, former=former, more=more,
        )  # fmt: skip
    if by_words > 0:
        more = saying(
            "person_by_words",
            f", {by_words:,} of them by words only until the next chat or import ends{more}",
            count=by_words, more=more,
        )  # fmt: skip
    return more


def of_person(person: Person, what: str) -> Saying:
    """What was found of one person's memory."""
    return saying("of_person", f"{person.name}: {what}", name=person.name, what=what)


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
    return [Finding(is_well=False, text=of_person(person, BY_ANOTHER_KEY))]


async def thinking_findings(tx: Transaction, house: House, person: Person) -> list[Finding]:
    """Whether it thinks between conversations, where it is to."""
    status = await status_of(tx, house, person.id)
    if status.why_not is not None:
        return []
    text = of_person(person, status_as_text(status))
    return [Finding(is_well=not status.is_failing, text=text)]


async def reading_findings(tx: Transaction, person: Person) -> list[Finding]:
    """Whether what was said could be read."""
    failed = await list_segments(tx, person.id, status=["failed"])
    findings = [
        Finding(is_well=False, text=of_person(person, unread_as_text(each, person.zone)))
        for each in failed
    ]
    if (why := await why_not_folded(tx, person.id)) is not None:
        findings.append(amiss(
            "summaries_not_folded",
            f"{person.name}: old summaries could not be folded, and stay as they are: {why}",
            name=person.name, why=why,
        ))  # fmt: skip
    if failed:
        findings.append(amiss(
            "reading_again", f"{person.name}: try again with oldfriend consolidate --resume",
            name=person.name,
        ))  # fmt: skip
    return findings


def unread_as_text(segment: Segment, zone: str) -> str:
    """A stretch of talk that could not be read."""
    when = from_micros(segment.from_at, zone).strftime("%Y-%m-%d %H:%M")
    many = f"{segment.messages:,} messages of {when}"
    return saying(
        "talk_unread", f"{many} could not be read, and were set aside: {segment.error}",
        count=segment.messages, when=when, error=segment.error or "",
    )  # fmt: skip
