"""The languages that problems can be solved in, each with starters and a harness that are made from a signature."""

from __future__ import annotations

from heredity.errors import UnknownNameError
from heredity.tasks.code.languages.contract import MARK, Language
from heredity.tasks.code.languages.cpp import CPP
from heredity.tasks.code.languages.go import GO
from heredity.tasks.code.languages.java import JAVA
from heredity.tasks.code.languages.javascript import JAVASCRIPT
from heredity.tasks.code.languages.kotlin import KOTLIN
from heredity.tasks.code.languages.python import PYTHON

__all__ = ["LANGUAGES", "MARK", "Language", "language"]

LANGUAGES: dict[str, Language] = {one.name: one for one in (PYTHON, CPP, JAVA, GO, KOTLIN, JAVASCRIPT)}
"""All languages by name, in the order of the paper's table 6, which has no JavaScript."""


def language(name: str) -> Language:
    """Return a language by name.

    Raises:
        UnknownNameError: if there is none of that name.
    """
    if name not in LANGUAGES:
        raise UnknownNameError("language", name, sorted(LANGUAGES))
    return LANGUAGES[name]
