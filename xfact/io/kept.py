"""Answers kept as they come, so that an interrupted run goes on and a paid answer is paid once."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from xfact.errors import UserError


class KeptAnswers:
    """A SQLite file of answers by request; JSON, so that nothing in it can run."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = sqlite3.connect(path, isolation_level=None)
            self.file.execute("PRAGMA journal_mode=WAL")
            self.file.execute("PRAGMA synchronous=OFF")  # a power cut may lose the last answers, never the file's order
            self.file.execute("CREATE TABLE IF NOT EXISTS answers (request TEXT PRIMARY KEY, answer TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"{path}: no answers can be kept there ({error})") from None

    def put(self, request: str, answer: Any) -> None:
        """Write an answer."""
        self.file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (request, json.dumps(answer)))

    def get(self, request: str) -> Any:
        """A kept answer, or None."""
        row = self.file.execute("SELECT answer FROM answers WHERE request = ?", (request,)).fetchone()
        return None if row is None else json.loads(row[0])

    def forget(self, request: str) -> None:
        """Take an answer out."""
        self.file.execute("DELETE FROM answers WHERE request = ?", (request,))

    def close(self) -> None:
        """Close the file."""
        self.file.close()
