"""Vectors of before texts were glossed go with the migration, and are made anew."""

import numpy as np

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_missing
from oldfriend.db.schema import load_migrations
from oldfriend.inbound.accept import ChatContext
from oldfriend.lang.language_pack import LANGUAGES, get_traits
from oldfriend.memory.vectors import load_stored_vectors, save_message_vectors
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from tests.chat_fixtures import Say
from tests.engines import both_engines

engine = both_engines

MIGRATION = next(each for each in load_migrations() if each.name == "0028_glossed_vectors")
SAID = ("My dog is called Bruno.", "La contraseña del candado es 4471, no la olvides.")


def test_the_migration_names_the_languages_with_a_glossary() -> None:
    """A language that gets one later needs a migration of its own."""
    glossed = [code for code in LANGUAGES if get_traits(code).is_glossed]
    assert all(MIGRATION.sql.count(f"'{code}'") == 2 for code in glossed)


async def test_a_store_of_before_is_embedded_anew(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """English keeps its vectors to the last bit; the rest is found by meaning afterwards."""
    for text in SAID:
        await say(text)
    model = app.embedder.model
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT seq, language FROM message WHERE role = 'person' ORDER BY seq")
    (english, _), (spanish, _) = rows
    assert [language for _, language in rows] == ["en", "es"]
    old = await app.embedder.embed([f"owner: {text}" for text in SAID])
    async with app.db.begin_write() as tx:
        await tx.run("DELETE FROM message_vector")
        await save_message_vectors(
            tx, chat_context.person.id, model, [english, spanish], np.asarray(old)
        )
        before = await load_stored_vectors(tx, chat_context.person.id, model, [english, spanish])

    async with app.db.begin_write() as tx:
        for statement in MIGRATION.sql.split(";"):
            if statement.strip():
                await tx.run(statement)
    assert await embed_missing(app, chat_context.person.id) == 1
    async with app.db.begin_read() as tx:
        after = await load_stored_vectors(tx, chat_context.person.id, model, [english, spanish])

    assert after[0] == before[0]
    assert after[1] not in {None, before[1]}
    query = RecallQuery(text="¿con qué clave lo abro?", language="es", at=app.clock())
    found = await recall(app.search_deps, chat_context.person, query, limit=2)
    assert found.messages[0].message.text == SAID[1]
