from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import canonical_json
from heredity.records import Journal, read_chain, read_journal

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENCODABLE = JSON.filter(lambda value: _encodable(value))


def _encodable(value: object) -> bool:
    try:
        canonical_json(value)
    except UnicodeEncodeError:
        return False
    return True


def _filled(path: Path, values: list[object]) -> bytes:
    journal = Journal.open(path, now=lambda: 1.5)
    for value in values:
        journal.append("note", {"value": value})
    journal.close()
    return path.read_bytes()


def test_events_are_read_back_as_they_were_appended(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j", now=lambda: 12.5)
    journal.append("a", {"x": [1, None, "ü\n"]})
    journal.append_many([("b", {}), ("c", {"y": 0.1})])
    journal.sync()
    assert read_journal(tmp_path / "j") == list(journal.events)
    assert [(e.seq, e.at, e.kind) for e in journal.events] == [(0, 12.5, "a"), (1, 12.5, "b"), (2, 12.5, "c")]


def test_each_line_is_json_with_the_chained_checksum_of_its_canonical_form(tmp_path: Path) -> None:
    head = bytes(32)
    for line in _filled(tmp_path / "j", [1, {"b": 2, "a": "ü"}, None]).splitlines():
        fields = json.loads(line)
        given = fields.pop("chain")
        head = hashlib.sha256(head + canonical_json(fields)).digest()
        assert given == head.hex()
    assert read_chain(tmp_path / "j").head == head.hex()


@given(values=st.lists(ENCODABLE, min_size=1, max_size=5), data=st.data())
def test_a_journal_cut_at_any_byte_opens_with_its_whole_lines(values: list[object], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        whole = _filled(path, values)
        size = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:size])
        complete = whole[:size].count(b"\n")
        assert len(read_journal(path)) == complete
        journal = Journal.open(path)
        assert [e.data["value"] for e in journal.events] == values[:complete]
        assert journal.cut_bytes == size - len(b"".join(whole.splitlines(keepends=True)[:complete]))
        journal.append("more", {})
        journal.close()
        assert len(read_journal(path)) == complete + 1


