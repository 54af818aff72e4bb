"""Building of instances: the required content of a prompt, an agent, a tool and so on.

Resources are never executed here. Python files are parsed, not imported: an optimizer's code runs in a sandbox or not
at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from heredity._core.errors import ConfigError, IsolationError
from heredity._core.outside import json_value, python_tree
from heredity._core.refusals import quoted, reading
from heredity.resources import retrieval
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Manifest, Version

_TOOL_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
PROMPT = "prompt.md"
SKILL = "SKILL.md"
CODE = "tool.py"
MCP = "mcp.json"
"""A server of the Model Context Protocol whose tools are offered to the agents of a team (`heredity.team.tools.mcp`)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A built resource: its version, its files, and its parsed content.

    Attributes:
        version: the version.
        tree: its files.
        value: a prompt's text; a model's or an environment's description (JSON); else the files.
    """

    version: Version
    tree: SourceTree
    value: Any

    @property
    def places(self) -> tuple[str, ...]:
        """The names of a prompt's `{{places}}`, each once, in the order of the text; empty for other types."""
        return tuple(dict.fromkeys(_PLACE.findall(self.value))) if self.version.type == "prompt" else ()

    def run(self, inputs: Mapping[str, Any]) -> Any:
        """Fill in a prompt's `{{places}}`, or search a memory.

        Args:
            inputs: a text for each place of a prompt. Of a memory a `query` in words and a `limit`, 5 by default; without a
                query, every entry.

        Returns:
            The text of a prompt. Of a memory a list of `file`, `text` and `score`, the most relevant first: each line of a
            `.jsonl` and each paragraph of another text is an entry.

        Raises:
            ConfigError: if an input is missing, unknown or of another type.
            IsolationError: if it is neither: code runs in a sandbox, never in this process.
        """
        if self.version.type == "memory":
            return _search(self.version.label, self.tree, inputs)
        if self.version.type == "model":
            raise IsolationError(
                f"{self.version.label} is not run by itself, because calls of a model need a key and a budget; name the model in"
                " gateway.execution of a configuration"
            )
        if self.version.type != "prompt":
            raise IsolationError(
                f"{self.version.label} is not run in this process, because its code may not be trusted;"
                " `heredity resources run` and a server of resources run it in the sandbox"
            )
        if set(self.places) != set(inputs):
            raise ConfigError(
                f"{self.version.label} takes {', '.join(sorted(self.places)) or 'no input'}, and was given"
                f" {', '.join(sorted(inputs)) or 'none'}"
            )
        return _PLACE.sub(lambda match: str(inputs[match[1]]), self.value)


