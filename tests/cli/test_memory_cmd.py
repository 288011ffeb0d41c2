"""What is believed, shown and set right at the command line."""

import json
import re
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.clock import let_pass
from tests.processes import Program
from tests.summaries import sum_up_store
from tests.unconfirmed import propose_in_store

TOLD = ("I live in Porto.", "My sister Ana is a nurse.", "I love jazz.")


@pytest.fixture
def told(call: Call) -> Call:
    """The command line, after some things were said and read."""
    for text in TOLD:
        call("say", text)
    assert "was read" in call("consolidate", "--now").stdout
    return call


def home(call: Call) -> str:
    """The id of where the person lives, as it is shown."""
    return next(each["id"] for each in call("facts", "--json").json if each["key"] == "location")


def test_memory_list_show_and_search_print_beliefs_with_evidence(told: Call) -> None:
    """To read, and for a program."""
    listed = told("memory", "list").stdout
    assert "Lives in Porto." in listed
    assert "jazz" not in told("memory", "list", "--kind", "fact").stdout
    shown = told("memory", "show", home(told)[-8:])
    assert "I live in Porto." in shown.stdout
    (words,) = told("memory", "show", home(told), "--json").json["evidence"]
    assert (words["quote"], words["trust"]) == ("I live in Porto.", "person")
    assert "jazz" in told("memory", "search", "music", "that", "I", "love").stdout
    assert "Ana" in told("entities").stdout
    assert "a language model writes them" in told("summaries").stdout
    assert told("summaries", "--json").json == []


@pytest.mark.parametrize("command", [("facts",), ("memory", "list"), ("beliefs",)])
def test_listing_beliefs_consolidates_pending_messages_by_rules_first(
    call: Call, command: tuple[str, ...]
) -> None:
    """Also what was said in other sessions, and is no older than the command."""
    call("say", "I live in Porto.", "--at", "2024-05-03T18:30")
    call("say", "I am allergic to nuts.")
    listed = call(*command).stdout

    assert "Lives in Porto" in listed
    assert "allergic to nuts" in listed


