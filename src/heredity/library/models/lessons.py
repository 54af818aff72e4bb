"""The lessons of `offline/shell-worker`: their wording, and its reports that it had or lacked one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

TABLES = "tables"
"""Cells of a table may be quoted: no words teach this, but a tool that looks at the table does."""
BRIEF = "brief"
"""Long results swamp the worker: no words help, but middleware that shortens them does."""

_PIECE = re.compile(r"[.;\n]")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A practice that the worker must be taught.

    Attributes:
        says: a sentence that teaches it; `""` if words cannot.
        words: expressions that a clause must all match, ignoring case, to teach it; none if words cannot.
        lacked: the worker's report that it went without.
        heeded: the worker's report that it applied it.
        signs: patterns in the output of verifiers and programs when it is missing.
    """

    says: str
    words: tuple[str, ...]
    lacked: str
    heeded: str
    signs: tuple[str, ...] = ()


LESSONS: Mapping[str, Lesson] = {
    "blanks": Lesson(
        "Quote the names of files, for there may be blanks in them.",
        (r"\bquot", r"\b(blanks?|spaces?|whitespace)\b"),
        "names of files hold no blanks",
        "quoted the names of files",
        (r"with space", r"No such file", r"cannot stat"),
    ),
    "depth": Lesson(
        "Search folders at every depth, hidden files included.",
        (r"\b(depth|recurs\w*|nested|subfolders?|levels?|hidden)\b", r"\b(folders?|files?|director\w+)\b"),
        "what matters lies directly in the folder, and nothing is hidden",
        "searched at every depth",
        (r"sorted\(found\)", r"logs/old", r"\.config"),
    ),
    "numbers": Lesson(
        "Compare numbers by their value and never as text.",
        (r"\b(numbers?|numeric\w*|versions?)\b", r"\b(by value|by their value|as text|numerically|as numbers)\b"),
        "numbers compare as texts do",
        "compared numbers by their value",
        (r"week_1[0-3]", r"1\.10\.0", r"total\"", r"split\(\"\\n\"\)"),
    ),
    "missing": Lesson(
        "Treat empty fields, null, NA and n/a as missing and never as values.",
        (r"\b(missing|absent)\b", r"\b(empty|null|blank|NA|n/a)\b"),
        "every field holds a value",
        "took empty fields and the like as missing",
        (r"\bNone\b", r"n/a", r"\bNA\b"),
    ),
    "exact": Lesson(
        "Calculate with exact decimals instead of floats, and write all digits asked for.",
        (r"\b(exact\w*|decimals?)\b", r"\b(floats?|floating|digits|round\w*)\b"),
        "floats are exact enough",
        "calculated exactly",
        (r"OverflowError", r"0000000\d", r"to the cent"),
    ),
    "edges": Lesson(
        "Mind the odd cases: nothing at all, wrong input, and what lies exactly on a bound.",
        (r"\b(odd|edge|corner|boundary|unusual) cases?\b", r"."),
        "odd cases do not occur",
        "minded the odd cases",
        (r"for wrong in", r"== \(1,", r"== \(3,", r"function\.__name__", r"empty\d"),
    ),
    "sort": Lesson(
        "Sort what you write.",
        (r"\bsort\b", r"\b(write|output|print|results?|lists?|lines|rows)\b"),
        "any order will do",
        "sorted",
    ),
    "order": Lesson(
        "Keep the order of the input where no other is asked for.",
        (r"\b(keep|preserve|retain)\b", r"\b(input|original) order\b|\border of the input\b|\border it came in\b"),
        "",
        "kept the order of the input",
    ),
    "clean": Lesson(
        "Leave no temporary files behind.",
        (r"\b(temporary|temp|scratch)\b", r"\b(leave|remove|delete|clean|tidy)\b"),
        "temporary files may lie anywhere",
        "left nothing behind",
        (r"\.tmp", r"os\.listdir", r"iterdir\(\)"),
    ),
    TABLES: Lesson(
        "",
        (),
        "no cell of a table is quoted",
        "read the table as the tool said",
        (r"csv\.reader\(file\)\) == expected", r"Rent, flat"),
    ),
    BRIEF: Lesson("", (), "a result was so long that I lost sight of my notes", "kept results short"),
}
"""By name. Those with an empty `says` are taught by a tool and by middleware."""

BLUNT = "I sorted as my notes say, though nobody asked for it"
"""How the worker says that sorting was wrong, or may have been."""


def lessons_in(text: str) -> frozenset[str]:
    """Return the lessons that a text teaches: one clause must contain all words of a lesson."""
    pieces = _PIECE.split(text)
    return frozenset(name for name, lesson in LESSONS.items() if any(teaches(piece, lesson) for piece in pieces))


def teaches(piece: str, lesson: Lesson) -> bool:
    """Return True if a clause teaches a lesson."""
    return bool(lesson.words) and all(re.search(word, piece, re.IGNORECASE) for word in lesson.words)


def report(lacked: Collection[str], heeded: Collection[str], blunt: bool) -> str:
    """Return the worker's report on its approach."""
    lines = [f"- I took it that {LESSONS[name].lacked}." for name in lacked if name != BRIEF]
    lines += [f"- I {LESSONS[name].heeded}." for name in heeded]
    lines += [f"- {BLUNT}."] if blunt else []
    lines += [f"- One thing: {LESSONS[BRIEF].lacked}."] if BRIEF in lacked else []
    return "\n".join(["Done. How I went about it:", *lines])


def read_report(text: str) -> tuple[list[str], list[str]]:
    """Return the lessons that a report lists as lacked, and those as heeded.

    Sorting in vain lacks `order` and heeds `sort`.
    """
    lacked = [name for name, lesson in LESSONS.items() if lesson.lacked and f"{lesson.lacked}." in text]
    heeded = [name for name, lesson in LESSONS.items() if f"- I {lesson.heeded}." in text]
    return ([*lacked, "order"], [*heeded, "sort"]) if BLUNT in text else (lacked, heeded)
