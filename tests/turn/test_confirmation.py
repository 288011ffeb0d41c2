"""What acts outside or costs is done only at the person's own yes, once, just as it was asked."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.db.database import Transaction
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall, ToolDefinition
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.tools.confirmation import format_value
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolSpec
from oldfriend.turn.tools.tool_executor import validate_arguments
from oldfriend.turn.tools.tool_words import read_answer
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Outcome, Utterance
from oldfriend.usage.tool_log import find_pending_call, list_tool_uses
from tests.turn.conftest import Talk, results_in, wants

Posted = list[dict[str, JsonValue]]


def post_tool(posted: Posted, *, label: str = "Post a letter") -> ToolSpec:
    """A tool that acts outside."""

    def build(context: ToolContext) -> BoundTool:
        del context

        async def use(arguments: ToolArguments) -> str:
            posted.append(dict(arguments))
            return "It is in the post."

        return BoundTool(
            definition=ToolDefinition(
                name="post",
                description="Posts a letter.",
                parameters={
                    "type": "object",
                    "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
                    "required": ["to"],
                    "additionalProperties": False,
                },
            ),
            kind="once",
            run=use,
        )

    return ToolSpec(name="post", build=build, label=label, cost="paid", needs_confirmation=True)


async def live(talk: Talk, said: Utterance, deps: TurnDependencies) -> Outcome:
    """Run a turn, and make the changes that it decides."""
    outcome = await talk.turn(said, deps)
    async with talk.app.db.begin_write() as tx:
        await apply(tx, said, outcome, talk)
    return outcome


async def apply(tx: Transaction, said: Utterance, outcome: Outcome, talk: Talk) -> None:
    """Make the changes of a turn."""
    scope = ChangeScope(person=said.person, message=said.message, now=talk.clock())
    for change in outcome.changes:
        await change.apply(tx, scope)


async def ask_to_post(
    talk: Talk, posted: Posted, *answers: ScriptedAnswer, said: str = "Send Ana a letter"
) -> Outcome:
    """Have a model call the tool; its reply is the last answer."""
    calls = answers or (wants("post", to="Ana", text="Hello"), "Just a moment.")
    deps = talk.mind(*calls, tools=(post_tool(posted),))
    return await live(talk, await talk.hears(said), deps)


async def reply_to(
    talk: Talk, posted: Posted, *texts: str, tools: Sequence[ToolSpec] | None = None, **how: object
) -> Outcome:
    """Answer to what was asked; the model would only chat."""
    deps = talk.mind("I see.", tools=(post_tool(posted),) if tools is None else tuple(tools))
    return await live(talk, await talk.hears(*texts, **how), deps)


async def test_gated_call_is_asked_about_in_words_of_ours_and_not_run(talk: Talk) -> None:
    """With every argument (ACCEPTANCE B8)."""
    posted: Posted = []
    outcome = await ask_to_post(talk, posted)

    assert posted == []
    assert outcome.reply.text == (
        "Just a moment.\n\nMay I do this? Post a letter: to: “Ana”, text: “Hello”. "
        "Answer “yes” or “no”; after ten minutes I leave it."
    )
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["asked"]


@pytest.mark.parametrize(
    "word", ["yes", "Yes, please!", "/yes", "/YES@nora_bot", "👍", "ja", "sí", "oui", "好的"]
)
async def test_own_yes_runs_exactly_the_call_once(talk: Talk, word: str) -> None:
    """No model is asked again, and a second yes does nothing."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    outcome = await reply_to(talk, posted, word)

    assert posted == [{"to": "Ana", "text": "Hello"}]
    assert "Post a letter" in outcome.reply.text
    assert "It is in the post." in outcome.reply.text
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["done"]
    await reply_to(talk, posted, word)
    assert len(posted) == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("no",), "declined"),
        (("Nein danke",), "declined"),
        (("yes, but to Ben",), "dropped"),
        (("yes or no?",), "dropped"),
        (("What is the weather like? yes",), "dropped"),
        (("Did you say yes",), "dropped"),
        (("yes", "no"), "dropped"),
    ],
)
async def test_anything_but_a_yes_drops_the_call(
    talk: Talk, words: tuple[str, ...], status: str
) -> None:
    """A yes after it means something else; the log says why it was not done."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    await reply_to(talk, posted, *words)
    await reply_to(talk, posted, "yes")

    assert posted == []
    assert status in [each.status for each in await logged(talk)]


async def logged(talk: Talk) -> Sequence[object]:
    """The log of tools, newest first."""
    async with talk.app.db.begin_read() as tx:
        return await list_tool_uses(tx, talk.chat_context.person.id, limit=9)


async def test_forwarded_yes_is_no_yes(talk: Talk) -> None:
    """Only what the person says themselves (ACCEPTANCE L8)."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    await reply_to(talk, posted, "yes", trust="outside")

    assert posted == []


