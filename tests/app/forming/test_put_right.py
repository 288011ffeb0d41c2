"""What is put right, ends, is kept or was merged: through the whole house, and read once more."""

import json
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import merge, separate
from oldfriend.app.believing.counting import stats_of
from oldfriend.app.forming.means import means_for
from oldfriend.app.forming.tending import read, segment_in, tend
from oldfriend.app.house import House
from oldfriend.background.consolidating import consolidate
from oldfriend.background.extraction import Bearing, Claim, Extraction, Material, Quote
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import Known
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.segments import list_segments, reopen_segment, reopen_segments
from oldfriend.memory.withdrawing import undo_consolidation
from oldfriend.queues.agenda import Job
from oldfriend.turn.perceive import Hearer, perceive
from tests.app.conftest import Say
from tests.app.forming.test_forming import believed, told
from tests.clock import FrozenClock

DAYS = 60 * 24


async def texts(house: House, line: Line, *, live: bool = True) -> dict[str, str]:
    """Each belief with its state."""
    return {k.memory.text: k.memory.status for k in await believed(house, line, live=live)}


async def the_one(house: House, line: Line, text: str) -> Known:
    """The belief with this text."""
    (found,) = [k for k in await believed(house, line, live=False) if k.memory.text == text]
    return found


async def read_again(house: House, line: Line, *, number: int = -1) -> None:
    """Read a stretch of talk anew, as after an edit."""
    async with house.db.writing() as tx:
        segment = (await list_segments(tx, line.person.id))[number]
        evidence = await list_evidence(tx, line.person.id)
        quoted = [e.message for es in evidence.values() for e in es if e.segment == segment.id]
        await reopen_segments(tx, line.person.id, quoted[:1])
    await read(house, line.person.id, segment.id)


NOTES = [
    ("Remember that my locker code is 4711.", "No, my locker code is 4712.", "4711", "4712"),
    ("Recuerda que mi código del gimnasio es 4711.", "Mi código del gimnasio ahora es 4712.",
     "4711", "4712"),
    ("记住我的密码是4711。", "不对，我的密码是4712。", "4711", "4712"),
    ("Remember that I live in Porto.", "We moved to Lisbon.", "Porto", "Lisbon"),
    ("Merke dir: ich bin Vegetarierin.", "Ich bin keine Vegetarierin mehr.", "ich bin Vegetarierin",
     "nicht mehr"),
]  # fmt: skip


@pytest.mark.parametrize(("note", "right", "was", "now"), NOTES)
async def test_who_is_put_right_about_a_note_changes_it(
    house: House, line: Line, clock: FrozenClock, note: str, right: str, was: str, now: str
) -> None:
    """By the person's word, said in passing; the note is history, also when it is read again."""
    await told(house, line, [note])
    clock.tick(minutes=DAYS)
    await told(house, line, [right])
    for _ in range(2):
        live, kept = await texts(house, line), await texts(house, line, live=False)
        assert not any(was in text for text in live)
        assert any(now in text for text in live)
        assert "superseded" in {kept[text] for text in kept if was in text}
        await read_again(house, line)