@pytest.mark.parametrize("command", [("recall", "Porto"), ("say", "Hello.")])
def test_overdue_consolidation_runs_after_a_command(
    call: Call, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Though nobody serves; the answer is given before."""
    call("say", "I live in Porto.")
    assert "Lives in Porto" not in call("memory", "search", "Porto").stdout
    let_pass(tmp_path / "data" / "oldfriend.db", minutes=60)

    assert "Lives in Porto" not in call(*command).stdout
    assert "Lives in Porto" in call("facts").stdout


@pytest.mark.slow
def test_memory_show_counts_replies_that_recalled_the_belief(told: Call) -> None:
    """For how many replies, and how many of these say it; of what never did, nothing."""
    before = told("memory", "show", home(told))
    assert "came to mind" not in before.stdout
    assert "came_to_mind" not in told("memory", "show", home(told), "--json").json
    for _ in range(2):
        assert "Porto" in told("say", "Where do I live?").stdout

    shown = told("memory", "show", home(told)).stdout
    uses = told("memory", "show", home(told), "--json").json["came_to_mind"]
    assert "recalled for 2 replies, 2 of which mention it; last on 20" in shown
    assert (uses["replies"], uses["used"]) == (2, 2)


def test_memory_show_of_a_summary_lists_its_source_messages(told: Call, data: Path) -> None:
    """Both sides, as they were said."""
    sum_up_store(f"sqlite:///{data / 'oldfriend.db'}")
    (summary,) = told("summaries", "--json").json
    shown = told("memory", "show", summary["id"]).stdout
    made_of = told("memory", "show", summary["id"], "--json").json["made_of"]
    assert "Made of:" in shown
    assert all(text in shown for text in TOLD)
    assert [each["text"] for each in made_of if each["role"] == "person"] == [*TOLD]


def test_memory_search_without_hits_suggests_recall(told: Call) -> None:
    """That nothing is believed of it, and not that nothing is believed at all."""
    found = told("memory", "search", "submarines")
    assert (found.code, "oldfriend recall" in found.stdout) == (0, True)
    assert "Nothing yet" not in found.stdout


def test_facts_filters_by_key_and_refuses_unknown_key(told: Call) -> None:
    """Also what it was before; a key that nothing is under is refused with those that are."""
    told("memory", "edit", home(told)[-8:], "Lives in Faro.")
    assert [each["value"] for each in told("facts", "location", "--json").json] == ["Faro"]
    both = [each["value"] for each in told("facts", "Location", "--all", "--json").json]
    assert sorted(both) == ["Faro", "Porto"]
    refused = told("facts", "shoe_size")
    assert refused.code == 1
    assert "location" in refused.stderr


def test_memory_edit_supersedes_the_old_belief_and_history_shows_it(told: Call) -> None:
    """The old value is history, with who has ended it."""
    old = home(told)
    assert "Lives in Faro." in told("memory", "edit", old[-8:], "Lives in Faro.").stdout
    assert home(told) != old
    history = told("history", old[-8:]).stdout
    assert "learned, by you" in history
    assert "I live in Porto." in history
    assert {step["op"] for step in told("history", old, "--json").json["steps"]} == {
        "learned",
        "superseded",
    }
    assert "Porto" not in told("facts").stdout
    assert "Porto" in told("facts", "--all").stdout


def test_memory_pin_unpin_reject_and_confirm_change_the_status(told: Call) -> None:
    """Each says what is so now."""
    name = home(told)[-8:]
    assert "pinned" in told("memory", "pin", name).stdout
    assert "pinned" not in told("memory", "unpin", name).stdout
    assert "rejected" in told("memory", "reject", name).stdout
    assert "Porto" not in told("facts").stdout
    (confirmed,) = told("memory", "confirm", name, "--json").json
    assert (confirmed["status"], confirmed["is_by_person"]) == ("active", True)


def test_beliefs_as_of_date_and_about_entity_are_filtered(told: Call) -> None:
    """A day before anything was said knows nothing; one to come is refused."""
    assert "Nothing was believed then" in told("beliefs", "--as-of", "2020-01-01").stdout
    assert "Ana" in told("beliefs", "--about", "Ana").stdout
    assert told("beliefs", "--about", "Nobody").code == 1
    assert told("beliefs", "--as-of", "2999-01-01").code == 2
    assert told("beliefs", "--as-of", "soon").code == 2


def test_why_explains_reply_down_to_the_evidence_quote(call: Call) -> None:
    """Reply, what I believe, because of what was said, when."""
    call("say", "remember that my locker code is 4411")
    call("say", "what do you know about me?")

    told = call("why").stdout
    assert "because you said" in told
    assert "my locker code is 4411" in told
    items = call("why", "--json").json["evidence"]
    beliefs = [each for each in items if each["kind"] == "memory"]
    assert beliefs[0]["evidence"][0]["quote"] == "my locker code is 4411"


@pytest.mark.slow
def test_stats_rebuild_and_undo_consolidation_report_their_results(told: Call) -> None:
    """What was read can be counted, made anew, and taken back."""
    assert "Beliefs:" in told("stats").stdout
    assert told("stats", "--json").json["segments"] == {"done": 1}
    assert told("rebuild", "--check").stdout == "All beliefs match the journal.\n"
    assert "0 of them did not match" in told("rebuild").stdout
    undone = told("undo", "consolidation", "last").stdout
    assert "No longer believed:" in undone
    assert "Lives in Porto." in undone
    assert "Nothing yet" in told("facts").stdout
    assert told("undo", "consolidation", "last").code == 1
    assert told("undo", "everything").code == 2


@pytest.mark.slow
def test_import_undo_removes_beliefs_learned_from_the_import(call: Call, tmp_path: Path) -> None:
    """In its own time, and without a trace of it in the facts."""
    said = [
        {"speaker": "Nora", "role": "person", "at": f"2019-03-0{day}T10:00", "text": text}
        for day, text in enumerate(["I live in Vigo.", "My sister Eva is a baker."], start=1)
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    call("say", "I live in Porto.")
    call("consolidate", "--now")

    brought = call("import", str(file))
    assert "read" in brought.stdout, brought
    assert "Vigo" not in call("facts").stdout, "what is newer holds"
    assert "Vigo" in call("facts", "--all").stdout
    assert "Eva" in call("entities").stdout
    undone = call("import", "undo", "1")
    assert "belief" in undone.stdout
    assert "Eva" not in call("entities").stdout
    assert "Porto" in call("facts").stdout
    assert call("rebuild", "--check").code == 0


def test_consolidate_without_options_reads_all_messages(call: Call) -> None:
    """And where no model is connected, an empty list of names says why."""
    call("say", "the bus was late again")
    empty = call("entities").stdout
    call("say", "I live in Porto.")
    read = call("consolidate")

    assert "oldfriend connect model" in empty
    assert (read.code, "was read" in read.stdout) == (0, True), read
    assert "Porto" in call("facts").stdout


def test_consolidate_with_model_is_refused_without_a_connected_model(told: Call) -> None:
    """Without a model it is said how to get one; nobody there to ask is no yes."""
    refused = told("consolidate", "--with-model")
    assert refused.code == 2
    assert "oldfriend connect model" in refused.stderr
    assert "Paused" in told("consolidate", "--pause").stdout
    assert told("consolidate", "--resume", "--json").json == {"read": 0, "waiting": 0, "failed": 0}


def test_consolidate_every_sets_the_turn_interval_per_person(told: Call) -> None:
    """One to five hundred turns, or as the settings have it; what is wrong changes nothing."""
    told("say", "I live in Oslo.", "--person", "Omar", "--new-person")
    assert (
        "after at most 10 turns, as set in oldfriend.toml" in told("consolidate", "--every").stdout
    )
    assert "after at most 25 turns" in told("consolidate", "--every", "25").stdout
    for wrong in ("0", "501", "often"):
        refused = told("consolidate", "--every", wrong)
        assert (refused.code, refused.stdout) == (2, "")
        assert "whole number from 1 to 500" in refused.stderr
    assert "after at most 25 turns" in told("consolidate", "--every").stdout
    assert "after at most 10 turns" in told("consolidate", "--every", "--person", "Omar").stdout
    assert "after at most 10 turns" in told("consolidate", "--every", "default").stdout


def test_memory_merge_duplicates_dry_run_changes_nothing(told: Call) -> None:
    """First only shown; two names are asked for otherwise."""
    before = told("memory", "list", "--json").stdout
    shown = told("memory", "merge", "--duplicates", "--dry-run")
    assert (shown.code, told("memory", "list", "--json").stdout) == (0, before)
    assert told("memory", "merge", "--duplicates", "--json").json["joined"] == []
    assert "--duplicates" in told("memory", "merge").stderr


def test_memory_merge_prints_the_command_that_separates_again(call: Call) -> None:
    """Whoever joins a place with somebody by mistake has both back."""
    call("say", "My friend Tom lives in Ghent.")
    call("consolidate", "--now")
    before = {each["id"]: each["name"] for each in call("entities", "--json").json}
    joined = call("memory", "merge", *before)
    command = joined.stdout.splitlines()[-1].partition(": oldfriend ")[2].split()
    assert call(*command).code == 0

    assert len(before) == 2
    assert {each["id"]: each["name"] for each in call("entities", "--json").json} == before


def test_consolidate_with_memory_forming_off_says_how_to_turn_it_on(
    told: Call, tmp_path: Path
) -> None:
    """Nothing is read, also when it is asked for."""
    (tmp_path / "data" / "oldfriend.toml").write_text("[memory]\nforms = false\n")
    refused = told("consolidate", "--now")
    assert refused.code != 0
    assert "set forms = true" in refused.stderr


def test_memory_commands_with_invalid_arguments_exit_without_traceback(told: Call) -> None:
    """Exit code 2, and no traceback."""
    assert told("memory", "show", "abc").code == 2
    assert told("memory", "show", "ffffffff").code == 1
    assert told("memory", "edit", home(told), "By the sea.").code == 2
    assert told("memory").code == 2


@pytest.mark.slow
def test_leaving_a_chat_consolidates_it_for_that_person_only(oldfriend: Program) -> None:
    """What was said in a chat is believed when it was left; each person has their own."""
    oldfriend.done("chat", stdin="I live in Porto.\nMy sister Ana is a nurse.\n")
    oldfriend.done("say", "I live in Oslo.", "--person", "Omar", "--new-person")
    oldfriend.done("consolidate", "--now", "--person", "Omar")

    assert "Porto" in oldfriend.done("facts").stdout
    theirs = oldfriend.done("facts", "--person", "Omar").stdout
    assert "Oslo" in theirs
    assert "Porto" not in theirs


def test_belief_id_part_is_accepted_and_ambiguous_one_is_refused(told: Call) -> None:
    """Those of several are refused, with which these are."""
    name = home(told)
    assert "Lives in Porto." in told("memory", "show", name[-8:-4]).stdout
    assert "Lives in Porto." in told("history", name[-8:-3]).stdout
    several = told("memory", "show", name[:4])
    assert several.code == 2
    assert re.search(r"is the id of several: ([0-9a-f]{8} \(\w+\)(, |\.)){2,}", several.stderr)


def test_consolidate_prints_segment_ids_that_undo_accepts(call: Call) -> None:
    """By the id that undo takes."""
    call("say", "I live in Porto.")
    read = call("consolidate", "--now").stdout.splitlines()
    assert "1 segment of conversation was read" in read[0]
    name = read[1].split()[0]
    undone = call("undo", "consolidation", name[:4]).stdout
    assert undone.startswith(f"Undone: {name}")
    assert "Lives in Porto." in undone
    assert call("undo", "consolidation", "last").code == 1


def test_memory_edit_changes_the_due_date_of_a_commitment(call: Call) -> None:
    """Or none, or with other words; what is never due is refused."""
    call("say", "I promise to call Ana by Friday. I live in Porto.")
    call("consolidate", "--now")
    (promise,) = call("memory", "list", "--kind", "commitment", "--json").json
    name = promise["id"][-8:]
    (due,) = call("memory", "edit", name, "--due", "2999-05-01", "--json").json
    assert due["due_at"].startswith("2999-05-01T23:59:59")
    assert (due["text"], due["is_by_person"]) == ("Promised to call Ana (1 May 2999).", True)
    assert "due 2999-05-01" in call("memory", "list").stdout
    said = call("memory", "edit", name, "Call Ana and Ben.", "--due", "2999-06-01T18:00", "--json")
    assert (said.json[0]["text"], said.json[0]["due_at"][:16]) == (
        "Call Ana and Ben.",
        "2999-06-01T18:00",
    )
    assert call("memory", "edit", name, "--due", "none", "--json").json[0]["due_at"] is None
    assert call("memory", "edit", name, "--due", "soon").code == 2
    assert call("memory", "edit", name).code == 2
    assert "can have a due date" in call("memory", "edit", home(call), "--due", "2999-05-01").stderr
    assert call("rebuild", "--check").code == 0


def damage(told: Call, tmp_path: Path) -> str:
    """Damage the row of where the person lives; its id."""
    name = home(told)
    with closing(sqlite3.connect(tmp_path / "data" / "oldfriend.db")) as store, store:
        store.execute("UPDATE memory SET relations = '[[broken' WHERE id = ?", [name])
    return name


@pytest.mark.parametrize("command", [("recall", "Porto"), ("facts",), ("memory", "list")])
def test_damaged_belief_row_is_named_in_error_and_fixed_by_rebuild(
    told: Call, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Which it is, and what to do; after that all is there again."""
    name = damage(told, tmp_path)

    ended = told(*command)
    assert ended.code == 1
    assert name in ended.stderr
    assert "oldfriend rebuild" in ended.stderr
    assert told("rebuild").code == 0
    assert "Porto" in told(*command).stdout


def test_doctor_names_a_damaged_row(told: Call, tmp_path: Path) -> None:
    """And goes on with everything else."""
    name = damage(told, tmp_path)

    found = told("doctor")
    assert found.code == 1
    assert name in found.stdout
    assert "oldfriend rebuild" in found.stdout
    assert "messages are stored" in found.stdout
    assert told("rebuild").code == 0
    assert name not in told("doctor").stdout


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "What do you know about me?",
        "What did I promise?",
        "I like rain.",
        "Why do you say that?",
        "Remember that I like rain.",
    ],
)
def test_reply_with_a_damaged_belief_row_is_given_and_marked_degraded(
    told: Call, tmp_path: Path, text: str
) -> None:
    """It is given without what cannot be read, which is admitted there and in its explanation."""
    damage(told, tmp_path)
    given = told("say", text, "--json")

    assert given.code == 0, given.stderr
    lacks = given.json["receipt"]["degraded"]
    assert ("Part of my memory cannot be read" in given.json["reply"]) == lacks
    assert lacks == ("could not be" in told("why").stdout)
    assert lacks == (text != "Why do you say that?")


