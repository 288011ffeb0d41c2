"""What is put right, ends, is kept or was merged: through the whole house, and read once more."""

import json
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import merge_beliefs, separate_beliefs
from oldfriend.cli.stats import compute_stats
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.profile_attributes import build_changes, select_lately
from oldfriend.domain.staleness import find_state_stale_since
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Claim, ClaimEffect, Extraction, ExtractionInput, Quote
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.learning.reading_jobs import parse_consolidate_job
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.segments import list_segments, reopen_segment, reopen_segments
from oldfriend.queues.scheduled_jobs import JobSpec
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.turn.intent import Addressee, perceive
from tests.beliefs.life import undo_last_reading
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.learning.test_learning_from_messages import believed, told

DAYS = 60 * 24


async def texts(app: AppContext, chat_context: ChatContext, *, live: bool = True) -> dict[str, str]:
    """Each belief with its state."""
    return {k.memory.text: k.memory.status for k in await believed(app, chat_context, live=live)}


async def the_one(app: AppContext, chat_context: ChatContext, text: str) -> MemoryState:
    """The belief with this text."""
    (found,) = [k for k in await believed(app, chat_context, live=False) if k.memory.text == text]
    return found


async def read_again(app: AppContext, chat_context: ChatContext, *, number: int = -1) -> None:
    """Read a stretch of talk anew, as after an edit."""
    async with app.db.begin_write() as tx:
        segment = (await list_segments(tx, chat_context.person.id))[number]
        evidence = await list_evidence(tx, chat_context.person.id)
        quoted = [e.message for es in evidence.values() for e in es if e.segment == segment.id]
        await reopen_segments(tx, chat_context.person.id, quoted[:1])
    await consolidate_segment(app, chat_context.person.id, segment.id)


NOTES = [
    ("Remember that my locker code is 4711.", "No, my locker code is 4712.", "4711", "4712"),
    (
        "Recuerda que mi código del gimnasio es 4711.",
        "Mi código del gimnasio ahora es 4712.",
        "4711",
        "4712",
    ),
    ("记住我的密码是4711。", "不对，我的密码是4712。", "4711", "4712"),
    ("Remember that I live in Porto.", "We moved to Lisbon.", "Porto", "Lisbon"),
    (
        "Merke dir: ich bin Vegetarierin.",
        "Ich bin keine Vegetarierin mehr.",
        "ich bin Vegetarierin",
        "nicht mehr",
    ),
]


@pytest.mark.parametrize(("note", "right", "was", "now"), NOTES)
async def test_corrected_note_is_superseded_and_stays_so_when_read_again(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    note: str,
    right: str,
    was: str,
    now: str,
) -> None:
    """By the person's word, said in passing; the note is history, also when it is read again."""
    await told(app, chat_context, [note])
    clock.tick(minutes=DAYS)
    await told(app, chat_context, [right])
    for _ in range(2):
        live, kept = await texts(app, chat_context), await texts(app, chat_context, live=False)
        assert not any(was in text for text in live)
        assert any(now in text for text in live)
        assert "superseded" in {kept[text] for text in kept if was in text}
        await read_again(app, chat_context)