async def test_a_note_that_was_put_right_by_what_is_undone_holds_again(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Nothing is lost."""
    await told(house, line, ["Remember that my locker code is 4711."])
    clock.tick(minutes=DAYS)
    await told(house, line, ["No, my locker code is 4712."])
    async with house.db.writing() as tx:
        segment = (await list_segments(tx, line.person.id))[-1]
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())

    assert list(await texts(house, line)) == ["my locker code is 4711."]


ENDED = [
    ("I became vegetarian last year.", "I am not vegetarian any more.", "Became vegetarian."),
    ("Soy vegetariana.", "Ya no soy vegetariana.", "Es vegetariana."),
    ("J'habite à Lyon.", "Je n'habite plus à Lyon.", "Vit à Lyon."),
    ("Ich arbeite bei Siemens.", "Ich arbeite nicht mehr bei Siemens.", "Arbeitet bei Siemens."),
    ("我住在北京。", "我不住在北京了。", "住在北京。"),
]


@pytest.mark.parametrize(("was", "over", "text"), ENDED)
async def test_what_is_so_no_more_is_no_answer_any_more(
    house: House, line: Line, clock: FrozenClock, was: str, over: str, text: str
) -> None:
    """It was so until then; that it is over is what is believed."""
    await told(house, line, [was])
    clock.tick(minutes=40 * DAYS)
    await told(house, line, [over])
    for _ in range(2):
        ended = (await the_one(house, line, text)).memory
        (now,) = [
            k.memory for k in await believed(house, line) if k.memory.kind in {"fact", "preference"}
        ]
        assert (ended.status, ended.holds_until) == ("superseded", now.holds_from)
        assert ended.id in {link.other for link in now.relations}
        await read_again(house, line)


async def test_what_began_it_is_no_answer_either(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """However long ago, and however a model told it."""
    await tell_event(house, line, "I became vegetarian!", "Became vegetarian.")
    clock.tick(minutes=400 * DAYS)
    await told(house, line, ["I'm not vegetarian any more."])

    assert await texts(house, line) == {"Is no longer vegetarian.": "active"}
    assert (await the_one(house, line, "Became vegetarian.")).memory.status == "superseded"


async def tell_event(house: House, line: Line, said: str, text: str) -> None:
    """Say something that somebody reads as an event, and as nothing else."""
    await answer(house, line, Said(text=said))
    (segment,) = await tend(house, line.person.id, because="asked")

    async def read_event(material: Material) -> Extraction:
        quote = Quote(message=material.messages[0].id, text=said)
        return Extraction(
            author="extract/2", claims=(Claim(kind="event", text=text, quotes=(quote,)),)
        )

    means = await means_for(house, segment)
    await consolidate(replace(means, read=read_event, read_small_talk=read_event), segment)


async def test_a_model_may_put_a_note_right_too(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """It is shown the notes, and names the one that what it has read overtakes."""
    await told(house, line, ["Remember that the spare key hangs at the neighbours."])
    clock.tick(minutes=DAYS)
    said = "We took the spare key back, it lies in the drawer."
    await answer(house, line, Said(text=said))
    (segment,) = await tend(house, line.person.id, because="asked")

    async def read_it(material: Material) -> Extraction:
        (note,) = [known.memory.id for known in material.known if known.memory.kind == "note"]
        claim = Claim(
            kind="fact", text="Keeps the spare key in the drawer.", key="spare_key",
            value="in the drawer", quotes=(Quote(message=material.messages[0].id, text=said),),
            bearing="supersedes", target=note,
        )  # fmt: skip
        return Extraction(author="extract/2", claims=(claim,))

    means = await means_for(house, segment)
    await consolidate(replace(means, read=read_it, read_small_talk=read_it), segment)

    assert await texts(house, line) == {"Keeps the spare key in the drawer.": "active"}


LAST_DAYS = [
    ("I work as a nurse.", "Works as a nurse.", "Yesterday I had my last day, I worked as a nurse",
     "No longer works as a nurse."),
    ("Vivo en Rosario.", "Vive en Rosario.", "Ayer fue mi último día en Rosario, me fui",
     "Ya no vive en Rosario."),
    ("我是护士。", "是护士。", "昨天是最后一天，我做完护士了", "不再是护士。"),
]  # fmt: skip


@pytest.mark.parametrize("bearing", ["new", "reinforces", "supersedes"])
@pytest.mark.parametrize(("said", "known", "last", "over"), LAST_DAYS)
async def test_a_model_tells_that_something_has_ended(
    house: House, line: Line, clock: FrozenClock,
    said: str, known: str, last: str, over: str, bearing: Bearing,
) -> None:  # fmt: skip
    """By the end that it gives; then it is history, and comes back when that reading is undone."""
    await told(house, line, [said])
    was = (await the_one(house, line, known)).memory
    clock.tick(minutes=40 * DAYS)
    await answer(house, line, Said(text=last))
    (segment,) = await tend(house, line.person.id, because="asked")

    async def read_end(material: Material) -> Extraction:
        message = material.messages[0]
        claim = Claim(
            kind="fact", text=known, key=was.key, value=was.value, confidence=0.95,
            quotes=(Quote(message=message.id, text=message.text),),
            holds_until=message.at - DAY // 2,
        )  # fmt: skip
        if bearing != "new" and was.id in {each.memory.id for each in material.known}:
            claim = replace(claim, bearing=bearing, target=was.id)
        return Extraction(author="extract/2", claims=(claim,))

    means = replace(
        await means_for(house, segment), read=read_end, read_small_talk=read_end
    )  # fmt: skip
    for again in range(2):
        if again:
            async with house.db.writing() as tx:
                segment = await reopen_segment(tx, segment)
        await consolidate(means, segment)
        assert list(await texts(house, line)) == [over]
        ended = (await the_one(house, line, known)).memory
        assert (ended.status, ended.holds_until) == ("superseded", house.clock() - DAY // 2)
    async with house.db.writing() as tx:
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())

    assert list(await texts(house, line)) == [known]


async def test_a_value_said_later_has_a_beginning(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """So that what was before is not answered with it; the first is as old as one knows."""
    await told(house, line, ["I live in Porto."])
    clock.tick(minutes=10 * DAYS)
    await told(house, line, ["I don't live in Porto any more."])
    clock.tick(minutes=10 * DAYS)
    await told(house, line, ["I live in Bath."])
    porto, bath = [await the_one(house, line, f"Lives in {x}.") for x in ("Porto", "Bath")]

    assert (porto.memory.holds_from, bath.memory.holds_from) == (None, bath.standing.first_seen)
    assert porto.memory.holds_until == bath.standing.first_seen - 10 * DAYS * 60 * 1_000_000


async def test_a_promise_is_open_until_it_is_kept(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Also one without a day."""
    await told(house, line, ["Remind me to call the dentist."])
    assert await texts(house, line) == {"Asked to be reminded to call the dentist.": "active"}

    clock.tick(minutes=3 * DAYS)
    await told(house, line, ["Done: I called the dentist."])
    assert await texts(house, line) == {}
    assert await texts(house, line, live=False) == {
        "Asked to be reminded to call the dentist.": "fulfilled"
    }


LIKED = ["I love jazz.", "I love bebop."]


async def test_what_the_person_has_merged_stays_so_when_it_is_read_again(
    house: House, line: Line
) -> None:
    """And comes apart again by their word alone, with its own words."""
    await told(house, line, LIKED)
    jazz, bebop = [await the_one(house, line, f"Loves {x}.") for x in ("jazz", "bebop")]
    await merge(house, line.person.id, jazz.memory.id, bebop.memory.id)
    for _ in range(2):
        assert await texts(house, line) == {"Loves jazz.": "active"}
        assert (await the_one(house, line, "Loves jazz.")).standing.times_seen == 2
        await read_again(house, line)

    await separate(house, line.person.id, jazz.memory.id, bebop.memory.id)
    for _ in range(2):
        assert await texts(house, line) == {"Loves jazz.": "active", "Loves bebop.": "active"}
        assert (await the_one(house, line, "Loves bebop.")).standing.times_seen == 1
        await read_again(house, line)


async def test_a_peak_that_was_missed_is_counted(house: House, line: Line) -> None:
    """By the reader's own account; "none" is none."""
    for text, note in (("We talked about the weather.", "None."), ("It rained.", "A death, m1.")):
        await answer(house, line, Said(text=text))
        (segment,) = await tend(house, line.person.id, because="asked")

        async def checked(_: Material, note: str = note) -> Extraction:
            return Extraction(author="extract/2", self_check={"missed_peak": note})

        means = await means_for(house, segment)
        await consolidate(replace(means, read=checked, read_small_talk=checked), segment)
    async with house.db.reading() as tx:
        read_ = {e.outcome["missed_peak"]: e.id for e in await list_segments(tx, line.person.id)}

    assert read_.keys() == {0, 1}
    assert (await stats_of(house, line.person)).missed_peaks == 1


@pytest.mark.parametrize("arguments", ['{"segment": 1, "by": "model"}', '{"segment": "s"}'])
def test_a_job_that_names_no_segment_is_refused(arguments: str) -> None:
    """Rather than read by whoever comes."""
    with pytest.raises(InvalidInput):
        segment_in(Job(name="read", arguments=json.loads(arguments)))


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Remind me to call the dentist.", "statement"),
        ("Remind me on Monday to renew my passport", "statement"),
        ("Remind me what I said to Ana", "question"),
        ("Erinnere mich daran, den Zahnarzt anzurufen", "statement"),
        ("Erinnere mich daran, was ich gesagt habe", "question"),
        ("Rappelle-moi d'appeler le dentiste", "statement"),
        ("Rappelle-moi où j'habite", "question"),
        ("Recuérdame llamar al dentista", "statement"),
        ("提醒我给牙医打电话", "statement"),
    ],
)
def test_who_asks_to_be_reminded_to_do_something_asks_nothing(text: str, intent: str) -> None:
    """It is not searched for, but kept."""
    assert perceive(text, Hearer(name="Wren", languages=("en",))).intent == intent


