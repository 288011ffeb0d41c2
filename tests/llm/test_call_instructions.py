"""The changing part of a request goes before the words that it is about."""

from oldfriend.llm.model import CompletionRequest, PromptTurn, move_call_instructions


def ask(*roles: str) -> CompletionRequest:
    turns = tuple(PromptTurn(role=role, text=role) for role in roles)
    return CompletionRequest(
        purpose="reply",
        prompt="reply/11",
        system_prompt="Rules.",
        call_instructions="Known.",
        turns=turns,
    )


def test_changing_part_is_moved_before_the_last_words_of_the_person() -> None:
    moved = move_call_instructions(ask("person", "companion", "person"))

    assert moved.call_instructions == ""
    assert [turn.text for turn in moved.turns] == ["person", "companion", "Known.\n\nperson"]


def test_changing_part_stays_where_the_last_words_are_answered_already() -> None:
    """As where somebody else's message was passed on: it is not about what was said before."""
    for request in (ask("person", "companion", "instruction"), ask("person"), ask("instruction")):
        assert move_call_instructions(request) == request
