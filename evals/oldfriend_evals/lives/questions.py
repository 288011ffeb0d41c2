"""Questions at the end of a life, with the beliefs that answer them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from oldfriend_evals.lives.life import BeliefId, Life, LineId


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeQuestion:
    """A question to a life."""

    text: str
    beliefs: frozenset[BeliefId]  # each of them answers; none: nothing that was said does

    def lines_in(self, life: Life) -> frozenset[LineId]:
        """The messages that answer, because the beliefs rest on them."""
        told = [each.lines for each in life.truth.beliefs if each.id in self.beliefs]
        return frozenset[LineId]().union(*told)


def load_questions(life: str) -> Sequence[LifeQuestion]:
    """The questions to a life, by its name."""
    text = files("oldfriend_evals.lives").joinpath(f"{life}.questions.jsonl").read_text("utf-8")
    rows = [json.loads(row) for row in text.splitlines()]
    return [
        LifeQuestion(text=row["text"], beliefs=frozenset(map(BeliefId, row["beliefs"])))
        for row in rows
    ]
