"""A model is told what fits: the rules and the person's words always, the rest by its worth."""

from dataclasses import replace

import pytest

from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.journal import record_decision
from oldfriend.prompts.token_budget import BUDGETS, PromptBudget
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.prompt_builder import NOTES_DIVISOR
from oldfriend.turn.turn_dependencies import TurnLimits
from oldfriend.turn.turn_outcome import Reply
from tests.turn.conftest import Talk
from tests.turn.test_user_context import BY


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_model_replies.py does not."""
    return "sqlite"


TIGHT = PromptBudget(name="small", system=1500, summaries=0, recent=300, snippets=200)


async def test_prompt_budget_presets_have_the_specified_sizes() -> None:
    """ACCEPTANCE J13."""
    normal = BUDGETS["normal"]

    assert normal.total == 8000
    assert (normal.system, normal.summaries, normal.recent, normal.snippets) == (
        1500,
        2000,
        3000,
        1500,
    )
    assert BUDGETS["small"].total == 4000
    assert BUDGETS["large"].total == 32_000


async def reply_to(talk: Talk, text: str, budget: PromptBudget) -> tuple[Reply, CompletionRequest]:
    """A reply with this budget, and what the model was told."""
    mind = talk.mind("Yes.", limits=TurnLimits(budget=budget))
    outcome = await talk.turn(await talk.hears(text), mind)
    assert isinstance(mind.model, ScriptedModel)
    return outcome.reply, mind.model.requests[0]


async def fill(talk: Talk) -> None:
    """A memory with far more than fits: notes, memories and a long chat."""
    for number in range(12):
        await talk.ask(f"remember that shelf {number} in the cellar is {'very ' * 20}soft", "Yes.")
    for number in range(12):
        await talk.tell(f"Jar {number} of cherries is in the cellar. {'Really. ' * 20}")
        await talk.tell(f"Fine, jar {number}.", role="companion", speaker="Oldfriend")
    for number in range(6):
        await talk.remembers(f"The cellar key number {number} hangs on hook {number}. {'So. ' * 9}")


async def test_prompt_sections_stay_within_budget_and_list_dropped_ids(talk: Talk) -> None:
    """By id, in the receipt; what is shown is named in the request."""
    await fill(talk)
    reply, request = await reply_to(talk, "Where does the cellar key hang?", TIGHT)

    context = reply.details["context"]
    tokens, dropped = context["tokens"], context["dropped"]
    assert tokens["recent"] <= TIGHT.recent
    assert tokens["memories"] <= TIGHT.snippets
    assert tokens["notes"] <= TIGHT.system // NOTES_DIVISOR
    assert sum(tokens.values()) <= TIGHT.total
    assert all(dropped[name] for name in ("notes", "recent", "memories"))
    assert not set(request.shown) & {*dropped["notes"], *dropped["memories"]}
    considered = {item.object for item in reply.items if not item.used}
    assert considered == set(dropped["memories"])
    text = (
        request.system_prompt
        + request.call_instructions
        + "".join(turn.text for turn in request.turns)
    )
    assert estimate_tokens(text) <= TIGHT.total


async def test_allergy_of_a_relative_is_always_in_the_prompt(talk: Talk) -> None:
    """Also where the question names nobody, and many other words fit it better."""
    now = talk.clock()
    allergy = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=talk.chat_context.person.id,
        kind="fact",
        language="en",
        text="Milo is allergic to cashews.",
        subject="other",
        key="Milo:allergies",
        value="cashews",
        learned_at=now,
    )
    async with talk.app.db.begin_write() as tx:
        await record_decision(tx, allergy, op="learned", base=0, provenance=BY, now=now)
    for number in range(12):
        await talk.remembers(f"What my kid can have for lunch on day {number} is soup.")
    _, request = await reply_to(talk, "what cant my kid have for lunch", BUDGETS["small"])

    assert allergy.text in request.system_prompt + request.call_instructions


async def test_newest_notes_and_chat_messages_are_kept_within_budget(talk: Talk) -> None:
    """In the order in which they were said."""
    await fill(talk)
    _, request = await reply_to(talk, "Where does the cellar key hang?", TIGHT)

    assert "shelf 11" in request.system_prompt
    assert "shelf 0 " not in request.system_prompt
    assert "jar 11" in request.turns[-2].text
    assert "jar 0" not in str(request.turns)
    shown = [number for number in range(12) if f"Jar {number} of" in str(request.turns)]
    assert shown == sorted(shown)


async def test_recalled_memories_are_dropped_before_recent_messages(talk: Talk) -> None:
    """The person's own words and the rules stay, however long (ACCEPTANCE J14)."""
    await fill(talk)
    said, seen = await talk.hears("Where does the cellar key hang?"), []
    for extra in (0, 150, 250, 350, 5000):
        text = f"{said.text} {'x' * 4 * extra}"
        longer = replace(said, message=replace(said.message, text=text))
        mind = talk.mind("Yes.", limits=TurnLimits(budget=TIGHT))
        tokens = (await run_turn(longer, mind)).reply.details["context"]["tokens"]
        seen.append((tokens["memories"], tokens["recent"]))
        assert mind.model.requests[0].turns[-1].text.endswith(text)
        assert mind.model.requests[0].system_prompt.startswith("You are")

    memories, recent = zip(*seen, strict=True)
    assert list(memories) == sorted(memories, reverse=True)
    assert list(recent) == sorted(recent, reverse=True)
    assert memories[0] > 0 and recent[0] > 0
    assert any(not memory and chat for memory, chat in seen)
    assert seen[-1] == (0, 0)


