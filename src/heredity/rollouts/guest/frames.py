"""Frames on a pipe: a little-endian 32-bit length, then the payload; the first payload byte says what it is."""

from __future__ import annotations

import os
import struct

HEADER = struct.Struct("<I")

# Host to guest.
STEP = b"S"
"""count:u16, positions:u16*count, how:u8, then the observations; `how` 1: pickled; 2: before them size:u32 and pickled new texts."""

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
    """Read `size` bytes from a blocking descriptor; raise EOFError when it ends before."""
    data = bytearray(os.read(fd, size))
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_frame(fd: int) -> bytearray:
    """Read one frame's payload from a blocking descriptor; raise EOFError at its end."""
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
