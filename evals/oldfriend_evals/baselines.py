"""Baselines: the plainest code that anybody would write for the same.

The only SQL outside the floors that own it: it must not go through what it is compared with.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import onnxruntime

from oldfriend.db.database import Row, SqlValue
from oldfriend.lang.language_pack import get_traits
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.message_log import INSERT_MESSAGE

OWNER = "u1"
PRAGMAS = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
"""
"""The product's own."""


class PlainSearch:
    """One FTS5 query and one matrix-vector product: what the targets call F."""

    def __init__(self, file: Path, texts: Iterable[str], vectors: Vectors) -> None:
        """Index the texts and vectors of one owner."""
        self._connection = apsw.Connection(str(file))
        self._connection.execute(PRAGMAS).fetchall()
        self._connection.execute(
            "CREATE VIRTUAL TABLE said USING fts5(owner, text, tokenize = 'porter unicode61')"
        )
        with self._connection:
            self._connection.executemany(
                "INSERT INTO said (owner, text) VALUES (?, ?)", ((OWNER, text) for text in texts)
            )
        self._vectors = vectors

    async def find(self, matching: str, vector: Vectors) -> None:
        """Find what matches, and how close everything is; to merge the two is left out."""
        self._connection.execute(
            "SELECT rowid, rank FROM said WHERE said MATCH ? ORDER BY rank LIMIT 50", (matching,)
        ).fetchall()
        self._vectors @ vector

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def build_fts_query(question: str) -> str:
    """The FTS5 expression for the owner's rows that hold any word of an English question."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", question.lower()))
    telling = [word for word in words if word not in get_traits("en").stop_words] or list(words)
    either = " OR ".join(f'"{word}"' for word in telling)
    return f"owner:{OWNER} AND text:({either})"


class BareInsert:
    """Rows of messages, each inserted and committed by itself."""

    def __init__(self, file: Path) -> None:
        """Open a store that has its tables already."""
        self._connection = apsw.Connection(str(file), statementcachesize=200)
        self._connection.execute(PRAGMAS).fetchall()

    async def add(self, row: dict[str, SqlValue]) -> None:
        """Insert one row, and commit."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(INSERT_MESSAGE, row)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


class FloatGraph:
    """onnxruntime with the original weights, as it comes, on one thread."""

    def __init__(self, file: Path, read: Callable[[str], Sequence[int]]) -> None:
        """Load the graph that `scripts/build_minilm.py --fp32` writes; `read` finds the pieces."""
        self._read = read
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # errors
        self._session = onnxruntime.InferenceSession(
            file, options, providers=["CPUExecutionProvider"]
        )

    async def embed(self, text: str) -> Vectors:
        """The vector of one text."""
        row = np.array([self._read(text)], dtype=np.int64)
        feed = {"input_ids": row, "attention_mask": np.ones_like(row)}
        (vectors,) = self._session.run(["embedding"], feed)
        vector: Vectors = vectors[0]
        return vector


class PlainRows:
    """Rows of some tables, written into a store that has these tables already."""

    def __init__(self, file: Path, *, like: Path) -> None:
        """Open a store, to be filled with rows of another."""
        self._connection = apsw.Connection(str(file), statementcachesize=200)
        self._connection.execute(PRAGMAS).fetchall()
        self._like = like

    def load_rows(self, table: str) -> list[Row]:
        """The rows of a table of the other store."""
        flags = apsw.SQLITE_OPEN_READONLY
        with closing(apsw.Connection(str(self._like), flags=flags)) as other:
            return other.execute(f"SELECT * FROM {table}").fetchall()

    async def fill(self, table: str, rows: Sequence[Row]) -> None:
        """Delete what a table holds, and insert rows; one commit."""
        holes = ", ".join("?" * len(rows[0]))
        with self._connection:
            self._connection.execute(f"DELETE FROM {table}")
            self._connection.executemany(f"INSERT INTO {table} VALUES ({holes})", rows)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
