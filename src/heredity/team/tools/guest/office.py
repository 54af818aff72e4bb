"""Runs in the sandbox: the text of documents and presentations in Office Open XML (ECMA-376)."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

_TINY_HALF_POINTS = 4
_WHITE = 0xEE
_DEEPEST_STYLE = 12
_NO_NUMBER = {10: 1 << 30, 16: -1}


class RefusedError(Exception):
    """A document that cannot be read; the message says why."""


def word_text(archive: zipfile.ZipFile) -> tuple[str, bool]:
    """Return the text of a document, and whether invisible text was omitted.

    Paragraphs are separated by an empty line, rows of tables are `| cell | cell`.
    """
    document = parsed(archive, "word/document.xml")
    body = document.find(f"{_WORD}body")
    if body is None:
        raise RefusedError("it is damaged: word/document.xml has no body")
    words = _Words(archive, on_white=document.find(f"{_WORD}background") is None)
    notes = [f"Note {number}: {text}" for number, text in enumerate(_notes(archive, words), 1)]
    return "\n\n".join([*words.blocks(body), *notes]), words.left_out


class _Words:
    """Reads paragraphs and tables, without runs that are hidden, tiny, or white on white.

    Attributes:
        left_out: True if there were any.
    """

    def __init__(self, archive: zipfile.ZipFile, *, on_white: bool) -> None:
        self.left_out = False
        self._on_white = on_white
        named = parsed(archive, "word/styles.xml") if "word/styles.xml" in archive.namelist() else None
        styles = named.iter(f"{_WORD}style") if named is not None else ()
        self._styles = {style.get(f"{_WORD}styleId", ""): style for style in styles}

    def blocks(self, body: ElementTree.Element) -> Iterator[str]:
        """Yield paragraphs and whole tables in order; nested content belongs to its table."""
        pending = list(reversed(body))
        while pending:
            block = pending.pop()
            if block.tag == f"{_WORD}p":
                text = self.line(block)
            elif block.tag == f"{_WORD}tbl":
                rows = ([self._cell(cell) for cell in row.iter(f"{_WORD}tc")] for row in block.iter(f"{_WORD}tr"))
                text = "\n".join("| " + " | ".join(row) for row in rows)
            else:
                pending += reversed(block)
                continue
            if text:
                yield text

    def _cell(self, cell: ElementTree.Element) -> str:
        return " ".join(filter(None, (self.line(line, in_table=True) for line in cell.iter(f"{_WORD}p"))))

    def line(self, paragraph: ElementTree.Element, *, in_table: bool = False) -> str:
        """Return the visible text of a paragraph."""
        pieces: list[str] = []
        own = paragraph.find(f"{_WORD}pPr")
        # Cells and drawings have backgrounds, which may come from anywhere.
        on_white = self._on_white and not in_table and not any(True for _ in paragraph.iter(f"{_WORD}txbxContent"))
        for run in paragraph.iter(f"{_WORD}r"):
            unseen = self._is_unseen([run.find(f"{_WORD}rPr"), own], on_white=on_white)
            for element in run:
                if element.tag == f"{_WORD}t" and unseen:
                    self.left_out = self.left_out or bool((element.text or "").strip())
                elif element.tag == f"{_WORD}t":
                    pieces.append(element.text or "")
                elif element.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
                    pieces.append(" ")
        return "".join(pieces).strip()

    def _is_unseen(self, properties: list[ElementTree.Element | None], *, on_white: bool) -> bool:
        """Return whether the properties of a run or its paragraph, with their named styles, hide a text."""
        chain = [element for own in properties if own is not None for element in (own, *self._style_of(own))]
        vanish = _first(chain, "vanish")
        size, colour = _first(chain, "sz"), _first(chain, "color")
        white = colour is not None and _is_white(colour)
        shaded = any(_first(chain, name) is not None for name in ("shd", "highlight"))
        return (
            (vanish is not None and vanish.get(f"{_WORD}val", "1") not in ("0", "false", "off"))
            or (size is not None and _number(size.get(f"{_WORD}val", "")) <= _TINY_HALF_POINTS)
            or (white and on_white and not shaded)
        )

    def _style_of(self, properties: ElementTree.Element) -> Iterator[ElementTree.Element]:
        """Yield the character and paragraph properties of the named style and its base styles."""
        named = next((e for tag in ("rStyle", "pStyle") if (e := properties.find(f"{_WORD}{tag}")) is not None), None)
        for _ in range(_DEEPEST_STYLE):
            style = self._styles.get(named.get(f"{_WORD}val", "")) if named is not None else None
            if style is None:
                return
            yield from (own for tag in ("rPr", "pPr") if (own := style.find(f"{_WORD}{tag}")) is not None)
            named = style.find(f"{_WORD}basedOn")


def _first(chain: list[ElementTree.Element], name: str) -> ElementTree.Element | None:
    return next((value for element in chain if (value := element.find(f"{_WORD}{name}")) is not None), None)


def _is_white(colour: ElementTree.Element) -> bool:
    value, theme = colour.get(f"{_WORD}val", ""), colour.get(f"{_WORD}themeColor", "")
    if theme:
        return theme in ("background1", "light1") and not colour.get(f"{_WORD}themeShade")
    return len(value) == 6 and all(_number(value[at : at + 2], 16) >= _WHITE for at in (0, 2, 4))


def _number(text: str, base: int = 10) -> int:
    try:
        return int(text, base)
    except ValueError:
        return _NO_NUMBER[base]


def _notes(archive: zipfile.ZipFile, words: _Words) -> Iterator[str]:
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        if name in archive.namelist():
            for paragraph in parsed(archive, name).iter(f"{_WORD}p"):
                if text := words.line(paragraph):
                    yield text


def slides(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the text of each slide, in the order of the presentation, with its notes."""
    order = parsed(archive, "ppt/presentation.xml").iter(f"{_SLIDES}sldId")
    targets = relations(archive, "ppt/presentation.xml")
    for entry in order:
        name = targets.get(entry.get(f"{_RELATION}id", ""), "")
        if name not in archive.namelist():
            raise RefusedError(f"it is damaged: there is no slide {name!r:.80}")
        texts = list(_shapes(parsed(archive, name)))
        for target in relations(archive, name).values():
            if "/notesSlides/" in target and target in archive.namelist():
                texts += [f"Notes: {text}" for text in _shapes(parsed(archive, target))]
        yield "\n".join(texts)


