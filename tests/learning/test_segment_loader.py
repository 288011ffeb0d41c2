"""What a segment is read with: what was known then, and of that what is near to it."""

from dataclasses import replace

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.learning.segment_loader import (
    MAX_SHOWN,
    filter_mentioned,
    load_segment_context,
    select_nearest,
)
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.segments import list_segments
from tests.beliefs.life import tell
from tests.clock import FrozenClock
from tests.learning.segment_fixtures import believed, talk


def test_nearest_beliefs_by_words_or_meaning_are_shown_to_the_extractor() -> None:
    """By words or by meaning, wherever else it stands; and no more than a few."""
    others = [
        believed(f"k-{n}", "fact", f"Owns plot number {n}.", key=f"plot_{n}", value=str(n))
        for n in range(2 * MAX_SHOWN)
    ]
    bees = believed("k-bees", "pattern", "Keeps bees with Olga.", pattern="behavior")
    wool = believed("k-wool", "pattern", "Knits jumpers.", pattern="behavior")
    ended = believed("k-old", "pattern", "Sells bees.", pattern="behavior", ended_at=1)
    messages = talk("The bees have swarmed, and the scarf is done.").messages

    shown = select_nearest([*others, ended, wool, bees], messages, {"Knits jumpers.": 0.4})

    assert len(shown) == MAX_SHOWN
    assert shown[:2] == [wool, bees] or shown[:2] == [bees, wool]


async def test_old_segment_is_not_shown_later_beliefs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though all that it may change or repeat is loaded beside it."""
    home = "The flat in Porto has no lift."
    await tell(app, chat_context, ["I live in Porto, in a flat."])
    spoken = UnloggedMessage(
        role="person", speaker="Nora", text=home, at=clock() - 900 * DAY, trust="person"
    )
    async with app.db.begin_write() as tx:
        target = ImportTarget(chat=chat_context.chat, language="en")
        await write_imported_messages(tx, target, [ImportedMessage(message=spoken)], now=clock())
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="import"
    )
    clock.tick(minutes=60)
    await tell(app, chat_context, [home])

    async with app.db.begin_read() as tx:
        old, *_, new = [
            await load_segment_context(tx, each, index_cache=app.index_cache, now=clock())
            for each in await list_segments(tx, chat_context.person.id)
        ]
    assert [message.text for message in old.inputs.messages] == [home]
    assert old.inputs.known
    assert old.inputs.shown == ()
    assert "Porto" in {each.memory.value for each in new.inputs.shown}


def test_entity_mention_requires_a_whole_word_match() -> None:
    """Ana is not in a banana, nor Leon in a paleontologist."""
    ana, leon, mia = (
        Entity(
            id=EntityId(f"o-{name}"),
            person=PersonId("nora"),
            name=name,
            kind="person",
            learned_at=0,
        )
        for name in ("Ana", "Leon", "Mia")
    )
    messages = talk("my paleontologist ate a banana at mias").messages

    assert filter_mentioned(messages, [ana, leon, mia]) == [mia]


def test_what_concerns_whom_the_words_name_is_shown_first() -> None:
    """A rare word counts for more than a usual one; a name finds what is about its bearer."""
    street = [
        believed(
            f"k-{n}", "fact", f"Walks the street to shop {n}.", key=f"s_{n}", value=f"shop {n}"
        )
        for n in range(2 * MAX_SHOWN)
    ]
    lease = believed("k-lease", "fact", "Rents a cottage of Mr Fenwick.", key="home")
    nurse = believed("k-nurse", "fact", "Works as a nurse at Hull Royal.", key="Abena:work")
    nurse = replace(nurse, memory=replace(nurse.memory, entities=(EntityId(ObjectId("abena")),)))
    messages = talk("Fenwick sells the street. Abena starts at the zoo.").messages

    shown = select_nearest([*street, lease, nurse], messages, {}, [EntityId(ObjectId("abena"))])

    assert lease in shown and nurse in shown
