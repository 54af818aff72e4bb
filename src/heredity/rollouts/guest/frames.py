"""Frames on a pipe: a little-endian 32-bit length, then the payload; the first payload byte says what it is."""

from __future__ import annotations

import os
import select
import struct

HEADER = struct.Struct("<I")

# Host to guest.
STEP = b"S"
"""count:u16, positions:u16*count, how:u8, then the observations.

`how` is 0 for packed observations, 1 for pickled ones, 2 for packed ones that follow size:u32 and the pickled new texts.
"""

# Guest to host.
UNCONFINED = b"U"
"""Text: confinement failed, and the program was not loaded."""
CONFINED = b"C"
"""Empty: every layer is in place; what fails from here on is the program's fault."""
READY = b"R"
"""JSON: {"failure": null | {...}, "act": [file, line, name], "failures": {position: {...}}, "out": {...}}."""
ACTIONS = b"A"
"""The actions of all positions asked for, in order."""
MIXED = b"M"
"""size:u32, JSON {"failures": {position: {...}}, "out": {position: [stdout, stderr]}}, then the other positions' actions."""


def read_exactly(fd: int, size: int) -> bytearray:
    """Read `size` bytes, sleeping until they come; raise EOFError when the descriptor ends before."""
    data = bytearray()
    while len(data) < size:
        select.select([fd], [], [])
        part = os.read(fd, size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_frame(fd: int, spins: int = 0) -> bytearray:
    """Read one frame's payload; raise EOFError at its end.

    Args:
        fd: a blocking descriptor; with `spins` a non-blocking one.
        spins: how often to look for the frame before sleeping until it comes.
    """
    for _ in range(spins):
        try:
            chunk = bytearray(os.read(fd, 65536))
            break
        except BlockingIOError:
            continue
    else:
        if spins:
            select.select([fd], [], [])
        chunk = bytearray(os.read(fd, 65536))
    if not chunk:
        raise EOFError
    if len(chunk) < HEADER.size:
        chunk += read_exactly(fd, HEADER.size - len(chunk))
    size: int = HEADER.unpack_from(chunk)[0]
    missing = size + HEADER.size - len(chunk)
    if missing:
        chunk += read_exactly(fd, missing)
    del chunk[: HEADER.size]
    return chunk


def write_frame(fd: int, payload: bytes) -> None:
    """Write one frame to a blocking descriptor."""
    data = memoryview(HEADER.pack(len(payload)) + payload)
    while data:
        data = data[os.write(fd, data) :]
