"""The languages of solutions, each with starters and a harness generated from a signature."""

from __future__ import annotations

from heredity._core.errors import UnknownNameError
from heredity.kinds.code.languages.contract import Language
from heredity.kinds.code.languages.cpp import CPP
from heredity.kinds.code.languages.go import GO
from heredity.kinds.code.languages.java import JAVA
from heredity.kinds.code.languages.javascript import JAVASCRIPT
from heredity.kinds.code.languages.kotlin import KOTLIN
from heredity.kinds.code.languages.python import PYTHON

LANGUAGES: dict[str, Language] = {one.name: one for one in (PYTHON, CPP, JAVA, GO, KOTLIN, JAVASCRIPT)}
"""All languages by name, in the order of the paper's table 6, which has no JavaScript."""


def language(name: str) -> Language:
    """Return a language by name.

    Raises:
        UnknownNameError: if it does not exist.
    """
    if name not in LANGUAGES:
        raise UnknownNameError("language", name, sorted(LANGUAGES))
    return LANGUAGES[name]