async def test_undoing_the_correcting_consolidation_restores_the_note(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nothing is lost."""
    await told(app, chat_context, ["Remember that my locker code is 4711."])
    clock.tick(minutes=DAYS)
    await told(app, chat_context, ["No, my locker code is 4712."])
    await undo_last_reading(app, chat_context)

    assert list(await texts(app, chat_context)) == ["my locker code is 4711."]


ENDED = [
    ("I became vegetarian last year.", "I am not vegetarian any more.", "Became vegetarian."),
    ("Soy vegetariana.", "Ya no soy vegetariana.", "Es vegetariana."),
    ("J'habite à Lyon.", "Je n'habite plus à Lyon.", "Vit à Lyon."),
    ("Ich arbeite bei Siemens.", "Ich arbeite nicht mehr bei Siemens.", "Arbeitet bei Siemens."),
    ("我住在北京。", "我不住在北京了。", "住在北京。"),
]


@pytest.mark.parametrize(("was", "over", "text"), ENDED)
async def test_ended_belief_is_superseded_by_its_ending_and_stays_so_when_read_again(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, was: str, over: str, text: str
) -> None:
    """It was so until then; that it is over is what is believed."""
    await told(app, chat_context, [was])
    clock.tick(minutes=40 * DAYS)
    await told(app, chat_context, [over])
    for _ in range(2):
        ended = (await the_one(app, chat_context, text)).memory
        (now,) = [
            k.memory
            for k in await believed(app, chat_context)
            if k.memory.kind in {"fact", "preference"}
        ]
        assert (ended.status, ended.holds_until) == ("superseded", now.holds_from)
        assert ended.id in {link.target for link in now.relations}
        await read_again(app, chat_context)


async def test_event_that_began_an_ended_state_is_superseded_too(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """However long ago, and however a model told it."""
    await tell_event(app, chat_context, "I became vegetarian!", "Became vegetarian.")
    clock.tick(minutes=400 * DAYS)
    await told(app, chat_context, ["I'm not vegetarian any more."])

    assert await texts(app, chat_context) == {"Is no longer vegetarian.": "active"}
    assert (await the_one(app, chat_context, "Became vegetarian.")).memory.status == "superseded"


async def tell_event(app: AppContext, chat_context: ChatContext, said: str, text: str) -> None:
    """Say something that somebody reads as an event, and as nothing else."""
    await answer_message(app, chat_context, MessageSubmission(text=said))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )

    async def read_event(material: ExtractionInput) -> Extraction:
        quote = Quote(message=material.messages[0].id, text=said)
        return Extraction(
            author="extract/2", claims=(Claim(kind="event", text=text, quotes=(quote,)),)
        )

    means = await build_consolidation_deps(app, segment)
    await consolidate(replace(means, extract=read_event, extract_small_talk=read_event), segment)


async def test_model_claim_supersedes_a_targeted_note(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is shown the notes, and names the one that what it has read overtakes."""
    await told(app, chat_context, ["Remember that the spare key hangs at the neighbours."])
    clock.tick(minutes=DAYS)
    said = "We took the spare key back, it lies in the drawer."
    await answer_message(app, chat_context, MessageSubmission(text=said))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )

    async def read_it(material: ExtractionInput) -> Extraction:
        (note,) = [known.memory.id for known in material.known if known.memory.kind == "note"]
        claim = Claim(
            kind="fact",
            text="Keeps the spare key in the drawer.",
            key="spare_key",
            value="in the drawer",
            quotes=(Quote(message=material.messages[0].id, text=said),),
            effect="supersedes",
            target=note,
        )
        return Extraction(author="extract/2", claims=(claim,))

    means = await build_consolidation_deps(app, segment)
    await consolidate(replace(means, extract=read_it, extract_small_talk=read_it), segment)

    assert await texts(app, chat_context) == {"Keeps the spare key in the drawer.": "active"}


LAST_DAYS = [
    (
        "I work as a nurse.",
        "Works as a nurse.",
        "Yesterday I had my last day, I worked as a nurse",
        "No longer works as a nurse.",
    ),
    (
        "Vivo en Rosario.",
        "Vive en Rosario.",
        "Ayer fue mi último día en Rosario, me fui",
        "Ya no vive en Rosario.",
    ),
    ("我是护士。", "是护士。", "昨天是最后一天，我做完护士了", "不再是护士。"),
]


