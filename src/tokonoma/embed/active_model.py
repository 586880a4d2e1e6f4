"""The one embedding model of a store: all vectors that are made are of this model, whatever a process's settings say.

The first process takes the model of its settings. After that a process with other settings follows the store's model if
it can use it, and searches by words alone if it cannot. Only `tokonoma reindex --embedding` changes the model.
"""

import json
from collections.abc import Callable
from dataclasses import asdict

from tokonoma.core.desk import Rows
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Unready
from tokonoma.core.log import log
from tokonoma.embed.embedder import PROBE, Embedder, VectorStore, check_model
from tokonoma.embed.models import ModelConfig
from tokonoma.store.database import Database

ADVICE = "Change the settings, or the model of the database with `tokonoma reindex --embedding`."
_RESTORE = " Restore that model, or set another name in embed_model and run `tokonoma reindex --embedding`."
GetEmbedder = Callable[[ModelConfig], Embedder | None]
"""The embedder of a configuration; Unready if this process cannot have it, None for the provider `none`."""


class ModelNotUsable(Unready):
    """The store's model cannot be used with the settings of this process."""


class ModelSwitched(Exception):
    """Another process has changed the store's model: what was made with the old one is not stored."""


def find_active(store: VectorStore, rows: Rows) -> StoredModel | None:
    return next((each for each in store.list_models(rows) if each.current), None)


def parse_config(model: StoredModel) -> ModelConfig:
    return ModelConfig(**json.loads(model.config))


def is_update(config: ModelConfig, active: StoredModel) -> bool:
    """Whether this version of the program has a newer built-in model than the one that made the vectors. An older
    version never goes back to its own."""
    if config.provider != "builtin" or parse_config(active).provider != "builtin":
        return False
    mine, stored = (name.rpartition("-")[2] for name in (config.model, parse_config(active).model))
    return mine.isdecimal() and stored.isdecimal() and int(mine) > int(stored)


def load_active(get_embedder: GetEmbedder, config: ModelConfig, active: StoredModel) -> Embedder:
    """The embedder of the store's model, for a process whose settings name `config`."""
    try:
        embedder = get_embedder(parse_config(active))
    except Unready as error:
        if active.name == config.name:
            raise
        says = f"{explain_difference(config, active)} {error.message} {ADVICE}"
        raise ModelNotUsable(says, reason="embedder") from error
    assert embedder is not None, "no vectors are stored for the provider `none`"
    return embedder


def explain_difference(config: ModelConfig, active: StoredModel) -> str:
    return f"The vectors of this database are made by {active.name}; the settings of this process name {config.name}."


def check_answers(embedder: Embedder, config: ModelConfig, active: StoredModel) -> None:
    """Fails with UnusableAnswer unless the model that answers is the one whose vectors are stored."""
    probe = embedder.embed([PROBE], "document")[0]
    check_model(
        probe, active, _RESTORE if active.name == config.name else f" {explain_difference(config, active)} {ADVICE}"
    )


def switch_model(
    database: Database, store: VectorStore, embedder: Embedder, config: ModelConfig, before: StoredModel | None
) -> None:
    """Make it the model of the store, in the place of `before`. Nothing changes if it does not answer, or if another
    process was faster."""
    anchor = embedder.embed([PROBE], "document")[0]
    with database.reading() as rows:
        known = next((each for each in store.list_models(rows) if each.name == config.name), None)
    if known is not None:
        check_model(anchor, known, _RESTORE)
    with database.writing() as statements:
        active = find_active(store, statements)
        if (active and active.id) != (before and before.id):
            return
        store.adopt(statements, config.name, json.dumps(asdict(config)), anchor)
    log("info", "embed.model", model=config.name, dimension=anchor.shape[0])
