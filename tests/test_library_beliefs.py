"""Another program asks what is believed, since when and why, and sets it right."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from oldfriend import Belief, Memory, MemorySync
from oldfriend.domain.clock import from_micros, system_clock
from oldfriend.domain.errors import InvalidInput, NotFound
from tests.clock import let_pass
from tests.summaries import sum_up_store
from tests.unconfirmed import propose_in_store

TALK = [
    {"session": "s1", "at": "2024-05-03T18:30", "text": "I live in Porto."},
    {"session": "s1", "at": "2024-05-03T18:31", "text": "My sister Ana is a nurse."},
]
LATER = [{"session": "s2", "at": "2024-09-03T18:30", "text": "I moved to Lisbon last week!"}]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where the memory is."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def memory(url: str) -> Iterator[MemorySync]:
    """Nora's memory, in which something was learned."""
    with Memory.open(url, person="Nora") as opened:
        opened.add(TALK)
        assert opened.consolidate() == 1
        yield opened


def home(memory: MemorySync) -> Belief:
    """Where she lives."""
    (found,) = [each for each in memory.facts() if each.key == "location"]
    return found


def test_fact_has_its_message_as_evidence(memory: MemorySync) -> None:
    """With who said them, and when."""
    fact = home(memory)
    (words,) = fact.evidence

    assert (fact.kind, fact.value, fact.status) == ("fact", "Porto", "active")
    assert (words.text, words.speaker, words.supports) == ("I live in Porto.", "Nora", True)
    assert words.at.replace(tzinfo=None) == datetime(2024, 5, 3, 18, 30)  # noqa: DTZ001 - as given
    assert [each.text for each in memory.entities() if each.text == "Ana"] == ["Ana"]


def test_summaries_lists_only_model_written_summaries(memory: MemorySync, url: str) -> None:
    """Without one there are none."""
    assert memory.summaries() == []
    sum_up_store(url, "Lives in Porto.")

    (summary,) = memory.summaries()
    assert (summary.kind, summary.text) == ("summary", "Lives in Porto.")


def test_beliefs_as_of_a_time_and_history_show_superseded_values(memory: MemorySync) -> None:
    """What was believed before the second talk was read is known still."""
    porto, then = home(memory), datetime.now().astimezone()  # noqa: TID251 - the real now
    memory.add(LATER)
    memory.consolidate()

    assert home(memory).value == "Lisbon"
    assert {each.value for each in memory.beliefs(as_of=then) if each.key == "location"} == {
        "Porto"
    }
    assert memory.beliefs(about="Ana")
    history = memory.history(porto.id[-8:])
    assert history[0].op == "learned"
    assert {each.belief.value for each in history} == {"Porto", "Lisbon"}
    assert history[0].because[0].text == "I live in Porto."


def test_beliefs_about_the_persons_own_name_are_their_own(memory: MemorySync) -> None:
    """Where somebody else is meant, it is not hers."""
    own = memory.beliefs(about="Nora")

    assert home(memory).id in {each.id for each in own}
    assert not any(each.key.startswith("Ana:") for each in own)
    with pytest.raises(NotFound):
        memory.beliefs(about="Zacharias")


def test_corrections_apply_immediately_and_can_be_reverted(memory: MemorySync) -> None:
    """And are taken back by other ones."""
    new, old = memory.correct(home(memory).id, "Lives in Faro.")
    assert (new.value, old.status, home(memory).is_by_person) == ("Faro", "rejected", True)
    assert memory.pin(new.id)[0].is_pinned
    assert not memory.unpin(new.id)[0].is_pinned
    memory.reject(new.id)
    assert home(memory).value == "Porto"
    assert memory.confirm(home(memory).id)[0].is_by_person
    with pytest.raises(NotFound):
        memory.pin("00000000")


def test_a_decided_belief_is_as_sure_as_when_it_is_listed(memory: MemorySync) -> None:
    """With all else that is known of it, its evidence too."""
    told = home(memory)
    assert told.confidence is not None

    assert memory.pin(told.id)[0].confidence == told.confidence
    assert memory.unpin(told.id) == [home(memory)]
    assert memory.confirm(told.id) == [home(memory)]
    new, _ = memory.correct(told.id, "Lives in Faro.")
    assert new == home(memory)
    assert new.confidence is not None
    ana = next(each for each in memory.entities() if each.text == "Ana")
    assert ana.confidence is None


def test_edited_message_is_reread_and_replaces_the_old_belief(memory: MemorySync) -> None:
    """What it said before is not believed any more."""
    memory.add([{"id": "m1", "session": "s3", "at": "2024-06-01T10:00", "text": "I love jazz."}])
    memory.consolidate()
    memory.add([{"id": "m1", "session": "s3", "at": "2024-06-01T10:00", "text": "I love techno."}])
    memory.consolidate()

    liked = {each.value for each in memory.facts() if each.kind == "preference"}
    assert liked == {"techno"}


