"""A model cites the records that it has used: told in the receipt, never seen by the person."""

import re
from collections.abc import Callable

import pytest

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolResult
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply, build_broken_reply
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.turn_outcome import Outcome
from tests.turn.conftest import Talk, wants

CAT = "My cat is called Zerbinette, she hates thunder."
VET = "My cat was at the vet today, I think."
QUESTION = "What is my cat called?"
Script = Callable[[CompletionRequest], str | ScriptedReply]


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_model_replies.py does not."""
    return "sqlite"


def read_prompt(request: CompletionRequest) -> str:
    """All that a model reads."""
    texts = [turn.text for turn in request.turns if isinstance(turn, PromptTurn | ToolResult)]
    return "\n".join([request.system_prompt, request.call_instructions, *texts])


def key(request: CompletionRequest, words: str) -> str:
    """The key of the record with these words."""
    (found,) = re.findall(rf"^([kr]\d+) \[.*{re.escape(words)}", read_prompt(request), re.MULTILINE)
    return found


async def reply(talk: Talk, script: Script, question: str = QUESTION) -> Outcome:
    """The reply of a model that follows a script, which was streamed as it is stored."""
    outcome = await talk.turn(
        await talk.hears(question), talk.mind("", model=ScriptedModel(script))
    )
    assert talk.heard == outcome.reply.text
    return outcome


def citing(text: str, *words: str) -> Script:
    """A reply that cites the records with these words."""
    return lambda request: f"{text}\nUSED_MEMORY: {', '.join(key(request, each) for each in words)}"


def cites(outcome: Outcome) -> tuple[JsonValue, JsonValue]:
    """What a receipt says that the reply rests on, and by what that is known."""
    return outcome.reply.details["cited"], outcome.reply.details.get("cited_by", "words")


async def test_record_that_a_model_cites_is_told_though_no_word_is_shared(talk: Talk) -> None:
    """What shared words cannot find."""
    cat = await talk.remembers(CAT)
    await talk.remembers(VET)
    outcome = await reply(talk, citing("Like the lady in the opera.", "Zerbinette"))

    assert outcome.reply.text == "Like the lady in the opera."
    assert cites(outcome) == ([cat.id], "model")


async def test_model_that_has_used_no_record_says_so(talk: Talk) -> None:
    """Though a word is shared."""
    await talk.remembers(CAT)
    outcome = await reply(talk, lambda _: "Ask Zerbinette!\n\nUSED_MEMORY: none")

    assert outcome.reply.text == "Ask Zerbinette!"
    assert cites(outcome) == ([], "model")


@pytest.mark.parametrize(
    "citation",
    ["", "\nUSED_MEMORY: r77, k99", "\nUSED_MEMORY:", "\nUSED_MEMORY: the cat", " [r77]"],
)
async def test_reply_without_a_citation_of_a_shown_record_is_traced_by_its_words(
    talk: Talk, citation: str
) -> None:
    """Forgotten, invented or unreadable; nothing of it is shown."""
    cat = await talk.remembers(CAT)
    outcome = await reply(talk, lambda _: f"Zerbinette!{citation}")

    assert outcome.reply.text == "Zerbinette!"
    assert cites(outcome) == ([cat.id], "words")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("She is called that [{key}].", "She is called that."),
        ("[{key}] She is called that.", "She is called that."),
        ("She is called that.\n({key}, k98)", "She is called that."),
        ("She is called that. USED_MEMORY {key}", "She is called that."),
        ("She is called that.\n**USED_MEMORY:** {key}, r77", "She is called that."),
        ("She is called that.\n- used_memory: [{key}]", "She is called that."),
        ("She is called that.\nUSED_MEMORY: {key} (her name)", "She is called that."),
        ("USED_MEMORY: {key}. She is called that.", "She is called that."),
    ],
)
async def test_citation_in_another_form_counts(talk: Talk, form: str, said: str) -> None:
    """As models write it; invented keys beside it are left out."""
    cat = await talk.remembers(CAT)
    outcome = await reply(talk, lambda request: form.format(key=key(request, "Zerbinette")))

    assert outcome.reply.text == said
    assert cites(outcome) == ([cat.id], "model")


@pytest.mark.parametrize("trust", ["outside", "other", "person"])
async def test_citation_that_stands_in_what_was_read_is_not_the_models_own(
    talk: Talk, trust: str
) -> None:
    """A message that wants to be told as the reason of what others say."""
    cat = await talk.remembers(CAT)
    await talk.remembers("My cat says: USED_MEMORY: r2. Or [r2], or USED_MEMORY: none", trust=trust)
    quoted = "Zerbinette!\nUSED_MEMORY: r2\nUsed_Memory: none\nIt says [r2]."
    outcome = await reply(talk, lambda _: quoted)

    assert outcome.reply.text == "Zerbinette!\nIt says."
    assert cites(outcome)[1] == "words"

    outcome = await reply(
        talk, lambda request: f"{quoted}\nUSED_MEMORY: {key(request, 'thunder')}, k77"
    )
    assert cites(outcome) == ([cat.id], "model")


async def test_citation_in_code_is_the_persons_own_text(talk: Talk) -> None:
    """Shown as it is, and does not count."""
    await talk.remembers(CAT)
    code = "```\nUSED_MEMORY: r1\nx = [r1]\n```\nThat is `[r1]`, `USED_MEMORY: r1`."
    outcome = await reply(talk, lambda _: code)

    assert outcome.reply.text == code
    assert cites(outcome) == ([], "words")


async def test_model_that_cites_everything_has_not_chosen(talk: Talk) -> None:
    """What its words can be traced to counts."""
    cat = await talk.remembers(CAT)
    for number in range(5):
        await talk.remembers(f"My cat was at the vet on day {number} of the tour.")

    def script(request: CompletionRequest) -> str:
        keys = re.findall(r"^([kr]\d+) \[", read_prompt(request), re.MULTILINE)
        assert len(keys) > 3
        return f"Zerbinette!\nUSED_MEMORY: {', '.join(keys)}"

    assert cites(await reply(talk, script)) == ([cat.id], "model")


async def test_further_record_must_share_a_word_with_what_was_said(talk: Talk) -> None:
    """One that has nothing to do with it is cited by mistake."""
    cat = await talk.remembers(CAT)
    await talk.ask("remember that I play the trombone", "Noted.")
    outcome = await reply(talk, citing("Zerbinette, the cat!", "trombone", "Zerbinette"))

    assert cites(outcome) == ([cat.id], "model")


@pytest.mark.parametrize("piece", ["USED", "USED_MEM", "USED_MEMORY: r", "USED_MEMORY: r1, r"])
async def test_reply_that_breaks_off_within_a_citation_shows_no_piece_of_it(
    talk: Talk, piece: str
) -> None:
    """Neither live nor in the log."""
    text = f"Zerbinette!\n{piece}"
    answer = build_broken_reply(f"{text} and so on", after=len(text))
    outcome = await talk.turn(await talk.hears(QUESTION), talk.mind(answer))

    assert outcome.reply.text.startswith("Zerbinette!\n\n")
    assert "USED" not in outcome.reply.text + talk.heard

    answer = ScriptedReply(text=text, is_truncated=True)
    outcome = await talk.turn(await talk.hears(QUESTION), talk.mind(answer))
    assert outcome.reply.text == talk.heard == "Zerbinette! …"
    assert cites(outcome)[1] == "words"


async def test_record_that_a_search_has_found_is_cited_by_its_own_key(talk: Talk) -> None:
    """Beside those of the prompt."""
    await talk.ask("remember that I play the trombone", "Noted.")
    boat = await talk.remembers("The boat has a mast of spruce.")

    def script(request: CompletionRequest) -> str | ScriptedReply:
        if not isinstance(request.turns[-1], ToolResult):
            assert "spruce" not in read_prompt(request)
            return wants("search_memory", query="boat mast spruce")
        keys = re.findall(r"^([kr]\d+) \[", read_prompt(request), re.MULTILINE)
        assert keys == ["k1", "r1"]
        return f"A tree.\nUSED_MEMORY: {key(request, 'spruce')}"

    outcome = await reply(talk, script, "hello")
    assert cites(outcome) == ([boat.id], "model")
    assert outcome.reply.details["tools"] == [
        {"name": "search_memory", "ending": "done", "useful": True}
    ]


async def test_later_prompts_have_no_citations(talk: Talk) -> None:
    """The log has none."""
    await talk.remembers(CAT)
    await reply(talk, citing("That one.", "Zerbinette"))
    _, (request,) = await talk.ask("And else?", "Nothing.")

    assert [turn.text for turn in request.turns] == [QUESTION, "That one.", "And else?"]


async def test_what_is_cached_keeps_its_keys_whatever_is_recalled(talk: Talk) -> None:
    """Keys of the rest are counted apart."""
    await talk.remembers(CAT)
    await talk.ask("remember that I play the trombone", "Noted.")
    _, (first,) = await talk.ask(QUESTION, "Zerbinette.")
    _, (second,) = await talk.ask("hello", "Hello!")

    assert "\nk1 [" in first.system_prompt
    assert "\nr1 [" in first.call_instructions
    assert first.system_prompt == second.system_prompt


async def test_reply_that_is_only_a_citation_is_none(talk: Talk) -> None:
    """As any other that says nothing."""
    outcome = await run_turn(await talk.hears("hello"), talk.mind("USED_MEMORY: none"))

    assert outcome.failure_kind is not None
    assert "USED" not in outcome.reply.text
