"""`heredity broker`: serve language models to other programs on this machine, which need no keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli.bars import activity, columns
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.models.broker import BrokerApp
    from heredity.models.gateway import Gateway
    from heredity.models.settings import GatewaySettings


def broker(
    models: Annotated[
        list[str],
        typer.Option("--model", help="Model, such as openai/gpt-5; repeat for more. Unknown names get the first."),
    ],
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with a [gateway] section.")] = None,
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = 0,
    socket: Annotated[Path | None, typer.Option("--socket", help="Path of an additional Unix socket.")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", help="Limit of tokens, input and output together.")] = None,
    cost: Annotated[float | None, typer.Option("--cost", help="Limit of the cost, in US dollars.")] = None,
    calls: Annotated[int | None, typer.Option("--calls", help="Limit of calls.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one line at the start, one at the end.")] = False,
) -> None:
    """Serve language models, without keys and within limits, to other programs on this machine until Ctrl-C.

    Example: heredity broker --model openai/gpt-5-mini --cost 2.5
    """
    from heredity.models.broker import Account, BrokerApp, Limits
    from heredity.models.gateway import Gateway
    from heredity.models.settings import GatewaySettings

    gateway = Gateway(gateway_settings(config) if config else GatewaySettings())
    served = {name: gateway.model(name) for name in models}
    account = Account("broker", {**{name: name for name in served}, "*": models[0]}, Limits(tokens, cost, calls))
    app = BrokerApp(served, [account])
    try:
        with activity():
            run_interruptibly(_serve(app, gateway, port, socket, as_json))
    except InterruptedRunError:
        used = app.ledgers[0].to_json()
        typer.echo(json.dumps(used) if as_json else usage_table(used))


def gateway_settings(path: Path) -> GatewaySettings:
    """Read the `[gateway]` section of a TOML file."""
    from heredity.experiments.config import read_toml
    from heredity.models.settings import GatewaySettings

    return GatewaySettings.of(read_toml(path).get("gateway", {}), f"{path}: [gateway]")


async def _serve(app: BrokerApp, gateway: Gateway, port: int, socket: Path | None, as_json: bool) -> None:
    from heredity.models.broker import environment, serve_broker

    account = app.ledgers[0].account
    async with gateway, serve_broker(app, port=port, socket=socket) as at:
        variables = environment(at.url, account.token)
        if as_json:
            where = {"url": at.url, "socket": str(socket) if socket else None, "token": account.token}
            typer.echo(json.dumps({**where, "environment": variables}))
        else:
            names = ", ".join(name for name in account.models or {} if name != "*")
            typer.echo(f"{names} at {at.url}; Ctrl-C ends it and shows what was used\n")
            typer.echo("\n".join(f"export {name}={value}" for name, value in variables.items()))
            typer.echo(f"\nFor programs that take a base URL and no key: {at.url}/t/{account.token}/v1")
        await asyncio.Event().wait()


def usage_table(used: Mapping[str, Any]) -> str:
    """Format an account's usage, one line for each model; `+?` marks a sum with an unknown part."""
    lines: list[tuple[str, ...]] = [("model", "calls", "failed", "abandoned", "input", "output", "USD")]
    for name, tally in [*used["models"].items(), ("total", used)]:
        counts = (str(tally[count]) for count in ("calls", "failed", "abandoned"))
        sums = (
            f"{round(tally['known'][field], 6)}" + ("+?" if tally["unknown"][field] else "")
            for field in ("input_tokens", "output_tokens", "cost_usd")
        )
        lines.append((name, *counts, *sums))
    heads, *rows = lines
    return f"{columns(heads, rows)}\nrefused: {used['refused']}"