@pytest.mark.parametrize("question", ["What does my sister do?", "When did I speak of jazz?"])
def test_messages_are_found_in_spite_of_a_damaged_belief_row(
    told: Call, tmp_path: Path, question: str
) -> None:
    """What was said is quoted, though nothing is known of what is believed."""
    damage(told, tmp_path)
    given = told("say", question, "--json")

    assert "Part of my memory cannot be read" in given.json["reply"]
    assert ("nurse" if "sister" in question else "jazz") in given.json["reply"].split("Part of")[0]


def test_consolidate_says_what_takes_a_model(call: Call) -> None:
    """Nothing was learned from Dutch, and it says so; English needs no more."""
    call("say", "my cat is called miso")
    assert "takes a model" not in call("consolidate", "--now").stdout
    call("say", "ik woon in utrecht en werk als verpleegkundige")
    read = call("consolidate", "--now").stdout

    assert "messages in a language that takes a model to understand: 1." in read


def test_what_waits_shows_what_made_it_doubtful_and_how_long_it_waits(
    call: Call, data: Path
) -> None:
    """The whole sentence, not the words that were quoted, and no day on which it ended."""
    call("say", "I don't live in Leipzig any more.")
    propose_in_store(f"sqlite:///{data / 'oldfriend.db'}", "Lives in Leipzig.", "live in Leipzig")

    listed = call("memory", "unconfirmed").stdout
    (claim,) = call("memory", "unconfirmed", "--json").json
    shown = call("memory", "show", claim["id"]).stdout

    assert claim["evidence"][0]["quote"] == "I don't live in Leipzig any more."
    learned_at = datetime.fromisoformat(claim["learned_at"])
    for text in (listed, shown):
        assert "I don't live in Leipzig any more." in text
        assert f"until {(learned_at + timedelta(days=60)).date()}" in text
        assert f"until {learned_at.date()}" not in text


