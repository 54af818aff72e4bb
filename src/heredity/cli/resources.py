"""`heredity resources`: versions of prompts, agents, tools, environments, memories and models."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heredity._core.errors import ConfigError
from heredity.cli.bars import activity
from heredity.cli.interface import WholeHelp
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.engine.actor import ToolResult
    from heredity.resources import Registry

STORE = Path("resources.sqlite")
_MOST_NAMED = 6


def _in_folder(path: Path) -> Path:
    """Return the store of a run's folder, or of a suite's folder if only one of its runs has a store."""
    stores = sorted(path.glob(f"runs/*/{STORE}"))
    if not path.is_dir() or (path / STORE).exists() or not stores:
        return path / STORE if path.is_dir() else path
    if len(stores) == 1:
        return stores[0]
    named = " or ".join(f"--store {shlex.quote(str(store.parent))}" for store in stores[:_MOST_NAMED])
    more = f" (there are {len(stores)})" if len(stores) > _MOST_NAMED else ""
    raise ConfigError(f"{path} is a suite's folder, and each of its runs has a store; give one: {named}{more}")


StorePath = Annotated[Path, typer.Option("--store", help="File of the store, or a run's folder.", callback=_in_folder)]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Run tools with the isolation available here.")]
PORT = 8765


def serve(
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    mcp: Annotated[
        Literal["stdio", "http", "off"],
        typer.Option("--mcp", help="MCP transport for tools and prompts: stdin and stdout, /mcp, or none."),
    ] = "http",
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="HEREDITY_TOKEN", help="Token that requests must carry.", show_default="none"),
    ] = None,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
) -> None:
    """Serve a store, created if missing: /resources over HTTP, its tools and prompts over MCP.

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
        typer.Argument(help="KEY=VALUE …; a tool's values are JSON, or else text.", show_default=False),
    ] = None,
    version: Annotated[str | None, typer.Option("--version", help="Version.", show_default="the head")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Timeout of a tool, in seconds.", min=0.01)] = 30.0,
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
    given = _parse_inputs(inputs or ())
    with Store(store, create=False) as opened:
        registry = Registry(opened)
        if type_ != "tool":
            text = registry.run(type_, own, given, version=version)
            typer.echo(json.dumps(text, ensure_ascii=False) if as_json else text, nl=as_json or text[-1:] != "\n")
            return
        arguments = {key: _resources_serve_parsed(value) for key, value in given.items()}
        result = asyncio.run(_run_tool(registry, own, arguments, version, seconds, unsafe=unsafe))
    if as_json:
        typer.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2))
    elif not result.error:
        typer.echo(result.value if isinstance(result.value, str) else json.dumps(result.value, ensure_ascii=False))
    if result.error:
        typer.echo(f"heredity: {name}: {result.error}: {result.message}\n{result.traceback}".rstrip(), err=True)
        raise typer.Exit(1)


async def _serve(store: Path, *, port: int, mcp: str, token: str | None, unsafe: bool) -> None:
    from heredity.agents.registry import serve_resources, serve_stdio
    from heredity.engine.programs import SandboxedPrograms

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
    from heredity.engine.calling import run_tool
    from heredity.engine.programs import SandboxedPrograms

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        return await run_tool(registry, programs, name, arguments, version=version, seconds=seconds)


