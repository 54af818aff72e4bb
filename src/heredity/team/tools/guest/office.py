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


class RefusedError(Exception):
    """A document that is not read; the message says why."""


def word_text(archive: zipfile.ZipFile) -> str:
    """Return the text of a document: paragraphs with an empty line between them, rows of tables as `| cell | cell`."""
    body = parsed(archive, "word/document.xml").find(f"{_WORD}body")
    if body is None:
        raise RefusedError("it is damaged: word/document.xml has no body")
    notes = [f"Note {number}: {text}" for number, text in enumerate(_notes(archive), 1)]
    return "\n\n".join([*_blocks(body), *notes])


def _blocks(body: ElementTree.Element) -> Iterator[str]:
    """Yield paragraphs and whole tables in their order; what stands inside of a table is part of it."""
    pending = list(reversed(body))
    while pending:
        block = pending.pop()
        if block.tag in (f"{_WORD}p", f"{_WORD}tbl"):
            if text := _block(block):
                yield text
        else:
            pending += reversed(block)


def _block(block: ElementTree.Element) -> str:
    if block.tag == f"{_WORD}p":
        return _line(block)
    if block.tag == f"{_WORD}tbl":
        rows = ([_cell(cell) for cell in row.iter(f"{_WORD}tc")] for row in block.iter(f"{_WORD}tr"))
        return "\n".join("| " + " | ".join(row) for row in rows)
    return ""


def _cell(cell: ElementTree.Element) -> str:
    return " ".join(filter(None, map(_line, cell.iter(f"{_WORD}p"))))


def _line(paragraph: ElementTree.Element) -> str:
    pieces: list[str] = []
    for element in paragraph.iter():
        if element.tag == f"{_WORD}t":
            pieces.append(element.text or "")
        elif element.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
            pieces.append(" ")
    return "".join(pieces).strip()


def _notes(archive: zipfile.ZipFile) -> Iterator[str]:
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        if name in archive.namelist():
            for paragraph in parsed(archive, name).iter(f"{_WORD}p"):
                if text := _line(paragraph):
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
    """Return what a part refers to inside of the archive: names of parts by id; links to elsewhere are left out."""
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
    """Return a part of an archive as a tree of elements."""
    try:
        return ElementTree.fromstring(archive.read(name))
    except KeyError as error:
        raise RefusedError(f"it is damaged: it has no part {name}") from error
    except ElementTree.ParseError as error:
        raise RefusedError(f"it is damaged: {name} is no XML: {error}") from error