@given(values=st.lists(ENCODABLE, min_size=1, max_size=5), data=st.data())
def test_any_flipped_byte_is_reported_or_cuts_the_last_line_only(values: list[object], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        whole = _filled(path, values)
        offset = data.draw(st.integers(0, len(whole) - 1))
        damaged = bytearray(whole)
        damaged[offset] ^= data.draw(st.integers(1, 255))
        path.write_bytes(damaged)
        if offset == len(whole) - 1:
            assert len(Journal.open(path).events) == len(values) - 1
            return
        with pytest.raises(DamagedRecordError, match=r"line \d+"):
            Journal.open(path)
        assert path.read_bytes() == bytes(damaged)


def test_damage_is_reported_with_its_line_number_and_the_torn_tail_is_left(tmp_path: Path) -> None:
    lines = _filled(tmp_path / "j", [1, 2, 3]).splitlines(keepends=True)
    damaged = lines[0] + lines[2] + b'{"torn'
    (tmp_path / "j").write_bytes(damaged)
    with pytest.raises(DamagedRecordError, match="line 2"):
        Journal.open(tmp_path / "j")
    assert (tmp_path / "j").read_bytes() == damaged


def test_a_torn_last_line_is_cut(tmp_path: Path) -> None:
    whole = _filled(tmp_path / "j", [1, 2])
    (tmp_path / "j").write_bytes(whole + b"\0" * 40)
    journal = Journal.open(tmp_path / "j")
    assert journal.cut_bytes == 40
    assert (tmp_path / "j").read_bytes() == whole


def test_a_sync_with_nothing_new_does_not_call_the_disk(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j")
    assert not journal.sync()
    journal.append("a", {})
    journal.append("b", {})
    assert journal.sync()
    assert not journal.sync()


def test_the_head_stands_for_every_line(tmp_path: Path) -> None:
    """A line that is changed, and every checksum after it made anew, is a whole journal of another head."""
    _filled(tmp_path / "j", [1, 2, 3])
    _filled(tmp_path / "other", [1, 5, 3])
    (tmp_path / "torn").write_bytes((tmp_path / "j").read_bytes()[:-3])
    chain, other, torn = (read_chain(tmp_path / name) for name in ("j", "other", "torn"))
    assert len({chain.head, other.head, torn.head}) == 3
    assert chain.torn_bytes == 0 < torn.torn_bytes
    assert torn.head == read_chain(tmp_path / "torn").head != chain.head


def test_what_is_no_event_is_damage(tmp_path: Path) -> None:
    for inner in (
        b"[]",
        b'{"at":1,"data":[],"kind":"a","seq":0}',
        b'{"at":1,"data":{},"kind":3,"seq":0}',
        b"[" * 200_000,
    ):
        payload = inner[:-1] + b"}"
        head = hashlib.sha256(bytes(32) + payload).hexdigest().encode()
        (tmp_path / "j").write_bytes(b'%b,"chain":"%b"}\n' % (payload[:-1], head))
        with pytest.raises(DamagedRecordError, match="not an event"):
            read_journal(tmp_path / "j")


def test_data_that_is_not_json_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j")
    for bad in (float("nan"), object(), "\ud800"):
        with pytest.raises(RecordError, match="'note'"):
            journal.append_many([("fine", {}), ("note", {"value": bad})])
    journal.append("good", {})
    assert [e.kind for e in read_journal(tmp_path / "j")] == ["good"]


def test_a_tail_can_be_cut_and_written_again(tmp_path: Path) -> None:
    for seq in range(3):
        journal = Journal.open(tmp_path / f"j{seq}")
        for i in range(3):
            journal.append("note", {"i": i})
        journal.cut_from(seq)
        journal.append("after", {})
        journal.close()
        assert [e.kind for e in read_journal(tmp_path / f"j{seq}")] == ["note"] * seq + ["after"]


def test_a_closed_journal_refuses_to_append(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j")
    journal.close()
    journal.close()
    with pytest.raises(RecordError, match="closed"):
        journal.append("a", {})


def test_a_missing_journal_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_journal(tmp_path / "none")
    with pytest.raises(RecordError, match="cannot be opened"):
        Journal.open(tmp_path / "none" / "j")


def test_threads_that_append_and_sync_leave_one_unbroken_chain(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j")

    def work(name: str) -> None:
        for i in range(50):
            journal.append(name, {"i": i})
            journal.sync()

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_journal(tmp_path / "j")
    assert len(events) == 200
    assert [e.data["i"] for e in events if e.kind == "t2"] == list(range(50))


FULL_DISK = """
import resource, sys
from pathlib import Path
from heredity._core.errors import RecordError
from heredity.records import Journal
journal = Journal.open(Path(sys.argv[1]))
journal.append("first", {"text": "x" * 100})
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
try:
    journal.append("big", {"text": "y" * 1000})
except RecordError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append("later", {})
journal.sync()
"""


def test_a_full_disk_is_one_error_and_the_partial_line_is_taken_back(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "j")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": _SRC})
    assert "could not be written" in done.stdout
    assert [e.kind for e in read_journal(tmp_path / "j")] == ["first", "later"]


_SRC = str(Path(__file__).parents[2] / "src")


def test_a_journal_of_an_earlier_format_is_refused_with_one_line_and_left_as_it_is(tmp_path: Path) -> None:
    payload = canonical_json({"seq": 0, "at": 1.5, "kind": "run.started", "data": {}})
    line = b'%b,"crc":"1a2b3c4d"}\n' % payload[:-1]
    (tmp_path / "j").write_bytes(line)
    for reading in (read_journal, Journal.open):
        with pytest.raises(
            RecordError, match=r"has format 1, and this version of Heredity reads format 4: repeat the run"
        ) as refused:
            reading(tmp_path / "j")
        assert not isinstance(refused.value, DamagedRecordError)
        assert "\n" not in str(refused.value)
    assert (tmp_path / "j").read_bytes() == line
