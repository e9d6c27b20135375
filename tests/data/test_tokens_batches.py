"""Token arrays hold the tokenizer's own ids, and batches give back every sequence of every row, each once."""

import os
import resource
from pathlib import Path

import numpy as np
import pytest
import torch
from data.families import FAMILIES, save_family, save_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, BertConfig, PreTrainedTokenizerFast

from xfact.config import DataConfig
from xfact.data.batches import Batch, ByLength, Claims, Shuffled, flat, shares
from xfact.data.corpus import Corpus
from xfact.data.text import TextOptions
from xfact.data.tokens import CLAIMS_PER_CHUNK, TokenArrays, Tokeniser, hub_options, load_tokenizer, token_arrays
from xfact.encoders import TINY
from xfact.errors import UserError

LONG = "La percentuale di disoccupati in Italia è cresciuta dal 2010 al 2020. " * 40
TEXTS = ["", "Il PIL è cresciuto", "यह दावा सच नहीं है", "முதலமைச்சர்", "هذا الخبر", "a\nb\tc", "  12% ", LONG]
# Ids of the embedded tokenizer: 2 and 3 are [CLS] and [SEP], 1 is [UNK].
GOLDEN = [
    ("Il PIL è cresciuto: «12%»", [2, 1505, 14681, 130, 5297, 11788, 1034, 30, 97, 1637, 9, 103, 3]),
    ("यह दावा सच नहीं है कि सरकार", [2, 2217, 2197, 3407, 2013, 1021, 1143, 3665, 3]),
    ("முதலமைச்சர்", [2, 403, 768, 801, 838, 769, 765, 836, 767, 836, 803, 767, 3]),
    ("هذا الخبر", [2, 2317, 9063, 3]),
    ("TÜRKİYE'de İstanbul", [2, 10196, 637, 656, 8157, 559, 11, 910, 5129, 3]),
    ("Российский ეს", [2, 1, 1, 3]),
]


@pytest.fixture(scope="module")
def tiny() -> Tokeniser:
    return Tokeniser("tiny", 32)


@pytest.fixture(scope="module")
def own():
    """The tokenizer as transformers gives it."""
    return AutoTokenizer.from_pretrained(TINY)


def arrays_of(sequences, tokeniser: Tokeniser, cache: Path) -> TokenArrays:
    return token_arrays(lambda: sequences, len(sequences), len(sequences[0]), tokeniser, cache)


def encoded(tokeniser: Tokeniser, texts) -> dict[str, list]:
    """ids and second of each sequence."""
    (batch,) = tokeniser.encode([texts])
    return batch.to_pydict()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_special_tokens_name_in_a_text_is_text(tmp_path, family):
    tokeniser = Tokeniser(str(save_family(tmp_path, family)), 64)
    own = tokeniser.tokenizer
    special = set(own.all_special_ids) - {own.unk_token_id}
    for word in own.all_special_tokens:
        texts = [f"a {word} b", f"A{word}B", word, f"{word}{word} ", "a b"]
        for ids in encoded(tokeniser, [(text, None) for text in texts])["ids"]:
            assert not special & set(ids[1:-1]), word
        (pair,) = encoded(tokeniser, [(f"a {word}", f"{word} b")])["ids"]
        (plain,) = encoded(tokeniser, [("a", "b")])["ids"]
        assert [number for number in pair if number in special] == [number for number in plain if number in special]


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_of_a_text_without_special_tokens_are_the_tokenizers_own(tmp_path, family):
    tokeniser = Tokeniser(str(save_family(tmp_path, family)), 9)
    own = AutoTokenizer.from_pretrained(tmp_path)
    texts = ["", "a", "abc def", "bad cafe a", "a ü b", "ihgfedcba ihgfedcba"]
    pairs = [(text, second) for text in texts for second in texts]
    limits = {"truncation": "longest_first", "max_length": 9}
    assert encoded(tokeniser, [(text, None) for text in texts])["ids"] == own(texts, **limits)["input_ids"]
    assert encoded(tokeniser, pairs)["ids"] == own(pairs, **limits)["input_ids"]


def test_a_tokenizer_that_cannot_tell_a_special_tokens_name_from_the_token_is_refused(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(tmp_path)
    BertConfig(vocab_size=5).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"makes a special token of a text that has \[CLS\] in it"):
        Tokeniser(str(tmp_path), 16)


