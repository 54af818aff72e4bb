"""Documents of every kind: what is read of them, how it is cited, and what hostile ones come to."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from heredity._core.errors import ConfigError
from heredity.engine.programs import SandboxedPrograms
from heredity.library.localweb import writers
from heredity.team.assembly import keep_files
from heredity.team.tools.documents import Corpus, Document, DocumentReader, UnreadableDocumentError

PIXELS = [[(0, 0, 255)] * 7] * 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    async with SandboxedPrograms(1) as programs:
        yield DocumentReader(programs)


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_pdf_pages_are_cited(reader: DocumentReader) -> None:
    pytest.importorskip("pypdf", reason="needs the extra documents")
    document = await reader.read("a.pdf", writers.pdf([["Bridges (old)", "Built 1883"], ["Café \\ end"]]))
    assert document.text == "[page 1]\nBridges (old)\nBuilt 1883\n\n[page 2]\nCafé \\ end"
    assert document.location(document.text.index("Café")) == "page 2"


async def test_cells_of_a_workbook_are_cited(reader: DocumentReader) -> None:
    pytest.importorskip("openpyxl", reason="needs the extra documents")
    data = writers.xlsx({"Visits": [["Year", "Count"], [1990, 12.0], [1991, "a\nB9: 7"]], "Café & more": [[None, 0.5]]})
    document = await reader.read("a.xlsx", data)
    assert document.text == (
        "[sheet Visits]\nA1: Year | B1: Count\nA2: 1990 | B2: 12\nA3: 1991 | B3: a / B9: 7\n\n[sheet Café & more]\nB1: 0.5"
    )
    assert document.location(document.text.index("A2")) == "sheet Visits, row 2"


async def test_slides_paragraphs_and_tables_are_cited(reader: DocumentReader) -> None:
    slides = await reader.read("a.pptx", writers.pptx([["Title", "x < y"], ["Second"]]))
    assert slides.text == "[slide 1]\nTitle\nx < y\n\n[slide 2]\nSecond"
    words = await reader.read("a.docx", writers.docx(["One", [["a", "b"], ["c", "d & e"]], "Last"]))
    assert words.text == "One\n\n| a | b\n| c | d & e\n\nLast"
    assert [words.location(words.text.index(w)) for w in ("One", "a |", "Last")] == [
        f"paragraph {n}" for n in (1, 2, 3)
    ]


async def test_of_pictures_their_size_and_texts_are_read(reader: DocumentReader) -> None:
    text = await reader.text("a.png", writers.png(PIXELS, {"Description": "the harbour"}))
    assert text == "[PNG picture, 7 × 5 pixels, 8 bits, colour]\nDescription: the harbour"
    jpeg = (
        b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08"
        + (5).to_bytes(2, "big")
        + (7).to_bytes(2, "big")
        + b"\x01\x01\x11\x00"
    )
    assert await reader.text("a.jpeg", jpeg) == "[JPEG picture, 7 × 5 pixels]"
    assert await reader.text("a.gif", b"GIF89a\x07\x00\x05\x00") == "[GIF picture, 7 × 5 pixels]"


async def test_lines_of_tables_of_text_are_counted(reader: DocumentReader) -> None:
    document = await reader.read("a.csv", b"\xef\xbb\xbfyear,count\n1990,1\n1991,2\n")
    assert document.text.startswith("year")
    assert document.location(document.text.index("1991")) == "line 3"


def member(data: bytes, name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = {n: file.read(n) for n in file.namelist()}
    return writers.archive({**members, name: content})


WORD = writers.docx(["x"])
LAUGHS = b'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w>&b;</w>'
HOSTILE = {
    "unpacks to more than 128 MiB": ("a.docx", lambda: member(WORD, "word/media/x.bin", bytes(200 << 20))),
    "declares entities": ("a.docx", lambda: member(WORD, "word/document.xml", LAUGHS)),
    "declares entities, which": (
        "a.docx",
        lambda: member(WORD, "word/document.xml", b"<!--" + b" " * 70_000 + b"-->" + LAUGHS[21:]),
    ),
    "no XML in UTF-8": (
        "a.pptx",
        lambda: member(writers.pptx([["x"]]), "ppt/presentation.xml", LAUGHS.decode().encode("utf-16")),
    ),
    "is no XML in UTF-8": ("a.docx", lambda: member(WORD, "word/document.xml", LAUGHS.decode().encode("utf-16-le"))),
    "no XML in UTF-8, which": (
        "a.docx",
        lambda: member(
            WORD, "word/document.xml", b"<?xml version='1.0' encoding='cp037'?>" + LAUGHS.decode().encode("cp037")
        ),
    ),
    "more than 5000": ("a.xlsx", lambda: writers.archive({f"f{n}": b"" for n in range(5001)})),
    "encrypted, or of the binary format": ("a.xlsx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    "holds a PNG picture": ("a.docx", lambda: writers.png(PIXELS)),
    "holds an archive": ("a.pdf", lambda: WORD),
    "is no PDF file": ("a.pdf", lambda: b"hello"),
    "it is damaged": ("a.docx", lambda: WORD[: len(WORD) // 2]),
    "has no part word/document": ("a.docx", lambda: writers.archive({"x.xml": b"<x/>"})),
    "is damaged: it ends too early": ("a.png", lambda: b"\x89PNG\r\n\x1a\n\x00"),
    "is that of a text": ("a.txt", lambda: b"\x7fELF\0\0"),
    "more than 20": ("a.pdf", lambda: b"%PDF-" + bytes(21 << 20)),
}


@pytest.mark.parametrize("why", HOSTILE)
async def test_hostile_documents_are_refused(why: str, reader: DocumentReader) -> None:
    name, made = HOSTILE[why]
    if needs := {".pdf": "pypdf", ".xlsx": "openpyxl"}.get(Path(name).suffix):
        pytest.importorskip(needs, reason="needs the extra documents")
    with pytest.raises(UnreadableDocumentError, match=why):
        await reader.read(name, made())


@pytest.mark.slow
async def test_of_a_pdf_of_ten_thousand_pages_the_first_are_read(reader: DocumentReader) -> None:
    pytest.importorskip("pypdf", reason="needs the extra documents")
    document = await reader.read("a.pdf", writers.pdf([[f"page number {n}"] for n in range(1, 10_001)]))
    assert document.text.endswith("[pages 301 to 10000 are not read]")
    assert document.start("page 300") is not None
    assert document.start("page 301") is None


async def test_an_encrypted_or_broken_pdf_is_refused(reader: DocumentReader) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs the extra documents")
    writer = pypdf.PdfWriter(io.BytesIO(writers.pdf([["secret"]])))
    writer.encrypt("a password", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(UnreadableDocumentError, match="encrypted; save it without"):
        await reader.read("a.pdf", out.getvalue())
    bomb = zlib.compress(bytes(90 << 20), 1)
    whole = writers.pdf([["x"]])
    at, end = whole.index(b"<< /Length"), whole.index(b"endstream")
    packed = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\n" % (len(bomb), bomb)
    try:
        text = await reader.text("a.pdf", whole[:at] + packed + whole[end:])
    except UnreadableDocumentError as error:
        text = str(error)
    assert "cannot be read" in text or "no text on this page" in text


async def test_what_a_document_says_is_no_place(reader: DocumentReader) -> None:
    document = Document.of([("page 1", "[page 9]\nlies"), ("page 2", "truth")])
    assert document.location(document.text.index("lies")) == "page 1"
    assert document.start("page 9") is None


async def test_a_corpus_cites_pages_and_begins_at_them(tmp_path: Path, reader: DocumentReader) -> None:
    deck = tmp_path / "deck.pptx"
    deck.write_bytes(writers.pptx([["The mill"], ["Visits in 1990: 812"]]))
    (tmp_path / "bad.docx").write_bytes(b"PK\x03\x04")
    corpus = await Corpus.load(None, reader, {"deck.pptx": deck, "bad.docx": tmp_path / "bad.docx"})
    assert corpus.search("visits 1990")[0][0] == "deck.pptx"
    search, read = corpus.tools()
    assert "[deck.pptx, slide 2, from" in await search.tool.run({"query": "visits in 1990"})
    assert (
        await read.tool.run({"path": "deck.pptx", "part": "Slide 2"})
        == "[deck.pptx, slide 2]\n[slide 2]\nVisits in 1990: 812"
    )
    assert "it has slide 1, slide 2" in await read.tool.run({"path": "deck.pptx", "part": "page 3"})
    assert "bad.docx cannot be read" in await read.tool.run({"path": "bad.docx"})


async def test_files_of_a_task_are_kept_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "b.exe").write_text("x")
    kept = keep_files([tmp_path / "a.csv"], tmp_path / "task")
    assert kept["a.csv"].read_text() == "x"
    with pytest.raises(ConfigError, match=r"two files are named a\.csv"):
        keep_files([tmp_path / "a.csv", tmp_path / "a.csv"], tmp_path / "task")
    with pytest.raises(ConfigError, match=r"b\.exe cannot be read as a document"):
        keep_files([tmp_path / "b.exe"], tmp_path / "task")
    with pytest.raises(ConfigError, match="give the path of a file"):
        keep_files([tmp_path / "none.csv"], tmp_path / "task")