def test_what_waits_for_a_word_is_listed_with_its_quote_and_decided(call: Call, data: Path) -> None:
    """It is among no other beliefs, also none that are over."""
    call("say", "I dreamed that I won a boat.")
    assert "Nothing is waiting" in call("memory", "unconfirmed").stdout
    propose_in_store(f"sqlite:///{data / 'oldfriend.db'}", "Won a boat.")

    listed = call("memory", "unconfirmed")
    assert "Won a boat." in listed.stdout
    assert "I dreamed that I won a boat." in listed.stdout
    assert "Won a boat." not in call("memory", "list", "--all").stdout
    assert "oldfriend memory unconfirmed" in call("stats").stdout
    assert "oldfriend memory unconfirmed" in call("doctor").stdout

    (claim,) = call("memory", "unconfirmed", "--json").json
    call("memory", "reject", claim["id"])
    assert "Nothing is waiting" in call("memory", "unconfirmed").stdout
    assert "rejected" in call("history", claim["id"]).stdout


@pytest.mark.parametrize("command", [("facts",), ("memory", "list"), ("beliefs",)])
def test_state_of_long_ago_is_listed_as_of_its_month(call: Call, command: tuple[str, ...]) -> None:
    """Until it is said again; a birthday stays as it is."""
    call("say", "I live in Porto.", "--at", "2024-05-03T18:30")
    call("say", "My birthday is 4 May 1990.", "--at", "2024-05-03T18:31")
    before = call(*command).stdout
    told = call(*command, "--json").json
    call("say", "I live in Porto.")

    assert "Lives in Porto.  [as of 2024-05, may be over]" in before
    assert before.count("may be over") == 1
    assert [each["as_of"][:7] for each in told if "as_of" in each] == ["2024-05"]
    assert "may be over" not in call(*command).stdout