def test_the_saved_tokenizer_is_the_encoders_own(tmp_path):
    own = AutoTokenizer.from_pretrained(save_family(tmp_path / "given", "unigram"))
    Tokeniser(str(tmp_path / "given"), 16).tokenizer.save_pretrained(tmp_path / "saved")
    assert AutoTokenizer.from_pretrained(tmp_path / "saved")("A</s>B <mask>") == own("A</s>B <mask>")


@settings(max_examples=200, deadline=None)
@given(first=st.integers(0, 40), second=st.integers(0, 40), max_length=st.integers(4, 40))
def test_pairs_are_cut_as_the_library_cuts_them(tmp_path_factory, first, second, max_length):
    folder = tmp_path_factory.getbasetemp() / "letters"
    if not folder.is_dir():
        save_tokenizer(folder)
    tokeniser, own = Tokeniser(str(folder), max_length), AutoTokenizer.from_pretrained(folder)
    pair = (" ".join("abcdefghi"[n % 9] for n in range(first)), " ".join("ihgfedcba"[n % 9] for n in range(second)))
    expected = own([pair], truncation="longest_first", max_length=max_length)
    assert encoded(tokeniser, [pair])["ids"] == expected["input_ids"]


def test_over_long_pairs_take_memory_in_proportion_to_their_length(tiny):
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    before = peak()
    assert len(encoded(tiny, [("a b c " * 10_000, "d e f " * 10_000)])["ids"][0]) == 32
    assert peak() - before < 300  # MiB; the product of both texts' pieces took 5,600


@pytest.mark.parametrize(("text", "ids"), GOLDEN)
def test_ids_of_the_embedded_tokenizer_are_pinned(tiny, text, ids):
    assert encoded(tiny, [(text, None)])["ids"] == [ids]


def test_the_embedded_tokenizer_keeps_vowel_signs_and_case(own):
    assert own.tokenize("कि की क") == ["कि", "की", "क"]
    assert "".join(own.tokenize("முதலமைச்சர்")).replace("##", "") == "முதலமைச்சர்"
    assert own.tokenize("Il") != own.tokenize("il")


def test_ids_are_the_tokenizers_own_cut_on_the_right(tmp_path, tiny, own):
    arrays = arrays_of([[(text, None)] for text in TEXTS], tiny, tmp_path)
    assert (arrays.claims, arrays.per_claim, arrays.lengths.shape) == (len(TEXTS), 1, (len(TEXTS), 1))
    for row, text in enumerate(TEXTS):
        ids, second = arrays.sequence(row, 0)
        expected = own(text, truncation=True, max_length=32)["input_ids"]
        assert ids.tolist() == expected
        assert second == len(ids) == arrays.lengths[row, 0]
    uncut = own(LONG)["input_ids"]
    assert len(uncut) > 512
    assert arrays.sequence(len(TEXTS) - 1, 0)[0].tolist() == [*uncut[:31], uncut[-1]]


@pytest.mark.parametrize("max_length", [4, 360, 512])
def test_no_sequence_is_longer_than_max_length(max_length):
    tokeniser = Tokeniser("tiny", max_length)
    texts = [(LONG, None), (LONG, ""), ("", LONG), (LONG, LONG)]
    assert [len(ids) for ids in encoded(tokeniser, texts)["ids"]] == [max_length] * 4


def test_pairs_are_the_tokenizers_own_cut_longest_first(tmp_path, tiny, own):
    pairs = [(claim, snippet) for claim in TEXTS for snippet in TEXTS]
    arrays = arrays_of([[pair] for pair in pairs], tiny, tmp_path)
    for row, pair in enumerate(pairs):
        ids, second = arrays.sequence(row, 0)
        # As a list: given one pair alone, transformers takes an empty second text for none.
        expected = own([pair], truncation="longest_first", max_length=32, return_token_type_ids=True)
        assert ids.tolist() == expected["input_ids"][0]
        assert [0] * second + [1] * (len(ids) - second) == expected["token_type_ids"][0]


def test_a_very_long_claim_with_an_empty_snippet_keeps_the_claim(tiny, own):
    batch = encoded(tiny, [(LONG, ""), ("", LONG), (LONG, LONG)])
    words = own(LONG, add_special_tokens=False)["input_ids"]
    cls, sep = own.cls_token_id, own.sep_token_id
    assert batch["ids"][0] == [cls, *words[:29], sep, sep]
    assert batch["ids"][1] == [cls, sep, *words[:29], sep]
    assert batch["ids"][2] in ([cls, *words[:15], sep, *words[:14], sep], [cls, *words[:14], sep, *words[:15], sep])
    assert batch["second"][:2] == [31, 2]