async def test_async_memory_merges_and_separates_entities(tmp_path: Path) -> None:
    """Two names of one are merged, and kept apart again."""
    async with Memory.open(f"sqlite:///{tmp_path / 'memory.db'}", person="Nora") as memory:
        await memory.add(
            [
                *TALK,
                {"session": "s1", "at": "2024-05-03T18:32", "text": "My friend Marta is a doctor."},
            ]
        )
        await memory.consolidate()
        names = {each.text: each.id for each in await memory.entities()}
        kept, _ = await memory.merge(names["Ana"], names["Marta"])
        assert kept.aliases == ("Marta",)
        await memory.separate(names["Ana"], names["Marta"])
        assert {"Ana", "Marta"} <= {each.text for each in await memory.entities()}
        with pytest.raises(NotFound):
            await memory.undo_import(1)


def sessions(count: int) -> list[dict[str, str]]:
    """Talk of so many days."""
    return [
        {"session": f"day {day}", "at": f"2024-06-{day:02d}T18:{minute}", "text": text}
        for day in range(1, count + 1)
        for minute, text in (
            ("00", f"Today I met Carl at pier {day} and we had soup."),
            ("01", f"My friend Maria number {day} came along, too."),
        )
    ]


def test_facts_from_rules_are_available_without_consolidate(tmp_path: Path) -> None:
    """Of every session, without a call of ``consolidate``."""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with Memory.open(url, person="Nora", maintenance_s=0) as memory:
        memory.add(
            [
                {"session": "one", "at": "2024-06-01T18:00", "text": "I live in Porto."},
                {"session": "two", "at": "2024-06-02T18:00", "text": "I am allergic to nuts."},
            ]
        )
        assert {fact.value for fact in memory.facts()} == {"Porto", "nuts"}


@pytest.mark.parametrize(("budget_s", "is_read"), [(5.0, True), (0.0, False)])
def test_overdue_maintenance_runs_within_its_time_budget(
    tmp_path: Path, budget_s: float, is_read: bool
) -> None:
    """Unless it wants none of it; leaving the with block waits for what was begun."""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with Memory.open(url, person="Nora", maintenance_s=budget_s) as memory:
        memory.add([{"text": "I live in Porto."}])
        assert memory.beliefs(as_of=from_micros(system_clock(), "UTC")) == []
    let_pass(tmp_path / "memory.db", minutes=60)
    with Memory.open(url, person="Nora", maintenance_s=budget_s) as memory:
        memory.recall("Porto")
    with Memory.open(url, person="Nora", maintenance_s=0) as memory:
        known = memory.beliefs(as_of=from_micros(system_clock(), "UTC"))
        assert [each.value for each in known if each.kind == "fact"] == ["Porto"] * is_read


@pytest.mark.parametrize("budget_s", [-1, float("inf"), float("nan")])
def test_invalid_maintenance_budget_is_refused(tmp_path: Path, budget_s: float) -> None:
    """Without a limit, leaving the with block could wait for ever."""
    with pytest.raises(InvalidInput, match="maintenance_s"):
        Memory.open(f"sqlite:///{tmp_path / 'memory.db'}", maintenance_s=budget_s)


def test_claim_in_doubt_is_believed_once_it_is_confirmed(memory: MemorySync, url: str) -> None:
    """Before that it is among no beliefs."""
    propose_in_store(url, "Won a boat.")

    (claim,) = memory.unconfirmed()
    assert (claim.text, claim.status, len(claim.evidence)) == ("Won a boat.", "unconfirmed", 1)
    assert "Won a boat." not in [each.text for each in memory.beliefs()]
    memory.confirm(claim.id)
    assert memory.unconfirmed() == []
    assert "Won a boat." in [each.text for each in memory.beliefs()]


def test_state_of_long_ago_is_told_as_of_then_until_said_again(url: str) -> None:
    """In what is listed, found and given to a model; an older import overrules nothing newer."""
    with Memory.open(url, person="Nora") as memory:
        memory.add(TALK)
        memory.consolidate()
        (found,) = [each for each in memory.recall("where does Nora live") if each.kind == "fact"]
        context = memory.context("where does Nora live")
        assert home(memory).as_of == found.as_of == home(memory).evidence[0].at
        assert "Lives in Porto. (said 2024-05-03, long ago, may be over)" in context
        assert not any(each.as_of for each in memory.entities())

        memory.add(["I live in Porto."])
        memory.consolidate()
        assert home(memory).as_of is None
        assert "may be over" not in memory.context("where does Nora live")

        memory.add([{"session": "s0", "at": "2023-05-03T18:30", "text": "I live in Faro."}])
        memory.consolidate()
        assert (home(memory).value, home(memory).as_of) == ("Porto", None)
