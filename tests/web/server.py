"""A web server on localhost that does as it is told: well, badly, or slowly."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from xfact.web.config import FetchConfig


@dataclass
class Request:
    """What was asked."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    before: int  # requests of the same path before it
    when: float = field(default_factory=time.monotonic)


@dataclass
class Answer:
    """What is answered: a body at once, or pieces with Content-Length left out."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def page(text: str, title: str = "A page", date: str = "", **headers: str) -> Answer:
    """An HTML page with one long paragraph or more."""
    day = f'<meta property="article:published_time" content="{date}T10:00:00Z">' if date else ""
    body = "".join(f"<p>{part}</p>" for part in text.split("\n"))
    html = (
        f"<html><head><title>{title}</title>{day}</head><body><article><h1>{title}</h1>{body}</article></body></html>"
    )
    return Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"} | headers)


def to(link: str) -> Answer:
    """A redirect."""
    return Answer(status=302, headers={"Location": link})


Route = Answer | Callable[[Request], Answer]


@dataclass
class Site:
    """A running server and what it was asked; `host` is the name that is in its addresses."""

    port: int
    routes: dict[str, Route]
    asked: list[Request] = field(default_factory=list)

    def address(self, path: str, host: str = "localhost") -> str:
        return f"http://{host}:{self.port}{path}"

    def times(self, path: str) -> int:
        return sum(one.path == path for one in self.asked)


@contextmanager
def serve(**routes: Route) -> Iterator[Site]:
    """A server of `/name` for each route; robots.txt is `robots`, absent if not given."""
    named = {f"/{name}": route for name, route in routes.items()}
    if "/robots" in named:
        named["/robots.txt"] = named.pop("/robots")
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            with lock:
                request = Request(parts.path, dict(parse_qsl(parts.query)), dict(self.headers), site.times(parts.path))
                site.asked.append(request)
            route = site.routes.get(parts.path, Answer(status=404))
            with suppress(OSError):  # the client has gone
                self.reply(route(request) if callable(route) else route)

        def reply(self, answer: Answer) -> None:
            self.send_response(answer.status)
            whole = isinstance(answer.body, bytes)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if whole and "Content-Length" not in answer.headers:
                self.send_header("Content-Length", str(len(answer.body)))
            elif not whole:
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            for piece in [answer.body] if whole else answer.body:
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Site(server.server_port, named)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


def settings(**changes: Any) -> FetchConfig:
    """A hurried client that may go to localhost, by name only."""
    quick = {"delay": 0.0, "timeout": 2.0, "read_timeout": 1.0, "tries": 1, "longest_wait": 2.0}
    return FetchConfig(**quick | {"allow_private": ["localhost"]} | changes)
