"""Tokenizers of single characters in the manner of the families of encoders."""

from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, PreTrainedTokenizerFast, XLMRobertaConfig

CASED = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
FAMILIES = ["bert", "unigram", "bytes", "characters"]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SIGNS = [*"abcdefghijklmnopqrstuvwxyzABHS[]<>/▁"]


def save_tokenizer(folder: Path, normalizer: normalizers.Normalizer = CASED, second_segment: int = 1) -> Path:
    """A WordPiece tokenizer of single characters."""
    signs = "abcdefghiकिुகீ"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *signs, *[f"##{sign}" for sign in signs]]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A [SEP] $B:{second_segment} [SEP]:{second_segment}",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    BertConfig(vocab_size=len(vocabulary)).save_pretrained(folder)
    return folder


def save_family(folder: Path, family: str, mask: str = "<mask>") -> Path:
    """A tokenizer of single characters in the manner of a family of encoders."""
    if family == "bert":
        return save_tokenizer(folder)
    pair = "<s> $A </s> </s> $B </s>"
    if family == "unigram":  # XLM-R, mDeBERTa, CamemBERT: the special tokens are pieces too
        pieces = [(piece, -3.0) for piece in [*SPECIAL, *SIGNS, mask]]
        tokenizer = Tokenizer(models.Unigram(pieces, SPECIAL.index("<unk>"), False))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        )
    else:  # RoBERTa, GPT, ModernBERT: bytes; or Gemma, mmBERT: characters without words
        signs = sorted(pre_tokenizers.ByteLevel.alphabet()) if family == "bytes" else SIGNS
        vocabulary = {piece: number for number, piece in enumerate([*SPECIAL, *signs, mask])}
        tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
        if family == "bytes":
            tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        else:
            tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair=pair, special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "mask_token": mask}
    names |= {"pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    XLMRobertaConfig(vocab_size=tokenizer.get_vocab_size()).save_pretrained(folder)
    return folder
