"""`python -m bench.vectors`: the vector leg beside exact search in numpy, over the same vectors, in the same run.

--sizes 10000,100000    how many vectors
--million               1 000 000 as well (2 GB of disk, 5 GB of memory, some minutes)
--postgres [URL]        on PostgreSQL too; without a URL on a server of the tests' own
--vectors FILE.npy      real vectors instead of made ones; the last 200 are the questions
--texts FOLDER          texts of pairs in Japanese and English (training/README.md), embedded with the built-in model
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.log import set_level
from tokonoma.core.query import SearchFilter, SearchScope
from tokonoma.embed import queue
from tokonoma.search import tables
from tokonoma.search.filters import IndexFilter, compile_filter
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.database import Database, format_sqlite_url, open_database
from tokonoma.store.migrate import migrate

from .report import Goal, Row, table
from .rounds import percentile

Floats = NDArray[np.float32]
DIMENSION = 384
QUESTIONS = 200
EVERYWHERE = SearchScope("/", CLASSIFICATIONS)
GOALS = {10_000: 5.0, 100_000: 5.0, 1_000_000: 25.0}  # milliseconds, p95
_PAGE = 10_000
_DOCUMENT = """insert into document (address, module, space, label, title, digest, changed_at, at)
values (:address, 'memory', :space, 'internal', '', '', 0, :at)"""
SPACES = {"/half": 2, "/tenth": 10, "/few": 1000}  # one in so many lies there


def like_texts(count: int, seed: int) -> Floats:
    """As models place texts: in clumps of clumps, most of the spread in few directions, and all leaning one way."""
    random, common = np.random.default_rng(seed), np.random.default_rng(0)
    spread = (np.arange(1, DIMENSION + 1) ** -0.35).astype(np.float32)
    topics = common.standard_normal((200, DIMENSION)).astype(np.float32) * spread
    corners = common.standard_normal((20_000, DIMENSION)).astype(np.float32) * spread * np.float32(0.9)
    lean = common.standard_normal(DIMENSION).astype(np.float32) * np.float32(0.2)
    made = np.empty((count, DIMENSION), np.float32)
    for start in range(0, count, _PAGE):
        part = made[start : start + _PAGE]
        at = random.integers(0, len(corners), len(part))
        part[:] = random.standard_normal(part.shape, np.float32) * spread * np.float32(0.7)
        part += topics[at % len(topics)] + corners[at] + lean
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


def of_texts(folder: Path, count: int) -> Floats:
    """So many different texts of both languages, and the questions behind them, mixed by a fixed seed."""
    from tokonoma.embed.builtin import CHUNK_LENGTH, BuiltinEmbedder

    found: dict[str, None] = {}
    for pair in import_module("training.sources").pairs(folder):
        if pair.src != "edict":  # words, not texts
            found |= dict.fromkeys(text[:CHUNK_LENGTH] for text in (pair.en, pair.ja) if len(text) >= 12)
    texts = list(found)
    random.Random(7).shuffle(texts)
    begin, embedder = time.process_time(), BuiltinEmbedder()
    made = embedder.embed(texts[: count + QUESTIONS], "document")
    spent = (time.process_time() - begin) / len(made) * 1e3
    print(f"{len(made)} texts embedded, {spent:.3f} ms of CPU each", file=sys.stderr, flush=True)
    return made


def fill(database: Database, vectors: Floats) -> VectorSearch:
    for name, steps in (("search", tables.TABLES), ("vectors", tables.VECTOR_TABLES), ("embed", queue.TABLES)):
        migrate(database, name, steps, lambda _reason: None)
    leg = fresh(database)
    with database.writing() as statements:
        leg.adopt(statements, "bench", "{}", vectors[0])
        leg.save_backfill(statements, 1, None)
    for start in range(0, len(vectors), _PAGE):
        numbers = range(start, min(start + _PAGE, len(vectors)))
        with database.writing() as statements:
            places = [{"address": f"tokonoma://memory/{n}", "space": _space(n), "at": n} for n in numbers]
            statements.run_many(_DOCUMENT, places)
            data = [
                {"id": n + 1, "data": vectors[n].tobytes() if database.kind == "sqlite" else vectors[n]}
                for n in numbers
            ]
            statements.run_many(
                "insert into embedding (document_id, model, piece, data) values (:id, 1, 0, :data)", data
            )
    leg.maintain(1)
    return leg


def _space(number: int) -> str:
    return next((name for name, share in reversed(SPACES.items()) if number % share == 0), "/")


def fresh(database: Database) -> VectorSearch:
    return VectorSearch(database, queue, lambda _ids: {}, None)


def asked(leg: VectorSearch, database: Database, question: Floats, filter: IndexFilter, limit: int) -> list[int]:
    with database.reading() as rows:
        return [document for document, _ in leg.find_nearest(rows, QueryVector(1, question), filter, "cosine", limit)]


@dataclass(frozen=True)
class Timed:
    answers: list[list[int]]
    wall: list[float]  # milliseconds
    cpu: list[float]  # what it would take on an idle core; without what a server of databases spends


def timed(work: Callable[[Floats], Sequence[int]], questions: Floats) -> Timed:
    found = Timed([], [], [])
    for question in questions:
        begin, used = time.perf_counter(), time.process_time()
        found.answers.append(list(work(question)))
        found.wall.append((time.perf_counter() - begin) * 1e3)
        found.cpu.append((time.process_time() - used) * 1e3)
    return found


def exact(vectors: Floats, limit: int, chosen: NDArray[np.int64] | None = None) -> Callable[[Floats], list[int]]:
    """What is compared with: every product, in numpy."""

    def work(question: Floats) -> list[int]:
        products = (vectors if chosen is None else vectors[chosen]) @ question
        most = min(limit, len(products))
        best = np.argpartition(-products, most - 1)[:most]
        best = best[np.argsort(-products[best])]
        return ((best if chosen is None else chosen[best]) + 1).tolist()

    return work


def recall(answers: list[list[int]], wanted: list[list[int]]) -> float:
    shares = [len(set(a) & set(w)) / len(w) for a, w in zip(answers, wanted, strict=True) if w]
    return 100 * sum(shares) / len(shares)


def measure(database: Database, vectors: Floats, questions: Floats) -> list[Row]:
    title = f"{database.kind} {len(vectors):,}".replace(",", " ")
    begin = time.perf_counter()
    leg = fill(database, vectors)
    filling = time.perf_counter() - begin
    goal = GOALS.get(len(vectors))
    slack = 3 if database.kind == "postgresql" else 1
    cold = fresh(database)
    begin = time.perf_counter()
    asked(cold, database, questions[0], IndexFilter(), 10)
    first = (time.perf_counter() - begin) * 1e3
    plain = timed(exact(vectors, 10), questions)
    ten = timed(lambda each: asked(leg, database, each, IndexFilter(), 10), questions)
    hundred = timed(lambda each: asked(leg, database, each, IndexFilter(), 100), questions)
    deep = recall(hundred.answers, timed(exact(vectors, 100), questions).answers)
    limit = Goal("≤", goal * slack) if goal else None
    rows = [
        Row(f"{title}: 10 nearest, p95", "ms", _p(ten.wall, plain.wall, 0.95), limit),
        Row(f"{title}: 10 nearest, p50", "ms", _p(ten.wall, plain.wall, 0.5)),
        Row(f"{title}: 10 nearest, CPU p95", "ms", _p(ten.cpu, plain.cpu, 0.95), limit),
        Row(f"{title}: 10 nearest, CPU p50", "ms", _p(ten.cpu, plain.cpu, 0.5)),
        Row(f"{title}: 100 nearest, CPU p95", "ms", {"tokonoma": percentile(hundred.cpu, 0.95)}),
        Row(f"{title}: recall@10", "%", {"tokonoma": recall(ten.answers, plain.answers)}, Goal("≥", 99)),
        Row(f"{title}: recall@100", "%", {"tokonoma": deep}),
        Row(f"{title}: first search of a process", "ms", {"tokonoma": first}, Goal("≤", 1000.0)),
        Row(f"{title}: memory of codes", "MB", {"tokonoma": leg.measure_memory() / 1e6, "floor": vectors.nbytes / 1e6}),
        Row(f"{title}: filled in", "s", {"tokonoma": filling}),
    ]
    return rows + _filtered(title, leg, database, vectors, questions[:50])


def _filtered(title: str, leg: VectorSearch, database: Database, vectors: Floats, questions: Floats) -> list[Row]:
    rows: list[Row] = []
    numbers = np.arange(len(vectors))
    for name in SPACES:
        chosen = numbers[np.asarray([_space(number) == name for number in range(1000)])[numbers % 1000]]
        filter = compile_filter(SearchFilter(namespace=name), EVERYWHERE)
        found = timed(lambda each, kept=filter: asked(leg, database, each, kept, 10), questions)
        right = recall(found.answers, timed(exact(vectors, 10, chosen), questions).answers)
        what = f"{title}: within {len(chosen) / len(vectors):.1%} of them"
        rows.append(Row(f"{what}, CPU p95", "ms", {"tokonoma": percentile(found.cpu, 0.95)}))
        rows.append(Row(f"{what}, recall@10", "%", {"tokonoma": right}, Goal("≥", 99)))
    return rows


def _p(mine: list[float], floor: list[float], share: float) -> dict[str, float]:
    return {"tokonoma": percentile(mine, share), "floor": percentile(floor, share)}


def _opened(stack: ExitStack, name: str) -> Database:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tokonoma-vectors-")))
    if name == "sqlite":
        database = open_database(format_sqlite_url(folder / "bench.db"), durable=False)
    elif name == "own":
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
        server = import_module("store.server").PostgresServer(folder)
        stack.callback(server.stop)
        database = open_database(server.url(server.take()), durable=False)
    else:
        database = open_database(name, durable=False)
    stack.callback(database.close)
    return database


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench.vectors", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--postgres", nargs="?", const="own")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    set_level("error")
    sizes = [int(size) for size in options.sizes.split(",") if size] + [1_000_000] * options.million
    real: Floats | None = np.load(options.vectors, mmap_mode="r") if options.vectors else None
    if options.texts:
        real = of_texts(options.texts, max(sizes))
    rows: list[Row] = []
    for size in sizes:
        vectors = like_texts(size, 1) if real is None else np.array(real[:size], np.float32)
        questions = like_texts(QUESTIONS, 2) if real is None else np.array(real[-QUESTIONS:], np.float32)
        for name in ["sqlite", *([options.postgres] if options.postgres and size <= 100_000 else [])]:
            print(f"measuring: {size} on {name}", file=sys.stderr, flush=True)
            with ExitStack() as stack:
                rows += measure(_opened(stack, name), vectors, questions)
    print(table(rows))


if __name__ == "__main__":
    main()