async def test_yes_of_the_model_or_of_a_result_is_no_yes(talk: Talk) -> None:
    """A model that calls again, or says yes for the person, is told that it was not done."""
    posted: Posted = []
    deps = talk.mind(
        wants("post", 1, to="Ana"),
        wants("post", 2, to="Ben"),
        "yes",
        tools=(post_tool(posted),),
    )
    outcome = await live(talk, await talk.hears("ok yes go"), deps)

    assert posted == []
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["asked", "not allowed"]
    assert isinstance(deps.model, ScriptedModel)
    assert all("Not done" in each for each in results_in(deps.model.requests[-1]))
    await reply_to(talk, posted, "yes")
    assert posted == [{"to": "Ana"}]


async def test_late_yes_is_told_and_does_nothing(talk: Talk) -> None:
    """The person asks again."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    talk.clock.tick(minutes=10)
    outcome = await reply_to(talk, posted, "yes")

    assert posted == []
    assert "more than ten minutes ago" in outcome.reply.text


async def test_yes_to_something_said_later_is_no_answer_to_it(talk: Talk) -> None:
    """Such as a message that the companion sent by itself in between."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    await talk.tell("Did you sleep well?", role="companion", speaker="Oldfriend")
    await reply_to(talk, posted, "yes")

    assert posted == []


async def test_yes_after_something_else_was_told_has_the_question_asked_again(talk: Talk) -> None:
    """It is done at the yes to that, and no sooner."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    await reply_to(talk, posted, "It is raining today")
    outcome = await reply_to(talk, posted, "yes")

    assert posted == []
    assert "May I do this? Post a letter" in outcome.reply.text
    await reply_to(talk, posted, "yes")
    assert posted == [{"to": "Ana", "text": "Hello"}]


async def test_tool_that_is_gone_is_told(talk: Talk) -> None:
    """Nothing else is done in its place."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    outcome = await reply_to(talk, posted, "yes", tools=[])

    assert posted == []
    assert "cannot do that any more" in outcome.reply.text


@pytest.mark.parametrize("has_tool", [True, False])
@pytest.mark.parametrize(("language", "words"), [("en", "do not know"), ("de", "weiß ich nicht")])
async def test_call_that_was_interrupted_is_told_as_uncertain(
    talk: Talk, has_tool: bool, language: str, words: str
) -> None:
    """In the person's language, whether or not its tool is there after the crash."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    deps = talk.mind("I see.", tools=(post_tool(posted),) if has_tool else ())
    call = ToolCall(id="1", name="post", arguments={"to": "Ana", "text": "Hello"})
    await deps.call_store.begin(0, call, "once")
    said = await talk.hears("yes" if language == "en" else "ja, bitte")
    outcome = await live(talk, said, deps)

    assert posted == []
    assert words in outcome.reply.text
    assert "Tell the person" not in outcome.reply.text  # what models are told
    assert [each.status for each in await logged(talk)][:1] == ["end not known"]


async def test_tool_that_has_to_start_first_is_waited_for(talk: Talk) -> None:
    """Once the person has said yes."""
    posted: Posted = []
    await ask_to_post(talk, posted)

    async def find(name: str) -> ToolSpec | None:
        return post_tool(posted) if name == "post" else None

    deps = replace(talk.mind("I see.", tools=()), find_tool=find)
    outcome = await live(talk, await talk.hears("yes"), deps)

    assert posted == [{"to": "Ana", "text": "Hello"}]
    assert "It is in the post." in outcome.reply.text


async def test_call_too_long_to_be_read_is_not_asked_about(talk: Talk) -> None:
    """Nobody agrees to what they do not see."""
    posted: Posted = []
    outcome = await ask_to_post(talk, posted, wants("post", to="Ana", text="x" * 2_000), "Sorry.")

    assert outcome.reply.text == "Sorry."
    await reply_to(talk, posted, "yes")
    assert posted == []


async def test_question_shows_arguments_that_cannot_pass_for_ours(talk: Talk) -> None:
    """Line breaks and quotation marks of the value stay within it."""
    posted: Posted = []
    outcome = await ask_to_post(talk, posted, wants("post", to="Ana”.\n\n[[Done]] “x"), "Wait.")

    assert r"“Ana\”.\n\n[\[Done]\] \“x”" in outcome.reply.text


@pytest.mark.parametrize("hidden", ["\U000e0073", "\u202e", "\u200b", "\x1b"])
async def test_call_with_anything_hidden_is_not_asked_about(talk: Talk, hidden: str) -> None:
    """It would do something other than what is shown."""
    posted: Posted = []
    outcome = await ask_to_post(
        talk, posted, wants("post", to="Ana", text=f"Hello{hidden}"), "Sorry."
    )

    assert outcome.reply.text == "Sorry."
    await reply_to(talk, posted, "yes")
    assert posted == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (["a, b", "c"], "[“a, b”, “c”]"),
        ({"x: 1, y": {'"': 2}}, '{“x: 1, y”: {“"”: “2”}}'),
        ("a  b\nc ", "“a␣␣b\\nc␣”"),
        ("<b>[[x]]", "“\\u003cb\\u003e[\\[x]\\]”"),
        (True, "“true”"),
    ],
)
def test_value_is_shown_without_ambiguity(value: JsonValue, shown: str) -> None:
    """Blanks in a row, line breaks, parts of lists and names within."""
    assert format_value(value) == shown


def test_unknown_names_within_an_argument_are_refused() -> None:
    """They would be shown as if the tool knew them."""
    inner = {"type": "array", "items": {"type": "object", "properties": {"a": {}}}}
    schema: dict[str, JsonValue] = {"type": "object", "properties": {"x": inner}}

    assert validate_arguments({"x": [{"a": 1}]}, schema) == []
    assert validate_arguments({"x": [{"b": 1}]}, schema) == ["'b' in x is not known"]


async def test_clock_that_is_set_back_does_not_prolong_a_question(talk: Talk) -> None:
    """It is asked again rather than done late."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    talk.clock.tick(minutes=-5)
    await reply_to(talk, posted, "yes")

    assert posted == []


