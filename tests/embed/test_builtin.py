"""The model in the package: what it cuts, what it finds, and that it needs nothing else."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Unready
from tokonoma.embed.builtin import (
    DIMENSION,
    MODEL_NAME,
    WORD_MARK,
    BuiltinEmbedder,
    ModelWeights,
    SubwordTokenizer,
    read_weights,
    split_camel_case,
    split_chunks,
    write_weights,
)
from tokonoma.embed.models import ModelConfig, ProviderAccess, build_embedder

DATA = Path(sys.modules[BuiltinEmbedder.__module__].__file__ or "").parent / "data"
PARAPHRASES = Path(__file__).parents[2] / "training" / "paraphrases.jsonl"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture(scope="module")
def weights() -> ModelWeights:
    return read_weights(DATA / f"{MODEL_NAME}.bin")


@pytest.fixture(scope="module")
def cutter(weights) -> SubwordTokenizer:
    return SubwordTokenizer(weights.pieces, weights.scores.tolist())


def test_chunks_are_words_and_runs_of_japanese():
    assert split_chunks("APIサーバーを、Ｋｕｂｅで起動。C++ (v1.2)") == [
        "API",
        "サーバを",
        "Kube",
        "で起動",
        "C++",
        "v1",
        "2",
    ]


def test_words_are_cut_at_their_humps():
    assert split_camel_case("JSONResponse") == ["json", "response"]
    assert split_camel_case("NetworkPolicy") == ["network", "policy"]
    assert split_camel_case("URLs") == ["urls"]


def test_the_likeliest_cut_wins_over_the_longest_piece():
    cutter = SubwordTokenizer(["東", "京", "都", "東京", "京都", "東京都"], [-9.0, -9.0, -3.0, -2.0, -2.0, -20.0])
    assert cutter.tokenize("東京都") == [3, 2]
    assert cutter.segment("東京都")[1] == -5.0


def test_an_unknown_letter_is_passed_over():
    assert SubwordTokenizer(["東京"], [-2.0]).tokenize("東京𠮷東京") == [0, 0]
    assert SubwordTokenizer(["東京"], [-2.0]).tokenize("한국어 Привет 😀") == []


def test_everyday_words_are_whole(weights, cutter):
    for word in ("解約", "議事録", "家賃", "案件", "引っ越し", "歯医者"):
        assert [weights.pieces[number] for number in cutter.tokenize(word)] == [word]
    assert [weights.pieces[number] for number in cutter.tokenize("the Meeting")] == [
        f"{WORD_MARK}the",
        f"{WORD_MARK}meeting",
    ]


def test_what_is_remembered_changes_no_cut(weights, cutter):
    texts = [row["note"] for row in map(json.loads, PARAPHRASES.read_text("utf-8").splitlines())]
    warm = [cutter.tokenize(text) for text in texts for _ in range(2)][1::2]
    fresh = SubwordTokenizer(weights.pieces, weights.scores.tolist())
    assert warm == [fresh.tokenize(text) for text in texts]


@given(st.text(max_size=200))
def test_any_text_has_a_vector_of_length_one(embedder, text):
    row = embedder.embed([text], "document")
    assert row.shape == (1, DIMENSION)
    assert row.dtype == np.float32
    assert abs(float(np.linalg.norm(row)) - 1.0) < 1e-4


def test_a_text_without_known_pieces_is_like_itself_alone(embedder):
    one, same, other, word = embedder.embed(["😀😀", "😀😀", "☂", "cat"], "document")
    assert float(one @ same) > 0.999
    assert abs(float(one @ other)) < 0.4
    assert abs(float(one @ word)) < 0.4


def test_a_batch_gives_what_each_text_gives_alone(embedder):
    texts = ["会議の議事録", "minutes of the meeting", "猫"]
    together = embedder.embed(texts, "document")
    assert np.array_equal(together, np.concatenate([embedder.embed([text], "query") for text in texts]))


def test_meaning_goes_across_languages(embedder):
    notes = ["家賃は毎月25日に引き落とし。", "猫の予防接種は五月。", "会議は来週に延期された。", "弟は卵アレルギーだ。"]
    asked = ["when is the rent due", "cat vaccination", "the meeting was postponed", "food allergy"]
    near = embedder.embed(asked, "query") @ embedder.embed(notes, "document").T
    assert near.argmax(1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("languages", ["ja-ja", "en-en", "ja-en", "en-ja"])
def test_paraphrases_are_found_among_each_other(embedder, languages):
    rows = [json.loads(line) for line in PARAPHRASES.read_text("utf-8").splitlines()]
    rows = [row for row in rows if f"{row['query_lang']}-{row['note_lang']}" == languages]
    near = embedder.embed([row["query"] for row in rows], "query")
    near = near @ embedder.embed([row["note"] for row in rows], "document").T
    ranks = (near > np.diagonal(near)[:, None]).sum(1) + 1
    assert float((1 / ranks).mean()) > 0.65


def test_texts_are_compared_part_by_part(embedder):
    texts = ["The rent is due on the 25th", "家賃は毎月25日に払う", "Cats sleep on the roof all day", ""]
    rent, japanese, cats, empty = embedder.match_subwords("when is the rent due?", embedder.list_subwords(texts))
    assert cats < japanese < rent < 1
    assert empty == 0
    (whole,) = embedder.match_subwords("rent due", embedder.list_subwords(["the rent is due"]))
    assert whole == pytest.approx(1)
    assert embedder.match_subwords("", embedder.list_subwords(["rent"])) == [0]
    assert embedder.match_subwords("rent", []) == []


def test_how_a_text_compares_does_not_depend_on_the_others(embedder, weights):
    assert len(weights.pieces) < 2**16, "the number of a piece is stored in two bytes"
    listed = embedder.list_subwords([f"note {n} about rent, trains and 猫{n}" for n in range(30)] + [""])
    together = embedder.match_subwords("when does the train to the cat leave", listed)
    alone = [embedder.match_subwords("when does the train to the cat leave", [each])[0] for each in listed]
    assert together == alone


def test_threads_load_it_once_and_agree():
    embedder, rows = BuiltinEmbedder(), []
    threads = [threading.Thread(target=lambda: rows.append(embedder.embed(["床の間"], "query"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 8
    assert all(np.array_equal(rows[0], row) for row in rows)


def test_it_can_be_used_again_after_closing(embedder):
    before = embedder.embed(["床の間"], "query")
    embedder.close()
    assert np.array_equal(before, embedder.embed(["床の間"], "query"))


def test_no_texts_no_rows(embedder):
    assert embedder.embed([], "document").shape == (0, DIMENSION)


def test_the_file_comes_back_as_it_was_written(tmp_path):
    written = ModelWeights(
        {"name": "tiny"},
        ["▁a", "床", "の間"],
        np.array([-1.0, -2.5, -3.25], np.float32),
        np.array([0.5, 0.25, 2.0], np.float32),
        np.arange(12, dtype=np.int8).reshape(3, 4),
    )
    write_weights(tmp_path / "tiny.bin", written)
    found = read_weights(tmp_path / "tiny.bin")
    assert found.pieces == written.pieces
    assert (found.metadata["name"], found.metadata["dimension"]) == ("tiny", 4)
    for name in ("scores", "scales", "matrix"):
        assert np.array_equal(getattr(found, name), getattr(written, name))


def test_the_shipped_file_is_what_it_says(weights, embedder):
    assert weights.metadata["name"] == MODEL_NAME
    assert embedder.model == f"builtin:{MODEL_NAME}"
    assert weights.matrix.shape == (len(weights.pieces), DIMENSION)
    assert len(set(weights.pieces)) == len(weights.pieces)
    assert (DATA / f"{MODEL_NAME}.bin").stat().st_size <= 16_000_000
    assert (DATA / "NOTICE.md").exists()


def test_nothing_is_loaded_before_a_vector_is_needed():
    code = (
        "import sys; from tokonoma.embed.builtin import BuiltinEmbedder; e = BuiltinEmbedder();"
        "assert 'numpy' not in sys.modules; e.embed(['床'], 'query');"
        "assert not {'torch', 'sentencepiece', 'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_recipe_names_it():
    found = build_embedder(ModelConfig("builtin", MODEL_NAME), ProviderAccess())
    assert found is not None
    assert (found.model, found.dimension) == (f"builtin:{MODEL_NAME}", DIMENSION)
    for other in (ModelConfig("builtin", "another"), ModelConfig("builtin", MODEL_NAME, 128)):
        with pytest.raises(Unready):
            build_embedder(other, ProviderAccess())


def read(*paths: Path) -> list[dict[str, str]]:
    return [json.loads(line) for path in sorted(paths) for line in path.read_text("utf-8").splitlines()]


def test_what_was_written_to_learn_from_is_sound_and_holds_none_of_the_paraphrases():
    rows = read(*PARAPHRASES.parent.glob("written/*.jsonl"))
    assert len(rows) > 10_000
    assert all(row.keys() == {"q_en", "n_en", "q_ja", "n_ja"} and all(row.values()) for row in rows)
    notes = [row[name] for row in rows for name in ("n_en", "n_ja")]
    assert len(set(notes)) == len(notes)
    asked = read(*PARAPHRASES.parent.glob("paraphrases*.jsonl"))
    known = {each[name].casefold().strip() for each in asked for name in ("query", "note")}
    assert known.isdisjoint({text.casefold().strip() for row in rows for text in row.values()})
