"""Which services are connected: a file for starts, and nothing at all without accounts."""

import pytest

from tokonoma import catalogue
from tokonoma.catalogue.plugins.names import find_name_problem
from tokonoma.catalogue.services import ServiceWatch, connected_file
from tokonoma.core.module import ConnectedAccount

WORK = {"github": (ConnectedAccount("work", "/"),)}


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """The files that are opened below the home or are the catalogue of the services."""
    monkeypatch.setattr(catalogue, "SERVICES_FILE", tmp_path / "catalogue.json")
    (tmp_path / "catalogue.json").write_bytes(b"[]")
    names: list[str] = []
    read = type(tmp_path).read_bytes

    def note(path):
        names.append(path.name)
        return read(path)

    monkeypatch.setattr(type(tmp_path), "read_bytes", note)
    return names


def watch(home, database="one"):
    return ServiceWatch(home, lambda: database)


def test_without_accounts_no_file_is_read(tmp_path, opened):
    found = watch(tmp_path)
    assert (found.list_modules(), found.poll(), found.update({})) == ([], False, False)
    assert opened == []
    assert not connected_file(tmp_path).exists()


def test_another_process_learns_it_once(tmp_path, opened):
    first, second, other = watch(tmp_path), watch(tmp_path), watch(tmp_path, "two")
    assert first.update(WORK)
    assert not first.update(WORK)
    assert (second.poll(), second.poll(), other.poll()) == (True, False, False)
    assert (second.connected, other.connected, watch(tmp_path).connected) == (WORK, {}, WORK)
    assert connected_file(tmp_path).stat().st_mode & 0o077 == 0
    second.list_modules()
    second.list_modules()
    assert opened.count("catalogue.json") == 1
    assert first.update({})
    assert (second.poll(), second.connected) == (True, {})
    assert [each.name for each in tmp_path.iterdir()] == ["catalogue.json"]


def test_a_home_that_cannot_be_written_is_known_all_the_same(tmp_path):
    found = watch(tmp_path / "not there")
    assert found.update(WORK)
    assert found.connected == WORK


@pytest.mark.parametrize("name", ["github", "microsoft_todo", "atlassian", "services"])
def test_a_plugin_cannot_have_the_name_of_a_service_or_its_provider(name):
    assert find_name_problem(name) == "the server reserves that name"
