"""The owner's files beside a manual."""

import pytest

from tokonoma.modules.manual.owner_files import load_shipped_glossary, parse_glossary, parse_settings


def test_the_shipped_glossary_reads():
    assert not load_shipped_glossary().problem
    assert len(load_shipped_glossary().groups) > 30
    assert "ただし" in load_shipped_glossary().exceptions


@pytest.mark.parametrize("raw", [b"terms: [", b"- a", b"\xff", b"a: &x [1]\nb: *x"])
def test_a_broken_glossary_says_so_and_gives_nothing(raw):
    found = parse_glossary(raw)
    assert found.problem
    assert not found.groups


def test_a_manual_says_where_it_belongs():
    told = parse_settings("title: 規約\nspace: /team\nallow_file: true\n".encode())
    assert (told.title, told.namespace, told.allow_file) == ("規約", "/team", True)
    assert parse_settings(b"space: ../x").problem
