"""Call and result go together or not at all."""

from hypothesis import given
from hypothesis import strategies as st

from oldfriend.llm.fallback import drop_unpaired_calls
from oldfriend.llm.model import PromptTurn, ToolCall, ToolResult


def call(name: str) -> ToolCall:
    return ToolCall(id=name, name="look", arguments={})


def result(name: str, text: str = "seen") -> ToolResult:
    return ToolResult(id=name, name="look", text=text)


def companion(text: str, *calls: str) -> PromptTurn:
    return PromptTurn(role="companion", text=text, calls=tuple(map(call, calls)))


PERSON = PromptTurn(role="person", text="hi")


def test_complete_tool_call_pairs_are_unchanged():
    """The common case changes nothing, so that a provider's cache still fits."""
    turns = (PERSON, companion("wait", "a", "b"), result("a"), result("b"), companion("there"))

    assert drop_unpaired_calls(turns) == turns


def test_a_result_without_its_call_is_dropped():
    """The window may begin between the two."""
    assert drop_unpaired_calls([result("a"), PERSON]) == (PERSON,)


def test_tool_call_without_its_result_is_dropped_and_its_text_kept():
    """A turn may have been stopped before the tool was done."""
    assert drop_unpaired_calls([companion("wait", "a"), PERSON]) == (companion("wait"), PERSON)


def test_turn_left_empty_is_dropped():
    """Providers refuse an empty turn."""
    assert drop_unpaired_calls([PERSON, companion("", "a"), PERSON]) == (PERSON, PERSON)


def test_tool_results_are_ordered_as_their_calls_and_duplicates_dropped():
    """A result that comes later, or twice, is not a pair."""
    turns = [companion("", "a", "b"), result("b"), result("a", "1"), result("a", "2"), PERSON]

    assert drop_unpaired_calls([*turns, result("c")]) == (
        companion("", "a", "b"),
        result("a", "1"),
        result("b"),
        PERSON,
    )


def test_provider_echo_is_dropped_when_a_call_is_dropped():
    """What a provider signed together is not sent back in part."""
    turn = PromptTurn(
        role="companion", text="x", calls=(call("a"), call("b")), echo={"signed": True}
    )

    [kept, _] = drop_unpaired_calls([turn, result("a")])

    assert kept == companion("x", "a")


names = st.sampled_from("abc")
turns = st.one_of(
    st.just(PERSON),
    st.builds(result, names),
    st.builds(
        lambda text, calls: companion(text, *calls), st.sampled_from(["", "x"]), st.lists(names)
    ),
)


@given(st.lists(turns, max_size=12))
def test_result_of_dropping_has_only_complete_pairs_and_is_idempotent(given_turns):
    """Every call is answered right behind it, every result was asked for, and again is the same."""
    whole = drop_unpaired_calls(given_turns)

    open_calls: list[str] = []
    for turn in whole:
        if isinstance(turn, ToolResult):
            assert turn.id == open_calls.pop(0)
        else:
            assert not open_calls
            assert turn.text or turn.calls
            open_calls = [each.id for each in turn.calls]
    assert not open_calls
    assert drop_unpaired_calls(whole) == whole
