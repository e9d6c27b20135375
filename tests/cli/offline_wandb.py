"""A reader of W&B's offline files, which wandb has no more: seven bytes of header, then LevelDB log blocks."""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wandb.proto.wandb_internal_pb2 import Record

HEADER, BLOCK, START = 7, 32_768, 7  # bytes: of the file, of a block, of a chunk (CRC 4, length 2, type 1)
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass
class Offline:
    """One W&B run as `wandb sync` would send it."""

    path: Path
    run: Any = None
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)  # how each is summarised
    artifacts: list[str] = field(default_factory=list)
    exit_code: int | None = None


def payloads(data: bytes) -> list[bytes]:
    """The records of a file, put together from their chunks."""
    found, part, at = [], b"", HEADER
    while at + START <= len(data):
        room = BLOCK - at % BLOCK
        if room < START:
            at += room
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        if kind == 0:
            at += room
            continue
        chunk = data[at + START : at + START + length]
        part = chunk if kind in (FULL, FIRST) else part + chunk
        if kind in (FULL, LAST):
            found.append(part)
        at += START + length
    return found


def read(path: Path) -> Offline:
    """One `.wandb` file."""
    found = Offline(path)
    for payload in payloads(path.read_bytes()):
        record = Record.FromString(payload)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            found.run = record.run
            found.config |= {one.key: json.loads(one.value_json) for one in record.run.config.update}
        elif kind == "summary":
            for one in record.summary.update:
                keys = [one.key] if one.key else list(one.nested_key)
                place = found.summary
                for key in keys[:-1]:
                    place = place.setdefault(key, {})
                place[keys[-1]] = json.loads(one.value_json)
        elif kind == "history":
            found.history.append(
                {(one.key or ".".join(one.nested_key)): json.loads(one.value_json) for one in record.history.item}
            )
        elif kind == "metric":
            found.metrics[record.metric.name or record.metric.glob_name] = record.metric
        elif kind == "artifact":
            found.artifacts.append(record.artifact.name)
        elif kind == "exit":
            found.exit_code = record.exit.exit_code
    return found


def offline_runs(folder: Path) -> list[Offline]:
    """Every W&B file below a folder, oldest first."""
    return [read(path) for path in sorted(folder.glob("**/offline-run-*/*.wandb"))]
