"""Dockerfiles that can be replayed: a base image plus COPY, RUN, WORKDIR, ENV and ARG lines. Anything else is refused.

`read_dockerfile` takes variables out of what Docker would replace itself (FROM, COPY, WORKDIR, ENV, ARG); those of RUN lines are
left to the shell.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from heredity.errors import ConfigError
from heredity.outside import json_value, read_text
from heredity.refusals import reading

_PARSED = {"FROM", "COPY", "RUN", "WORKDIR", "ENV", "ARG"}
_VARIABLE = re.compile(r"\\\$|\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})")
_ASSIGNMENT = re.compile(r"""\s*([A-Za-z_]\w*)=((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*)""", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_MODE = re.compile(r"[0-7]{3,4}")


@dataclass(frozen=True)
class Copy:
    """A COPY line: `sources` are patterns below `environment/`, `target` is absolute; one that ends in `/` is a folder.

    `mode` is what files and folders get as permissions, or None to keep those they have.
    """

    line: int
    sources: tuple[str, ...]
    target: str
    mode: int | None = None


@dataclass(frozen=True)
class Run:
    """A RUN line: a command for `/bin/sh -c`, the folder it starts in, and the variables that are set by then."""

    line: int
    command: str
    workdir: str
    env: Mapping[str, str]


@dataclass(frozen=True)
class Workdir:
    """A WORKDIR line: a folder, absolute, that is made where it does not exist."""

    line: int
    path: str


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile that can be replayed.

    Attributes:
        base: the image it begins from, such as `"python:3.12-slim"`.
        steps: what is to be done, in order.
        env: the variables of every command in the finished environment.
        workdir: the folder where commands start.
    """

    base: str
    steps: tuple[Copy | Run | Workdir, ...]
    env: Mapping[str, str]
    workdir: str


def read_dockerfile(file: Path, base_env: Mapping[str, str] | None = None) -> Dockerfile:
    """Read a Dockerfile.

    Args:
        file: the Dockerfile.
        base_env: variables that the base image sets; lines may refer to them.

    Raises:
        ConfigError: if it cannot be replayed; the message names the file, the line, the reason and what to do.
    """
    with reading(file, "UTF-8 text", "correct or replace it"):
        text = read_text(file)
    reader = _Reader(file, base_env or {})
    for number, line in _logical_lines(text):
        reader.take(number, line)
    if not reader.base:
        raise ConfigError(f"{file} has no FROM line; name the image that it begins from")
    return Dockerfile(reader.base, tuple(reader.steps), dict(reader.env), reader.workdir)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return instructions with the number of their first line: continued lines joined, comments and empty lines gone."""
    instructions: list[tuple[int, str]] = []
    started, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        started = number if not parts else started
        stripped = line.rstrip()
        parts.append(stripped.removesuffix("\\"))
        if not stripped.endswith("\\"):
            instructions.append((started, "".join(parts).strip()))
            parts = []
    if parts:
        instructions.append((started, "".join(parts).strip()))
    return instructions


@dataclass
class _Reader:
    file: Path
    base_env: Mapping[str, str]
    base: str = ""
    workdir: str = "/"
    steps: list[Copy | Run | Workdir] = field(default_factory=list[Copy | Run | Workdir])
    env: dict[str, str] = field(default_factory=dict[str, str])
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    _line: tuple[int, str] = (0, "")

    def take(self, number: int, line: str) -> None:
        """Take one instruction.

        Raises:
            ConfigError: if it cannot be replayed.
        """
        self._line = (number, line)
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        name, rest = word.upper(), rest.strip()
        if name not in _PARSED:
            self._refuse(f"{name:.40} lines cannot be replayed, only FROM, COPY, RUN, WORKDIR, ENV and ARG")
        if not self.base and name not in ("FROM", "ARG"):
            self._refuse("it stands before FROM")
        if not rest:
            self._refuse(f"{name} needs a value")
        getattr(self, f"_take_{name.lower()}")(rest)

    def _take_from(self, rest: str) -> None:
        if self.base:
            self._refuse("a build in several stages cannot be replayed")
        words = rest.split()
        if words[0].startswith("--"):
            self._refuse(f"{words[0].partition('=')[0]} cannot be replayed")
        if len(words) != 1 and not (len(words) == 3 and words[1].upper() == "AS"):
            self._refuse("expected FROM IMAGE, or FROM IMAGE AS NAME")
        self.base = self._filled(words[0])
        # Docker forgets the arguments that stand before FROM, unless they are declared again.
        self.arguments = {}

    def _take_arg(self, rest: str) -> None:
        name, equals, value = rest.partition("=")
        if _NAME.fullmatch(name) is None:
            self._refuse("expected ARG NAME or ARG NAME=VALUE")
        if equals:
            self.arguments[name] = self._filled(self._unquoted(value))

    def _take_env(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        if "=" not in name:
            if _NAME.fullmatch(name) is None or not value:
                self._refuse("expected ENV NAME=VALUE …")
            self.env[name] = self._filled(value.strip())
            return
        variables, offset = dict[str, str](), 0
        while offset < len(rest):
            pair = _ASSIGNMENT.match(rest, offset)
            if pair is None or pair.end() == offset:
                if not rest[offset:].strip():
                    break
                self._refuse("expected ENV NAME=VALUE …, values with spaces in quotes")
            variables[pair[1]] = self._filled(self._unquoted(pair[2]))
            offset = pair.end()
        self.env |= variables

    def _take_workdir(self, rest: str) -> None:
        self.workdir = self._absolute(self._filled(self._unquoted(rest)))
        self.steps.append(Workdir(self._line[0], self.workdir))

    def _take_run(self, rest: str) -> None:
        if rest.startswith("--"):
            self._refuse(f"RUN {rest.split('=', maxsplit=1)[0].split(maxsplit=1)[0]} cannot be replayed")
        if "<<" in re.sub(r"'[^']*'|\"[^\"]*\"", "", rest):
            self._refuse(
                "a RUN line with a here-document cannot be replayed; put the script into environment/ and COPY it"
            )
        words = self._listed(rest)
        command = shlex.join(words) if words is not None else rest
        self.steps.append(Run(self._line[0], command, self.workdir, {**self.arguments, **self.env}))

    def _take_copy(self, rest: str) -> None:
        mode = None
        while rest.startswith("--"):
            option, _, rest = rest.partition(" ")
            name, _, value = option.partition("=")
            rest = rest.strip()
            if name == "--chmod" and _MODE.fullmatch(value):
                mode = int(value, 8)
            elif not (name == "--chown" and value in ("root", "root:root", "0", "0:0")):
                self._refuse(f"COPY {option} cannot be replayed, only --chmod=OCTAL and --chown=root:root")
        listed = self._listed(rest)
        words = [self._filled(word) for word in (listed if listed is not None else rest.split())]
        if len(words) < 2 or "<<" in rest:
            self._refuse("expected COPY SOURCE … TARGET")
        *sources, target = words
        if any(".." in PurePosixPath(source).parts for source in sources):
            self._refuse("a source lies outside environment/; put what is copied below it")
        slash = "/" if target.endswith(("/", "/.")) or target == "." else ""
        if len(sources) > 1 and not slash:
            self._refuse("several sources need a target that ends in /")
        path = self._absolute(target)
        self.steps.append(Copy(self._line[0], tuple(sources), path if path == "/" else path + slash, mode))

    def _absolute(self, path: str) -> str:
        # Two slashes at the front survive normpath.
        return "/" + posixpath.normpath(posixpath.join(self.workdir, path)).lstrip("/")

    def _listed(self, rest: str) -> list[str] | None:
        if not rest.startswith("["):
            return None
        try:
            words: Any = json_value(rest)
        except ValueError:
            return None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return None
        return [str(word) for word in words]

    def _unquoted(self, value: str) -> str:
        """Return a value without its quotes; a quoted or escaped `$` stays escaped until variables are filled in."""
        pieces = re.findall(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|(\\.|[^\\'\"]+)", value, re.DOTALL)
        if not value:
            return ""
        literal = [re.sub(r"\$", r"\\$", single) for single, _, _ in pieces]
        return "".join(
            quoted or re.sub(r"\\([^$])", r"\1", double or plain)
            for quoted, (_, double, plain) in zip(literal, pieces, strict=True)
        )

    def _filled(self, value: str) -> str:
        variables = {**self.base_env, **self.arguments, **self.env}

        def fill(match: re.Match[str]) -> str:
            if match[0] == "\\$":
                return "$"
            given, sign, other = variables.get(match[1] or match[2]), match[3], match[4]
            if sign == "+":
                return other if given else ""
            return given or other or "" if sign == "-" else given or ""

        return _VARIABLE.sub(fill, value)

    def _refuse(self, reason: str) -> NoReturn:
        number, line = self._line
        shown = line if len(line) <= 120 else line[:120] + "…"
        raise ConfigError(
            f"{self.file}:{number}: {reason} (line: {shown}); rewrite the line, or run the task with Docker or Podman"
        )
