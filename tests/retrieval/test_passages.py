"""Passages of a text, and those that fit a claim."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertModel

from xfact.errors import UserError
from xfact.retrieval.passages import best, overlap, sentences_of, windows
from xfact.text.normalise import terms

TEXT = (
    "The town has two rivers. Boats are rare. The bridge of Vallefinta was closed on Monday for repair. "
    "Nobody was hurt.\nThe mayor spoke of the weather. It will reopen in June. Tickets cost nine crowns."
)


def test_the_words_of_a_text_are_whole_in_any_script():
    assert terms("Rose 3 % — “Zażółć” GĘŚLĄ!") == ["rose", "3", "zażółć", "gęślą"]
    assert terms("हिन्दी में किताब।") == ["हिन्दी", "में", "किताब"]
    assert terms("தமிழ்நாடு, l'été") == ["தமிழ்நாடு", "l", "été"]
    assert terms("می‌خواهم") == ["میخواهم"]  # a joiner inside a word
    assert terms("\u200f...\n") == []


def test_sentences_end_at_the_stops_of_any_script():
    assert sentences_of("One. Two! Three?\nFour", 9) == ["One.", "Two!", "Three?", "Four"]
    assert sentences_of("यह एक है। यह दो है।", 9) == ["यह एक है।", "यह दो है।"]
    assert sentences_of("هذا واحد؟ هذا اثنان.", 9) == ["هذا واحد؟", "هذا اثنان."]
    assert sentences_of("one two three four five", 2) == ["one two", "three four", "five"]


def test_passages_begin_with_each_sentence_and_hold_so_many_words():
    assert windows(["a b", "c d", "e f", "g"], 4) == [range(0, 2), range(1, 3), range(2, 4)]
    assert windows(["a b c d e"], 4) == [range(0, 1)]
    assert windows([], 4) == []


def test_the_passage_with_the_claims_words_is_chosen():
    passage = best("The bridge of Vallefinta is closed", TEXT, 12, 1, overlap)
    assert passage is not None
    assert passage.startswith("The bridge of Vallefinta was closed")
    assert len(passage.split()) <= 12


def test_more_passages_stand_in_the_texts_order_and_do_not_overlap():
    passages = best("crowns for a ticket; Vallefinta's bridge closed; tickets", TEXT, 10, 2, overlap)
    bridge = "The bridge of Vallefinta was closed on Monday for repair."
    tickets = "It will reopen in June. Tickets cost nine crowns."
    assert passages == f"{bridge} … {tickets}"


def test_a_text_without_a_word_of_the_claim_has_no_passage():
    assert best("Zebras", TEXT, 12, 1, overlap) is None
    assert best("Zebras", " \n", 12, 1, overlap) is None


def test_a_rare_word_counts_more_than_one_that_every_passage_has():
    scores = overlap("the bridge", ["the a", "the b", "the bridge", "bridge"])
    assert scores[2] > scores[3] > scores[0] == scores[1] > 0


@given(st.text(max_size=400), st.integers(1, 30))
def test_no_word_of_a_text_is_lost_and_no_passage_is_too_long(text, size):
    sentences = sentences_of(text, size)
    assert " ".join(sentences).split() == text.split()
    places = windows(sentences, size)
    assert {row for place in places for row in place} == set(range(len(sentences)))
    assert all(sum(len(sentences[row].split()) for row in place) <= size for place in places)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """An encoder of random weights with the embedded tokenizer."""
    from xfact.data.tokens import load_tokenizer
    from xfact.encoders import TINY

    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = load_tokenizer(str(TINY))
    tokenizer.save_pretrained(folder)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(folder)
    return str(folder)


def test_an_encoder_gives_a_vector_a_text_the_same_in_any_company(encoder):
    from xfact.models.embed import new_embedder

    embed = new_embedder(encoder)
    texts = [f"text {number} " * (number % 7 + 1) for number in range(70)]
    vectors = embed(texts)
    assert vectors.shape == (70, 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[69], embed(texts[69:])[0], atol=1e-5)
    assert embed([]).shape == (0, 32)


def test_an_encoder_chooses_the_nearest_passage(encoder):
    from cli.test_compose import config

    from xfact.retrieval.passages import scorer

    scores = scorer(
        config(
            "task=retrieve",
            "provider.folder=a",
            "input=b",
            "output=c",
            "passages.by=encoder",
            f"encoder.name={encoder}",
        )
    )
    assert best("Boats are rare.", TEXT, 5, 1, scores) == "Boats are rare."


def test_an_encoder_without_training_is_refused():
    from xfact.models.embed import new_embedder

    with pytest.raises(UserError, match=r"encoder\.name=tiny: has no trained weights"):
        new_embedder("tiny")