def _parse_inputs(words: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is not an input; write KEY=VALUE")
        if key in given:
            raise ConfigError(f"{key} is given twice; give it once")
        given[key] = text
    return given


def _resources_serve_parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="TYPE/NAME, such as prompt/solver.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Which = Annotated[str | None, typer.Option("--version", help="Version.", show_default="the head")]


@app.command("list")
def list_resources(
    kind: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    find: Annotated[str | None, typer.Option("--find", help="Only matches of these words, best first.")] = None,
    by: Annotated[str, typer.Option("--by", help="Search by words (BM25) or embeddings.")] = "words",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", help="Folder of the model2vec model for embeddings.", show_default="HEREDITY_EMBEDDINGS"
        ),
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Include unregistered resources.")] = False,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """List the resources and the version of each.

    Example: heredity resources list --find "unit conversion"
    """
    with _registry(store) as registry:
        if find is not None and hidden:
            raise ConfigError("--find searches registered resources only; leave out --hidden")
        heads = registry.store.list(kind, hidden=hidden)
        if find is not None:
            heads = [version for version, _ in registry.retrieve(find, kind, limit=len(heads), by=by, model=model)]
        rows = [
            {"type": v.type, "name": v.name, "version": str(v.number), "description": v.manifest.description}
            for v in heads
        ]
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['type']}/{row['name']}@{row['version']}  {_first_line(row['description'])}".rstrip())


@app.command()
def show(name: Name, version: Which = None, store: StorePath = STORE, *, as_json: AsJson = False) -> None:
    """Show a version and its files.

    Example: heredity resources show prompt/solver
    """
    type_, own = _split(name)
    with _registry(store) as registry:
        info = registry.get_info(type_, own, version)
        stored = registry.store.get(type_, own, _parse_version(version))
        tree = registry.store.tree(stored)
        parents = [registry.store.label(parent) for parent in stored.parents]
    if as_json:
        _print_json({**info, "texts": {path: tree.text(path) for path in tree}})
        return
    lines = [stored.label, f"digest   {stored.digest}", f"created  {stored.created}"]
    lines += [f"parent   {parent}" for parent in parents]
    lines += [
        f"{key}  {json.dumps(value, ensure_ascii=False)}" for key, value in stored.manifest.to_json().items() if value
    ]
    typer.echo("\n".join(lines))
    for path in tree:
        typer.echo(f"\n--- {path}\n{tree.text(path).rstrip()}")


@app.command()
def diff(
    name: Name,
    before: Annotated[str, typer.Argument(help="First version.", show_default=False)],
    after: Annotated[str | None, typer.Argument(help="Second version (default: the head).")] = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the changes between two versions.

    Example: heredity resources diff prompt/solver 1.0.0 1.1.0
    """
    from heredity.resources.candidate import difference

    type_, own = _split(name)
    with _registry(store) as registry:
        pair = [registry.store.get(type_, own, _parse_version(number)) for number in (before, after)]
        old, new = [(version, registry.store.tree(version)) for version in pair]
    text = difference(old, new)
    if as_json:
        _print_json({"before": old[0].label, "after": new[0].label, "diff": text})
    else:
        typer.echo(text, nl=False)


@app.command()
def log(name: Name, store: StorePath = STORE, *, as_json: AsJson = False) -> None:
    """Show every version of a resource, newest first, with its parents and the branches that point to it.

    Example: heredity resources log prompt/solver
    """
    type_, own = _split(name)
    with _registry(store) as registry:
        versions = registry.store.list(type_, own)
        labels = {v.digest: str(v.number) for v in versions}
        branches = {b: labels.get(digest, digest[:12]) for b, digest in registry.store.branches(type_, own).items()}
        rows: list[dict[str, Any]] = [
            {
                "version": str(v.number),
                "digest": v.digest,
                "created": v.created,
                "note": v.note,
                "parents": [labels.get(p) or registry.store.label(p) for p in v.parents],
                "branches": [b for b, number in branches.items() if number == str(v.number)],
            }
            for v in reversed(versions)
        ]
        moves = [
            {**move.to_json(), "version": labels.get(move.target, move.target[:12])}
            for move in registry.store.moves(type_, own)
        ]
        hidden = registry.store.hidden(type_, own)
    if as_json:
        _print_json({"versions": rows, "moves": moves, "hidden": hidden})
        return
    for row in rows:
        heads = f" ({', '.join(row['branches'])})" if row["branches"] else ""
        origin = f" from {', '.join(row['parents'])}" if row["parents"] else ""
        typer.echo(f"{row['version']}{heads}{origin}  {row['created'][:19]}  {_first_line(row['note'])}".rstrip())
    if hidden:
        typer.echo("unregistered: `heredity resources restore` shows it again")


@app.command()
def restore(
    name: Name,
    version: Annotated[str, typer.Argument(help="Version to go back to.", show_default=False)],
    branch: Annotated[str, typer.Option("--branch", help="Branch to point at it; created if missing.")] = "main",
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Point a branch at a version; nothing is deleted.

    Example: heredity resources restore prompt/solver 1.0.0
    """
    type_, own = _split(name)
    with _registry(store) as registry:
        restored = registry.restore(type_, own, version, branch=branch)
    if as_json:
        _print_json({**restored.to_json(), "digest": restored.digest, "branch": branch})
    else:
        typer.echo(f"{branch} of {name} is {restored.number}")


@app.command("export")
def export_resources(
    file: Annotated[Path, typer.Argument(help="JSON file to write.", show_default=False)],
    intact: Annotated[bool, typer.Option("--intact", help="Leave out damaged versions instead of failing.")] = False,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Write every version to a JSON file.

    Example: heredity resources export everything.json
    """
    with _registry(store, intact=intact) as registry:
        damage = registry.store.check()
        if damage and not intact:
            raise ConfigError(f"{'; '.join(damage[:5])}; export the rest with --intact")
        count = registry.save_to_json(file, intact=intact)
    for line in damage:
        typer.echo(f"left out: {line}", err=True)
    if as_json:
        _print_json({"versions": count, "file": str(file), "damage": damage})
    else:
        typer.echo(f"{count} versions in {file}")


@app.command("import")
def import_resources(
    source: Annotated[
        Path, typer.Argument(help="File written by `export`, or a folder TYPE/NAME/…", show_default=False)
    ],
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Add the versions of a JSON file, or register the resources of a folder; the store is created if missing.

    Example: heredity resources import everything.json --store mine.db
    """
    with _registry(store, create=True) as registry:
        count = len(registry.init(source)) if source.is_dir() else registry.load_from_json(source)
    if as_json:
        _print_json({"added": count, "store": str(store)})
    else:
        typer.echo(f"{count} versions added to {store}")


@app.command()
def contract(
    name: Name,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for NAME/SKILL.md.")] = None,
    version: Which = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Print a resource's contract, its behaviour and inputs, as a SKILL.md.

    Example: heredity resources contract tool/search --out skills
    """
    from heredity.resources.contracts import contract_of

    type_, own = _split(name)
    with _registry(store) as registry:
        stored = registry.store.get(type_, own, _parse_version(version))
        text = str(contract_of(stored, registry.store.tree(stored)))
        path = registry.save_contract(type_, own, out, version=version) if out else None
    if as_json:
        _print_json({"name": own, "contract": text, "file": str(path) if path else None})
    else:
        typer.echo(str(path) if path else text, nl=path is not None)


app.command()(run)
app.command()(serve)


@contextmanager
def _registry(path: Path, *, create: bool = False, intact: bool = False) -> Generator[Registry]:
    from heredity.resources import Registry, Store

    with Store(path, create=create, intact=intact) as store:
        yield Registry(store)


def _split(name: str) -> tuple[str, str]:
    type_, slash, own = name.partition("/")
    if not slash:
        raise ConfigError(f"{name!r} is not a resource; write TYPE/NAME, such as prompt/solver")
    return type_, own


def _parse_version(version: str | None) -> Any:
    from heredity.resources import Number

    return None if version is None else Number.parse(version)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
