"""What a reply stood on."""

from tests.cli.conftest import Call


def test_the_last_reply_is_explained_like_a_story(call: Call) -> None:
    """What was said, what was replied, and because of which words."""
    call("say", "My cat is called Miso and she hates rain.")
    call("say", "What is the name of my cat?")
    told = call("why").stdout

    assert "What is the name of my cat?" in told
    assert "My reply stands on:" in told
    assert "My cat is called Miso and she hates rain." in told
    assert "because" in told


def test_an_earlier_reply_is_explained_by_its_turn(call: Call) -> None:
    """Receipts are kept for every reply."""
    first = call("say", "hello", "--json").json
    call("say", "My cat is called Miso.")
    told = call("why", first["turn"], "--json").json

    assert told == first["receipt"]


def test_nothing_to_explain_is_said(call: Call) -> None:
    """An unknown reply, and one of somebody else."""
    theirs = call("say", "hello", "--person", "Ada", "--new-person", "--json").json
    for arguments in (("why",), ("why", "nonsense"), ("why", theirs["turn"])):
        ended = call(*arguments)

        assert ended.code == 1
        assert "There is no reply" in ended.stderr


def test_a_reply_is_named_by_part_of_its_id(call: Call) -> None:
    """By the last characters or the first of those; too few, or none such, are refused."""
    first = call("say", "remember that my boat is called Dora", "--json").json
    call("say", "hello")
    for part in (first["turn"], first["turn"][-8:], first["turn"][-8:-4]):
        assert call("why", part, "--json").json == first["receipt"]
    assert call("why", "abc").code == 2
    assert call("why", "zzzzzzzz").code == 1
