"""Picture skins: draw exposed values as pixels. Grids and boards become coloured cells, gauges become bars."""

from __future__ import annotations

import struct
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.description import SkinDescription

Glyph = NDArray[np.bool_]
"""Bitmaps of shape (5, 3) for letters and digits and (5, 5) for all other signs."""

# One digit per row of pixels, in base 8 for width 3 and in base 32 for width 5.
_NARROW = (
    "0:75557  1:26227  2:71747  3:71317  4:55711  5:74717  6:74757  7:71122  8:75757  9:75717  A:25755"
    "  B:65656  C:34443  D:65556  E:74647  F:74644  G:34553  H:55755  I:72227  J:11152  K:55655  L:44447"
    "  O:25552  P:65644  Q:25563  R:65655  S:34216  T:72222  U:55557  V:55552  X:55255  Y:55222  Z:71247"
    "  a:03553  b:46556  c:03443  d:13553  e:02563  f:12722  g:03536  h:44655  i:20222  j:10152  k:44565"
    "  l:62222  n:00655  p:06564  q:03531  r:00344  s:03216  t:27223  u:00557  y:05536  z:07247"
    "  ::02020  ;:02024  ,:00024  .:00002  (:24442  ):21112  ':22000  [:64446  ]:31113"
)
_WIDE = (
    "^:4ev44  v:44ve4  <:4cvc4  >:46v64  @:4el4a  *:level  ?:eh604  !:44404  /:1248g"
    "  |:44444  -:00v00  +:44v44  =:0v0v0  ~:08l20  M:hrlhh  N:hpljh  W:hhlrh  m:0qllh  w:0hlla  o:0eae0"
    '  x:ha4ah  $:fke5u  %:pq4bj  _:0000v  \\:g8421  #:avava  ":aa000'
)


def glyph(symbol: str) -> Glyph | None:
    """Return the bitmap of a grid's symbol; None for empty ground and walls, which differ by colour."""
    return None if symbol in " .#" else _sign(symbol)


def line(text: str) -> Glyph:
    """Draw a line of text, letters as capitals, with a column between signs; shape (5, width)."""
    gap = np.zeros((5, 1), bool)
    return np.concatenate([gap, *(part for symbol in text.upper() for part in (_sign(symbol), gap))], axis=1)


@cache
def _sign(symbol: str) -> Glyph:
    for table, base, width in ((_NARROW, 8, 3), (_WIDE, 32, 5)):
        rows = {entry[0]: entry[2:] for entry in table.split("  ")}.get(symbol)
        if rows is not None:
            bits = [[int(row, base) >> (width - 1 - column) & 1 for column in range(width)] for row in rows]
            return np.array(bits, bool)
    return np.zeros((5, 2), bool) if symbol == " " else _figure(symbol)


def _figure(symbol: str) -> Glyph:
    """Return a symmetric figure from the bits of a symbol without a bitmap."""
    bits = (ord(symbol) * 2654435761 >> 7) & 0x7FFF
    half = np.array([[bits >> (row * 3 + column) & 1 for column in range(3)] for row in range(5)], bool)
    return np.concatenate([half, half[:, 1::-1]], axis=1)


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
"""Default colours of symbols, distinguishable with colour-vision deficiencies (Okabe and Ito 2008)."""

Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]


def draw(skin: SkinDescription, omega: Mapping[str, Any]) -> Picture:
    """Return a picture of shape (160, 160, 3), uint8: the grid above, the gauges below; a single one of them fills it.

    Args:
        skin: defines the colours of symbols.
        omega: exposed values; only `grid` and `gauges` are drawn.
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
    """Draw a text as a picture, for worlds without grid and gauges; text that does not fit is left out."""
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
    """Draw a sign in the middle of a tile, dark on light and light on dark; nothing if it does not fit."""
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