def _shapes(slide: ElementTree.Element) -> Iterator[str]:
    rows = {row: row.iter(f"{_DRAWING}tc") for row in slide.iter(f"{_DRAWING}tr")}
    in_tables = {p for row in rows for p in row.iter(f"{_DRAWING}p")}
    for element in slide.iter():
        if element in rows:
            yield "| " + " | ".join(_text(cell) for cell in rows[element])
        elif element.tag == f"{_DRAWING}p" and element not in in_tables and (text := _text(element)):
            yield text


def _text(element: ElementTree.Element) -> str:
    return "".join(text.text or "" for text in element.iter(f"{_DRAWING}t")).strip()


def relations(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Return a part's references inside the archive: names of parts by id; external links are omitted."""
    folder, file = posixpath.split(name)
    listed = f"{folder}/_rels/{file}.rels"
    if listed not in archive.namelist():
        return {}
    targets: dict[str, str] = {}
    for relation in parsed(archive, listed):
        target = relation.get("Target", "")
        if relation.get("TargetMode") != "External":
            path = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            targets[relation.get("Id", "")] = path
    return targets


def parsed(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """Parse a part of an archive as an element tree."""
    try:
        return ElementTree.fromstring(archive.read(name))
    except KeyError as error:
        raise RefusedError(f"it is damaged: it has no part {name}") from error
    except ElementTree.ParseError as error:
        raise RefusedError(f"it is damaged: {name} is no XML: {error}") from error
