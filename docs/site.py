"""Hooks of `mkdocs build`: they add pages of commands, options of methods, the API, the architecture and linked sources.

The reference has every module that a page imports from.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

sys.path.insert(0, str(Path(__file__).parent))
from command_pages import commands, completed, options_page, page_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^(?:from|import) (heredity(?:_harness)?(?:\.\w+)*)\b", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to the files and to the navigation."""
    origins: dict[str, str] = {}
    pages = {**_commands(config["nav"]), **_reference(config["nav"])}
    pages["options.md"] = ("options.md", options_page())
    _entry(config["nav"], "Reference").insert(0, {"Options of methods": "options.md"})
    pages["architecture.md"] = ("ARCHITECTURE.md", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    _entry(config["nav"], "Extend").insert(0, {"Architecture": "architecture.md"})
    for path in [*DOCS.rglob("*.md"), ROOT / "ARCHITECTURE.md"]:
        for match in LINK.finditer(FENCE.sub("", path.read_text(encoding="utf-8"))):
            file = Path(os.path.normpath(path.parent / match["target"].partition("#")[0]))
            if file.is_file() and not file.is_relative_to(DOCS) and file.suffix != ".md":
                name = str(file.relative_to(ROOT))
                text = f"# {name}\n\n````{file.suffix[1:]}\n{file.read_text(encoding='utf-8')}````\n"
                pages[f"source/{name}.md"] = (name, text)
    for name, (origin, text) in pages.items():
        level = InclusionLevel.NOT_IN_NAV if name.startswith("source/") else InclusionLevel.UNDEFINED
        files.append(File.generated(config, name, content=text, inclusion=level))
        origins[name] = origin
    config["extra"]["origins"] = origins
    config["extra"]["generated"] = {origin: name for name, origin in origins.items()}
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fill in what is generated, and point links to pages of the site instead of files of the repository."""
    own = page.file.src_uri
    origin = config["extra"]["origins"].get(own, f"docs/{own}")
    generated = config["extra"]["generated"]

    def pointed(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target)) if target else origin
        if path == "docs/commands.md" and anchor.startswith("heredity"):
            place, anchor = f"commands/{anchor}.md", ""
        else:
            place = generated.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if path == "README.md":
            place = "index.md"
        if place is None:
            return match["text"]
        relative = posixpath.relpath(place, posixpath.dirname(own) or ".") if place != own else ""
        return f"[{match['text']}]({relative}{'#' + anchor if anchor else ''})"

    parts = FENCE.split(completed(markdown))
    return "".join(part if part.startswith("```") else LINK.sub(pointed, part) for part in parts)


def _entry(nav: list[dict[str, Any]], title: str) -> list[Any]:
    return next(entry[title] for entry in nav if title in entry)


def _commands(nav: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return a page for each command, and list them in the navigation by their groups."""
    paths = dict(commands())
    pages: dict[str, tuple[str, str]] = {}
    groups: dict[str, list[Any]] = defaultdict(list)
    for path, command in paths.items():
        name = f"commands/{path.replace(' ', '-')}.md"
        pages[name] = (path, page_of(path, command))
        words = path.split()
        grouped = sum(other.split()[:2] == words[:2] for other in paths) > 1
        groups[" ".join(words[:2]) if grouped else ""].append({path: name})
    listed = _entry(nav, "Commands")
    listed.extend(groups.pop(""))
    listed.extend({title: entries} for title, entries in groups.items())
    return pages


def _reference(nav: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return a page for each module that the documentation imports from."""
    sources = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    modules = sorted({m for path in sources for m in IMPORT.findall(path.read_text(encoding="utf-8"))} - {"heredity"})
    pages = {f"reference/{m}.md": (f"reference/{m}", f"# {m}\n\n::: {m}\n") for m in modules}
    groups: dict[str, list[Any]] = defaultdict(list)
    for module in modules:
        groups[".".join(module.split(".")[:2])].append({module: f"reference/{module}.md"})
    _entry(nav, "Reference").extend({title: entries} for title, entries in groups.items())
    return pages
