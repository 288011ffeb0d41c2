"""What was paid for before a crash is not asked for again."""

from dataclasses import replace

from oldfriend.llm.chain import Chain
from oldfriend.llm.model import Call, Completion
from oldfriend.llm.replay import Replayed, request_hash
from oldfriend.llm.resting import Rests
from oldfriend.llm.scripted import ScriptedModel, cut
from tests.clock import FrozenClock
from tests.llm.asking import Listener, saying

HELLO = saying("hello")


class Kept:
    """The finished calls of a turn."""

    def __init__(self) -> None:
        self.done: dict[int, Completion] = {}

    async def keep(self, call: Call, digest: str, number: int) -> None:
        if call.outcome == "done" and call.completion is not None:
            self.done[number] = call.completion

    def turn(self, *models: ScriptedModel) -> Replayed:
        def chain(record):
            return Chain(
                models=models, record=record, rests=Rests(), clock=FrozenClock(),
                random=lambda: -0.5,
            )  # fmt: skip

        return Replayed(model=chain, given=dict(self.done), keep=self.keep, name="a")


async def test_a_run_again_asks_nobody_and_says_the_same():
    """The draft that the person sees is written to its end."""
    kept, model, heard = Kept(), ScriptedModel(["One.", "Two."]), Listener()
    first = kept.turn(model)
    said = [await first.complete(HELLO), await first.complete(HELLO)]

    again = kept.turn(model)

    assert [await again.complete(HELLO, heard), await again.complete(HELLO, heard)] == said
    assert heard.pieces == ["One.", "Two."]
    assert len(model.asked) == 2


async def test_what_was_not_finished_is_asked_for():
    """Only from there on."""
    kept, model = Kept(), ScriptedModel(["One.", "Two."])
    await kept.turn(model).complete(HELLO)
    again = kept.turn(model)
    await again.complete(HELLO)

    assert (await again.complete(saying("more"))).text == "Two."


async def test_a_reply_of_two_models_is_found_as_one():
    """It was asked for once."""
    kept = Kept()
    models = (
        ScriptedModel([cut("One two", after=5)], name="a"),
        ScriptedModel(["One two three."], name="b"),
    )
    whole = await kept.turn(*models).complete(HELLO, Listener())

    assert await kept.turn(*models).complete(HELLO) == whole
    assert whole.text == "One two three."
    assert len(models[1].asked) == 1


def test_the_hash_knows_all_that_was_asked_and_nothing_else():
    """It is the same in every process and database: it is written down, and ids are not sent."""
    assert request_hash(HELLO) == request_hash(saying("hello"))
    assert request_hash(HELLO) == request_hash(replace(HELLO, shown=("m1",)))
    for other in (saying("Hello"), replace(HELLO, most_tokens=1), replace(HELLO, prompt="p/2")):
        assert request_hash(other) != request_hash(HELLO)
    assert request_hash(HELLO).startswith("c796573b5f70")