def test_an_encoder_without_segments_has_no_second_one(tmp_path):
    folder = save_tokenizer(tmp_path, second_segment=0)
    batch = encoded(Tokeniser(str(folder), 16), [("abc", "de")])
    assert batch["second"] == [len(batch["ids"][0])] == [8]


@pytest.mark.parametrize(
    ("normalizer", "left"),
    [
        (normalizers.BertNormalizer(lowercase=True), ["क", "##ि", "क", "க"]),  # as bert-base-multilingual-uncased
        (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), ["क", "क", "க"]),
    ],
)
def test_a_tokenizer_that_strips_vowel_signs_is_warned_of(tmp_path, capsys, normalizer, left):
    uncased = save_tokenizer(tmp_path, normalizer)
    assert Tokeniser(str(uncased), 16).tokenizer.tokenize("कि कु கீ") == left
    said = capsys.readouterr().err
    assert f"warning: the tokenizer of {uncased} strips vowel signs of Hindi, Tamil" in said


def test_a_tokenizer_that_keeps_vowel_signs_is_not_warned_of(tmp_path, capsys):
    cased = save_tokenizer(tmp_path)
    assert Tokeniser(str(cased), 16).tokenizer.tokenize("कि कु கீ") == ["क", "##ि", "क", "##ु", "க", "##ீ"]
    Tokeniser("tiny", 16)
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_no_encoder_is_named_in_one_line(tmp_path):
    with pytest.raises(UserError) as caught:
        Tokeniser(str(tmp_path), 16)
    assert str(caught.value).startswith(f"encoder.name={tmp_path}: neither a folder with config.json and a tokenizer")
    assert "\n" not in str(caught.value)


def test_the_same_text_is_tokenised_once(tmp_path, tiny):
    rows = [[(text, None)] for text in TEXTS]
    first = arrays_of(rows, tiny, tmp_path)
    (file,) = tmp_path.iterdir()
    os.utime(file, ns=(1, 1))
    second = arrays_of(rows, Tokeniser("tiny", 32), tmp_path)
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mtime_ns == 1
    assert [second.sequence(row, 0)[0].tolist() for row in range(len(rows))] == [
        first.sequence(row, 0)[0].tolist() for row in range(len(rows))
    ]


def test_other_text_layout_length_or_tokenizer_is_tokenised_anew(tmp_path, tiny):
    folder = save_tokenizer(tmp_path / "encoder")
    cache = tmp_path / "cache"
    arrays_of([[("a b", None)]], tiny, cache)
    arrays_of([[("a c", None)]], tiny, cache)
    arrays_of([[("a b", "")]], tiny, cache)
    arrays_of([[("a", "b")]], tiny, cache)
    arrays_of([[("a", None), ("b", None)]], tiny, cache)
    arrays_of([[("a", None)], [("b", None)]], tiny, cache)
    arrays_of([[("a b", None)]], Tokeniser("tiny", 31), cache)
    arrays_of([[("a b", None)]], Tokeniser(str(folder), 32), cache)
    assert len(list(cache.iterdir())) == 8


