"""The text of pages, taken out in processes of their own: at a page made for it the parsers may work for hours.

`python -m xfact.retrieval.reader` is one of them: a JSON line in (content, link), a JSON line out (a document). It is
ended by its alarm clock in the middle of whatever it does, and by the end of its input.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import asdict

from xfact.config import PACKAGE
from xfact.retrieval.documents import Document, html_document
from xfact.web.refused import Reason, Refused

SECONDS = 20  # for one page
LINE = 2**26  # bytes that a document may have between the processes


class Readers:
    """So many processes, started when they are needed."""

    def __init__(self, number: int, seconds: int = SECONDS) -> None:
        self.number, self.seconds = number, seconds

    async def __aenter__(self) -> "Readers":
        self.free: asyncio.Queue[Process | None] = asyncio.Queue()
        for _ in range(self.number):
            self.free.put_nowait(None)
        return self

    async def __aexit__(self, *_: object) -> None:
        while not self.free.empty():
            await end(self.free.get_nowait())

    async def read(self, content: str, link: str) -> Document:
        """What a page says; Refused if that takes too long or breaks the process."""
        process = await self.free.get()
        done = False
        try:
            process = process or await start(self.seconds)
            assert process.stdin and process.stdout
            with suppress(ConnectionError):
                process.stdin.write(json.dumps({"content": content, "link": link}).encode() + b"\n")
                await process.stdin.drain()
            line = await process.stdout.readline()
            done = bool(line)
        finally:
            if not done:
                await end(process)
            self.free.put_nowait(process if done else None)
        if not done:
            raise Refused(Reason.UNREADABLE)
        return Document(**json.loads(line))


async def start(seconds: int) -> Process:
    """A process, out of the reach of the terminal's Ctrl-C."""
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "xfact.retrieval.reader", str(seconds), stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
        limit=LINE, start_new_session=True, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip


async def end(process: Process | None) -> None:
    """End a process, if it is not over."""
    if process is not None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def serve(seconds: int) -> None:
    """Read pages until there is none; SIGALRM, which nobody handles, ends the process."""
    import trafilatura  # noqa: F401 # before the clock runs

    for line in sys.stdin.buffer:
        page = json.loads(line)
        signal.alarm(seconds)
        document = html_document(page["content"], page["link"], page["link"])
        signal.alarm(0)
        sys.stdout.buffer.write(json.dumps(asdict(document)).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
