"""Frames on a pipe: a little-endian 32-bit length, then the payload, whose first byte is its type."""

from __future__ import annotations

import os
import struct

HEADER = struct.Struct("<I")
CHUNK = 1 << 16

LIVED_ON = 256
"""Exit status of a worker that closed its pipe and survived: no process returns it."""

# Host to guest.
STEP = b"S"
"""count:u16, positions:u16*count, how:u8, then the observations.

`how` is 0 for packed observations, 1 for pickled ones, 2 for packed ones that follow size:u32 and the pickled new texts.
"""

REQUEST = b"Q"
"""To a program. JSON: {"function": "module:name", "arguments": {...}, "keep": bool}, or for a kept object {"method":
name, "arguments": {...}}.
"""
ANSWER = b"N"
"""To a program that called a service. JSON: {"value": ...} or {"error": text}."""

# Guest to host.
UNCONFINED = b"U"
"""Text: confinement failed, and the program was not loaded."""
CONFINED = b"C"
"""Every layer is in place; later failures are the program's fault. From a program: its process id in its namespace."""
READY = b"R"
"""JSON: {"failure": null | {...}, "act": [file, line, name], "failures": {position: {...}}, "out": {...}}."""
ACTIONS = b"A"
"""The actions of all requested positions, in order."""
MIXED = b"M"
"""size:u32, JSON {"failures": {position: {...}}, "out": {position: [stdout, stderr]}}, then the other positions' actions."""
LOADED = b"L"
"""Empty: a program's module is imported, and its function is being called."""
ASK = b"K"
"""JSON {"service": name, "value": ...}: a program waits for an answer."""
RESULT = b"V"
"""size:u32, JSON {"failure": null | {"category", "message", "traceback"}}, then the return value, as JSON."""


def read_frame(fd: int) -> bytearray:
    """Read one frame from a blocking descriptor, its header included; raise EOFError at the descriptor's end."""
    frame = bytearray(os.read(fd, CHUNK))
    while len(frame) < HEADER.size or len(frame) < HEADER.size + HEADER.unpack_from(frame)[0]:
        chunk = os.read(fd, CHUNK)
        if not chunk:
            raise EOFError
        frame += chunk
    return frame


def write_frame(fd: int, payload: bytes) -> None:
    """Write one frame to a blocking descriptor."""
    data = HEADER.pack(len(payload)) + payload
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])
