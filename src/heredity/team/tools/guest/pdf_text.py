"""Runs in the sandbox: extracts the visible text of a PDF page. It imports nothing of Heredity.

It omits unseen text (drawn in white on nothing, transparent, without ink, in illegible letters, or off the page). Text
without ink (rendering mode 3) on a picture comes from text recognition of a scan, and is kept. Painting over text is not
detected.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

TINY_POINTS = 2.0
_WHITE = 0.93
_SHOWS = frozenset({b"Tj", b"TJ", b"'", b'"'})
_FILLS = frozenset({b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
_ENDS = _FILLS | {b"S", b"s", b"n"}

Box = tuple[float, float, float, float]
EVERYWHERE: Box = (-math.inf, -math.inf, math.inf, math.inf)


@dataclass(frozen=True)
class _State:
    """Part of the graphics state that decides whether text is visible."""

    white: bool = False
    clear: bool = False
    mode: int = 0
    size: float = 0.0


class Eye:
    """Follows the operations of a page, and empties those that show invisible text.

    Args:
        page: a page of the package pypdf.

    Attributes:
        left_out: True if any text was omitted.
    """

    def __init__(self, page: Any) -> None:
        self.left_out = False
        self._page = page
        self._state, self._saved = _State(), list[_State]()
        self._painted, self._pictures = list[Box](), list[Box]()
        self._path: list[tuple[float, float]] = []
        self._inside: list[tuple[_State, list[_State]]] = []
        box = page.mediabox
        self._sheet: Box = (float(box.left), float(box.bottom), float(box.right), float(box.top))

    def text(self) -> str:
        """Return the visible text of the page."""
        return self._page.extract_text(visitor_operand_before=self.before, visitor_operand_after=self.after)

    def before(self, operator: bytes, operands: Any, to_page: Sequence[float], line: Sequence[float]) -> None:
        """Process an operation before its text is extracted; malformed ones are skipped."""
        with contextlib.suppress(TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError):
            self._follow(operator, operands, to_page, line)

    def after(self, operator: bytes, operands: Any, _: Sequence[float], __: Sequence[float]) -> None:
        """Restore the state from before a form."""
        del operands
        if operator == b"Do" and self._inside:
            self._state, self._saved = self._inside.pop()

    def _follow(self, operator: bytes, operands: Any, to_page: Sequence[float], line: Sequence[float]) -> None:
        if operator == b"q":
            self._saved.append(self._state)
        elif operator == b"Q":
            self._state = self._saved.pop() if self._saved else self._state
        elif operator in _SHOWS:
            if operands and self._is_unseen(operator, operands, to_page, line):
                self.left_out = True
                operands[-1] = (
                    type(operands[-1])() if operator == b"TJ" else "" if isinstance(operands[-1], str) else b""
                )
        elif operator == b"Do":
            self._inside.append((self._state, list(self._saved)))
            self._draw(operands, to_page)
        elif operator in (b"re", b"m", b"l", b"c", b"v", b"y") or operator in _ENDS:
            self._follow_path(operator, [float(value) for value in operands], to_page)
        elif operator in (b"sh", b"INLINE IMAGE"):
            self._painted.append(EVERYWHERE)
        else:
            self._state = self._set(operator, operands)

    def _set(self, operator: bytes, operands: Any) -> _State:
        state = self._state
        if operator in (b"g", b"rg", b"k", b"sc", b"scn"):
            return replace(state, white=_is_white(operator, operands))
        if operator == b"cs":
            # The first colour of a space is black; for an unknown space it is undefined.
            return replace(state, white=False)
        if operator == b"Tr" and operands:
            return replace(state, mode=int(operands[0]))
        if operator == b"Tf" and len(operands) > 1:
            return replace(state, size=math.inf if self._is_drawn(operands[0]) else abs(float(operands[1])))
        if operator == b"gs" and operands and not self._inside:
            alpha = self._alpha(operands[0])
            return state if alpha is None else replace(state, clear=alpha < 1 - _WHITE)
        return state

    def _is_drawn(self, font: Any) -> bool:
        """Return whether the letters of a font are drawings, at any size (Type 3)."""
        with contextlib.suppress(KeyError, TypeError, AttributeError):
            return self._page["/Resources"]["/Font"][font].get_object().get("/Subtype") == "/Type3"
        return False

    def _alpha(self, name: Any) -> float | None:
        try:
            value = self._page["/Resources"]["/ExtGState"][name].get_object().get("/ca")
            return None if value is None else float(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _draw(self, operands: Any, to_page: Sequence[float]) -> None:
        try:
            kind = self._page["/Resources"]["/XObject"][operands[0]].get_object().get("/Subtype")
        except (KeyError, TypeError, AttributeError, IndexError):
            kind = None
        if kind == "/Image" and not self._inside[:-1]:
            corners = [_moved(to_page, x, y) for x in (0, 1) for y in (0, 1)]
            self._pictures.append(_around(corners))
        else:
            self._painted.append(EVERYWHERE)

    def _follow_path(self, operator: bytes, values: list[float], to_page: Sequence[float]) -> None:
        if operator == b"re" and len(values) == 4:
            x, y, width, height = values
            self._path += [_moved(to_page, x, y), _moved(to_page, x + width, y + height)]
        elif operator in _ENDS:
            if operator in _FILLS and self._path and not self._state.white and not self._state.clear:
                self._painted.append(EVERYWHERE if self._inside else _around(self._path))
            self._path = []
        else:
            self._path += [_moved(to_page, x, y) for x, y in zip(values[::2], values[1::2], strict=False)]

    def _is_unseen(self, operator: bytes, operands: Any, to_page: Sequence[float], line: Sequence[float]) -> bool:
        state = self._state
        size = state.size * _scale(to_page) * _scale(line)
        if state.clear or size <= TINY_POINTS:
            return True
        x, y = _moved(to_page, line[4], line[5])
        if state.mode in (3, 7):
            return not any(
                _holds(box, x, y) for box in (*self._pictures, *(b for b in self._painted if b == EVERYWHERE))
            )
        if (
            state.white
            and state.mode in (0, 4)
            and not any(_holds(box, x, y) for box in (*self._painted, *self._pictures))
        ):
            return not self._inside
        shown = operands[-1] if operator != b"TJ" else "".join(map(str, operands[-1]))
        reach = size * (len(shown) + 1)
        left, bottom, right, top = self._sheet
        outside = max(left - x, x - right, bottom - y, y - top)
        return not self._inside and outside > reach


def _is_white(operator: bytes, operands: Any) -> bool:
    try:
        values = [float(value) for value in operands]
    except (TypeError, ValueError):
        return False
    if operator == b"k" or len(values) == 4:
        return max(values, default=1.0) <= 1 - _WHITE
    # One number may be the ink of a separation space, where none of it is white.
    plain = operator in (b"g", b"rg") or len(values) == 3
    return plain and bool(values) and min(values) >= _WHITE


def _moved(matrix: Sequence[float], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = (float(value) for value in matrix[:6])
    return a * x + c * y + e, b * x + d * y + f


def _scale(matrix: Sequence[float]) -> float:
    a, b, c, d = (float(value) for value in matrix[:4])
    return math.sqrt(abs(a * d - b * c))


def _around(points: Sequence[tuple[float, float]]) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _holds(box: Box, x: float, y: float) -> bool:
    return box[0] - 2 <= x <= box[2] + 2 and box[1] - 2 <= y + 2 and y <= box[3] + 2
