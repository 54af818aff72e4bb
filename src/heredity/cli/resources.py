"""`heredity resources`: versions of prompts, agents, tools, environments, memories and models."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Generator, Iterable
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
    from heredity.resources import Registry, Version

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
    operators: Annotated[
        bool, typer.Option("--operators", help="Offer the operators over MCP too: its clients may change the store.")
    ] = False,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
) -> None:
    """Serve a store, created if missing: /resources over HTTP, its tools and prompts over MCP.

    Example: heredity resources serve --mcp stdio
    """
    try:
        with activity():
            how: dict[str, Any] = {"port": port, "token": token or None}
            run_interruptibly(_serve(store, mcp=mcp, operators=operators, unsafe=unsafe, **how))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


def run(
    name: Annotated[str, typer.Argument(help="TYPE/NAME, such as tool/add.", show_default=False)],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="KEY=VALUE …; a prompt's values are text, others JSON, or else text.", show_default=False),
    ] = None,
    version: Annotated[str | None, typer.Option("--version", help="Version.", show_default="the head")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Timeout of a tool, in seconds.", min=0.01)] = 30.0,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Run a tool in the sandbox, fill in a prompt, search a memory, play an episode of an agent in an environment.

    Example: heredity resources run tool/add a=1 b=2
    """
    from heredity.engine.actor import ToolResult
    from heredity.resources import Registry, Store

    type_, own = _split(name)
    texts = _parse_inputs(inputs or ())
    # A question in words may read like JSON.
    given = {
        key: text if type_ == "prompt" or (type_, key) == ("memory", "query") else _value(text)
        for key, text in texts.items()
    }
    with Store(store, create=False) as opened:
        registry = Registry(opened)
        if type_ in ("tool", "environment", "agent"):
            result = asyncio.run(_run_confined(registry, type_, own, given, version, seconds, unsafe=unsafe))
        else:
            result = registry.run(type_, own, given, version=version)
    if not isinstance(result, ToolResult):
        if as_json:
            _print_json(result)
        elif isinstance(result, str):
            typer.echo(result, nl=result[-1:] != "\n")
        else:
            typer.echo(
                "\n".join(f"{entry['file']}  {entry['score']:.2f}  {entry['text']}" for entry in result) or "no entry"
            )
        return
    if as_json:
        typer.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2))
    elif not result.error:
        typer.echo(result.value if isinstance(result.value, str) else json.dumps(result.value, ensure_ascii=False))
    if result.error:
        typer.echo(f"heredity: {name}: {result.error}: {result.message}\n{result.traceback}".rstrip(), err=True)
        raise typer.Exit(1)


async def _serve(store: Path, *, mcp: str, operators: bool, unsafe: bool, **how: Any) -> None:
    from heredity.agents.registry import serve_resources, serve_stdio
    from heredity.engine.programs import SandboxedPrograms
    from heredity.engine.resource_runs import ResourceRuns

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        runs = ResourceRuns(programs, unsafe=unsafe)
        if mcp == "stdio":
            await serve_stdio(store, runs, operators=operators)
            return
        async with serve_resources(store, runs, mcp=mcp == "http", operators=operators, **how) as url:
            also = f", tools and prompts (MCP) at {url}/mcp" if mcp == "http" else ""
            typer.echo(f"{store} at {url}/resources{also}")
            await asyncio.Event().wait()


async def _run_confined(
    registry: Registry,
    type_: str,
    name: str,
    inputs: dict[str, Any],
    version: str | None,
    seconds: float,
    *,
    unsafe: bool,
) -> Any:
    from heredity.engine.programs import SandboxedPrograms
    from heredity.engine.resource_runs import ResourceRuns

    async def work(task: Callable[[Registry], Any]) -> Any:
        return task(registry)

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        return await ResourceRuns(programs, unsafe=unsafe, seconds=seconds).run(
            work, type_, name, inputs, version=version
        )


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


def _value(text: str) -> Any:
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
    hidden: Annotated[bool, typer.Option("--hidden", help="Include unregistered resources.")] = False,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """List the resources and the version of each.

    Example: heredity resources list --type tool
    """
    with _registry(store) as registry:
        rows = [_row(head) for head in registry.store.list(kind, hidden=hidden)]
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['type']}/{row['name']}@{row['version']}  {_first_line(row['description'])}".rstrip())


