"""Runs in the sandbox: finds text hidden by style sheets. It imports nothing of Heredity.

Rules are matched as in browsers (types, classes, ids, attributes, descendants, children; specificity, order,
`!important`), for the few properties that can hide a text. A rule with an unsupported selector hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_RULES = 3_000
MOST_CHARACTERS = 2_000_000
MOST_STEPS = 3_000_000

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PROPERTIES = frozenset(
    {"display", "visibility", "content-visibility", "opacity", "font-size", "font", "color", "-webkit-text-fill-color"}
    | {"background", "background-color", "background-image", "background-clip", "-webkit-background-clip"}
    | {"text-indent", "position", "left", "right", "top", "bottom", "margin-left", "margin-top"}
    | {"width", "height", "max-width", "max-height", "overflow", "clip", "clip-path", "transform", "scale"}
)
_PIECE = re.compile(
    r"(?P<any>\*)|(?P<kind>[.#]?)(?P<name>-?[a-zA-Z_\u0080-\U0010ffff][\w\u0080-\U0010ffff-]*)"
    r"|\[\s*(?P<key>[\w-]+)\s*(?:(?P<how>[~|^$*]?=)\s*(?:\"(?P<q>[^\"]*)\"|'(?P<a>[^']*)'|(?P<bare>[^\]\s]+))\s*[is]?\s*)?\]"
)
_IGNORED = re.compile(r":(?:root|first-letter|link|not\(\s*\))")
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|pt|pc|cm|mm|in|em|rem|ex|ch|vw|vh|%|)")
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "cm": 37.8,
    "mm": 3.78,
    "in": 96.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "vw": 12.8,
    "vh": 8.0,
}
_NAMES = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255),
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "green": (0, 128, 0),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}
_WHOLE = ("html", "head", "body")

TINY_PIXELS = 2.5
"""Letters up to this size are illegible."""
FAR_PIXELS = 900.0
"""Content this far to the left or above is off screen."""
NEAR = 24
"""Colours that differ by less than this in each component look the same."""

Colour = tuple[int, int, int]
Compound = tuple[tuple[str, str, str], ...]
Compounds = tuple[tuple[bool, Compound], ...]
WHITE = (255, 255, 255)


@dataclass(frozen=True)
class Rule:
    """Declarations of one selector: compounds from the outside in, each with a flag for a child of the previous one."""

    compounds: Compounds
    weight: tuple[int, int, int]
    declared: Mapping[str, tuple[bool, str]]


@dataclass
class Look:
    """Appearance of an element, as far as it affects the visibility of its text.

    Attributes:
        tag, attributes: matched by selectors. colour, ground: of its text, and behind it (None where unknown).
        pixels: size of its letters.
        gone: True if it, or an element around it, is not displayed.
        invisible: True if `visibility` hides it, which elements inside may undo.
    """

    tag: str
    attributes: Mapping[str, str]
    colour: Colour | None = (0, 0, 0)
    ground: Colour | None = WHITE
    pixels: float = 16.0
    gone: bool = False
    invisible: bool = False

    @property
    def unseen(self) -> bool:
        """Return whether its text is invisible."""
        alike = self.colour is not None and self.ground is not None and _near(self.colour, self.ground)
        return self.gone or self.invisible or alike or self.pixels <= TINY_PIXELS


@dataclass
class Sheets:
    """The style sheets of a page.

    Attributes:
        whole: True if no sheet is missing; otherwise backgrounds are unknown.
    """

    whole: bool = True
    _rules: dict[str, list[tuple[int, Rule]]] = field(default_factory=dict[str, list[tuple[int, Rule]]])
    _count: int = 0
    _left: int = MOST_STEPS
    _implied: list[Look] = field(default_factory=list["Look"])

    def add(self, text: str) -> None:
        """Parse a style sheet; anything but rules is skipped."""
        self.whole = self.whole and len(text) <= MOST_CHARACTERS and "@import" not in text
        for selectors, body in _blocks(_COMMENT.sub(" ", text[:MOST_CHARACTERS])):
            declared = declarations(body)
            for selector in re.split(r",(?![^(\[]*[)\]])", selectors) if declared else ():
                compounds = _selector(selector.strip())
                if compounds and self._count < MOST_RULES:
                    self._count += 1
                    rules = self._rules.setdefault(_key(compounds[-1][1]), [])
                    rules.append((self._count, Rule(compounds, _weight(compounds), declared)))

    def look(self, tag: str, attributes: Mapping[str, str], above: Sequence[Look]) -> Look:
        """Return the appearance of an element inside others, outermost first; elements common to all pages may be left out."""
        look = Look(tag, attributes)
        if tag not in _WHOLE and not any(outer.tag == "body" for outer in above):
            self._implied = self._implied or [page := self.look("html", {}, ()), self.look("body", {}, (page,))]
            above = [*self._implied, *above]
        path = [*above, look]
        classes = attributes.get("class", "").split()
        keys = ("*", tag, f"#{attributes.get('id', '')}", *(f".{name}" for name in classes))
        won: dict[str, tuple[tuple[Any, ...], str]] = {}
        for order, rule in (entry for key in keys for entry in self._rules.get(key, ())):
            if self._matches(rule.compounds, path):
                _win(won, rule.declared, (0, rule.weight, order))
        _win(won, declarations(attributes.get("style", "")), (1,))
        style = {name: value for name, (_, value) in won.items()}
        return _styled(look, style, above[-1] if above else Look("", {}, ground=WHITE if self.whole else None))

    def _matches(self, compounds: Compounds, path: Sequence[Look]) -> bool:
        return _fits(compounds[-1][1], path[-1]) and self._outer(compounds, len(compounds) - 1, path, len(path) - 1)

    def _outer(self, compounds: Compounds, at: int, path: Sequence[Look], end: int) -> bool:
        """Return whether the elements around the matched one fit the preceding compounds."""
        if at == 0:
            return True
        child, wanted = compounds[at][0], compounds[at - 1][1]
        for index in range(end - 1, -1, -1):
            self._left -= 1
            if self._left < 0:
                return False
            if _fits(wanted, path[index]) and self._outer(compounds, at - 1, path, index):
                return True
            if child:
                return False
        return False


def declarations(body: str) -> dict[str, tuple[bool, str]]:
    """Return the relevant declarations of a block: importance and value."""
    declared: dict[str, tuple[bool, str]] = {}
    for part in _COMMENT.sub("", body).split(";"):
        name, colon, value = part.partition(":")
        name, value = name.strip().lower(), " ".join(value.lower().split())
        if colon and name in _PROPERTIES:
            important = bool(re.search(r"!\s*important$", value))
            value = re.sub(r"\s*!\s*important$", "", value)
            if important or not declared.get(name, (False, ""))[0]:
                declared[name] = (important, value)
    return declared


def _blocks(text: str) -> Iterable[tuple[str, str]]:
    """Yield selectors and bodies of all rules for screens, including those inside `@media` and the like."""
    at, opened = 0, list[bool]()
    for match in re.finditer(r"[{}]|@(?:import|charset|namespace|layer)[^;{]*;", text):
        mark = match[0]
        if mark == "{":
            head = text[at : match.start()].strip()
            nests = head.startswith("@")
            holds = not nests or bool(
                re.match(r"@(?:media(?!\s+(?:only\s+)?(?:print|speech))|supports|layer|container)", head)
            )
            if not nests and all(opened):
                end = text.find("}", match.end())
                yield head, text[match.end() : end if end >= 0 else len(text)]
            opened.append(holds and nests)
        elif mark == "}" and opened:
            opened.pop()
        at = match.end()


def _selector(text: str) -> Compounds | None:
    """Parse a selector; None if it is not supported, such as `:hover` or `a + b`."""
    compounds: list[tuple[bool, Compound]] = []
    for before, part in re.findall(r"(\s*>\s*|\s+|^)((?:\[[^\]]*\]|[^\s>\[])+)", _IGNORED.sub("", text)):
        pieces, at = list[tuple[str, str, str]](), 0
        while at < len(part):
            match = _PIECE.match(part, at)
            if match is None:
                return None
            pieces.append(_piece(match))
            at = match.end()
        compounds.append((">" in before, tuple(pieces)))
    return tuple(compounds)


def _piece(match: re.Match[str]) -> tuple[str, str, str]:
    """Parse a piece of a selector: attribute, comparison, value."""
    if match["name"]:
        return {"": ("", "", match["name"].lower()), ".": ("class", "~=", match["name"])}.get(
            match["kind"], ("id", "=", match["name"])
        )
    if match["any"]:
        return ("", "*", "")
    value = next((match[name] for name in ("q", "a", "bare") if match[name] is not None), "")
    return (match["key"].lower(), match["how"] or "", value)


def _fits(compound: Compound, look: Look) -> bool:
    for name, how, value in compound:
        if not name:
            if how != "*" and look.tag != value:
                return False
        elif name not in look.attributes or not _holds(look.attributes[name], how, value):
            return False
    return True


def _holds(given: str, how: str, value: str) -> bool:
    if how in ("", "="):
        return not how or given == value
    if how == "~=":
        return value in given.split()
    if how == "|=":
        return given == value or given.startswith(f"{value}-")
    return bool(value) and {"^=": given.startswith, "$=": given.endswith, "*=": given.__contains__}[how](value)


def _key(compound: Compound) -> str:
    """Return a key for finding rules: a feature that an element needs to fit a compound."""
    marks = {"id": "#", "class": ".", "": ""}
    keyed = [
        (marks[name], value) for name, how, value in compound if name in marks and how in ("=", "~=", "") and value
    ]
    return "".join(max(keyed)) if keyed else "*"


def _weight(compounds: Compounds) -> tuple[int, int, int]:
    pieces = [piece for _, compound in compounds for piece in compound]
    ids = sum(name == "id" and how == "=" for name, how, _ in pieces)
    types = sum(not name and how != "*" for name, how, _ in pieces)
    return ids, sum(bool(name) for name, _, _ in pieces) - ids, types


def _win(
    won: dict[str, tuple[tuple[Any, ...], str]], declared: Mapping[str, tuple[bool, str]], rank: tuple[Any, ...]
) -> None:
    for name, (important, value) in declared.items():
        if name not in won or (important, *rank) >= won[name][0]:
            won[name] = ((important, *rank), value)


def _styled(look: Look, style: Mapping[str, str], outer: Look) -> Look:
    """Return the appearance of an element with its style inside another."""
    if not style:
        look.gone, look.invisible, look.pixels = outer.gone, outer.invisible, outer.pixels
        look.colour, look.ground = outer.colour, outer.ground
        return look
    look.gone = outer.gone or _is_gone(style)
    visibility = style.get("visibility", "")
    look.invisible = visibility in ("hidden", "collapse") or (
        outer.invisible and visibility not in ("visible", "initial")
    )
    look.pixels = _letters(style, outer.pixels)
    colour = style.get("-webkit-text-fill-color", style.get("color", "inherit"))
    look.colour = outer.colour if colour in ("inherit", "currentcolor", "unset") else _colour(colour)
    look.ground = _ground(style, outer.ground)
    if colour == "transparent" and "text" not in (style.get("background-clip"), style.get("-webkit-background-clip")):
        look.gone = True
    return look


def _is_gone(style: Mapping[str, str]) -> bool:
    size = {name: _pixels(style.get(name, "")) for name in ("width", "height", "max-width", "max-height")}
    clips = style.get("overflow", "").split(" ")[0] in ("hidden", "clip")
    small = clips and any(value is not None and value <= TINY_PIXELS for value in size.values())
    moved = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        moved += ["left", "top", "right", "bottom"]
    away = any((_pixels(style.get(name, "")) or 0) <= -FAR_PIXELS for name in moved)
    opacity = _LENGTH.fullmatch(style.get("opacity", "1"))
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or bool(opacity and float(opacity[1]) <= (2.0 if opacity[2] == "%" else 0.02))
        or small
        or away
        or _is_cut(style)
    )


def _is_cut(style: Mapping[str, str]) -> bool:
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    transform = f"{style.get('transform', '')} scale({style.get('scale', '1')})"
    rectangle = (
        [_pixels(value) for value in re.split(r"[,\s]+", clip.removeprefix("rect(").rstrip(") "))] if clip else []
    )
    inset = re.match(r"inset\(\s*([\d.]+)%", path)
    return (
        (len(rectangle) == 4 and all(value is not None and abs(value) <= TINY_PIXELS for value in rectangle))
        or bool(inset and float(inset[1]) >= 50)
        or bool(re.match(r"(?:circle|ellipse)\(\s*0(?:px|%)?(?:\s|\))", path))
        or bool(re.search(r"scale[xy]?\(\s*0?\.?0*\s*[,)]", transform))
        or any(
            (_pixels(value) or 0) <= -FAR_PIXELS for value in re.findall(r"translate[xy]?\(\s*([^,)\s]+)", transform)
        )
    )


def _letters(style: Mapping[str, str], outer: float) -> float:
    size = style.get("font-size", "")
    if not size and "font" in style:
        size = next((part.split("/")[0] for part in style["font"].split() if _LENGTH.fullmatch(part.split("/")[0])), "")
    length = _LENGTH.fullmatch(size)
    if length is None:
        return outer
    number, unit = float(length[1]), length[2]
    if unit in ("em", "%"):
        return outer * number / (100 if unit == "%" else 1)
    return number * _PIXELS.get(unit, 1.0) if unit or not number else outer


def _pixels(value: str) -> float | None:
    length = _LENGTH.fullmatch(value)
    if length is None or length[2] == "%":
        return -10.0 * FAR_PIXELS if length and float(length[1]) <= -100 else None
    return float(length[1]) * _PIXELS[length[2]]


def _ground(style: Mapping[str, str], outer: Colour | None) -> Colour | None:
    ground = style.get("background-color", style.get("background", ""))
    if style.get("background-image", "none") != "none":
        return None
    if ground in ("", "none", "transparent", "inherit", "initial", "unset", "0 0"):
        return outer
    return _colour(ground)


def _colour(value: str) -> Colour | None:
    """Return an opaque colour in a plain notation; None for any other."""
    if value in _NAMES:
        return _NAMES[value]
    if match := re.fullmatch(r"#([0-9a-f]{3})f?|#([0-9a-f]{6})(?:ff)?", value):
        digits = match[2] or "".join(2 * digit for digit in match[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if match := re.fullmatch(
        r"rgba?\(\s*(\d{1,3})[,\s]\s*(\d{1,3})[,\s]\s*(\d{1,3})\s*(?:[,/]\s*(?:1|1\.0|100%)\s*)?\)", value
    ):
        return int(match[1]), int(match[2]), int(match[3])
    return None


def _near(one: Colour, other: Colour) -> bool:
    return all(abs(a - b) < NEAR for a, b in zip(one, other, strict=True))