@pytest.mark.parametrize("bearing", ["new", "reinforces", "supersedes"])
@pytest.mark.parametrize(("said", "known", "last", "over"), LAST_DAYS)
async def test_model_claim_with_holds_until_ends_a_belief_and_can_be_undone(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    known: str,
    last: str,
    over: str,
    bearing: ClaimEffect,
) -> None:
    """By the end that it gives; then it is history, and comes back when that reading is undone."""
    await told(app, chat_context, [said])
    was = (await the_one(app, chat_context, known)).memory
    clock.tick(minutes=40 * DAYS)
    await answer_message(app, chat_context, MessageSubmission(text=last))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )

    async def read_end(material: ExtractionInput) -> Extraction:
        message = material.messages[0]
        claim = Claim(
            kind="fact",
            text=known,
            key=was.key,
            value=was.value,
            confidence=0.95,
            quotes=(Quote(message=message.id, text=message.text),),
            holds_until=message.at - DAY // 2,
        )
        if bearing != "new" and was.id in {each.memory.id for each in material.known}:
            claim = replace(claim, effect=bearing, target=was.id)
        return Extraction(author="extract/2", claims=(claim,))

    means = replace(
        await build_consolidation_deps(app, segment), extract=read_end, extract_small_talk=read_end
    )
    for again in range(2):
        if again:
            async with app.db.begin_write() as tx:
                segment = await reopen_segment(tx, segment)
        await consolidate(means, segment)
        assert list(await texts(app, chat_context)) == [over]
        ended = (await the_one(app, chat_context, known)).memory
        assert (ended.status, ended.holds_until) == ("superseded", app.clock() - DAY // 2)
    async with app.db.begin_write() as tx:
        await undo_consolidation(tx, chat_context.person.id, segment.id, now=app.clock())

    assert list(await texts(app, chat_context)) == [known]


async def test_later_value_holds_from_when_it_was_first_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """So that what was before is not answered with it; the first is as old as one knows."""
    await told(app, chat_context, ["I live in Porto."])
    clock.tick(minutes=10 * DAYS)
    await told(app, chat_context, ["I don't live in Porto any more."])
    clock.tick(minutes=10 * DAYS)
    await told(app, chat_context, ["I live in Bath."])
    porto, bath = [await the_one(app, chat_context, f"Lives in {x}.") for x in ("Porto", "Bath")]

    assert (porto.memory.holds_from, bath.memory.holds_from) == (None, bath.stats.first_seen)
    assert porto.memory.holds_until == bath.stats.first_seen - 10 * DAYS * 60 * 1_000_000


async def test_undated_commitment_is_active_until_fulfilled(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also one without a day."""
    await told(app, chat_context, ["I promised Ana to call the dentist."])
    assert await texts(app, chat_context) == {"Promised Ana to call the dentist.": "active"}

    clock.tick(minutes=3 * DAYS)
    await told(app, chat_context, ["Done: I called the dentist."])
    assert await texts(app, chat_context) == {}
    assert await texts(app, chat_context, live=False) == {
        "Promised Ana to call the dentist.": "fulfilled"
    }


LIKED = ["I love jazz.", "I love bebop."]


async def test_merge_by_the_person_survives_reconsolidation_until_separated(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And comes apart again by their word alone, with its own words."""
    await told(app, chat_context, LIKED)
    jazz, bebop = [await the_one(app, chat_context, f"Loves {x}.") for x in ("jazz", "bebop")]
    await merge_beliefs(app, chat_context.person.id, jazz.memory.id, bebop.memory.id)
    for _ in range(2):
        assert await texts(app, chat_context) == {"Loves jazz.": "active"}
        assert (await the_one(app, chat_context, "Loves jazz.")).stats.times_seen == 2
        await read_again(app, chat_context)

    await separate_beliefs(app, chat_context.person.id, jazz.memory.id, bebop.memory.id)
    for _ in range(2):
        assert await texts(app, chat_context) == {"Loves jazz.": "active", "Loves bebop.": "active"}
        assert (await the_one(app, chat_context, "Loves bebop.")).stats.times_seen == 1
        await read_again(app, chat_context)


async def test_missed_peak_reported_by_extraction_is_counted(
    app: AppContext, chat_context: ChatContext
) -> None:
    """By the reader's own account; "none" is none."""
    for text, note in (("We talked about the weather.", "None."), ("It rained.", "A death, m1.")):
        await answer_message(app, chat_context, MessageSubmission(text=text))
        (segment,) = await schedule_learning(
            app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
        )

        async def checked(_: ExtractionInput, note: str = note) -> Extraction:
            return Extraction(author="extract/2", self_check={"missed_peak": note})

        means = await build_consolidation_deps(app, segment)
        await consolidate(replace(means, extract=checked, extract_small_talk=checked), segment)
    async with app.db.begin_read() as tx:
        read_ = {
            e.outcome["missed_peak"]: e.id for e in await list_segments(tx, chat_context.person.id)
        }

    assert read_.keys() == {0, 1}
    assert (await compute_stats(app, chat_context.person)).missed_peaks == 1


@pytest.mark.parametrize("arguments", ['{"segment": 1, "by": "model"}', '{"segment": "s"}'])
def test_malformed_consolidate_job_is_rejected(arguments: str) -> None:
    """Rather than read by whoever comes."""
    with pytest.raises(InvalidInput):
        parse_consolidate_job(JobSpec(name="read", arguments=json.loads(arguments)))


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
def test_reminder_request_is_perceived_as_statement_and_not_as_question(
    text: str, intent: str
) -> None:
    """It is not searched for, but kept."""
    assert perceive(text, Addressee(name="Wren", languages=("en",))).intent == intent


PETS = [
    ("I have a cat called Miso.", "Miso died yesterday."),
    ("I have a cat called Miso.", "My cat Miso died last week, I miss her terribly."),
    ("Tengo un gato que se llama Miso.", "Mi gato Miso murió ayer."),
    ("我有一只猫叫咪咪。", "咪咪昨天去世了。"),
]


@pytest.mark.parametrize(("alive", "died"), PETS)
async def test_pets_death_ends_its_beliefs_until_undone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, alive: str, died: str
) -> None:
    """That it has died is what is known then; also read anew, and until that is taken back."""
    await told(app, chat_context, [alive])
    had = set(await texts(app, chat_context))
    clock.tick(minutes=40 * DAYS)
    await told(app, chat_context, [died])
    for _ in range(2):
        assert not had & set(await texts(app, chat_context))
        assert {k.memory.kind for k in await believed(app, chat_context)} == {"event"}
        await read_again(app, chat_context)
    await undo_last_reading(app, chat_context)

    assert set(await texts(app, chat_context)) == had


async def test_death_of_a_pet_keeps_other_pets_and_human_relations(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And of people it stays true who they were."""
    await told(
        app,
        chat_context,
        ["I have a cat called Miso.", "I have a cat called Tofu.", "My sister Ana lives in Faro."],
    )
    clock.tick(minutes=40 * DAYS)
    await told(app, chat_context, ["Miso died yesterday.", "My sister Ana died on Monday."])
    live = set(await texts(app, chat_context))

    assert {"Cat: Tofu.", "Has a cat.", "Sister: Ana."} <= live
    assert "Cat: Miso." not in live


DEATHS = [
    ("My dad died.", "My dad died yesterday."),
    ("Mein Vater ist gestorben.", "Mein Vater ist gestern gestorben."),
    ("Murió mi padre, lo echo mucho de menos.", "Mi padre murió ayer en el hospital."),
    ("Mon père est mort.", "Mon père est mort hier."),
    ("我爸爸去世了。", "我爸爸昨天去世了。"),
]


@pytest.mark.parametrize(("undated", "dated"), DEATHS)
async def test_death_told_without_a_date_is_not_news_of_that_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, undated: str, dated: str
) -> None:
    """It may be of years ago; what is dated is news."""
    await told(app, chat_context, [undated])
    (event,) = [each for each in await believed(app, chat_context) if each.memory.kind == "event"]
    assert event.memory.happened_at is None
    assert not select_lately(build_changes([event]), app.clock())
    clock.tick(minutes=DAYS)
    await told(app, chat_context, [dated])

    events = [each for each in await believed(app, chat_context) if each.memory.kind == "event"]
    assert select_lately(build_changes(events), app.clock())


async def test_later_stated_end_date_extends_the_belief(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """The end told last is the one that holds."""
    await told(app, chat_context, ["I live in Lisbon until June."])
    clock.tick(minutes=60 * DAYS)
    await told(app, chat_context, ["I live in Lisbon until December."])
    clock.tick(minutes=250 * DAYS)

    assert (await say("Where do I live?")).reply.text.startswith("As I know it: Lives in Lisbon.")


async def test_denial_of_another_value_supersedes_but_does_not_reject_the_known_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Ana was no teacher; a lawyer she was, until then."""
    await told(app, chat_context, ["My sister Ana is a lawyer."])
    clock.tick(minutes=8 * DAYS)
    await told(app, chat_context, ["Ana isn't a teacher, she's a nurse."])
    kept = await texts(app, chat_context, live=False)

    assert "rejected" not in kept.values()
    assert any("nurse" in text for text in await texts(app, chat_context))


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            ["I work as a nurse.", "no wait, I work as a teacher, not a nurse"],
            "Works as a nurse.",
            "Works as a teacher.",
        ),
        (["I live in Ulm.", "I live in Köln now."], "Lives in Ulm.", "Lives in Köln."),
        (["Ich wohne in Ulm.", "Ich wohne jetzt in Köln."], "Wohnt in Ulm.", "Wohnt in Köln."),
        (["I like olives.", "I don't like olives anymore."], "Likes olives.", ""),
    ],
)
async def test_value_put_right_in_the_same_talk_is_not_current_when_read_again(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: list[str],
    wrong: str,
    right: str,
) -> None:
    """What was said first is read anew beside what was said last, which still stands."""
    await told(app, chat_context, said)
    for _ in range(3):
        live = await texts(app, chat_context)
        assert wrong not in live
        assert not right or right in live
        clock.tick(minutes=1)
        await read_again(app, chat_context)


async def test_forgetting_does_not_bring_back_what_was_put_right_beside_it(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The segment that loses a message is read again, with the correction in it."""
    for text in (
        "My name is Nora and I live in Ulm.",
        "I work as a nurse.",
        "no wait, I work as a teacher, not a nurse",
    ):
        await say(text)
    await forget(app, chat_context.person.id, DeletionRequest(about="Ulm"))
    await learn_now(app, chat_context.person.id, cut_reason="asked")

    jobs = [each for each in await texts(app, chat_context) if each.startswith("Works as")]
    assert jobs == ["Works as a teacher."]


@pytest.mark.parametrize(
    "said",
    [
        "I'm pregnant.",
        "Ich bin schwanger.",
        "Estoy embarazada.",
        "On attend un bébé.",
        "我怀孕了。",
    ],
)
async def test_pregnancy_of_two_years_ago_is_not_told_as_current(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str
) -> None:
    """It is a state, although it is kept as something that happened."""
    await told(app, chat_context, [said])
    (known,) = await believed(app, chat_context)
    assert known.memory.kind == "event"
    assert find_state_stale_since(known, clock()) is None
    clock.tick(minutes=800 * DAYS)
    assert find_state_stale_since(known, clock()) == known.stats.last_seen
