"""`heredity submit` and `heredity finish` outside a sandbox: the same client that agents get."""

from __future__ import annotations

import typer

from heredity.sandbox import guest_client

_EPISODES = typer.Option(
    "", help='Train cases: "0-3,7" (inclusive) or "0:2,4:8" (half-open). Default: the fewest allowed.'
)


def submit(
    episodes: str = _EPISODES, json_output: bool = typer.Option(False, "--json", help="Print the reply as JSON.")
) -> None:
    """Submit the program in ./system to the session named by HEREDITY_SOCKET or HEREDITY_URL.

    Example: heredity submit --episodes 8
    """
    given = ["submit", *(["--episodes", episodes] if episodes else []), *(["--json"] if json_output else [])]
    raise typer.Exit(guest_client.main(given, program="heredity"))


def finish(json_output: bool = typer.Option(False, "--json", help="Print the reply as JSON.")) -> None:
    """Finish the session: no more feedback, judging begins.

    Example: heredity finish
    """
    raise typer.Exit(guest_client.main(["finish", *(["--json"] if json_output else [])], program="heredity"))
