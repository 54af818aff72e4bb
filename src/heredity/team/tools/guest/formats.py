"""Runs in the sandbox: converts a document of any known format into labelled parts, within bounds. It imports nothing of Heredity.

Content is never executed (macros and scripts do not run, links are not followed). Archives are bounded by their actual
unpacked size, not the declared one; XML with entity declarations is refused.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
import mimetypes
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import office
import pdf_text
import reading

MOST_BYTES = 900_000
"""Limit on the bytes of text kept of a document."""
MOST_PAGES = 300
MOST_ROWS = 20_000
MOST_CELLS = 200_000
MOST_MEMBERS = 5_000
MOST_UNPACKED = 128 << 20
TINY_POINTS = 2

UNSEEN = "[text that a person would not see - hidden, tiny, in the colour of what is behind it - is left out]"

Part = tuple[str, str]
"""A label, such as `page 3`, and its text; the label is empty in formats without such parts."""


class RefusedError(Exception):
    """A document that cannot be read; the message says why, and what to do."""


def run(ending: str, data: str) -> dict[str, object]:
    """Return the parts of a document, given its bytes in base 64: `{"parts": [[label, text], …]}`, or `{"refused": why}`."""
    content = base64.b64decode(data)
    try:
        check_kind(ending, content)
        return {"parts": list(bounded(READERS[ending](content)))}
    except (RefusedError, office.RefusedError) as error:
        return {"refused": str(error)}


def bounded(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts up to the limit of text, then a part that reports the cut."""
    left = MOST_BYTES
    for label, text in parts:
        size = len(json.dumps([label, text]).encode())
        if size > left:
            yield label, text[: left // 6]
            yield "", f"[the document is longer; what follows {label or 'this'} is not read]"
            return
        left -= size
        yield label, text


def check_kind(ending: str, content: bytes) -> None:
    """Refuse a document that does not match its name."""
    kind = next((kind for start, kind in STARTS if content.startswith(start)), "")
    if kind == ".webp" and content[8:12] != b"WEBP":
        kind = "another kind of file"
    if kind == "ole" and ending in ZIPS:
        raise RefusedError("it is encrypted, or of the binary format of before 2007; save it anew without a password")
    expected = ".zip" if ending in ZIPS else {".jpeg": ".jpg"}.get(ending, ending)
    if kind != expected and (kind or ending not in (".html", ".htm")):
        held = f"holds {NAMES.get(kind, kind)}" if kind else f"is no {ending[1:].upper()} file"
        raise RefusedError(f"its name ends in {ending}, and it {held}; give it its right name")


STARTS = (
    (b"%PDF-", ".pdf"),
    (b"PK\x03\x04", ".zip"),
    (b"PK\x05\x06", ".zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF87a", ".gif"),
    (b"GIF89a", ".gif"),
    (b"RIFF", ".webp"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
)
NAMES = {".zip": "an archive", "ole": "an old Office document", ".pdf": "a PDF"} | {
    ending: f"a {ending[1:].upper()} picture" for ending in (".png", ".jpg", ".gif", ".webp")
}
ZIPS = (".docx", ".xlsx", ".pptx")


def pdf(content: bytes) -> Iterator[Part]:
    """Yield the pages of a PDF, with text in the file's reading order."""
    import logging

    import pypdf  # pyright: ignore[reportMissingImports]
    from pypdf.errors import PyPdfError  # pyright: ignore[reportMissingImports]

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        document = pypdf.PdfReader(io.BytesIO(content))
        if document.is_encrypted and not document.decrypt(""):
            raise RefusedError("it is encrypted; save it without a password")
        pages = len(document.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, NotImplementedError) as error:
        raise RefusedError(f"it is damaged: {error}") from error
    empty, left_out = 0, False
    for number in range(1, min(pages, MOST_PAGES) + 1):
        try:
            eye = pdf_text.Eye(document.pages[number - 1])
            text = eye.text().strip()
            left_out = left_out or eye.left_out
        except (
            PyPdfError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            IndexError,
            zlib.error,
        ) as error:
            text = f"[this page cannot be read: {type(error).__name__}]"
        empty += not text
        yield f"page {number}", text or "[no text on this page; it may be a picture]"
    if left_out:
        yield "", UNSEEN
    if pages > MOST_PAGES:
        yield "", f"[pages {MOST_PAGES + 1} to {pages} are not read]"


def unpacked(content: bytes) -> zipfile.ZipFile:
    """Return an archive after checking that it is intact, of bounded size, and without XML declarations of entities."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, struct.error) as error:
        raise RefusedError(f"it is damaged: {error}") from error
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise RefusedError(f"it has {len(members)} parts, more than {MOST_MEMBERS}")
    left = MOST_UNPACKED
    for member in members:
        try:
            with archive.open(member) as file:
                before = b""
                while block := file.read(1 << 16):
                    left -= len(block)
                    if left < 0:
                        raise RefusedError(f"it unpacks to more than {MOST_UNPACKED >> 20} MiB")
                    if member.filename.endswith((".xml", ".rels", ".vml")):
                        refuse_declarations(before, block, member.filename)
                    before = block[-16:]
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise RefusedError(f"its part {member.filename!r:.80} is damaged or encrypted: {error}") from error
    return archive


def refuse_declarations(before: bytes, block: bytes, name: str) -> None:
    """Refuse XML that declares entities, or whose encoding could hide them; `before` is the end of the previous block."""
    if not before:
        head = block.removeprefix(b"\xef\xbb\xbf")
        encoding = re.match(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)", head)
        if (
            not head.startswith(b"<")
            or b"\0" in head
            or (encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii"))
        ):
            raise RefusedError(f"its part {name!r:.80} is no XML in UTF-8, which Office programs write")
    if b"<!DOCTYPE" in before + block or b"<!ENTITY" in before + block:
        raise RefusedError(f"its part {name!r:.80} declares entities, which no Office program writes")


def docx(content: bytes) -> Iterator[Part]:
    """Yield the text of a document of Word, its tables row by row."""
    text, left_out = office.word_text(unpacked(content))
    yield "", text
    if left_out:
        yield "", UNSEEN


def pptx(content: bytes) -> Iterator[Part]:
    """Yield the slides of a presentation in their order, with their notes."""
    for number, text in enumerate(office.slides(unpacked(content)), 1):
        if number > MOST_PAGES:
            yield "", f"[slides after {MOST_PAGES} are not read]"
            return
        yield f"slide {number}", text or "[no text on this slide]"


def xlsx(content: bytes) -> Iterator[Part]:
    """Yield the sheets of a workbook, each row as `A2: value | B2: value`; formulas as their saved value."""
    unpacked(content)
    # It would search for these outside the sandbox.
    mimetypes.knownfiles.clear()
    import openpyxl  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    warnings.simplefilter("ignore")
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    # The library can raise anything on damaged files.
    except Exception as error:
        raise RefusedError(f"it is damaged: {type(error).__name__}: {error}") from error
    cells = MOST_CELLS
    for sheet in book.worksheets:
        lines: list[str] = []
        note, left_out = "", False
        try:
            for row in sheet.iter_rows(max_row=MOST_ROWS + 1):
                filled = [cell for cell in row if cell.value is not None]
                held = [(cell.coordinate, cell.value) for cell in filled if not is_unseen(cell)]
                left_out = left_out or len(held) < len(filled)
                if not held:
                    continue
                cells -= len(held)
                if len(lines) == MOST_ROWS or cells < 0:
                    note = f"\n[rows after {held[0][0]} are not read]"
                    break
                lines.append(" | ".join(f"{where}: {cell_text(value)}" for where, value in held))
        except Exception as error:  # noqa: BLE001
            note = f"\n[the rest of this sheet cannot be read: {type(error).__name__}]"
        hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
        yield f"sheet {sheet.title}{hidden}", "\n".join(lines) + note + (f"\n{UNSEEN}" if left_out else "")
        if cells < 0:
            return


def is_unseen(cell: Any) -> bool:
    """Return whether a cell's text is invisible, by its font and format."""
    if not isinstance(cell.value, str):
        return False
    try:
        font, fill, form = cell.font, cell.fill, str(cell.number_format)
    except (AttributeError, IndexError):  # A workbook without styles.
        return False
    colour = font.color
    white = colour is not None and (
        str(colour.rgb)[-6:].upper() == "FFFFFF"
        if colour.type == "rgb"
        else colour.type == "theme" and colour.theme == 0
    )
    tiny = font.sz is not None and font.sz <= TINY_POINTS
    return tiny or (white and fill.fill_type is None) or (set(form) == {";"} and len(form) > 2)


def cell_text(value: object) -> str:
    """Return the value of a cell on one line: whole numbers without a fraction, dates as in ISO 8601."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    return " / ".join(str(value).splitlines())


def html(content: bytes) -> Iterator[Part]:
    """Yield the visible text of a page."""
    yield "", reading.html(content)


def png(content: bytes) -> Iterator[Part]:
    """Yield the size of a picture and its embedded texts."""
    width, height, depth, colour = struct.unpack(">IIBB", content[16:26])
    kinds = {0: "grey", 2: "colour", 3: "indexed colour", 4: "grey with transparency", 6: "colour with transparency"}
    texts: list[str] = []
    at = 8
    while at + 8 <= len(content) and len(texts) < 20:
        size, kind = struct.unpack(">I4s", content[at : at + 8])
        body = content[at + 8 : at + 8 + min(size, 4000)]
        if kind == b"tEXt" and b"\0" in body:
            name, _, value = body.partition(b"\0")
            texts.append(f"{name.decode('latin-1')}: {value.decode('latin-1')}")
        at += 12 + size
    yield "", picture("PNG", width, height, f", {depth} bits, {kinds.get(colour, 'unknown')}", texts)


def jpg(content: bytes) -> Iterator[Part]:
    """Yield the size of a picture and its comments."""
    at, size, texts = 2, (0, 0), list[str]()
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            size = (width, height)
            break
        if marker == 0xFE and len(texts) < 20:
            texts.append(f"Comment: {content[at + 4 : at + 2 + min(length, 4000)].decode('utf-8', 'replace')}")
        at += 2 + length
    yield "", picture("JPEG", *size, "", texts)


def gif(content: bytes) -> Iterator[Part]:
    """Yield the size of a picture."""
    yield "", picture("GIF", *struct.unpack("<HH", content[6:10]), "", [])


def webp(content: bytes) -> Iterator[Part]:
    """Yield the size of a picture, if its first chunk has it."""
    width = height = 0
    if content[12:16] == b"VP8X":
        width, height = (int.from_bytes(content[i : i + 3], "little") + 1 for i in (24, 27))
    elif content[12:16] == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif content[12:16] == b"VP8 ":
        width, height = (value & 0x3FFF for value in struct.unpack("<HH", content[26:30]))
    yield "", picture("WebP", width, height, "", [])


def picture(kind: str, width: int, height: int, more: str, texts: list[str]) -> str:
    """Describe a picture for models that cannot see it."""
    size = f"{width} × {height} pixels" if width and height else "of unknown size"
    return "\n".join([f"[{kind} picture, {size}{more}]", *texts])


def checked(read: Callable[[bytes], Iterator[Part]]) -> Callable[[bytes], Iterator[Part]]:
    """Return a reader of pictures that refuses those that end before their size."""

    def whole(content: bytes) -> Iterator[Part]:
        try:
            yield from read(content)
        except (struct.error, IndexError, ValueError) as error:
            raise RefusedError("it is damaged: it ends too early") from error

    return whole


READERS = {".html": html, ".htm": html, ".pdf": pdf, ".docx": docx, ".pptx": pptx, ".xlsx": xlsx} | {
    ending: checked(read)
    for ending, read in ((".png", png), (".jpg", jpg), (".jpeg", jpg), (".gif", gif), (".webp", webp))
}
