"""What somebody must not eat or must take is before a model whenever they are spoken of."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Entity, EntityKind, StoredBelief
from oldfriend.domain.profile_attributes import MAX_SAFETY_OF_OTHERS
from oldfriend.memory.journal import record_decision
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.turn.user_context import load_user_context
from tests.search.test_role_references import LANGUAGES, QUESTIONS, ROLES
from tests.turn.conftest import Talk
from tests.turn.test_prompt_builder import reply_to
from tests.turn.test_user_context import BY, known

PETS = ("Bruno", "Miso", "Biscuit")
OTHERS = ("Karl",)
BERRIES = re.compile(r"(\w+)berries")


async def believe(
    talk: Talk, text: str, key: str, value: str, *entities: Entity, **fields: object
) -> None:
    """Have a fact believed."""
    now = talk.clock()
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=talk.chat_context.person.id,
        kind="fact",
        language="en",
        text=text,
        subject="other" if ":" in key else "person",
        key=key,
        value=value,
        entities=tuple(each.id for each in entities),
        learned_at=now,
    )
    memory = replace(memory, **fields)
    async with talk.app.db.begin_write() as tx:
        await record_decision(tx, memory, op="learned", base=0, provenance=BY, now=now)


@pytest.fixture
async def household(talk: Talk) -> Talk:
    """A family with pets and friends, each of whom there is something not to eat for.

    And others whose diets weigh more, and take all the room that there is for those of others.
    """
    entities: dict[str, Entity] = {}
    for name in (*ROLES, *OTHERS, *PETS):
        kind: EntityKind = "pet" if name in PETS else "person"
        entities[name] = await known(talk, name, kind)
        text = f"{name} must not eat {name.lower()}berries."
        await believe(talk, text, f"{name}:allergies", f"{name.lower()}berries", entities[name])
    for name, role in ROLES.items():
        await believe(talk, f"{name} is the {role}.", f"{name}:relation", role, entities[name])
    ana, karl = entities["Ana"], entities["Karl"]
    await believe(talk, "Ana's husband is Karl.", "Ana:husband", "Karl", ana, karl)
    shona, biscuit = entities["Shona"], entities["Biscuit"]
    await believe(talk, "Shona has the dog Biscuit.", "Shona:dog", "Biscuit", shona, biscuit)
    await believe(talk, "Has the dog Bruno.", "dog", "Bruno", entities["Bruno"])
    await believe(talk, "Has the cat Miso.", "cat", "Miso", entities["Miso"])
    for number in range(MAX_SAFETY_OF_OTHERS):
        diet = f"Guest{number} eats no meat."
        await believe(talk, diet, f"Guest{number}:dietary", "no meat", importance=0.9)
    return talk


async def find_unsafe(talk: Talk, language: str, wordings: Sequence[Sequence[str]]) -> list[str]:
    """The wordings at which something about somebody who is meant is not at hand."""
    missed: list[str] = []
    for text, meant in wordings:
        async with talk.app.db.begin_read() as tx:
            context = await load_user_context(
                tx,
                talk.app.index_cache,
                talk.chat_context.person,
                [text],
                language=language,
                now=talk.clock(),
            )
        shown = {each.memory.value for each in context.profile.attributes}
        if not shown >= {f"{name.lower()}berries" for name in meant.split()}:
            missed.append(text)
    return missed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["seen"])
async def test_allergies_of_referenced_entities_are_in_the_user_context(
    household: Talk, language: str, part: str
) -> None:
    """However they are called."""
    assert await find_unsafe(household, language, QUESTIONS[language][part]) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what cant my kid eat", "Mia"),
        ("dinner with my sister's husband, any ideas", "Karl"),
        ("off to the beach with Leo, what shall we pack", "Leo"),
    ],
)
async def test_allergies_of_referenced_entities_are_in_the_prompt(
    household: Talk, text: str, name: str
) -> None:
    """Though much else is known, and little fits."""
    for number in range(12):
        await household.remembers(f"What we eat on day {number} with the kid is soup.")
    _, request = await reply_to(household, text, BUDGETS["small"])

    assert (
        f"{name} must not eat {name.lower()}berries."
        in request.system_prompt + request.call_instructions
    )


async def test_allergy_of_an_entity_from_earlier_messages_is_in_the_prompt(
    household: Talk,
) -> None:
    """For a few messages."""
    await household.ask("taking my boss out tonight", "Lovely.")
    _, request = await reply_to(household, "where should we go?", BUDGETS["small"])

    assert "Carol must not eat carolberries." in request.system_prompt + request.call_instructions


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what is my daughter allergic to?", ["Mia"]),
        ("what cant my kid eat", ["Leo", "Mia"]),
        ("is my dog ok with chocolate", ["Bruno"]),
        ("what can my sister's husband not eat", ["Karl"]),
        ("was darf meine tochter nicht essen", ["Mia"]),
        ("qué no puede comer mi hija", ["Mia"]),
        ("ma fille peut manger quoi", ["Mia"]),
        ("我女儿不能吃什么", ["Mia"]),
    ],
)
async def test_offline_reply_lists_allergies_of_the_referenced_entity_only(
    household: Talk, text: str, told: list[str]
) -> None:
    """And neither what harms others nor merely who they are."""
    outcome = await household.turn(await household.hears(text), household.mind())

    assert sorted({each.title() for each in BERRIES.findall(outcome.reply.text)}) == told


@pytest.mark.parametrize(
    ("text", "belief"),
    [
        ("What is my sister's husband called?", "Ana's husband is Karl."),
        ("what is my best friend's dog called", "Shona has the dog Biscuit."),
        ("what is Shona's dog called", "Shona has the dog Biscuit."),
        ("whats my daughters name again", "Mia is the daughter."),
    ],
)
async def test_offline_reply_names_the_entity_that_has_the_role(
    household: Talk, text: str, belief: str
) -> None:
    """Not of those on the way to them."""
    outcome = await household.turn(await household.hears(text), household.mind())

    assert outcome.reply.text.endswith(belief)
    assert outcome.reply.details["certainty"] == "sure"


async def test_offline_reply_is_unsure_when_the_name_for_a_role_is_unknown(household: Talk) -> None:
    """Only the name of whoever plays the role is known."""
    for text in ("what is my dog's vet called", "who is the teacher of my son"):
        outcome = await household.turn(await household.hears(text), household.mind())
        assert outcome.reply.details["certainty"] != "sure"


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("my nephew theo starts school on monday", "what cant my nephew eat"),
        ("theo, my nephew, lost a tooth", "baking for my nephew, what do i leave out"),
        ("mein neffe theo kommt bald in die schule", "was darf mein neffe nicht essen"),
        ("meu sobrinho Theo fez cinco anos", "o que meu sobrinho não pode comer"),
        ("うちの甥のテオが来た", "甥のお弁当に何を入れたらいい"),
    ],
)
async def test_role_is_resolved_from_the_message_log_without_a_belief(
    household: Talk, told: str, text: str
) -> None:
    """What is believed of them is found by the name that they were called by."""
    name = "テオ" if "テオ" in told else "Theo"
    await believe(household, f"{name} must not eat figs.", f"{name}:allergies", "figs")
    await household.remembers(told)
    _, request = await reply_to(household, text, BUDGETS["small"])

    assert f"{name} must not eat figs." in request.system_prompt + request.call_instructions


async def test_message_naming_somebody_is_found_by_their_role(talk: Talk) -> None:
    """Though no belief is held of anybody."""
    await talk.remembers("my nephew theo starts school on monday")
    await talk.remembers("so theo had a fit at the zoo, the doctor said never again any figs")
    for number in range(12):
        await talk.remembers(f"the school called about lunch number {number}, never again")
    _, request = await reply_to(talk, "is there anything my nephew mustnt have", BUDGETS["small"])

    assert "never again any figs" in request.system_prompt + request.call_instructions


async def test_own_allergy_is_in_the_prompt_despite_many_other_beliefs(
    household: Talk,
) -> None:
    """Where it is about food, their own allergy comes before who they are."""
    await believe(household, "Is allergic to kiwi.", "allergies", "kiwi")
    for number in range(40):
        promise = f"Will bring the keys of house {number} back to the office in town."
        await believe(household, promise, "", "", kind="commitment")
    for number in range(40):
        name = f"Cousin{number}"
        await believe(household, f"{name} is a sister.", f"{name}:relation", "sister")
    _, request = await reply_to(household, "find me a recipe for my boss", BUDGETS["small"])

    told = request.system_prompt + request.call_instructions
    assert "Is allergic to kiwi." in told
    assert "Carol must not eat carolberries." in told


@pytest.mark.parametrize(
    ("told", "danger", "text"),
    [
        (
            "my nephew theo starts school on monday",
            "theos epipen is out of date btw, cashews are the worst for him",
            "packing a lunch for my nephew, ideas?",
        ),
        (
            "mein neffe theo kommt in die schule",
            "theo ist auf erdnüsse allergisch, sagt die ärztin",
            "was koch ich für meinen neffen",
        ),
    ],
)
async def test_health_message_is_in_the_prompt_despite_better_matches(
    talk: Talk, told: str, danger: str, text: str
) -> None:
    """Before any belief is held of it."""
    await talk.remembers(told)
    await talk.remembers(danger)
    for number in range(40):
        await talk.remembers(f"{text} that was for day {number}")
    _, request = await reply_to(talk, text, BUDGETS["small"])

    assert danger in request.system_prompt + request.call_instructions
