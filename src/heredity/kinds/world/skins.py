"""Skins: render exposed values for the agent as text or picture, plain or inverse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.world.description import SkinDescription
from heredity.kinds.world.pictures import Picture, draw, written

SKINS = ("text", "inverse", "picture", "inverse-picture")
"""Names of skins: text; text with symbols swapped and numbers mirrored, the legend unchanged; and both drawn as pixels."""


def look(skin: SkinDescription, name: str, omega: Mapping[str, Any]) -> str | Picture:
    """Render `omega` with one of `SKINS`: a text, or a picture (see `heredity.kinds.world.pictures.draw`)."""
    shown = inverted(skin, omega) if name.startswith("inverse") else omega
    return picture(skin, shown) if name.endswith("picture") else render(skin, shown)


def picture(skin: SkinDescription, omega: Mapping[str, Any]) -> Picture:
    """Draw exposed values: the grid and gauges, or else the text."""
    return draw(skin, omega) if omega.get("grid") or omega.get("gauges") else written(render(skin, omega))


def check_skin(world: str, skin: SkinDescription, name: str) -> None:
    """Raise if a world does not have a skin.

    Raises:
        UnknownNameError: if the skin is unknown.
        ConfigError: if it is an inverse one, and the world's description defines no inversion.
    """
    if name not in SKINS:
        raise UnknownNameError("skin", name, SKINS)
    if name.startswith("inverse") and not (skin.swap or skin.mirror):
        raise ConfigError(
            f"{world} has no inverse skin: its description neither swaps symbols nor mirrors numbers; use text or picture"
        )


def render(skin: SkinDescription, omega: Mapping[str, Any]) -> str:
    """Fill in a skin's template.

    Args:
        skin: the description's skin.
        omega: exposed values; lists become lines.
    """
    return skin.text.format_map({key: _as_text(value) for key, value in omega.items()})


def inverted(skin: SkinDescription, omega: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inverse of `omega`: symbols swapped, numbers mirrored; the legend is unchanged, so it is wrong.

    Only the observation changes (AutoEnv, appendix E.3); rules and rewards stay the same.
    """
    shown = dict(omega)
    if skin.swap and "grid" in shown:
        table = str.maketrans({k: v for a, b in skin.swap for k, v in ((a, b), (b, a))})
        shown["grid"] = [row.translate(table) for row in shown["grid"]]
    for name, (low, high) in skin.mirror.items():
        if name in shown:
            shown[name] = _mirrored(shown[name], low + high)
        if name in shown.get("gauges", ()):
            mirrored = _mirrored(shown["gauges"][name][0], low + high)
            shown["gauges"] = {**shown["gauges"], name: [mirrored, low, high]}
    return shown


def _mirrored(value: Any, total: float) -> Any:
    if isinstance(value, list):
        return [_mirrored(v, total) for v in cast(list[Any], value)]
    if isinstance(value, dict):
        return {name: _mirrored(v, total) for name, v in cast(dict[str, Any], value).items()}
    if isinstance(value, int) and total == int(total):
        # An integer must stay one: "4.0" would distinguish the inverse skin from the plain one.
        return int(total) - value
    return total - value if isinstance(value, int | float) else value


def _as_text(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(map(_line, cast(list[Any], value)))
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_line(v)}" for k, v in cast(dict[str, Any], value).items()) or "nothing"
    return value


def _line(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, cast(list[Any], value)))
    return f"{value:g}" if isinstance(value, float) else str(value)