def _search(label: str, tree: SourceTree, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    query, limit = inputs.get("query", ""), inputs.get("limit", 5 if "query" in inputs else None)
    unknown = sorted(set(inputs) - {"query", "limit"})
    if unknown or not isinstance(query, str) or not (limit is None or (type(limit) is int and limit > 0)):
        raise ConfigError(
            f"{label} was given {quoted(dict(inputs))}; it takes a query, a text, and a limit, a whole number of at least 1"
        )
    entries = [(path, text) for path, content in tree.texts().items() for text in _entries(path, content)]
    scores = retrieval.scores(query, [text for _, text in entries])
    pairs = sorted(zip(entries, scores, strict=True), key=lambda pair: -pair[1])
    return [{"file": p, "text": t, "score": score} for (p, t), score in pairs if score > 0 or not query.strip()][:limit]


def _entries(path: str, content: str) -> list[str]:
    if not path.endswith(".jsonl"):
        return [text for paragraph in re.split(r"\n\s*\n", content) if (text := paragraph.strip())]
    lines = [(line, json_value(line)) for line in content.splitlines() if line.strip()]
    return [
        value["text"] if isinstance(value, dict) and isinstance(value.get("text"), str) else line
        for line, value in lines
    ]


def build(version: Version, tree: SourceTree) -> Instance:
    """Build an instance.

    Raises:
        ConfigError: if the files do not match the type; the message names the file, and the line of bad syntax.
    """
    return Instance(version, tree, check(version.type, version.name, tree, version.manifest))


def check(type_: str, name: str, tree: SourceTree, manifest: Manifest) -> Any:
    """Return the value of an instance, see `Instance.value`.

    Raises:
        ConfigError: see `build`.
    """
    label = f"{type_}/{name}"
    # The scripts of a skill are read and run by agents, in any Python version.
    for path in tree if type_ != "tool" or CODE in tree else ():
        if path.endswith(".py"):
            _check_syntax(label, path, tree)
    return _BUILDERS[type_](label, tree, manifest)


def _prompt(label: str, tree: SourceTree, _: Manifest) -> str:
    text = _text(label, tree, PROMPT)
    if not text.strip():
        raise ConfigError(f"{PROMPT} of {label} is empty; write the prompt into it")
    return text


def _agent(label: str, tree: SourceTree, _: Manifest) -> SourceTree:
    return _with_one_of(label, tree, "policy.py", "agent.py", "agent.json")


def _memory(label: str, tree: SourceTree, _: Manifest) -> SourceTree:
    for path in tree:
        if path.endswith(".jsonl"):
            for line, text in enumerate(_text(label, tree, path).splitlines(), 1):
                _json(f"{path}:{line} of {label}", text)
    return tree


def _tool(label: str, tree: SourceTree, manifest: Manifest) -> SourceTree:
    most = CALLED if CODE in tree else READ
    check_skill(label.partition("/")[2], manifest.description, most)
    if manifest.arguments and manifest.arguments.get("type") != "object":
        raise ConfigError(f'the arguments of {label} must be a JSON schema of type "object"')
    return _with_one_of(label, tree, CODE, SKILL, MCP)


def _described(file: str) -> Callable[[str, SourceTree, Manifest], Any]:
    def read(label: str, tree: SourceTree, _: Manifest) -> Mapping[str, Any]:
        value = _json(f"{file} of {label}", _text(label, tree, file))
        if not isinstance(value, dict):
            raise ConfigError(f"{file} of {label} must be a JSON object")
        return MappingProxyType(value)

    return read


_BUILDERS: dict[str, Callable[[str, SourceTree, Manifest], Any]] = {
    "prompt": _prompt,
    "agent": _agent,
    "tool": _tool,
    "environment": _described("environment.json"),
    "memory": _memory,
    "model": _described("model.json"),
}


CALLED, READ = 1024, 4096
"""Maximum characters of the description of a program, which providers limit, and of a skill: published ones exceed 1024."""


def check_skill(name: str, description: str, most: int = READ) -> None:
    """Refuse a name or a description that SKILL.md does not allow.

    Raises:
        ConfigError: if the name is not lower-case words with hyphens, or the description not 1 to `most` characters.
    """
    if not _TOOL_NAME.fullmatch(name) or len(name) > 64:
        raise ConfigError(
            f"{name!r:.80} cannot name a tool; use at most 64 lower-case letters, digits and single hyphens"
        )
    if not 1 <= len(description.strip()) <= len(description) <= most:
        raise ConfigError(
            f"the description of tool/{name} has {len(description)} characters; write 1 to {most}, what it does and when to"
            " use it"
        )


def _text(label: str, tree: SourceTree, path: str) -> str:
    if path not in tree:
        raise ConfigError(f"{label} has no {path} (it has {', '.join(tree) or 'no files'}); add it")
    with reading(f"{path} of {label}", "UTF-8 text", "convert it"):
        return tree[path].decode()


def _json(what: str, text: str) -> Any:
    with reading(what, "JSON", "correct it there"):
        return json_value(text)


def _with_one_of(label: str, tree: SourceTree, *paths: str) -> SourceTree:
    if not any(path in tree for path in paths):
        raise ConfigError(f"{label} has neither {' nor '.join(paths)}; add one of them")
    return tree


def _check_syntax(label: str, path: str, tree: SourceTree) -> None:
    try:
        python_tree(tree[path])
    except ValueError as error:
        raise ConfigError(f"{path} of {label} is not Python: {error}; correct it there") from error
