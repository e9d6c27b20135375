"""How the embedded encoder's vocabulary was made: `python -m xfact.models.tiny.build <folder>` writes it again.

A cased WordPiece of 16,000 tokens from the claims and snippets of the sample's training rows, and the shape of a
two-layer BERT without weights: they are drawn from the run's seed. The trainer breaks ties in no fixed order, so a
rebuild differs in some tokens; the shipped files are the encoder, pinned by a golden test.
"""

import sys
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast

from xfact.config import PACKAGE
from xfact.data.tsv import read_tsv

VOCABULARY = 16_000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def texts() -> list[str]:
    """Claims and non-empty snippets of the sample's training rows, in file order."""
    rows = read_tsv(PACKAGE / "data" / "sample" / "train.all.tsv", Counter())
    return [text for row in rows for text in (row.claim, *row.evidence) if text]


def build(folder: Path) -> None:
    """Write tokenizer and config to a folder."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", cls), ("[SEP]", sep)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    fast.save_pretrained(folder)
    BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=256,
    ).save_pretrained(folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
