"""specs/001 over the wire: an append to a long file indexes what it changes; the index is that of the whole file."""

import random

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.auth.api_keys import build_reach, create_key
from tokonoma.files import write


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def append(talk, text: str, path: str = "log.md") -> None:
    talk.call("vault", "write", path=path, content=text, mode="append")


INDEXED = """select d.address, d.title, d.digest, d.label, d.kinds, d.masked, d.length, d.author, t.data, p.label
from document d join terms t on t.document = d.id join vault_part p on p.address = d.address order by d.address"""
ADDED = (
    "## A heading\n\ntext", "a line\n", "line\n" * 100, "===", "---\n", "```\ncode", "- item\n  - inner\n", "\n\n",
    "mail taro.yamada@corp.example.org", "TEL 03-1234-", "5678", "100-0001\n\n", "東京都千代田区千代田1-1", "no end",
)  # fmt: skip


def check_index(app, talk, path: str = "log.md") -> None:
    """The index holds what it holds after the whole file was indexed anew."""
    with app.database.reading() as rows:
        grown, file = rows.rows(INDEXED), rows.rows("select path, version, lines, is_masked from vault_file")
    with app.database.writing() as statements:
        statements.run("update vault_file set masks = 'none'")
    talk.call("vault", "read", path=path, range={"start_line": 1, "end_line": 1})
    with app.database.reading() as rows:
        whole = rows.rows(INDEXED)
        assert file == rows.rows("select path, version, lines, is_masked from vault_file")
    assert [row[0] for row in grown] == [row[0] for row in whole]
    assert grown == whole


@pytest.fixture
def indexed_whole(monkeypatch) -> list[str]:
    """The files that were indexed as a whole after a write."""
    done: list[str] = []
    index_file = write.index_file

    def record(tx, parts, *rest):
        done.append(parts[-1])
        return index_file(tx, parts, *rest)

    monkeypatch.setattr(write, "index_file", record)
    return done


@pytest.mark.parametrize("name", ["log.md", "log.txt"])
def test_after_appends_the_index_holds_what_it_holds_of_the_whole_file(app, talk, indexed_whole, name):
    chance = random.Random(name)
    talk.call("vault", "create", path=name, content="# Log\n\n" + "a line of the log 2026\n" * 3000)
    indexed_whole.clear()
    for number in range(30):
        append(talk, chance.choice(ADDED) + chance.choice(["", "\n"]), name)
        if number % 10 == 9:
            check_index(app, talk, name)
    assert len(indexed_whole) < 15


def test_an_append_that_completes_something_in_an_earlier_passage_indexes_the_whole_file(app, talk, indexed_whole):
    lines = ["a line of the log\n"] * 4000
    lines[3998:] = ["100-0001\n", "\n"]
    talk.call("vault", "create", path="log.md", content="\n" + "".join(lines))
    indexed_whole.clear()
    with app.database.reading() as rows:
        assert rows.rows("select address from document where kinds <> ''") == []
    append(talk, "東京都千代田区千代田1-1\n")
    assert indexed_whole == ["log.md"]
    with app.database.reading() as rows:
        found = dict(rows.rows("select address, kinds from document where kinds <> ''"))
    assert found == {
        "tokonoma://vault/log.md#L3921-L4000": "postal_code",
        "tokonoma://vault/log.md#L4001-L4002": "address",
    }
    check_index(app, talk)


def test_another_writer_becomes_the_author_of_every_passage(app, talk, indexed_whole):
    with app.database.writing() as statements:
        bot = Http(app, create_key(statements, "bot", build_reach()))
    talk.call("vault", "create", path="log.md", content="a line\n" * 12_000)
    append(talk, "more", "log.md")
    assert indexed_whole == ["log.md"]
    append(bot, "more", "log.md")
    assert indexed_whole == ["log.md", "log.md"]
    with app.database.reading() as rows:
        assert rows.row("select count(distinct author), min(author) from document") == (1, "key:bot")
    check_index(app, talk)


def test_what_an_append_adds_is_masked_for_those_who_may_not_see_it(app, talk, indexed_whole):
    enforce(app, "version: 1\nboundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }\n")
    bot = Http(app, key(app, "bot"))
    talk.call("vault", "create", path="log.md", content="a line\n" * 12_000)
    append(talk, "more\n")
    assert "a line" in str(bot.call("vault", "search", query="a line", limit=1))
    indexed_whole.clear()
    append(talk, "mail taro.yamada@corp.example.org\n")
    assert indexed_whole == [], "the short way"
    with app.database.reading() as rows:
        assert rows.rows("select is_masked from vault_file") == [(1,)]
    shown = bot.call("vault", "read", path="log.md", range={"start_line": 12_002, "end_line": 12_002})
    assert shown["text"] == "mail [masked:email]\n"
    assert bot.call("vault", "search", query="taro.yamada")["items"] == []
    check_index(app, talk)
