"""A process of its own that adds vectors: `add_vectors.py URL START COUNT`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from search.vectors.fixture import VectorFixture, like_texts

from tokonoma.store.database import open_database


def main() -> None:
    url, start, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    database = open_database(url, durable=False)
    meaning = VectorFixture(database)
    vectors = like_texts(300, 32)
    for place in range(start, start + count):
        meaning.add(vectors[place : place + 1], module=f"m{start}")
    meaning.settle()
    database.close()


main()
