"""On which scale the cosines of a model are read, measured from its own stored vectors.

One model gives .1 to two texts that have nothing in common, another .75; and some place a text nearer to any text of
its own language than to its translation. So the cosine of unrelated texts is measured for each pair of languages: the
median among stored texts, for hardly any two of them say the same. The built-in model is not measured: its numbers are
fitted with the weights of ranking, on stores whose median is the fitted number.

A store of texts that are all alike says little about the model: there the probe, a text about none of them, sets a
limit. What was measured is stored with the model, so that every process ranks alike, and the same store answers alike.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from tokonoma.core.desk import Rows
from tokonoma.core.embedding import StoredModel
from tokonoma.search.fusion import FITTED_SCALE, ModelScale, name_pair
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.store import data_column, decode_vectors
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.search.vectors.store import Floats

_SPREAD = 2_654_435_761  # a prime: its multiples are spread evenly over all ids
_NEWEST = "select coalesce(max(id), 0) from embedding"
_SAVE = "update embedding_model set scale = :scale where id = :model"


def parse_scale(text: str) -> ModelScale:
    return ModelScale(json.loads(text)["unrelated"]) if text else FITTED_SCALE


def measure_model(database: Database, model: StoredModel) -> None:
    """Measure, if there are many more vectors than the last time. Called often: it then costs next to nothing."""
    if json.loads(model.config).get("provider") == "builtin":
        return
    before = json.loads(model.scale)["upto"] if model.scale else 0
    with database.reading() as rows:
        newest: int = rows.rows(_NEWEST)[0][0]
        if newest < max(TUNING.fewest_measured, TUNING.measured_growth * before):
            return
        languages, vectors = _read_sample(rows, database, model, newest)
    import numpy as np

    unrelated = measure_unrelated(vectors, languages, np.frombuffer(model.anchor, np.float32))
    if unrelated:
        scale = json.dumps({"upto": newest, "unrelated": unrelated})
        with database.writing() as statements:
            statements.run(_SAVE, scale=scale, model=model.id)


def _read_sample(rows: Rows, database: Database, model: StoredModel, newest: int) -> tuple[list[str], "Floats"]:
    """Languages and vectors of some documents from all over the store: always the same ones of one store."""
    ids = sorted({number * _SPREAD % newest + 1 for number in range(TUNING.measured_vectors)})
    sql = f"""select e.language, {data_column(database.kind)} from embedding e
    where e.id in ({{numbers}}) and e.model = :model and e.piece = 0 order by e.id"""  # noqa: S608
    found = rows.rows(sql, numbers=json.dumps(ids), model=model.id)
    return [row[0] for row in found], decode_vectors(database.kind, [row[1] for row in found])


def measure_unrelated(vectors: "Floats", languages: Sequence[str], probe: "Floats") -> Mapping[str, float]:
    """By pair of languages, and `""` for all together; only what there are enough texts for."""
    import numpy as np

    if len(vectors) < TUNING.fewest_measured:
        return {}
    away = float(np.mean(vectors @ probe))
    most = away + TUNING.most_alike * (1.0 - away)
    cosines, spoken = vectors @ vectors.T, np.asarray(languages)
    np.fill_diagonal(cosines, np.nan)
    groups = {language: np.flatnonzero(spoken == language) for language in sorted(set(languages))}
    groups = {language: found for language, found in groups.items() if len(found) >= TUNING.fewest_measured}
    measured = {"": float(np.nanmedian(cosines))}
    for one, other in combinations_with_replacement(groups, 2):
        measured[name_pair(one, other)] = float(np.nanmedian(cosines[np.ix_(groups[one], groups[other])]))
    return {pair: round(min(value, most), 4) for pair, value in measured.items()}
