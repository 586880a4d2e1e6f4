"""Other memory servers on this machine are found where they keep their data, and their databases are read."""

import sqlite3
from contextlib import closing

import pytest
from transfer import servers
from transfer.reading import own_metadata, read

from tokonoma.core.errors import Invalid
from tokonoma.transfer.elsewhere import find_stores
from tokonoma.transfer.memory_databases import load_database


def test_every_server_is_found_in_its_place(tmp_path):
    assert find_stores(tmp_path, "linux", {}) == []
    expected = {
        "basic-memory": servers.fill_basic_memory(tmp_path),
        "server-memory": servers.fill_official(tmp_path),
        "mcp-memory-service": servers.fill_memory_service(tmp_path),
        "mem0": servers.fill_mem0(tmp_path),
    }
    found = find_stores(tmp_path, "linux", {})
    assert {each.title: each.path for each in found} == expected
    for each in found:
        assert read(each.path).format == each.format


def test_variables_of_those_servers_count_and_nothing_is_named_twice(tmp_path):
    official, service = servers.fill_official(tmp_path), servers.fill_memory_service(tmp_path)
    environ = {
        "MEMORY_FILE_PATH": str(official),
        "MCP_MEMORY_SQLITE_PATH": str(service),
        "MEM0_DIR": str(tmp_path / "no"),
    }
    assert [each.path for each in find_stores(tmp_path, "linux", environ)] == [official, service]
    assert (
        find_stores(tmp_path / "elsewhere", "darwin", {"MCP_MEMORY_BASE_DIR": str(service.parent)})[0].path == service
    )


def test_the_database_of_mcp_memory_service_is_an_export(tmp_path):
    found = read(servers.fill_memory_service(tmp_path))
    (memo,) = found.memos.values()
    assert memo.content == "The office opens at nine."
    assert own_metadata(memo) == {"floor": 3, "memory_type": "note", "tags": ["work", "times"]}
    assert found.lost == []


def test_the_history_of_mem0_gives_the_last_text_of_each_memory(tmp_path):
    (memo,) = read(servers.fill_mem0(tmp_path)).memos.values()
    assert memo.content == "Likes green tea"
    assert memo.created_at is not None
    assert memo.updated_at is not None
    assert memo.updated_at > memo.created_at


def test_another_database_and_a_broken_one_are_refused(tmp_path):
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table other (a)")
    with pytest.raises(Invalid, match=r"not one of mcp-memory-service or mem0"):
        load_database(file)
    file.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(Invalid, match="cannot be read"):
        load_database(file)