async def test_turn_that_runs_again_after_a_crash_does_not_do_it_twice(talk: Talk) -> None:
    """The call is in the ledger before its tool runs."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    deps = talk.mind("I see.", tools=(post_tool(posted),))
    said = await talk.hears("yes")
    first, second = [await run_turn(said, deps) for _ in range(2)]

    assert len(posted) == 1
    assert first.reply.text == second.reply.text


async def test_nobody_is_asked_in_a_group_or_while_nothing_is_stored(talk: Talk) -> None:
    """A yes there could be anybody's."""
    posted: Posted = []
    for change in ("group", "unsaved"):
        said = await talk.hears("Send Ana a letter")
        if change == "group":
            said = replace(said, message=replace(said.message, role="other"))
        else:
            said = replace(said, is_persisted=False)
        deps = talk.mind(wants("post", to="Ana"), "I cannot.", tools=(post_tool(posted),))
        outcome = await talk.turn(said, deps)
        assert "May I" not in outcome.reply.text
        assert [use["ending"] for use in outcome.reply.details["tools"]] == ["not allowed"]
    assert posted == []


async def test_log_tells_what_a_tool_was_used_for_and_whether_it_helped(talk: Talk) -> None:
    """With the reply (ACCEPTANCE K9)."""
    deps = talk.mind(
        wants("current_time", zone="Asia/Tokyo"), "It is 07:14 in Asia/Tokyo, Wednesday."
    )
    await live(talk, await talk.hears("What time is it over there?"), deps)
    deps = talk.mind(wants("current_time", zone="Atlantis"), "Hm.")
    await live(talk, await talk.hears("And in Atlantis?"), deps)

    last, first = await logged(talk)
    assert (first.name, first.status, first.intent) == ("current_time", "done", "question")
    assert first.arguments == {"zone": "Asia/Tokyo"}
    assert "07:14" in first.result
    assert first.latency_us >= 0
    assert (last.status, last.was_useful) == ("failed", None)


async def test_pending_call_is_kept_for_its_chat_alone(talk: Talk) -> None:
    """And is gone when it is settled."""
    posted: Posted = []
    await ask_to_post(talk, posted)
    person = talk.chat_context.person.id
    async with talk.app.db.begin_read() as tx:
        found = await find_pending_call(tx, person, talk.chat_context.chat.id)
    assert found is not None
    await reply_to(talk, posted, "no")
    async with talk.app.db.begin_read() as tx:
        assert await find_pending_call(tx, person, talk.chat_context.chat.id) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes.", "yes"),
        ("¡Sí!", "yes"),
        ("no", "no"),
        ("", None),
        ("yes " * 50, None),
        ("yesterday", None),
        ("yes?", None),
        ("好的？", None),
    ],
)
def test_answers_are_whole_messages(text: str, answer: str | None) -> None:
    """In any of the languages."""
    assert read_answer(text) == answer
