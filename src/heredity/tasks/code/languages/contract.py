"""What a language is: how a solution in it begins, how a program is made of one, compiled and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heredity.errors import ConfigError
from heredity.tasks.code.signature import Signature

PYTHON = "python3"

MARK = "=answer="
"""The line after which a program's standard output holds its answer; what was printed before is the solution's own."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language that solutions are written in.

    Attributes:
        name: such as `"cpp"`.
        title: as people write it.
        file: name of the file that a solution is.
        programs: what has to be installed, as found on PATH; the first of them runs or compiles.
        starter: makes the text that a solution begins as.
        harness: makes the other files of a program, by path: those that read a case, call the solution and write its answer.
        wrapped: makes the solution's file from what was written; lines keep their numbers.
        compile: the command that compiles a program in the working folder, a script of the shell; empty where nothing is.
        outputs: what of the working folder is kept after compiling; all its files where nothing is compiled.
        run: makes the command that runs a program, from the megabytes it may use.
        remedy: how its programs are installed.
        heap_apart: whether memory is bounded by the command itself, as for a virtual machine that reserves more than it uses.
        environment: variables of both commands.
        gives_up: a statement that ends a program, which makes a starter complete; empty where it is already.
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
            ConfigError: if there is a harness in Python alone.
        """
        self.check(signature)
        return {**self.harness(signature), self.file: self.wrapped(source)}

    def check(self, signature: Signature) -> None:
        """Check that solutions can be written in this language.

        Raises:
            ConfigError: if they can be in Python alone.
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
