"""Minimal writers of PDF, DOCX, XLSX, PPTX and PNG, so that the same content gives the same bytes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Cell = str | int | float | None
_NAMESPACE = "http://schemas.openxmlformats.org"
_OFFICE = f"{_NAMESPACE}/officeDocument/2006/relationships"
_PACKAGE = f"{_NAMESPACE}/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument."
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF in Helvetica; each page is a sequence of up to about 50 lines of Latin-1."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids: list[str] = []
    for lines in pages:
        escaped = (line.translate({92: "\\\\", 40: "\\(", 41: "\\)"}) for line in lines)
        shown = "\n".join(f"({line}) Tj T*" for line in escaped)
        stream = f"BT /F1 11 Tf 60 780 Td 14 TL\n{shown}\nET".encode("cp1252")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    pieces, places, length = [b"%PDF-1.4\n"], list[int](), 9
    for number, body in enumerate(objects, 1):
        places.append(length)
        pieces.append(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        length += len(pieces[-1])
    table = "".join(f"{offset:010d} 00000 n \n" for offset in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{length}\n%%EOF\n"
    return b"".join(pieces) + end.encode()


def png(pixels: Sequence[Sequence[tuple[int, int, int]]], texts: Mapping[str, str] | None = None) -> bytes:
    """Return a picture of rows of colours (red, green, blue; 0 to 255), with Latin-1 texts stored by keyword."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes(value for colour in row for value in colour) for row in pixels)
    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)
    chunks = b"".join(chunk(b"tEXt", f"{key}\0{text}".encode("latin-1")) for key, text in (texts or {}).items())
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunks
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def docx(blocks: Sequence[str | Sequence[Sequence[str]]]) -> bytes:
    """Return a document of Word; a block is a paragraph, or a table as rows of cells."""
    body = "".join(_paragraph(block) if isinstance(block, str) else _table(block) for block in blocks)
    space = f'xmlns:w="{_NAMESPACE}/wordprocessingml/2006/main"'
    return _package(
        {
            "word/document.xml": (
                f"<w:document {space}><w:body>{body}</w:body></w:document>",
                "wordprocessingml.document.main+xml",
            )
        },
        "word/document.xml",
    )


def _paragraph(text: str) -> str:
    return f'<w:p><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def xlsx(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    """Return a workbook of rows of cells by the name of the sheet."""
    main = f'xmlns="{_NAMESPACE}/spreadsheetml/2006/main"'
    parts: dict[str, tuple[str, str]] = {}
    listed = ""
    relations: dict[str, tuple[str, str]] = {}
    for number, (name, rows) in enumerate(sheets.items(), 1):
        data = "".join(
            f'<row r="{r}">' + "".join(_cell(f"{_column(c)}{r}", value) for c, value in enumerate(row)) + "</row>"
            for r, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f"<worksheet {main}><sheetData>{data}</sheetData></worksheet>",
            "spreadsheetml.worksheet+xml",
        )
        listed += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>'
        relations[f"r{number}"] = ("worksheet", f"worksheets/sheet{number}.xml")
    book = f'<workbook {main} xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
    parts["xl/workbook.xml"] = (book, "spreadsheetml.sheet.main+xml")
    return _package(parts, "xl/workbook.xml", {"xl/_rels/workbook.xml.rels": _relations(relations)})


