"""Program questions: what programs asked of a person's memory, and the ids of what they got."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId, new_id

QUESTION_TTL: Final = 90 * DAY
"""After that a question is deleted: a program may ask thousands of times a day."""
MAX_ASKED_CHARS: Final = 500
COLUMNS: Final = "id, program, tool, asked, given_ids, asked_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramQuestion:
    """What a program asked, and what it was given."""

    id: str = ""
    program: str  # the name of its token, else what it calls itself
    tool: str
    asked: str
    given: tuple[str, ...]  # ids of messages and beliefs
    asked_at: Micros


async def save_question(
    tx: Transaction, person: PersonId, question: ProgramQuestion, *, token: str = ""
) -> None:
    """Store a question under the name of the token that was used, and delete expired ones."""
    await tx.run(
        f"""INSERT INTO program_question (person, {COLUMNS})
           VALUES (:person, :id, COALESCE(
               (SELECT name FROM web_token WHERE id = :token AND person = :person), :program),
             :tool, :asked, :given, :asked_at)""",
        person=person,
        id=question.id or new_id(question.asked_at),
        token=token,
        program=question.program,
        tool=question.tool,
        asked=question.asked[:MAX_ASKED_CHARS],
        given=json.dumps(question.given),
        asked_at=question.asked_at,
    )
    await tx.run(
        "DELETE FROM program_question WHERE person = :person AND asked_at < :before",
        person=person,
        before=question.asked_at - QUESTION_TTL,
    )


async def list_questions(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> Sequence[ProgramQuestion]:
    """List what programs asked of a person's memory, the newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM program_question
           WHERE person = :person AND (:until IS NULL OR asked_at <= :until)
           ORDER BY asked_at DESC, id DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [parse_question(row) for row in rows]


async def get_question(tx: Transaction, person: PersonId, question: str) -> ProgramQuestion:
    """Return a question of a program. Raises NotFound."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM program_question WHERE person = :person AND id = :id",
        person=person,
        id=question,
    )
    if row is None:
        raise NotFound("There is no such question of a program; it may have been forgotten.")
    return parse_question(row)


def parse_question(row: Row) -> ProgramQuestion:
    """Build a question from its row."""
    question_id, program, tool, asked, given, asked_at = row
    return ProgramQuestion(
        id=question_id,
        program=program,
        tool=tool,
        asked=asked,
        given=tuple(json.loads(given)),
        asked_at=int(asked_at),
    )
