"""`heredity resources serve` and `run`: registered tools and prompts for other programs, and once from the command line."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heredity.cli.bars import activity
from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.actors.contract import ToolResult
    from heredity.resources import Registry

STORE = Path("resources.sqlite")
_MOST_NAMED = 6


def _in_folder(path: Path) -> Path:
    """Return the store of a run where its folder is given, or the folder of a suite in which one run alone has a store."""
    stores = sorted(path.glob(f"runs/*/{STORE}"))
    if not path.is_dir() or (path / STORE).exists() or not stores:
        return path / STORE if path.is_dir() else path
    if len(stores) == 1:
        return stores[0]
    named = " or ".join(f"--store {shlex.quote(str(store.parent))}" for store in stores[:_MOST_NAMED])
    more = f" (there are {len(stores)})" if len(stores) > _MOST_NAMED else ""
    raise ConfigError(f"{path} is the folder of a suite, and each of its runs has a store; name one: {named}{more}")


StorePath = Annotated[
    Path, typer.Option("--store", help="The store's file, or the folder of a run.", callback=_in_folder)
]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Run tools with the isolation that works here.")]
PORT = 8765


def serve(
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    mcp: Annotated[
        Literal["stdio", "http", "off"],
        typer.Option("--mcp", help="Where tools and prompts are offered over MCP: stdin and stdout, /mcp, or nowhere."),
    ] = "http",
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="HEREDITY_TOKEN", help="What requests must bring.", show_default="none"),
    ] = None,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
) -> None:
    """Serve a store, which is made if there is none: /resources over HTTP, its tools and prompts over MCP.

    Example: heredity resources serve --mcp stdio
    """
    try:
        with activity():
            run_interruptibly(_serve(store, port=port, mcp=mcp, token=token or None, unsafe=unsafe))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


def run(
    name: Annotated[str, typer.Argument(help="tool/NAME or prompt/NAME.", show_default=False)],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="KEY=VALUE …; for a tool, values are JSON or else text.", show_default=False),
    ] = None,
    version: Annotated[str | None, typer.Option("--version", help="A version.", show_default="the head")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="How long a tool may take.", min=0.01)] = 30.0,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Run a registered tool in the sandbox and print its result, or fill in a prompt.

    Example: heredity resources run tool/add a=1 b=2
    """
    from heredity.resources import Registry, Store

    type_, _, own = name.partition("/")
    given = _given(inputs or ())
    with Store(store, create=False) as opened:
        registry = Registry(opened)
        if type_ != "tool":
            text = registry.run(type_, own, given, version=version)
            typer.echo(json.dumps(text, ensure_ascii=False) if as_json else text, nl=as_json or text[-1:] != "\n")
            return
        arguments = {key: _parsed(value) for key, value in given.items()}
        result = asyncio.run(_run_tool(registry, own, arguments, version, seconds, unsafe=unsafe))
    if as_json:
        typer.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2))
    elif not result.error:
        typer.echo(result.value if isinstance(result.value, str) else json.dumps(result.value, ensure_ascii=False))
    if result.error:
        typer.echo(f"heredity: {name}: {result.error}: {result.message}\n{result.traceback}".rstrip(), err=True)
        raise typer.Exit(1)


async def _serve(store: Path, *, port: int, mcp: str, token: str | None, unsafe: bool) -> None:
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.server.resources import serve_resources, serve_stdio

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        if mcp == "stdio":
            await serve_stdio(store, programs)
            return
        async with serve_resources(store, programs, port=port, token=token, mcp=mcp == "http") as url:
            also = f", tools and prompts (MCP) at {url}/mcp" if mcp == "http" else ""
            typer.echo(f"{store} at {url}/resources{also}")
            await asyncio.Event().wait()


async def _run_tool(
    registry: Registry, name: str, arguments: dict[str, Any], version: str | None, seconds: float, *, unsafe: bool
) -> ToolResult:
    from heredity.actors.calling import run_tool
    from heredity.rollouts.programs import SandboxedPrograms

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        return await run_tool(registry, programs, name, arguments, version=version, seconds=seconds)


def _given(words: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is no input; write KEY=VALUE")
        if key in given:
            raise ConfigError(f"{key} is given twice; give it once")
        given[key] = text
    return given


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
