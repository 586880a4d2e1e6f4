"""The data of other memory servers, in the places where they keep it by default."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_MEMORIES = """create table memories (id integer primary key autoincrement, content_hash text unique not null,
content text not null, tags text, memory_type text, metadata text, created_at real, updated_at real,
created_at_iso text, updated_at_iso text, deleted_at real default null)"""
_HISTORY = """create table history (id text primary key, memory_id text, old_memory text, new_memory text, event text,
created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text)"""
_CHANGES = [
    ("1", "m1", None, "Likes tea", "ADD", "2026-01-01T00:00:00", None, 0),
    ("2", "m1", "Likes tea", "Likes green tea", "UPDATE", "2026-01-01T00:00:00", "2026-02-01T00:00:00", 0),
    ("3", "m2", None, "Has a cat", "ADD", "2026-01-02T00:00:00", None, 0),
    ("4", "m2", "Has a cat", None, "DELETE", "2026-01-02T00:00:00", None, 1),
]


def fill_basic_memory(home: Path) -> Path:
    """A project beside the main one, which the configuration names."""
    folder = home / "notes" / "work"
    folder.mkdir(parents=True)
    (folder / "tea.md").write_text("---\ntitle: Tea\ntype: note\npermalink: tea\n---\n# Tea\nGreen tea at nine.\n")
    config = home / ".basic-memory" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"projects": {"work": {"path": str(folder)}, "gone": str(home / "gone")}}))
    return folder


def fill_official(home: Path) -> Path:
    file = home / ".npm/_npx/0a1b/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"type": "entity", "name": "Hana", "entityType": "person", "observations": ["paints"]}))
    return file


def fill_memory_service(home: Path) -> Path:
    file = home / ".local/share/mcp-memory/sqlite_vec.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(_MEMORIES)
        connection.execute(
            "insert into memories (content_hash, content, tags, memory_type, metadata, created_at, updated_at) "
            """values ('h1', 'The office opens at nine.', 'work,times', 'note', '{"floor": 3}', 1760000000.5, 176e7)"""
        )
        connection.execute("insert into memories (content_hash, content, deleted_at) values ('h2', 'Deleted.', 2)")
        connection.commit()
    return file


def fill_mem0(home: Path) -> Path:
    file = home / ".mem0/history.db"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(_HISTORY)
        connection.executemany("insert into history values (?, ?, ?, ?, ?, ?, ?, ?, null, null)", _CHANGES)
        connection.commit()
    return file