PETS = [
    ("I have a cat called Miso.", "Miso died yesterday."),
    ("I have a cat called Miso.", "My cat Miso died last week, I miss her terribly."),
    ("Tengo un gato que se llama Miso.", "Mi gato Miso murió ayer."),
    ("我有一只猫叫咪咪。", "咪咪昨天去世了。"),
]


@pytest.mark.parametrize(("alive", "died"), PETS)
async def test_who_has_lost_a_pet_has_it_no_more(
    house: House, line: Line, clock: FrozenClock, alive: str, died: str
) -> None:
    """That it has died is what is known then; also read anew, and until that is taken back."""
    await told(house, line, [alive])
    had = set(await texts(house, line))
    clock.tick(minutes=40 * DAYS)
    await told(house, line, [died])
    for _ in range(2):
        assert not had & set(await texts(house, line))
        assert {k.memory.kind for k in await believed(house, line)} == {"event"}
        await read_again(house, line)
    async with house.db.writing() as tx:
        segment = (await list_segments(tx, line.person.id))[-1]
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())

    assert set(await texts(house, line)) == had


async def test_another_cat_is_still_there(house: House, line: Line, clock: FrozenClock) -> None:
    """And of people it stays true who they were."""
    await told(house, line, ["I have a cat called Miso.", "I have a cat called Tofu.",
                             "My sister Ana lives in Faro."])  # fmt: skip
    clock.tick(minutes=40 * DAYS)
    await told(house, line, ["Miso died yesterday.", "My sister Ana died on Monday."])
    live = set(await texts(house, line))

    assert {"Cat: Tofu.", "Has a cat.", "Sister: Ana."} <= live
    assert "Cat: Miso." not in live


async def test_what_was_to_end_and_goes_on_longer_is_no_history(
    house: House, line: Line, clock: FrozenClock, say: Say
) -> None:
    """The end told last is the one that holds."""
    await told(house, line, ["I live in Lisbon until June."])
    clock.tick(minutes=60 * DAYS)
    await told(house, line, ["I live in Lisbon until December."])
    clock.tick(minutes=250 * DAYS)

    assert (await say("Where do I live?")).reply.text.startswith("As I know it: Lives in Lisbon.")


async def test_what_nobody_has_denied_was_so(house: House, line: Line, clock: FrozenClock) -> None:
    """Ana was no teacher; a lawyer she was, until then."""
    await told(house, line, ["My sister Ana is a lawyer."])
    clock.tick(minutes=8 * DAYS)
    await told(house, line, ["Ana isn't a teacher, she's a nurse."])
    kept = await texts(house, line, live=False)

    assert "rejected" not in kept.values()
    assert any("nurse" in text for text in await texts(house, line))