def test_nothing_is_left_behind_when_tokenising_fails(tmp_path, tiny):
    rows = [[("fine", None)]] * CLAIMS_PER_CHUNK + [[("half a character: \ud83d", None)]]
    with pytest.raises(TypeError):
        arrays_of(rows, tiny, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rows_beyond_one_chunk_are_each_in_their_place(tmp_path, tiny, own):
    claims, _ = Corpus(DataConfig(limit=CLAIMS_PER_CHUNK + 6)).read("train.all.tsv")
    text = TextOptions(num_snippets=1)
    arrays = arrays_of([text.sequences(claim, "claim+snippets") for claim in claims], tiny, tmp_path)
    assert (arrays.claims, arrays.per_claim) == (CLAIMS_PER_CHUNK + 6, 2)
    for row in (0, 1, CLAIMS_PER_CHUNK - 1, CLAIMS_PER_CHUNK, CLAIMS_PER_CHUNK + 5):
        for place, expected in enumerate((claims[row].claim, claims[row].evidence[0])):
            ids = own(expected, truncation=True, max_length=32)["input_ids"]
            assert arrays.sequence(row, place)[0].tolist() == ids
            assert arrays.lengths[row, place] == len(ids)


def test_sequences_lie_one_after_another():
    ids = [(np.array([2, 5, 3]), 3), (np.array([2, 5, 3, 6, 7, 3]), 3)]
    assert {name: tensor.tolist() for name, tensor in flat(ids).items()} == {
        "input_ids": [2, 5, 3, 2, 5, 3, 6, 7, 3],
        "token_type_ids": [0, 0, 0, 0, 0, 0, 1, 1, 1],
        "position_ids": [0, 1, 2, 0, 1, 2, 3, 4, 5],
    }


def sequences_of(batch: Batch) -> list[tuple[list[int], list[int]]]:
    """(ids, segments) of each sequence, claim-major."""
    names = ("input_ids", "token_type_ids", "position_ids")
    rows = list(zip(*(batch.tokens[name].split(batch.lengths) for name in names), strict=True))
    assert all(places.tolist() == list(range(len(places))) for _, _, places in rows)
    return [(rows[place][0].tolist(), rows[place][1].tolist()) for place in batch.restore.tolist()]


WORDS = st.lists(st.sampled_from(["a", "b", "c d e", "f g h i a b c d"]), max_size=6).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(
    texts=st.integers(1, 4).flatmap(
        lambda places: st.lists(
            st.lists(st.tuples(WORDS, st.none() | WORDS), min_size=places, max_size=places), min_size=1, max_size=20
        )
    ),
    data=st.data(),
)
def test_lengths_and_restore_give_back_every_sequence(tmp_path_factory, tiny, texts, data):
    arrays = arrays_of(texts, tiny, tmp_path_factory.mktemp("tokens"))
    labels = np.arange(len(texts)) % 7
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=30)))
    batch = Claims(labels, arrays)[rows, 99]
    expected = [arrays.sequence(row, place) for row in rows for place in range(arrays.per_claim)]
    assert sequences_of(batch) == [(ids.tolist(), [0] * second + [1] * (len(ids) - second)) for ids, second in expected]
    assert (batch.index.tolist(), batch.labels.tolist(), batch.step_rows) == (rows.tolist(), labels[rows].tolist(), 99)


def test_sequences_of_a_batch_are_ordered_by_length(tmp_path, tiny):
    texts = [[("a " * (number % 29), None)] for number in range(64)]
    batch = Claims(np.zeros(64, int), arrays_of(texts, tiny, tmp_path))[np.arange(64), 64]
    assert batch.lengths == sorted(batch.lengths)
    assert sum(batch.lengths) == len(batch.tokens["input_ids"])


def test_a_split_without_tokens_has_labels_alone():
    claims = Claims(np.array([3, 1, 2]), None)
    batch = claims[np.array([2, 0]), 2]
    assert len(claims) == 3
    assert (batch.index.tolist(), batch.labels.tolist(), batch.lengths, len(batch.restore)) == ([2, 0], [2, 3], [], 0)


def order(sampler: Shuffled, epoch: int = 0) -> list[int]:
    sampler.set_epoch(epoch)
    return [int(row) for part, _ in sampler for row in part]


SIZES = {"rows": st.integers(1, 60), "batch_size": st.integers(1, 20), "accumulate": st.integers(1, 24)}


@settings(deadline=None)
@given(**SIZES, seed=st.integers(0, 2**32 - 1), epoch=st.integers(0, 20))
def test_training_order_has_each_row_once_an_epoch_in_steps_that_know_their_rows(
    rows, batch_size, accumulate, seed, epoch
):
    sampler = Shuffled(rows, batch_size, accumulate, seed)
    sampler.set_epoch(epoch)
    batches = list(sampler)
    assert sorted(np.concatenate([batch for batch, _ in batches]).tolist()) == list(range(rows))
    assert len(sampler) == len(batches)
    steps, left = [], 0
    for batch, step_rows in batches:
        assert len(batch) > 0
        if left == 0:
            steps.append([])
            left = step_rows
        assert step_rows == left + sum(steps[-1])
        steps[-1].append(len(batch))
        left -= len(batch)
    assert left == 0
    full, rest = divmod(rows, batch_size)
    assert [sum(step) for step in steps] == [batch_size] * full + [rest] * (rest > 0)
    assert all(len(step) == min(accumulate, sum(step)) for step in steps)
    assert all(max(step) - min(step) <= 1 for step in steps)


@settings(deadline=None)
@given(**SIZES, seed=st.integers(0, 2**32 - 1), epoch=st.integers(0, 20))
def test_training_order_is_decided_by_seed_and_epoch_alone(rows, batch_size, accumulate, seed, epoch):
    used = Shuffled(rows, batch_size, accumulate, seed)
    torch.rand(1), np.random.rand(), order(used, 5)
    assert order(used, epoch) == order(Shuffled(rows, 1, 1, seed), epoch)


