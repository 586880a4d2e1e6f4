"""A house on either database, spoken to over either transport."""

from collections.abc import Callable, Generator

import pytest
from click.testing import CliRunner
from specs.items_client import Items, items_of
from talk import Http, Lines, Talk

from tokonoma.app import App
from tokonoma.cli.program import program


@pytest.fixture
def app(database_url, tmp_path) -> Generator[App]:
    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture(params=["stdio", "http"])
def talk(request, app) -> Talk:
    return Lines(app) if request.param == "stdio" else Http(app)


@pytest.fixture
def items(app) -> Items:
    return items_of(app)


@pytest.fixture
def terminal(database_url, tmp_path) -> Callable[..., str]:
    """`tokonoma …` beside the running server."""

    def run(*words: str, fails: bool = False, stdin: str | None = None) -> str:
        places = ("--home", str(tmp_path / "home"), "--database-url", database_url, "--no-durable")
        result = CliRunner().invoke(program, [*words, *places], input=stdin, prog_name="tokonoma")
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    return run
