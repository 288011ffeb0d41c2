"""The messages that answer a question."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.cli.recall import RecallHit, print_hits
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.replies.reply_worker import answer_message
from oldfriend.search.score import give_score
from oldfriend.search.types import ScoredMessage
from oldfriend.turn.recalled import RecalledMessage
from tests.cli.conftest import Call

FIELDS = {"message", "external_id", "session", "speaker", "at", "text", "score", "why"}


def test_recall_json_is_a_list_of_hits_sorted_by_score(call: Call) -> None:
    """With what a program needs to cite them."""
    for text in ("My cat is called Miso.", "It rained all day.", "The vet says Miso is too fat."):
        call("say", text, "--channel", "web")
    hits = call("recall", "What is my cat called?", "-k", "2", "--json").json

    assert len(hits) == 2
    assert all(set(hit) >= FIELDS for hit in hits)
    assert hits[0]["text"] == "My cat is called Miso."
    assert hits[0]["channel"] == "web"
    assert hits[0]["score"] >= hits[1]["score"]


def test_recall_without_hits_is_empty_and_succeeds(call: Call) -> None:
    """Expected absence."""
    call("say", "hello")

    assert call("recall", "?", "--json").json == []
    assert call("recall", "?").stdout == "Nothing found.\n"


def test_recall_hits_show_time_channel_and_matched_words(call: Call) -> None:
    """To read."""
    call("say", "My cat is called Miso.", "--at", "2024-05-03T18:30+02:00", "--channel", "web")
    shown = call("recall", "What is my cat called?").stdout

    assert "you: My cat is called Miso." in shown
    assert "2024-05-03T18:30:00+02:00 · web" in shown
    assert "“cat”" in shown


def test_recall_returns_only_messages_of_the_asking_person(call: Call) -> None:
    """Each sees their own."""
    call("say", "My cat is called Miso.", "--person", "Ada", "--new-person")
    call("say", "I have a dog.")

    assert call("recall", "Miso the cat", "--json", "--person", "Ada").json
    assert "Miso" not in call("recall", "Miso the cat", "--json").stdout


def test_recall_does_not_return_companion_replies(call: Call) -> None:
    """They only repeat."""
    call("say", "My cat is called Miso.")
    call("say", "What is my cat called?")
    hits = call("recall", "cat called Miso", "--json").json

    assert {hit["role"] for hit in hits if "role" in hit} == {"person"}


async def test_recall_hits_with_near_zero_score_are_not_listed(
    app: AppContext, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hit of 0.00 tells nobody anything."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    given = await answer_message(
        app, chat_context, MessageSubmission(text="My cat is called Miso.")
    )
    hits = [ScoredMessage(seq=given.message.seq, score=give_score(score)) for score in (0.4, 0.004)]
    found = [RecallHit(item=RecalledMessage(message=given.message, hit=hit)) for hit in hits]
    print_hits(found, is_sure=True)
    listed = capsys.readouterr().out
    print_hits(found[1:], is_sure=False)

    assert listed.count("Miso") == 1
    assert capsys.readouterr().out == "Nothing found.\n"


def test_why_explains_the_last_reply_with_its_evidence(call: Call) -> None:
    """What was said, what was replied, and because of which words."""
    call("say", "My cat is called Miso and she hates rain.")
    call("say", "What is the name of my cat?")
    told = call("why").stdout

    assert "What is the name of my cat?" in told
    assert "My reply is based on:" in told
    assert "My cat is called Miso and she hates rain." in told
    assert "because" in told


def test_why_with_a_turn_id_returns_the_receipt_of_that_reply(call: Call) -> None:
    """Receipts are kept for every reply."""
    first = call("say", "hello", "--json").json
    call("say", "My cat is called Miso.")
    told = call("why", first["turn"], "--json").json

    assert told == first["receipt"]


def test_why_for_unknown_or_foreign_reply_is_refused(call: Call) -> None:
    """An unknown reply, and one of somebody else."""
    theirs = call("say", "hello", "--person", "Ada", "--new-person", "--json").json
    for arguments in (("why",), ("why", "nonsense"), ("why", theirs["turn"])):
        ended = call(*arguments)

        assert ended.code == 1
        assert "There is no reply" in ended.stderr


def test_why_accepts_part_of_a_turn_id(call: Call) -> None:
    """By the last characters or the first of those; too few, or none such, are refused."""
    first = call("say", "remember that my boat is called Dora", "--json").json
    call("say", "hello")
    for part in (first["turn"], first["turn"][-8:], first["turn"][-8:-4]):
        assert call("why", part, "--json").json == first["receipt"]
    assert call("why", "abc").code == 2
    assert call("why", "zzzzzzzz").code == 1


def test_a_hit_comes_with_what_was_said_later_of_the_same(call: Call) -> None:
    """Whoever reads the old day sees that it was moved."""
    moved = "the dentist is not on thursday anymore, the dentist is monday now"
    call("say", "the dentist is on thursday at 4")
    call("say", moved)
    hits = call("recall", "when is the dentist on thursday", "-k", "5", "--json").json
    by_text = {hit["text"]: hit for hit in hits}

    old = by_text["the dentist is on thursday at 4"]
    assert [each["text"] for each in old["later"]] == [moved]
    assert "later" not in by_text[moved]
    shown = call("recall", "when is the dentist on thursday").stdout
    assert "said later: " in shown.partition("the dentist is on thursday at 4")[2]
