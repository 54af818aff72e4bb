"""Picture skins: what is exposed, drawn as pixels. Grids and boards become coloured cells, gauges become bars."""

from __future__ import annotations

import struct
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from heredity.worlds.description import SkinDescription
from heredity.worlds.glyphs import Glyph, glyph, line

SIZE = 160
"""Height and width of a picture, in pixels."""
_GAUGE = 20
_PAPER = (250, 248, 242)
_INK = (60, 60, 70)
_EMPTY = (222, 218, 208)
_BAR = (140, 180, 225)
_PALETTE = (
    (86, 180, 233), (230, 159, 0), (0, 158, 115), (240, 228, 66), (0, 114, 178),
    (213, 94, 0), (204, 121, 167), (140, 140, 140), (120, 80, 160), (90, 60, 40),
)  # fmt: skip
"""For symbols without a colour of their own; told apart by people who see colours differently (Okabe and Ito 2008)."""

Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]


def draw(skin: SkinDescription, omega: Mapping[str, Any]) -> Picture:
    """Return a picture of shape (160, 160, 3), uint8: the grid above, the gauges below; one alone fills it.

    Args:
        skin: says the colours of symbols.
        omega: what is exposed; `grid` and `gauges` are drawn, everything else is not shown.
    """
    picture = np.full((SIZE, SIZE, 3), _PAPER, np.uint8)
    grid = cast(Sequence[str], omega.get("grid") or ())
    gauges = cast(Mapping[str, Sequence[float]], omega.get("gauges") or {})
    split = 0 if not grid else SIZE - min(SIZE // 2, _GAUGE * len(gauges))
    if grid:
        _draw_grid(picture[:split], grid, skin)
    if gauges:
        _draw_gauges(picture[split:], gauges)
    return picture


def written(text: str) -> Picture:
    """Return a picture of a text, for worlds without grid and gauges; what has no room is left out."""
    for scale in (2, 1):
        lines = [part for row in text.splitlines() for part in textwrap.wrap(row, SIZE // (4 * scale) - 2) or [""]]
        if len(lines) * 7 * scale <= SIZE:
            break
    picture = np.full((SIZE, SIZE, 3), _PAPER, np.uint8)
    for index, words in enumerate(lines[: SIZE // (7 * scale)]):
        figure = np.kron(line(words)[:, : SIZE // scale - 4], np.ones((scale, scale), bool))
        top = (7 * index + 1) * scale
        picture[top : top + figure.shape[0], 2 * scale : 2 * scale + figure.shape[1]][figure] = _INK
    return picture


def png(picture: Picture) -> bytes:
    """Encode a picture of shape (height, width, 3) as PNG."""
    height, width = picture.shape[:2]
    lines = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _draw_grid(area: Picture, grid: Sequence[str], skin: SkinDescription) -> None:
    rows, columns = len(grid), max(map(len, grid))
    cell = max(1, min(area.shape[0] // rows, area.shape[1] // columns))
    top, left = (area.shape[0] - rows * cell) // 2, (area.shape[1] - columns * cell) // 2
    for r, row in enumerate(grid):
        for c, symbol in enumerate(row):
            y, x = top + r * cell, left + c * cell
            tile = area[y : y + cell, x : x + cell]
            tile[:] = colour = _colour(skin.colours.get(symbol, ""), symbol)
            if cell >= 8:
                tile[-1:] = tile[:, -1:] = _EMPTY
                sign = glyph(symbol)
                if sign is not None:
                    _stamp(tile[:-1, :-1], sign, max(1, (cell - 4) // 5), colour)


def _draw_gauges(area: Picture, gauges: Mapping[str, Sequence[float]]) -> None:
    height = max(3, (area.shape[0] - 4) // len(gauges))
    for index, (name, (value, low, high)) in enumerate(gauges.items()):
        bar = area[2 + index * height : 2 + index * height + height - 2, 6:-6]
        bar[:] = _EMPTY
        share = (value - low) / (high - low) if high > low else 0.0
        bar[:, : round(min(1.0, max(0.0, share)) * bar.shape[1])] = _BAR
        words = line(f"{name} {value:g}".replace("_", " "))
        scale = min((bar.shape[0] - 2) // 5, (bar.shape[1] - 4) // words.shape[1], 2)
        _stamp(bar, words, scale, _EMPTY)


def _stamp(tile: Picture, sign: Glyph, scale: int, ground: Colour) -> None:
    """Draw a sign in the middle of a tile, dark on a light ground and light on a dark one; nothing if there is no room."""
    if scale < 1:
        return
    figure = np.kron(sign, np.ones((scale, scale), bool))
    top, left = (tile.shape[0] - figure.shape[0]) // 2, (tile.shape[1] - figure.shape[1]) // 2
    red, green, blue = ground
    tile[top : top + figure.shape[0], left : left + figure.shape[1]][figure] = (
        _INK if 299 * red + 587 * green + 114 * blue > 128_000 else _PAPER
    )


@cache
def _colour(text: str, symbol: str) -> Colour:
    if not text:
        return _PALETTE[ord(symbol) % len(_PALETTE)]
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
