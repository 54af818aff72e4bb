"""Policy bundles and the features of their code (EvoPolicyGym, section 5.1 and table 3).

A *bundle* consists of `policy.py`, the local modules it reaches through imports, and every non-Python file (weights,
tables, configuration). Unreachable local modules are excluded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from heredity._core.ids import digest_bytes, digest_json
from heredity.analysis.syntax import SourceFacts, SourceReader
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.run import Features

ENTRY = "policy.py"


@dataclass(frozen=True)
class Bundle:
    """A policy bundle.

    Attributes:
        sources: path to content of its Python modules.
        facts: path to syntax facts of each module.
        data: path to digest of all other files of the candidate.
    """

    sources: Mapping[str, bytes]
    facts: Mapping[str, SourceFacts]
    data: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Identity of the bundle: all bytes of its modules and data."""
        return digest_json([{path: digest_bytes(s) for path, s in self.sources.items()}, dict(self.data)])

    @cached_property
    def topology(self) -> str:
        """Identity of its structure: the topologies of its modules, by path; data files are parameters and excluded."""
        return digest_json({path: facts.topology for path, facts in self.facts.items()})

    @cached_property
    def lines(self) -> Mapping[str, list[str]]:
        """Lines of each module."""
        return {path: source.decode("utf-8", "replace").splitlines() for path, source in self.sources.items()}

    @cached_property
    def features(self) -> Features:
        """Features of its code, counted over its modules.

        `branches` are `if` and `elif`, conditional expressions, `case`s and conditions of comprehensions; `loops` are
        `for`, `while` and each `for` of a comprehension; `state` are distinct names that keep something between calls.
        """
        facts = list(self.facts.values())
        return Features(
            functions=_total([f.functions for f in facts]),
            branches=_total([f.branches for f in facts]),
            loops=_total([f.loops for f in facts]),
            state=_total([f.state for f in facts]),
            lines=sum(map(len, self.lines.values())),
        )


def code_features(tree: SourceTree) -> Features:
    """Return the features of one policy program."""
    return read_bundle(Candidate.program(tree), SourceReader()).features


def read_bundle(candidate: Candidate, reader: SourceReader) -> Bundle:
    """Return the bundle of a candidate.

    Parts other than the policy program (prompts, weights) count as data. Without `policy.py` a program begins in any
    of the modules at its top.
    """
    tree = candidate.parts.get(AGENT, SourceTree({}))
    sources: dict[str, bytes] = {}
    facts: dict[str, SourceFacts] = {}
    queue = [ENTRY] if ENTRY in tree else [path for path in tree if path.endswith(".py") and "/" not in path]
    while queue:
        path = queue.pop()
        if path in sources:
            continue
        sources[path] = tree[path]
        facts[path] = reader.read(tree[path])
        queue.extend(file for level, name in facts[path].imports for file in _local_files(tree, path, level, name))
    data = {path: digest_bytes(content) for path, content in tree.items() if not path.endswith(".py")}
    data |= {f"{name}/": part.digest for name, part in candidate.parts.items() if name != AGENT}
    return Bundle(dict(sorted(sources.items())), dict(sorted(facts.items())), data)


def _local_files(tree: SourceTree, importer: str, level: int, name: str) -> Iterator[str]:
    """Yield the files of the tree that importing a module runs: its packages' `__init__.py` and itself."""
    package = importer.split("/")[:-1]
    if level > len(package) + 1:
        return
    path = "/".join(package[: len(package) - level + 1]) if level else ""
    for word in name.split(".") if name else [""]:
        path = "/".join(p for p in (path, word) if p)
        for file in (f"{path}.py" if path else "", f"{path}/__init__.py" if path else "__init__.py"):
            if file in tree:
                yield file


def _total(counts: list[int | None]) -> int | None:
    present = [c for c in counts if c is not None]
    return sum(present) if counts and len(present) == len(counts) else None