@app.command()
def retrieve(
    query: Annotated[str, typer.Argument(help="Question, in words.", show_default=False)],
    kind: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    limit: Annotated[int, typer.Option("--limit", help="Maximum number of resources.", min=1)] = 5,
    by: Annotated[str, typer.Option("--by", help="Search by words (BM25) or embeddings.")] = "words",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", help="Folder of the model2vec model for embeddings.", show_default="HEREDITY_EMBEDDINGS"
        ),
    ] = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Find the resources relevant to a question, best first, with their scores.

    Example: heredity resources retrieve "unit conversion"
    """
    with _registry(store) as registry:
        found = registry.retrieve(query, kind, limit=limit, by=by, model=model)
    if as_json:
        _print_json([{**_row(version), "score": score} for version, score in found])
        return
    for version, score in found:
        typer.echo(f"{version.label}  {score:.2f}  {_first_line(version.manifest.description)}".rstrip())
    if not found:
        typer.echo("nothing matches", err=True)


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
    with _registry(store) as registry:
        changes = registry.diff(*_split(name), before, after)
    if as_json:
        _print_json(changes)
    else:
        typer.echo(changes["diff"], nl=False)


@app.command()
def log(name: Name, store: StorePath = STORE, *, as_json: AsJson = False) -> None:
    """Show every version of a resource, newest first, with its parents and the branches that point to it.

    Example: heredity resources log prompt/solver
    """
    with _registry(store) as registry:
        history = registry.log(*_split(name))
    if as_json:
        _print_json(history)
        return
    for row in history["versions"]:
        heads = f" ({', '.join(row['branches'])})" if row["branches"] else ""
        origin = f" from {', '.join(row['parents'])}" if row["parents"] else ""
        typer.echo(f"{row['version']}{heads}{origin}  {row['created'][:19]}  {_first_line(row['note'])}".rstrip())
    if history["hidden"]:
        typer.echo("unregistered: `heredity resources restore` shows it again")


@app.command()
def update(
    name: Name,
    source: Annotated[
        Path | None, typer.Argument(help="Folder of its files, or one file, which replaces that of its name.")
    ] = None,
    description: Annotated[str | None, typer.Option("--description", help="New description.")] = None,
    branch: Annotated[str, typer.Option("--branch", help="Branch to move.")] = "main",
    base: Annotated[str | None, typer.Option("--base", help="Version to start from.", show_default="the head")] = None,
    part: Annotated[
        Literal["patch", "minor", "major"], typer.Option("--part", help="Part of the number to increase.")
    ] = "patch",
    note: Annotated[str, typer.Option("--note", help="Reason, for the log.")] = "",
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Add a version; omitted parts are taken from the version before.

    Example: heredity resources update prompt/solver prompt.md --note "asks for units"
    """
    from heredity._core.outside import read_bytes
    from heredity.resources.registry import draft_of

    type_, own = _split(name)
    if source is None and description is None:
        raise ConfigError("nothing to change; give a folder, a file or --description")
    manifest: Any = {} if description is None else {"description": description}
    with _registry(store) as registry:
        files = None
        if source is not None and source.is_dir():
            draft = draft_of(type_, source.resolve(), own)
            files, read = draft.tree, draft.manifest.to_json()
            manifest = {key: value for key, value in read.items() if value not in ("", {}, True)} | manifest
        elif source is not None:
            before = registry.store.get(type_, own, _parse_version(base), branch=branch)
            try:
                files = registry.store.tree(before).with_file(source.name, read_bytes(source))
            except OSError as error:
                raise ConfigError(f"{source} cannot be read: {error.strerror}; give a folder or a file") from error
        version = registry.update(type_, own, files, manifest, branch=branch, base=base, part=part, note=note)
    _print_version(version, f"{branch} of {name} is {version.number}", as_json=as_json)


@app.command()
def unregister(name: Name, store: StorePath = STORE, *, as_json: AsJson = False) -> None:
    """Hide a resource; its versions stay, and `restore` shows it again.

    Example: heredity resources unregister prompt/solver
    """
    with _registry(store) as registry:
        version = registry.unregister(*_split(name))
    _print_version(version, f"{name} is unregistered; restore {version.number} to use it again", as_json=as_json)


