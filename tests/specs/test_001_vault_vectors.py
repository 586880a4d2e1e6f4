"""specs/001: a vector of a file is that of its text, whenever the worker and other readers come: also between the
transaction that indexes a change and the moment at which the file is in its place."""

from collections.abc import Callable
from pathlib import Path

import pytest
from specs.test_003_use import settle
from talk import Lines

from tokonoma.app import App
from tokonoma.core.errors import Unavailable
from tokonoma.embed import queue
from tokonoma.files import move, write

LONG = "# Log\n\n" + "a line of the log 2026\n" * 3000  # an addition to it indexes only its end
VECTORS = """select d.address, e.piece, e.data from document d left join embedding e on e.document_id = d.id
where d.module = 'vault' order by d.address, e.piece"""
Between = list[Callable[[], object]]


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


@pytest.fixture
def between(monkeypatch) -> Between:
    """What happens each time before a file takes its place."""
    todo: Between = []

    def hold(module, name: str) -> None:
        original = getattr(module, name)

        def wait(*given):
            for each in todo:
                each()
            return original(*given)

        monkeypatch.setattr(module, name, wait)

    for module, name in ((write, "place_draft"), (move, "place_draft"), (move, "rename_file")):
        hold(module, name)
    return todo


def work(app: App) -> None:
    while app.search.worker.run_batch():
        pass


def read_vectors(app: App) -> list[tuple[str, int, object]]:
    with app.database.reading() as rows:
        return rows.rows(VECTORS)


def check_vectors(app: App) -> None:
    """Every passage has a vector, and it is the one that its text has now."""
    settle(app)
    stored = read_vectors(app)
    assert [address for address, _, vector in stored if vector is None] == []
    with app.database.writing() as statements:
        for (document,) in statements.rows("select id from document"):
            queue.enqueue(statements, [document])
    settle(app)
    assert stored == read_vectors(app) != []


def create(talk, path: str, content: str) -> None:
    talk.call("vault", "create", path=path, content=content)


CHANGES = {
    "create": lambda talk: create(talk, "new.md", "# Tea\n\nThe kettle is on the stove.\n"),
    "overwrite": lambda talk: talk.call("vault", "write", path="a.md", content="# Snow\nIt snowed.", mode="overwrite"),
    "append": lambda talk: talk.call("vault", "write", path="a.md", content="A train left.", mode="append"),
    "append to a long file": lambda talk: talk.call(
        "vault", "write", path="log.md", content="A train left.\n\n## Later\n\nIt came back.", mode="append"
    ),
    "move": lambda talk: talk.call("vault", "move", from_path="a.md", to_path="folder/b.md"),
}


@pytest.fixture
def files(app, talk) -> None:
    create(talk, "a.md", "# Garden\n\nRoses bloom in May.\n")
    create(talk, "links.md", "# Links\n\nSee [the garden](a.md).\n")
    create(talk, "log.md", LONG)
    settle(app)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("change", CHANGES)
def test_a_worker_that_comes_before_the_file_is_in_its_place_embeds_what_is_in_it_then(app, talk, between, change):
    between.append(lambda: work(app))
    CHANGES[change](talk)
    between.clear()
    check_vectors(app)


def index_anew(app: App) -> list[tuple[str, str]]:
    """The passages and what they hold, after all files were read again."""
    with app.database.writing() as statements:
        statements.run("update vault_file set masks = 'none'")
    Lines(app).call("vault", "ls")
    return read_passages(app)


def read_passages(app: App) -> list[tuple[str, str]]:
    with app.database.reading() as rows:
        return rows.rows("select address, digest from document where module = 'vault' order by address")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("change", CHANGES)
def test_a_reader_that_comes_before_the_file_is_in_its_place_does_not_leave_the_index_of_what_was_there(
    app, talk, between, change
):
    between.append(lambda: Lines(app).call("vault", "ls"))  # compares all files with the index
    between.append(lambda: work(app))
    CHANGES[change](talk)
    between.clear()
    talk.call("vault", "ls")
    assert read_passages(app) == index_anew(app)
    check_vectors(app)


@pytest.mark.usefixtures("files")
def test_a_change_that_comes_to_nothing_leaves_the_vectors_of_what_is_on_the_disk(app, talk, between):
    file = Path(app.server_info.locations()["vault"]) / "a.md"
    between.append(lambda: work(app))
    between.append(lambda: file.write_text("# Sea\n\nSomebody else has written of waves.\n"))
    told = talk.refused("vault", "write", path="a.md", content="# Snow\nIt snowed.", mode="overwrite")
    between.clear()
    assert told["code"] == "conflict"
    talk.call("vault", "ls")
    assert read_passages(app) == index_anew(app)
    check_vectors(app)


@pytest.mark.usefixtures("files")
def test_a_change_that_could_not_be_confirmed_is_embedded_after_the_next_reader(app, talk, between, monkeypatch):
    def fail(*_) -> None:
        raise Unavailable("The disk is full.", reason="disk_full")

    between.append(lambda: work(app))
    with monkeypatch.context() as patch:
        patch.setattr(write, "confirm_file", fail)
        CHANGES["create"](talk)
    between.clear()
    talk.call("vault", "ls")
    assert "tokonoma://vault/new.md#L1-L3" in dict(read_passages(app))
    check_vectors(app)
