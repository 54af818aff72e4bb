"""Signs of five by five pixels for letters, digits and the symbols of grids."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Glyph = NDArray[np.bool_]
"""Pixels that are set, of shape (5, 3) for letters and digits and (5, 5) for everything else."""

# A row of pixels is one digit, in base 8 for three and in base 32 for five of them.
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
    """Return the pixels of a grid's symbol; None for those of empty ground and walls, which their colours tell apart."""
    return None if symbol in " .#" else _sign(symbol)


def line(text: str) -> Glyph:
    """Return a line of text, letters as capitals, with a column between signs; shape (5, width)."""
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
    """Return a symmetric figure made of the bits of a symbol that has no sign of its own."""
    bits = (ord(symbol) * 2654435761 >> 7) & 0x7FFF
    half = np.array([[bits >> (row * 3 + column) & 1 for column in range(3)] for row in range(5)], bool)
    return np.concatenate([half, half[:, 1::-1]], axis=1)
