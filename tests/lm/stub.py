"""A causal language model of random weights, and an API that answers as it is told, or misbehaves."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def make_tiny(folder: Path) -> Path:
    """GPT-2's shape with two layers of 32, seeded, and a byte-level tokenizer made of the invented rows."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    from xfact.data.veryfit import INVENTED

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator([INVENTED.read_text()], trainer)
    special = {"eos_token": "<end>", "bos_token": "<end>", "pad_token": "<end>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, **special)
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(3)
    shape = {"n_positions": 4096, "n_embd": 32, "n_layer": 2, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **shape))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


Reply = tuple[int, Any]  # HTTP status and body: JSON, or a text as it is


@dataclass
class Api:
    """What an API was asked."""

    address: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [prompt_of(asked) for asked in self.asked]


def prompt_of(asked: dict[str, Any]) -> Any:
    """Of a chat its last message; of a completion its prompt, tokens where they were sent."""
    return asked["messages"][-1]["content"] if "messages" in asked else asked["prompt"]


@contextmanager
def api(reply: Callable[[Any, int], Reply | None]) -> Iterator[Api]:
    """An OpenAI-compatible server on localhost; `reply` gets the prompt and how often it was asked before."""
    seen, lock = Api(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = prompt_of(body)
            with lock:
                before = seen.prompts.count(prompt)
                seen.asked.append(body)
                seen.headers.append(dict(self.headers))
            given = reply(prompt, before)
            if given is None:  # hang up
                self.connection.close()
                return
            status, content = given
            data = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seen.address = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()


def says(text: str | None, tokens: tuple[int, int] = (50, 2)) -> Reply:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}}
