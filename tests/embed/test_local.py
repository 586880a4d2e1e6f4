"""Models in this process, for real where their library is installed: with a tiny model that the test itself makes."""

import json
from pathlib import Path

import numpy as np
import pytest

from tokonoma.core.errors import Unready
from tokonoma.embed.embedder import ProviderUnavailable
from tokonoma.embed.local import _LOADERS, LocalEmbedder, build_local_embedder
from tokonoma.embed.models import ModelConfig, ProviderAccess, build_embedder

WORDS = ["[PAD]", "[UNK]", "cat", "dog", "law", "the", "sleeps", "猫", "契約"]
TEXTS = ["the cat sleeps", "the law", "猫 sleeps"]


def tiny(folder: Path, dimension: int = 8) -> Path:
    """A static model as model2vec and fastembed read it: a word, a row."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.random.default_rng(3).standard_normal((len(WORDS), dimension)).astype(np.float32)
    save_file({"embeddings": rows}, folder / "model.safetensors")
    (folder / "config.json").write_text(
        json.dumps({"normalize": True, "hidden_dim": dimension, "model_type": "model2vec"})
    )
    return folder


def check(embedder: LocalEmbedder, dimension: int) -> None:
    rows = embedder.embed(TEXTS, "document")
    assert rows.shape == (3, dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert embedder.dimension == dimension
    assert embedder.embed(TEXTS[:1], "query").shape == (1, dimension)
    assert rows[0] @ rows[1] < 0.999
    embedder.close()


def test_model2vec(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    check(build_local_embedder(ModelConfig("model2vec", str(tiny(tmp_path / "tiny"))), ProviderAccess()), 8)


def test_model2vec_by_folder_and_with_fewer_dimensions(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    made = build_embedder(ModelConfig("model2vec", "tiny", 4), ProviderAccess(folder=str(tiny(tmp_path / "tiny"))))
    assert isinstance(made, LocalEmbedder)
    assert made.model == "model2vec:tiny@4"
    check(made, 4)


def test_fastembed(tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    folder = tiny(tmp_path / "tiny", 256)
    check(
        build_local_embedder(ModelConfig("fastembed", "minishlab/potion-base-8M"), ProviderAccess(folder=str(folder))),
        256,
    )


def test_sentence_transformers(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")  # where version 5.3 has them
    from tokenizers import Tokenizer

    folder = tiny(tmp_path / "tiny", 16)
    module = modules.StaticEmbedding(Tokenizer.from_file(str(folder / "tokenizer.json")), embedding_dim=16)
    library.SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path / "made"))
    check(build_local_embedder(ModelConfig("sentence-transformers", str(tmp_path / "made")), ProviderAccess()), 16)


def test_a_model_that_is_not_there_is_away_and_says_which(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    embedder = build_local_embedder(ModelConfig("model2vec", str(tmp_path / "nothing" / "here")), ProviderAccess())
    with pytest.raises(ProviderUnavailable, match="could not be loaded"):
        embedder.embed(["a"], "document")
    embedder.close()


@pytest.mark.parametrize("provider", list(_LOADERS))
def test_a_library_that_is_not_installed_is_named_with_what_to_do(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokonoma.embed.local.find_spec", lambda _name: None)
    with pytest.raises(Unready, match=rf"pip install 'tokonoma\[{provider}\]'"):
        build_embedder(ModelConfig(provider, "m"), ProviderAccess())