@app.command()
def copy(
    name: Name,
    new_name: Annotated[str, typer.Argument(help="Name of the copy, without its type.", show_default=False)],
    version: Which = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Register a version under another name.

    Example: heredity resources copy prompt/solver careful-solver
    """
    type_, own = _split(name)
    with _registry(store) as registry:
        made = registry.copy(type_, own, new_name, version=version)
    _print_version(made, f"{made.label} is a copy of {name}", as_json=as_json)


@app.command("call")
def call_operator(
    operator: Annotated[str, typer.Argument(help="Operator, such as get_state.", show_default=False)],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="KEY=VALUE …; objects as JSON.", show_default=False)
    ] = None,
    body: Annotated[
        Path | None, typer.Option("--input", help="File with a JSON object of arguments; - for stdin.")
    ] = None,
    store: StorePath = STORE,
    *,
    unsafe: Unsafe = False,
) -> None:
    """Call any operator as over HTTP, and print its result as JSON.

    Example: heredity resources call get_state type=prompt name=solver
    """
    from heredity.agents.registry.operators import ToolFailedError, parse_argument, schema_of

    schema_of(operator)
    given = _read_object(body) if body else {}
    given |= {key: parse_argument(operator, key, text) for key, text in _parse_inputs(arguments or ()).items()}
    with _registry(store, create=operator in ("init", "register", "load_from_json", "load_contract")) as registry:
        try:
            _print_json(asyncio.run(_call(registry, operator, given, unsafe=unsafe)))
        except ToolFailedError as error:
            _print_json(error.result)
            raise typer.Exit(1) from error


async def _call(registry: Registry, operator: str, given: dict[str, Any], *, unsafe: bool) -> Any:
    from heredity.agents.registry.operators import operate, perform
    from heredity.engine.programs import SandboxedPrograms
    from heredity.engine.resource_runs import ResourceRuns

    async def work(task: Callable[[Registry], Any]) -> Any:
        return task(registry)

    if operator != "run" or given.get("type") in ("prompt", "memory", "model"):
        return operate(registry, operator, given)
    async with SandboxedPrograms(unsafe=unsafe) as programs:
        return await perform(work, ResourceRuns(programs, unsafe=unsafe), operator, given)


def _read_object(path: Path) -> dict[str, Any]:
    from heredity._core.outside import json_value, read_text

    try:
        value = json_value(sys.stdin.read() if str(path) == "-" else read_text(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not JSON: {error}; give an object of the operator's arguments") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} holds {value!r:.60}; give an object of the operator's arguments")
    return value


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
    _print_version(restored, f"{branch} of {name} is {restored.number}", as_json=as_json)


@app.command("export")
def export_resources(
    path: Annotated[
        Path,
        typer.Argument(help="FILE.json for every version, or a folder for the files of each head.", show_default=False),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(help="TYPE/NAME …; all by default.", metavar="[NAME]...", show_default=False)
    ] = None,
    intact: Annotated[bool, typer.Option("--intact", help="Leave out damaged versions instead of failing.")] = False,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Write every version to a JSON file, or resources to a folder as `import` reads it: skills as NAME/, others as TYPE/NAME/.

    Example: heredity resources export everything.json
    """
    whole = path.suffix == ".json"
    if (whole and names) or (intact and not whole):
        raise ConfigError(
            f"{'names are' if whole else '--intact is'} for {'a folder' if whole else 'FILE.json'}; leave it out"
        )
    with _registry(store, intact=intact) as registry:
        if not whole:
            heads = [head.label for head in registry.save_to_folder(path, names or ())]
            if as_json:
                _print_json({"resources": heads, "folder": str(path)})
            else:
                typer.echo(f"{len(heads)} resources in {path}")
            return
        damage = registry.store.check()
        if damage and not intact:
            raise ConfigError(f"{'; '.join(damage[:5])}; export the rest with --intact")
        count = registry.save_to_json(path, intact=intact)
    for line in damage:
        typer.echo(f"left out: {line}", err=True)
    if as_json:
        _print_json({"versions": count, "file": str(path), "damage": damage})
    else:
        typer.echo(f"{count} versions in {path}")


@app.command("import")
def import_resources(
    source: Annotated[
        Path,
        typer.Argument(help="FILE.json of `export`, a skill, a folder of skills, or TYPE/NAME/…", show_default=False),
    ],
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Add the versions of a JSON file, or register the resources of a folder; the store is created if missing.

    Example: heredity resources import skills --store mine.db
    """
    with _registry(store, create=True) as registry:
        added = registry.init(source) if source.is_dir() else registry.load_from_json(source)
    count = added if isinstance(added, int) else len(added)
    if as_json:
        more = {} if isinstance(added, int) else {"resources": [version.label for version in added]}
        _print_json({"added": count, "store": str(store), **more})
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


def _row(version: Version) -> dict[str, Any]:
    about = version.manifest.description
    return {"type": version.type, "name": version.name, "version": str(version.number), "description": about}


def _print_version(version: Version, text: str, *, as_json: bool) -> None:
    if as_json:
        _print_json({**version.to_json(), "digest": version.digest})
    else:
        typer.echo(text)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