async def test_long_recent_message_is_cut_in_the_middle(talk: Talk) -> None:
    """Its middle is left out, which is said."""
    await talk.ask("My boat is called Juno.", "Fine.")
    await talk.ask("a" * 50_000 + " the end", "Long.")
    _, request = await reply_to(talk, "So what?", BUDGETS["normal"])

    assert "Juno" in request.turns[0].text
    assert "characters left out]]" in str(request.turns)
    assert "the end" in str(request.turns)


async def test_long_recalled_message_is_cut_to_the_matching_sentences(talk: Talk) -> None:
    """To the sentences that hold the words."""
    filler = "The weather was as it always is in spring. " * 60
    await talk.remembers(f"{filler}The spare key hangs behind the stove. {filler}")
    _, request = await reply_to(talk, "Where does the spare key hang?", BUDGETS["normal"])

    assert "behind the stove" in request.call_instructions
    assert estimate_tokens(request.call_instructions) < 600


async def test_leading_companion_message_is_moved_out_of_the_conversation_turns(
    talk: Talk,
) -> None:
    """Providers want it so; what the companion said before is heard."""
    await talk.tell("Good morning, Nora!", role="companion", speaker="Oldfriend")
    _, request = await reply_to(talk, "Good morning!", BUDGETS["normal"])

    assert [turn.role for turn in request.turns] == ["person"]
    assert "class companion] Good morning, Nora!\n</heard>" in request.call_instructions


async def test_prompt_states_the_local_time_and_the_previous_message_time(talk: Talk) -> None:
    """By the clocks of where the person is."""
    await talk.ask("hello", "Hello!")
    talk.clock.tick(minutes=60 * 24)
    _, request = await reply_to(talk, "hello", BUDGETS["normal"])

    assert (
        "sent on Wednesday 2023-11-15 22:15 by the clocks in Europe/Lisbon"
        in request.call_instructions
    )
    assert "The message before it was sent on 2023-11-14 22:14." in request.call_instructions


async def test_conversation_turns_have_a_date_marker_when_the_day_changes(talk: Talk) -> None:
    """Before the person's words alone, by the clocks of where they are."""
    await talk.ask("My boat is called Juno.", "A fine name.")
    await talk.ask("She is red.", "Noted.")
    talk.clock.tick(minutes=110)  # half past midnight in Lisbon
    await talk.ask("She leaks.", "Where?")
    talk.clock.tick(minutes=60 * 24)
    await talk.tell("How is Juno?", role="companion", speaker="Oldfriend")
    _, request = await reply_to(talk, "Dry again.", BUDGETS["normal"])

    assert [turn.text for turn in request.turns] == [
        "[[Tue 2023-11-14]]\nMy boat is called Juno.",
        "A fine name.",
        "She is red.",
        "Noted.",
        "[[Wed 2023-11-15]]\nShe leaks.",
        "Where?\n\nHow is Juno?",
        "[[Thu 2023-11-16]]\nDry again.",
    ]


async def test_conversation_within_one_day_has_no_date_markers(talk: Talk) -> None:
    """When the last message was sent stands above it already."""
    await talk.ask("My boat is called Juno.", "A fine name.")
    _, request = await reply_to(talk, "She is red.", BUDGETS["normal"])

    assert [turn.text for turn in request.turns] == [
        "My boat is called Juno.",
        "A fine name.",
        "She is red.",
    ]


async def test_what_stands_in_every_prompt_is_short(talk: Talk) -> None:
    """The rules and tools are paid for with each message; most tools wait in groups."""
    reply, _ = await reply_to(talk, "hello", BUDGETS["normal"])

    tokens = reply.details["context"]["tokens"]
    assert tokens["rules"] + tokens["tools"] < 1_260


@pytest.mark.parametrize("name", BUDGETS)
async def test_rules_and_tools_leave_room_in_every_preset(talk: Talk, name: str) -> None:
    """Rules that fill their budget would push out the notes, and so would tools."""
    budget = BUDGETS[name]
    for number in range(30):
        await talk.ask(f"remember that shelf {number} in the cellar is {'very ' * 20}soft", "Yes.")
    reply, _ = await reply_to(talk, "hello", budget)

    tokens = reply.details["context"]["tokens"]
    assert tokens["rules"] + tokens["state"] < budget.system * 3 // 4
    assert tokens["tools"] < budget.system // 3
    assert tokens["notes"] > budget.system // NOTES_DIVISOR - 100
