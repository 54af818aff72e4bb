"""`heredity resources`: the versions of prompts, agents, tools, environments, memories and models."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli.resources_serve import STORE, StorePath, run, serve
from heredity.cli.whole_help import WholeHelp
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.resources import Registry

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="TYPE/NAME, such as prompt/solver.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Which = Annotated[str | None, typer.Option("--version", help="A version.", show_default="the head")]


@app.command("list")
def list_resources(
    kind: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    find: Annotated[str | None, typer.Option("--find", help="Only what these words are about, the best first.")] = None,
    by: Annotated[str, typer.Option("--by", help="How to find: by words (BM25) or embeddings.")] = "words",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", help="Folder of the model2vec model for embeddings.", show_default="HEREDITY_EMBEDDINGS"
        ),
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="With those that were unregistered.")] = False,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """List the resources and the version of each.

    Example: heredity resources list --find "unit conversion"
    """
    with _registry(store) as registry:
        if find is not None and hidden:
            raise ConfigError("--find looks through what is registered; leave out --hidden")
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
    """Show what a version is, and its files.

    Example: heredity resources show prompt/solver
    """
    type_, own = _split(name)
    with _registry(store) as registry:
        info = registry.get_info(type_, own, version)
        stored = registry.store.get(type_, own, _parsed(version))
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
    before: Annotated[str, typer.Argument(help="The one version.", show_default=False)],
    after: Annotated[str | None, typer.Argument(help="The other version; the head if not given.")] = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions.

    Example: heredity resources diff prompt/solver 1.0.0 1.1.0
    """
    from heredity.resources.differences import difference

    type_, own = _split(name)
    with _registry(store) as registry:
        pair = [registry.store.get(type_, own, _parsed(number)) for number in (before, after)]
        old, new = [(version, registry.store.tree(version)) for version in pair]
    text = difference(old, new)
    if as_json:
        _print_json({"before": old[0].label, "after": new[0].label, "diff": text})
    else:
        typer.echo(text, nl=False)


@app.command()
def log(name: Name, store: StorePath = STORE, *, as_json: AsJson = False) -> None:
    """Show every version of a resource with its parents, the newest first, and where its branches point.

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
    version: Annotated[str, typer.Argument(help="The version to go back to.", show_default=False)],
    branch: Annotated[
        str, typer.Option("--branch", help="The branch that shall point to it; made if need be.")
    ] = "main",
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Point a branch at a version; nothing is removed.

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
    file: Annotated[Path, typer.Argument(help="The JSON file to write.", show_default=False)],
    intact: Annotated[bool, typer.Option("--intact", help="Leave out what is damaged, rather than refuse.")] = False,
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
            raise ConfigError(f"{'; '.join(damage[:5])}; export what is left with --intact")
        count = registry.save_to_json(file, intact=intact)
    for line in damage:
        typer.echo(f"left out: {line}", err=True)
    if as_json:
        _print_json({"versions": count, "file": str(file), "damage": damage})
    else:
        typer.echo(f"{count} versions in {file}")


@app.command("import")
def import_resources(
    source: Annotated[Path, typer.Argument(help="What `export` wrote, or a folder TYPE/NAME/…", show_default=False)],
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Add the versions of a JSON file, or register the resources of a folder; the store is made if there is none.

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
    out: Annotated[Path | None, typer.Option("--out", help="Write NAME/SKILL.md into this folder.")] = None,
    version: Which = None,
    store: StorePath = STORE,
    *,
    as_json: AsJson = False,
) -> None:
    """Print a resource's contract, what it does and takes, as a SKILL.md.

    Example: heredity resources contract tool/search --out skills
    """
    from heredity.resources.contracts import contract_of

    type_, own = _split(name)
    with _registry(store) as registry:
        stored = registry.store.get(type_, own, _parsed(version))
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
        raise ConfigError(f"{name!r} is no resource; write TYPE/NAME, such as prompt/solver")
    return type_, own


def _parsed(version: str | None) -> Any:
    from heredity.resources import Number

    return None if version is None else Number.parse(version)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
