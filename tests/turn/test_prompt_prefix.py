"""Successive prompts begin with the same words, so that a provider reads these from its cache."""

from itertools import pairwise, takewhile

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, SummaryId, new_id
from oldfriend.domain.memories import StoredBelief, Summary
from oldfriend.llm.model import CompletionRequest, move_call_instructions
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.message_log import list_messages
from tests.turn.conftest import Talk

HERE = Provenance(author="extract/5")
KNOWN = {
    "location": "Lives in Porto, in a small flat above a bakery.",
    "occupation": "Works as a nurse on the night shift of the children's ward.",
    "partner": "Is married to Rui, who builds guitars.",
    "pet": "Has a cat called Miso, who is afraid of thunder.",
    "allergy": "Is allergic to walnuts.",
    "hobby": "Sings alto in a choir by the river.",
}
WEEKS = (
    "Nora moved to the flat above the bakery and painted the kitchen green. Rui carried the piano.",
    "The choir sang in Braga. Nora had a solo and was content. The bus broke down on the way home.",
    "Nora changed to the night shift. Miso hid under the bed during the storm in the second week.",
)
QUESTIONS = (
    "Where did the bus break down?",
    "What colour is the kitchen?",
    "Who carried the piano?",
    "What is Miso afraid of?",
    "Did I like my solo in Braga?",
    "When did I change to the night shift?",
)


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


async def live(talk: Talk) -> None:
    """A person with a profile, notes, and summaries of some weeks."""
    for number, text in enumerate([*KNOWN.values(), *WEEKS]):
        await talk.remembers(text, speaker="Nora")
        if number < 4:
            await talk.ask(f"remember that drawer {number} holds the spare keys of shed", "Noted.")
    app, person, now = talk.app, talk.chat_context.person.id, talk.clock()
    async with app.db.begin_write() as tx:
        source = (await list_messages(tx, person))[0]
        for key, text in KNOWN.items():
            memory = StoredBelief(
                id=MemoryId(ObjectId(new_id(now))),
                person=person,
                kind="fact",
                key=key,
                text=text,
                language="en",
                learned_at=now,
            )
            await record_decision(tx, memory, op="learned", base=0, provenance=HERE, now=now)
            words = [NewEvidence(source=source, quote=source.text)]
            await add_evidence(tx, person, memory.id, words, extractor="test", now=now)
        for number, text in enumerate(WEEKS):
            summary = Summary(
                id=SummaryId(ObjectId(new_id(now + number))),
                person=person,
                level=1,
                text=text,
                language="en",
                from_at=now - (40 - 7 * number) * DAY,
                until_at=now - (36 - 7 * number) * DAY,
                learned_at=now,
            )
            await record_decision(tx, summary, op="learned", base=0, provenance=HERE, now=now)


def render(request: CompletionRequest) -> str:
    """All that a provider is sent, in its order."""
    request = move_call_instructions(request)
    return "\n\n".join(
        [request.system_prompt, request.call_instructions, *(turn.text for turn in request.turns)]
    )


def find_common_prefix(one: str, other: str) -> str:
    """The characters with which both begin."""
    pairs = zip(one, other, strict=False)
    return "".join(char for char, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


async def ask_all(talk: Talk) -> list[CompletionRequest]:
    """Ask one question after the other, some minutes apart."""
    requests = []
    for question in QUESTIONS:
        talk.clock.tick(minutes=2)
        _, (request, *_) = await talk.ask(question, "I think so.")
        requests.append(request)
    return requests


async def test_successive_prompts_share_a_long_cacheable_prefix(talk: Talk) -> None:
    """The rules, who the person is, their notes and what was talked about, whatever is asked."""
    await live(talk)
    requests = await ask_all(talk)
    texts = [*map(render, requests)]
    kept = [find_common_prefix(*pair) for pair in pairwise(texts)]
    shares = [len(one) / len(text) for one, text in zip(kept, texts[1:], strict=True)]

    for part in [*KNOWN.values(), *WEEKS[1:], "drawer 0", "drawer 3"]:
        assert all(part in one for one in kept), part
    assert min(shares) > 0.7
    for number, part in enumerate(kept):
        assert all(question in part for question in QUESTIONS[:number])
    assert len({request.system_prompt for request in requests}) == 1
