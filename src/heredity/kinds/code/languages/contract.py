"""The contract of a language: starters, harnesses, and the commands that compile and run a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heredity._core.errors import ConfigError
from heredity.kinds.code.signature import Signature

PYTHON = "python3"

MARK = "=answer="
"""Marks the answer in a program's standard output; text before it was printed by the solution."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language that solutions are written in.

    Attributes:
        name: such as `"cpp"`.
        title: name for people.
        file: file name of a solution.
        programs: required programs, looked up on PATH; the first of them runs or compiles.
        starter: generates the starter of a solution.
        harness: generates the other files of a program, by path: they read a case, call the solution and write its
            answer.
        wrapped: turns a submitted text into the solution's file; lines keep their numbers.
        compile: shell script that compiles a program in the working folder; empty for interpreted languages.
        outputs: files of the working folder to keep after compiling; all of them if nothing is compiled.
        run: returns the command that runs a program, given its memory in megabytes.
        remedy: instructions for installing its programs.
        heap_apart: true if the command itself limits memory, such as a virtual machine that reserves more than it uses.
        environment: variables of both commands.
        gives_up: a statement that ends a program, to complete a starter; empty if the starter is complete.
    """

    name: str
    title: str
    file: str
    programs: tuple[str, ...]
    starter: Callable[[Signature], str]
    harness: Callable[[Signature], Mapping[str, str]]
    run: Callable[[int], tuple[str, ...]]
    remedy: str
    wrapped: Callable[[str], str] = str
    compile: str = ""
    outputs: tuple[str, ...] = ()
    heap_apart: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    gives_up: str = ""

    def program(self, signature: Signature, source: str) -> dict[str, str]:
        """Return all files of a program by path: the harness and the solution.

        Raises:
            ConfigError: if harnesses exist only in Python.
        """
        self.check(signature)
        return {**self.harness(signature), self.file: self.wrapped(source)}

    def check(self, signature: Signature) -> None:
        """Check that solutions can be written in this language.

        Raises:
            ConfigError: if only Python is possible.
        """
        if signature.python_alone and self.name != PYTHON:
            raise ConfigError(f"the problem states no types, so it is judged in {PYTHON} alone, not in {self.name}")

    def complete(self, signature: Signature) -> str:
        """Return the starter as a solution that compiles and gives up."""
        return (
            self.starter(signature).replace("{\n\n", f"{{\n{self.gives_up}\n")
            if self.gives_up
            else self.starter(signature)
        )


def capital(name: str) -> str:
    """Return a name with a capital first letter."""
    return name[:1].upper() + name[1:]


def indented(lines: list[str], by: str = "    ") -> str:
    """Return lines, each indented."""
    return "".join(f"{by}{line}\n" if line else "\n" for line in lines)
