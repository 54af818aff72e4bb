from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import digest_bytes
from heredity.records import Blob, BlobStore

_SRC = str(Path(__file__).parents[2] / "src")


@settings(max_examples=25, deadline=None)
@given(contents=st.lists(st.binary(max_size=200), max_size=6))
def test_what_is_put_is_got_back_by_its_digest(tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]) -> None:
    store = BlobStore(tmp_path_factory.mktemp("blobs") / "b")
    store.put_many([Blob.of(c) for c in contents])
    for content in contents:
        assert store.put(content) == digest_bytes(content)
        assert store.get(digest_bytes(content)) == content


def test_a_stored_blob_is_not_written_again(tmp_path: Path) -> None:
    digest = BlobStore(tmp_path / "b").put(b"x")
    path = BlobStore(tmp_path / "b").path(digest)
    before = path.stat()
    BlobStore(tmp_path / "b").put(b"x")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_damaged_blob_is_reported(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "b")
    digest = store.put(b"content")
    store.path(digest).write_bytes(b"contenu")
    with pytest.raises(DamagedRecordError, match="does not match"):
        store.get(digest)


def test_a_missing_blob_is_reported(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "b")
    assert not store.has("0" * 64)
    with pytest.raises(DamagedRecordError, match="cannot be read"):
        store.get("0" * 64)


def test_files_of_an_interrupted_writer_are_swept(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "b")
    digest = store.put(b"x")
    (store.path(digest).parent / ".tmp-1-0").write_bytes(b"half")
    assert store.sweep() == 1
    assert [p.name for p in store.path(digest).parent.iterdir()] == [digest]


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a file where the folder should be")
    with pytest.raises(RecordError, match="could not be written"):
        BlobStore(tmp_path / "b").put(b"x")


FULL_DISK = """
import resource, sys
from pathlib import Path
from heredity._core.errors import RecordError
from heredity.records import BlobStore
store = BlobStore(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
try:
    store.put(b"y" * 1000)
except RecordError as error:
    sys.stdout.write(str(error))
"""


def test_no_partial_blob_is_left_when_the_disk_is_full(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "b")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": _SRC})
    assert "could not be written" in done.stdout
    assert [p for p in (tmp_path / "b").rglob("*") if p.is_file()] == []