@settings(deadline=None)
@given(**SIZES, ranks=st.integers(1, 5), work=st.data())
def test_ranks_share_each_part_of_a_step(rows, batch_size, accumulate, ranks, work):
    tokens = np.array(work.draw(st.lists(st.integers(1, 500), min_size=rows, max_size=rows)))
    of_ranks = [list(Shuffled(rows, batch_size, accumulate, 1, rank, ranks, tokens)) for rank in range(ranks)]
    assert len({len(batches) for batches in of_ranks}) == 1
    seen = []
    for together in zip(*of_ranks, strict=True):
        part = [int(row) for rows_of_rank, _ in together for row in rows_of_rank]
        sums = [int(tokens[rows_of_rank].sum()) for rows_of_rank, _ in together]
        assert max(sums) - min(sums) <= max(tokens[part])
        assert len({step_rows for _, step_rows in together}) == 1
        seen.append(part)
    assert sorted(row for part in seen for row in part) == list(range(rows))
    alone = Shuffled(rows, batch_size, min(accumulate, -(-batch_size // ranks)), 1)
    if rows % batch_size == 0:
        assert [sorted(part) for part in seen] == [sorted(part.tolist()) for part, _ in alone]


def test_the_longest_claims_go_to_different_ranks():
    assert shares(np.array([9, 1, 8, 2]), 2).tolist() == [0, 0, 1, 1]
    assert shares(np.array([300, 10, 10, 10]), 2).tolist() == [0, 1, 1, 1]
    assert shares(np.array([5, 5, 5, 5]), 2).tolist() == [0, 1, 0, 1]
    assert shares(np.array([4]), 3).tolist() == [0]


def test_training_order_differs_between_epochs_and_seeds():
    orders = [order(Shuffled(1_000, 8, 1, seed), epoch) for seed in (0, 1, 2) for epoch in (0, 1, 2)]
    assert len({tuple(rows) for rows in orders}) == 9
    assert list(range(1_000)) not in orders


@settings(deadline=None)
@given(rows=st.integers(0, 60), batch_size=st.integers(1, 20))
def test_evaluation_order_has_every_row_once(rows, batch_size):
    sampler = ByLength(rows, batch_size, None)
    batches = list(sampler)
    assert [row for batch, _ in batches for row in batch] == list(range(rows))
    assert len(sampler) == len(batches)
    assert all(len(batch) == size <= batch_size for batch, size in batches)


def test_evaluation_order_is_by_length(tmp_path, tiny):
    texts = [[("a " * (number * 7 % 20), None), ("b", None)] for number in range(20)]
    arrays = arrays_of(texts, tiny, tmp_path)
    rows = [int(row) for batch, _ in ByLength(20, 3, arrays) for row in batch]
    assert rows == sorted(range(20), key=lambda number: number * 7 % 20)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_a_loader_gives_every_row_with_its_own_label_and_tokens(tmp_path, tiny, batch_size):
    claims, _ = Corpus(DataConfig(limit=50)).read("dev.all.tsv")
    arrays = arrays_of([TextOptions().sequences(claim, "claim+snippets") for claim in claims], tiny, tmp_path)
    dataset = Claims(np.arange(50) + 100, arrays)
    for sampler in (Shuffled(50, batch_size, 1, 1), ByLength(50, batch_size, arrays)):
        seen = []
        for batch in DataLoader(dataset, sampler=sampler, batch_size=None):
            rows = batch.index.tolist()
            assert batch.labels.tolist() == [row + 100 for row in rows]
            ids = [ids for ids, _ in sequences_of(batch)]
            assert ids == [arrays.sequence(row, place)[0].tolist() for row in rows for place in range(6)]
            seen += rows
        assert sorted(seen) == list(range(50))


def test_an_encoder_without_a_network_is_asked_for_once(monkeypatch, tmp_path, capfd):
    """One request for all jobs of a command, without the libraries' retries for each file."""
    asked = []

    def refuse(self, name, timeout):
        asked.append(name)
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    monkeypatch.setenv("XFACT_SHARED", str(tmp_path))
    for _ in range(3):
        with pytest.raises(UserError, match=r"encoder\.name=nobody/has-this: neither .*\(Name or service not known\)"):
            load_tokenizer("nobody/has-this")
    assert asked == ["nobody/has-this"]
    assert capfd.readouterr().err.count("encoder nobody/has-this: asking https://") == 1


def test_an_encoder_in_the_cache_needs_no_network(monkeypatch):
    def refuse(self, name, timeout):
        raise ConnectionError

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda name, file: "/cache/config.json")
    assert hub_options("somebody/has-this") == {"local_files_only": True}
    assert hub_options("tiny") == {}
