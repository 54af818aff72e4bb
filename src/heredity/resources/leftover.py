"""What a killed process leaves beside a store: whether the `-wal` file still holds every transaction that was acknowledged.

SQLite ends its recovery at the first frame of the `-wal` file whose checksum is wrong, so that later transactions are gone
without a word. The `-shm` file beside it, which recovery throws away, knows better: SQLite writes the number of frames into
it after they were synced (sqlite.org/walformat.html), so a `-wal` file with fewer intact frames has lost some of them.
"""

from __future__ import annotations

import struct
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_WAL_HEADER, _FRAME_HEADER = 32, 24
_INDEX_VERSION = 3007000
_RACE_S = 0.05
Sums = tuple[int, int]


def lost_frames(path: Path) -> str:
    """Say what is missing from a store's `-wal` file; `""` if nothing is, or if nothing is known.

    To be called only while this process has the store open nowhere: closing the `-shm` file would drop SQLite's locks.
    """
    if not _compare(path):
        return ""
    # A process that is writing right now may have changed one file between the readings of the two.
    time.sleep(_RACE_S)
    return _compare(path)


def _compare(path: Path) -> str:
    index = _read(path.with_name(path.name + "-shm"))[:100]
    if len(index) < 100 or index[:48] != index[48:96] or struct.unpack_from("=I", index)[0] != _INDEX_VERSION:
        return ""
    if _sums(index[:40], (0, 0), sys.byteorder) != struct.unpack_from("=II", index, 40):
        return ""
    frames, folded = struct.unpack_from("=I", index, 16)[0], struct.unpack_from("=I", index, 96)[0]
    if folded >= frames:
        return ""
    wal = path.with_name(path.name + "-wal")
    intact = _intact_frames(_read(wal), index[32:40], frames)
    return "" if intact == frames else f"{wal} has {intact} intact frames of {frames} that were written"


def _intact_frames(wal: bytes, salts: bytes, most: int) -> int:
    if len(wal) < _WAL_HEADER or wal[16:24] != salts:
        return 0
    order = "big" if wal[3] & 1 else "little"
    sums = _sums(wal[:24], (0, 0), order)
    if sums != struct.unpack_from(">II", wal, 24):
        return 0
    size = _FRAME_HEADER + struct.unpack_from(">I", wal, 8)[0]
    for number in range(most):
        frame = wal[_WAL_HEADER + number * size : _WAL_HEADER + (number + 1) * size]
        if len(frame) < size or frame[8:16] != salts:
            return number
        sums = _sums(frame[:8] + frame[_FRAME_HEADER:], sums, order)
        if sums != struct.unpack_from(">II", frame, 16):
            return number
    return most


def _sums(data: bytes, before: Sums, order: str) -> Sums:
    """Return SQLite's running checksum: `a += x + b; b += y + a` over pairs of 32-bit words, here as one product."""
    words = np.frombuffer(data, ">u4" if order == "big" else "<u4").astype(np.uint64)
    weights = _weights(len(words) // 2 + 1)
    a, b = weights @ np.concatenate((np.array([before[0], before[1] - before[0]], np.int64).astype(np.uint64), words))
    return int(a) & 0xFFFFFFFF, int(b) & 0xFFFFFFFF


@cache
def _weights(pairs: int) -> npt.NDArray[np.uint64]:
    """Return what each word adds to the two sums, modulo 2**32, shape (2, 2 * pairs)."""
    step, weights = np.array([[1, 1], [1, 2]], np.uint64), np.zeros((2, 2 * pairs), np.uint64)
    column = np.array([[1, 0], [1, 1]], np.uint64)
    for pair in reversed(range(pairs)):
        weights[:, 2 * pair : 2 * pair + 2] = column
        column = (step @ column) & np.uint64(0xFFFFFFFF)
    return weights


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
