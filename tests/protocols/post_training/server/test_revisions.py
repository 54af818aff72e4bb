from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from heredity.protocols.post_training.server import agent_run as revisions
from heredity.protocols.post_training.server.agent_run import Revisions
from heredity.protocols.post_training.server.workspace import TrainingWorkspace
from heredity.records import Blob
from heredity.records.journal import Line

from .tiny import checkpoint, terms


class Kept:
    """A workspace, and what was recorded of its code."""

    def __init__(self, folder: Path) -> None:
        self.workspace = TrainingWorkspace(folder / "workspace", terms(checkpoint(folder / "base")))
        self.workspace.prepare()
        self.code = self.workspace.root / "code"
        self.lines: list[dict[str, Any]] = []
        self.blobs: dict[str, bytes] = {}
        self.revisions = self.begin()

    def begin(self) -> Revisions:
        """Begin as a process that finds what is recorded."""
        return Revisions(self.workspace, self.note, list(self.lines))

    async def note(self, line: Line, blobs: Sequence[Blob] = ()) -> None:
        kind, data = line
        assert kind == "code.revised"
        self.lines.append(dict(data))
        self.blobs |= {blob.digest: blob.data for blob in blobs}

    async def write(self, text: str) -> None:
        (self.code / "train.py").write_text(text)
        await self.revisions.note(1.0)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


async def test_code_is_kept_when_it_differs(kept: Kept) -> None:
    await kept.revisions.note(0.0)
    for text in ("a = 1", "a = 1", "a = 2"):
        await kept.write(text)
    assert [(line["revision"], line["files"]) for line in kept.lines] == [(1, ["train.py"]), (2, ["train.py"])]
    assert [line["bytes"] for line in kept.lines] == [len(kept.blobs[line["blob"]]) for line in kept.lines]
    with tarfile.open(fileobj=io.BytesIO(kept.blobs[kept.lines[1]["blob"]])) as archive:
        assert archive.getnames() == ["train.py"]


async def test_code_is_kept_until_there_is_no_more_room(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MOST_BYTES", 300_000)
    kept.revisions = kept.begin()
    for number in range(40):
        await kept.write(f"a = {number}\n" + "x" * 50_000)
    assert sum(len(data) for data in kept.blobs.values()) <= 300_000
    assert [line["blob"] is None for line in kept.lines] == [False] * 4 + [True]
    assert (kept.lines[-1]["full"], kept.lines[-1]["files"]) == (True, [])
    assert "no later one is kept" in kept.lines[-1]["reason"]


async def test_another_process_keeps_no_more_either(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MOST_BYTES", 100_000)
    kept.revisions = kept.begin()
    await kept.write("x" * 60_000)
    kept.revisions = kept.begin()
    await kept.write("y" * 60_000)
    assert [line["blob"] is None for line in kept.lines] == [False, True]
    kept.revisions = kept.begin()
    await kept.write("small")
    assert [line["revision"] for line in kept.lines] == [1, 2]


async def test_a_file_that_cannot_be_kept_is_left_out_and_named(kept: Kept) -> None:
    code = kept.code
    for name in ("back\\slash.py", "new\nline.py", "half\udc80.py"):
        (code / name).write_text("a = 0")
    (code / "deep").mkdir()
    os.symlink("/etc/passwd", code / "deep" / "link")
    os.symlink("/etc", code / "folder")
    os.mkfifo(code / "pipe")
    with (code / "data.bin").open("wb") as file:
        file.truncate(40 << 20)
    (code / "deep" / "lora.py").write_text("b = 1")
    await kept.write("a = 1")
    assert [line["files"] for line in kept.lines] == [["deep/lora.py", "train.py"]]
    reasons = kept.lines[0]["reason"].split("; ")
    for entry in ("back\\\\slash.py", "data.bin", "deep/link", "folder"):
        assert any(entry in reason for reason in reasons), entry
    assert "and 2 more" in reasons
    json.dumps(kept.lines[0]).encode()
    kept.revisions = kept.begin()
    await kept.revisions.note(1.0)
    assert len(kept.lines) == 1, "nothing has changed"


async def test_code_of_which_nothing_can_be_kept_is_noted_with_the_reason(kept: Kept) -> None:
    os.symlink("/etc/passwd", kept.code / "link")
    await kept.revisions.note(1.0)
    await kept.write("a = 2")
    await kept.write("a = 3")
    (kept.code / "link").unlink()
    await kept.write("a = 3")
    assert [line["blob"] is None for line in kept.lines] == [True, False, False, False]
    assert ["link is a link" in line.get("reason", "") for line in kept.lines] == [True, True, True, False]
    assert [line["revision"] for line in kept.lines] == [1, 2, 3, 4]


async def test_lines_are_bounded_like_blobs(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MOST_BYTES", 50_000)
    kept.revisions = kept.begin()
    for number in range(100):
        os.symlink("/etc/passwd", kept.code / f"link-{number}")
        await kept.revisions.note(1.0)
        (kept.code / f"link-{number}").unlink()
    assert len(kept.lines) < 20
    assert kept.lines[-1]["full"]
