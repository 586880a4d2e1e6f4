"""Searching by meaning: whether there is a model, whether it answers, and how far it has come."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from tokonoma.app.search import build_model_config, build_provider_access
from tokonoma.cli.doctor.finding import Finding
from tokonoma.config.settings import Settings
from tokonoma.core.errors import Refusal
from tokonoma.embed import queue
from tokonoma.embed.builtin import BuiltinEmbedder
from tokonoma.embed.embedder import PROBE
from tokonoma.embed.models import ProviderAccess, build_embedder
from tokonoma.modules.manual.sounds import EXTRA, is_installed
from tokonoma.search.vectors import store as vectors_store
from tokonoma.store.database import Database

_TIMEOUT = 5.0
_LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")


def check_embedding(settings: Settings) -> Iterator[Finding]:
    """The model is asked for one vector."""
    access = build_provider_access(settings)
    embedder = build_embedder(build_model_config(settings), access)
    if embedder is None:
        remedy = "To search by meaning too, set embed_provider = builtin, or name another provider and its embed_model."
        yield Finding("embedding", "ok", "no model: search goes by words alone", remedy)
        return
    yield from _check_unencrypted_keys(access)
    try:
        size = embedder.embed([PROBE], "document", _TIMEOUT).shape[1]
    except Refusal as error:
        remedy = "Records are kept and found by words; they are embedded when the model answers."
        yield Finding("embedding", "warn", error.message, remedy)
    else:
        where = " inside this program" if isinstance(embedder, BuiltinEmbedder) else ""
        yield Finding("embedding", "ok", f"{embedder.model} answers{where} with {size} numbers a vector")
    finally:
        embedder.close()


def check_readings() -> Iterator[Finding]:
    """Whether Japanese words are also found by how they are read."""
    if is_installed():
        yield Finding("readings", "ok", "Sudachi reads the Japanese words of manuals: 見積 is found as みつもり, too")
    else:
        remedy = f"To find Japanese words by their readings in manuals, too: pip install 'tokonoma[{EXTRA}]' (200 MB)."
        yield Finding("readings", "ok", "Sudachi is not installed: spellings are joined by rule", remedy)


def check_vectors(database: Database, settings: Settings) -> Iterator[Finding]:
    recipe = build_model_config(settings)
    if recipe.provider == "none":
        return
    model = recipe.name
    with database.reading() as rows:
        if ("embedding_queue",) not in rows.rows(database.dialect.tables):
            return
        waiting = queue.count_waiting(rows)
        stuck = rows.rows("select problem, count(*) from embedding_queue where problem <> '' group by problem limit 3")
        known = vectors_store.list_models(rows)
    current = next((each for each in known if each.current), None)
    if current is not None and current.name != model:
        yield Finding("vectors", "ok", f"those of {current.name} are in use until {model} has made new ones")
    told = f"{waiting} records wait to be embedded" if waiting else "every record is embedded"
    if stuck:
        yield Finding("vectors", "warn", f"{told}; {'; '.join(row[0] for row in stuck)}")
    else:
        yield Finding("vectors", "ok", told)
    if database.kind == "postgresql":
        yield from _check_pgvector(database)


def _check_pgvector(database: Database) -> Iterator[Finding]:
    from tokonoma.search.vectors.store import PgvectorExtension, find_extension

    with database.reading() as rows:
        found = find_extension(rows)
    if isinstance(found, PgvectorExtension):
        yield Finding("pgvector", "ok", f"version {found.version // 1000}.{found.version % 1000}")
    elif found == "offered":
        remedy = "Let somebody who may run: create extension vector"
        yield Finding("pgvector", "warn", "is installed on the server, not in this database.", remedy)
    else:
        remedy = "Install pgvector on the server; until then every vector is looked at, which is right but slow."
        yield Finding("pgvector", "warn", "is not installed on the server.", remedy)


def _check_unencrypted_keys(access: ProviderAccess) -> Iterator[Finding]:
    for endpoint in access.endpoints:
        parts = urlsplit(endpoint.url)
        if endpoint.key and parts.scheme == "http" and parts.hostname not in _LOOPBACK_HOSTS:
            yield Finding("embedding", "warn", f"The key of {endpoint.display_url} travels unencrypted.", "Use https.")