def _cell(where: str, value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{where}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{where}"><v>{value!r}</v></c>'


def _column(index: int) -> str:
    return (_column(index // 26 - 1) if index >= 26 else "") + chr(65 + index % 26)


def pptx(slides: Sequence[Sequence[str]]) -> bytes:
    """Return a presentation; each slide is a sequence of lines, the first its title."""
    tree = f"<p:cSld><p:spTree>{_GROUP}</p:spTree></p:cSld>"
    parts = {
        "ppt/theme/theme1.xml": (_theme(), "theme+xml"),
        "ppt/slideMasters/slideMaster1.xml": (_master(tree), "presentationml.slideMaster+xml"),
        "ppt/slideLayouts/slideLayout1.xml": (
            f'<p:sldLayout {_SPACES} type="blank">{tree}</p:sldLayout>',
            "presentationml.slideLayout+xml",
        ),
    }
    layout = {"r1": ("slideLayout", "../slideLayouts/slideLayout1.xml")}
    rest = {
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": _relations({**layout, "r2": ("theme", "../theme/theme1.xml")}),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": _relations(
            {"r1": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
    }
    relations = {"m1": ("slideMaster", "slideMasters/slideMaster1.xml")}
    for number, lines in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = (_slide(lines), "presentationml.slide+xml")
        rest[f"ppt/slides/_rels/slide{number}.xml.rels"] = _relations(layout)
        relations[f"s{number}"] = ("slide", f"slides/slide{number}.xml")
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in range(1, len(slides) + 1))
    parts["ppt/presentation.xml"] = (
        f'<p:presentation {_SPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="m1"/></p:sldMasterIdLst>'
        f'<p:sldIdLst>{listed}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/>'
        '<p:notesSz cx="6858000" cy="9144000"/></p:presentation>',
        "presentationml.presentation.main+xml",
    )
    rest["ppt/_rels/presentation.xml.rels"] = _relations(relations)
    return _package(parts, "ppt/presentation.xml", rest)


_SPACES = (
    f'xmlns:a="{_NAMESPACE}/drawingml/2006/main" xmlns:r="{_OFFICE}" xmlns:p="{_NAMESPACE}/presentationml/2006/main"'
)
_GROUP = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'


def _slide(lines: Sequence[str]) -> str:
    paragraphs = "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in lines)
    box = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Text"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>'
        '<a:xfrm><a:off x="500000" y="500000"/><a:ext cx="8000000" cy="5000000"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        f"<p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
    )
    return f"<p:sld {_SPACES}><p:cSld><p:spTree>{_GROUP}{box}</p:spTree></p:cSld></p:sld>"


def _master(tree: str) -> str:
    mapping = " ".join(f'{n}="{v}"' for n, v in [("bg1", "lt1"), ("tx1", "dk1"), ("bg2", "lt2"), ("tx2", "dk2")])
    accents = " ".join(f'accent{n}="accent{n}"' for n in range(1, 7))
    return (
        f'<p:sldMaster {_SPACES}>{tree}<p:clrMap {mapping} {accents} hlink="hlink" folHlink="folHlink"/>'
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="r1"/></p:sldLayoutIdLst></p:sldMaster>'
    )


def _theme() -> str:
    names = ("dk1", "lt1", "dk2", "lt2", *(f"accent{n}" for n in range(1, 7)), "hlink", "folHlink")
    values = ("000000", "FFFFFF", "203040", "EEEEEE", *["336699"] * 8)
    colours = "".join(f'<a:{n}><a:srgbClr val="{v}"/></a:{n}>' for n, v in zip(names, values, strict=True))
    font = '<a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'<a:theme xmlns:a="{_NAMESPACE}/drawingml/2006/main" name="t"><a:themeElements>'
        f'<a:clrScheme name="c">{colours}</a:clrScheme>'
        f'<a:fontScheme name="f"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="s"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f"<a:lnStyleLst>{f'<a:ln>{fill}</a:ln>' * 3}</a:lnStyleLst>"
        f"<a:effectStyleLst>{effect * 3}</a:effectStyleLst><a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme>"
        "</a:themeElements></a:theme>"
    )


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _package(parts: Mapping[str, tuple[str, str]], main: str, rest: Mapping[str, str] | None = None) -> bytes:
    types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    types += '<Default Extension="xml" ContentType="application/xml"/>'
    types += "".join(f'<Override PartName="/{n}" ContentType="{_TYPES}{kind}"/>' for n, (_, kind) in parts.items())
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
        "_rels/.rels": _relations({"r1": ("officeDocument", main)}),
        **{name: body for name, (body, _) in parts.items()},
        **(rest or {}),
    }
    return archive({name: (_HEAD + text).encode() for name, text in members.items()})


def archive(members: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive whose bytes depend only on its members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()
