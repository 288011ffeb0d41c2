"""A note stands on the person's own words, and is kept once."""

from dataclasses import replace

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.journal import list_journal, list_view_mismatches
from oldfriend.memory.notes import learn_note, list_notes
from tests.two_people import Friend


async def note(friend: Friend, message: Message, text: str) -> None:
    """Keep a note of what a message says."""
    async with friend.db.begin_write() as tx:
        await learn_note(tx, text, source=message, author="rules/1", now=friend.clock())


async def test_note_has_a_journal_entry_and_evidence(nora: Friend) -> None:
    """What was decided, by whom, because of which words of which message."""
    said = await nora.says("Please remember that I am allergic to walnuts.")
    await note(nora, said, "I am allergic to walnuts.")

    async with nora.db.begin_read() as tx:
        (kept,) = await list_notes(tx, nora.person.id)
        (change,) = await list_journal(tx, nora.person.id)
        (evidence,) = (await list_evidence(tx, nora.person.id))[kept.id]
    assert kept.text == evidence.quote == "I am allergic to walnuts."
    assert (change.after, change.op, change.previous_seq, change.author) == (
        kept,
        "learned",
        0,
        "rules/1",
    )
    assert [(cause.message, cause.version) for cause in change.causes] == [(said.id, 1)]
    assert (evidence.message, evidence.version) == (said.id, 1)
    assert (evidence.said_at, evidence.zone, evidence.trust) == (said.at, said.zone, "person")


@pytest.mark.parametrize(
    "again", ["my cat is called Miso", "My  cat is called miso!", "my cat is called Ｍｉｓｏ。"]
)
async def test_duplicate_note_is_stored_once_with_more_evidence(nora: Friend, again: str) -> None:
    """Reinforcement is evidence, not another decision; case, width and spacing do not matter."""
    for text in ("My cat is called Miso.", again):
        await note(nora, await nora.says(f"Remember: {text}"), text)

    async with nora.db.begin_read() as tx:
        (kept,) = await list_notes(tx, nora.person.id)
        evidence = (await list_evidence(tx, nora.person.id))[kept.id]
        changes = await list_journal(tx, nora.person.id)
    assert kept.text == "My cat is called Miso."
    assert [each.quote for each in evidence] == ["My cat is called Miso.", again]
    assert len(changes) == 1


async def test_note_not_in_the_persons_own_words_is_rejected(nora: Friend) -> None:
    """A paraphrase would put words into their mouth."""
    said = await nora.says("Remember that I like tea")
    with pytest.raises(InvalidInput, match="own words"):
        await note(nora, said, "I love tea")

    async with nora.db.begin_read() as tx:
        assert await list_notes(tx, nora.person.id) == []


@pytest.mark.parametrize("trust", ["companion", "other", "outside"])
async def test_note_from_a_message_of_another_trust_class_is_rejected(
    nora: Friend, trust: str
) -> None:
    """Neither the companion's own, nor a friend's, nor what was fetched or forwarded."""
    said = await nora.says("Remember that I like tea")
    with pytest.raises(InvalidInput, match="own words"):
        await note(nora, replace(said, trust=trust), "I like tea")


async def test_note_evidence_keeps_the_quoted_message_version_after_an_edit(nora: Friend) -> None:
    """Evidence names it, whatever the message says later."""
    from oldfriend.memory.message_log import edit_message, get_message

    said = await nora.says("Remember that I like tea")
    await note(nora, said, "I like tea")
    async with nora.db.begin_write() as tx:
        await edit_message(tx, nora.person.id, said.id, "never mind", now=nora.clock())
        ((evidence,),) = (await list_evidence(tx, nora.person.id)).values()
        quoted = await get_message(tx, nora.person.id, evidence.message, version=evidence.version)

    assert evidence.quote in quoted.text


async def test_notes_are_listed_in_the_order_in_which_they_were_made(nora: Friend) -> None:
    """The oldest first, evidence too."""
    texts = ["zebra", "apple", "mango"]
    for text in texts:
        await note(nora, await nora.says(f"note {text}"), text)

    async with nora.db.begin_read() as tx:
        assert [each.text for each in await list_notes(tx, nora.person.id)] == texts


async def test_correcting_note_supersedes_the_earlier_note(nora: Friend) -> None:
    """The old one is kept as what was said before."""
    for text in ("my locker code is 4711", "my bike code is 99", "my locker code is 4712"):
        nora.clock.tick(minutes=1)
        await note(nora, await nora.says(f"Remember that {text}"), text)

    async with nora.db.begin_read() as tx:
        live = [each.text for each in await list_notes(tx, nora.person.id)]
        first, *_, last = (change.after for change in await list_journal(tx, nora.person.id))
        assert await list_view_mismatches(tx, nora.person.id) == []
    assert live == ["my bike code is 99", "my locker code is 4712"]
    assert isinstance(last, StoredBelief)
    assert (last.id, last.status, last.ended_at) == (first.id, "superseded", nora.clock())


async def test_earlier_said_note_does_not_supersede_a_later_one(nora: Friend) -> None:
    """Notes may be made in another order than the words were said."""
    early = await nora.says("Remember that my locker code is 4711")
    nora.clock.tick(minutes=1)
    late = await nora.says("Remember that my locker code is 4712")
    await note(nora, late, "my locker code is 4712")
    await note(nora, early, "my locker code is 4711")

    async with nora.db.begin_read() as tx:
        assert len(await list_notes(tx, nora.person.id)) == 2
