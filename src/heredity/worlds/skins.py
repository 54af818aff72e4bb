"""Skins: from what is exposed to what the agent reads or sees, straight or inverted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from heredity.errors import ConfigError, UnknownNameError
from heredity.worlds.description import SkinDescription
from heredity.worlds.pictures import Picture, draw, written

SKINS = ("text", "inverse", "picture", "inverse-picture")
"""What is seen: text; text with symbols swapped and numbers mirrored, the legend unchanged; and both drawn as pixels."""


def look(skin: SkinDescription, name: str, omega: Mapping[str, Any]) -> str | Picture:
    """Return what an agent gets of `omega` under one of `SKINS`: a text, or a picture (see `heredity.worlds.pictures.draw`)."""
    shown = inverted(skin, omega) if name.startswith("inverse") else omega
    return picture(skin, shown) if name.endswith("picture") else render(skin, shown)


def picture(skin: SkinDescription, omega: Mapping[str, Any]) -> Picture:
    """Draw what is exposed: its grid and gauges, or where there are none, its text."""
    return draw(skin, omega) if omega.get("grid") or omega.get("gauges") else written(render(skin, omega))


def check_skin(world: str, skin: SkinDescription, name: str) -> None:
    """Refuse a skin that a world does not have.

    Raises:
        UnknownNameError: if there is no skin of that name.
        ConfigError: if it is an inverse one, and the world says of nothing how it is inverted.
    """
    if name not in SKINS:
        raise UnknownNameError("skin", name, SKINS)
    if name.startswith("inverse") and not (skin.swap or skin.mirror):
        raise ConfigError(
            f"{world} has no inverse skin: its description neither swaps symbols nor mirrors numbers; take text or picture"
        )


def render(skin: SkinDescription, omega: Mapping[str, Any]) -> str:
    """Fill in a skin's template.

    Args:
        skin: the description's skin.
        omega: what is exposed; lists become lines.
    """
    return skin.text.format_map({key: _shown(value) for key, value in omega.items()})


def inverted(skin: SkinDescription, omega: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the inverse skin shows in place of `omega`: symbols swapped, numbers mirrored; the legend stays, and lies.

    Only what is seen changes (AutoEnv, appendix E.3): rules and rewards stay as they are.
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
        # A whole number must stay one: "4.0" would tell the inverse skin from the plain one.
        return int(total) - value
    return total - value if isinstance(value, int | float) else value


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(map(_line, cast(list[Any], value)))
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_line(v)}" for k, v in cast(dict[str, Any], value).items()) or "nothing"
    return value


def _line(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, cast(list[Any], value)))
    return f"{value:g}" if isinstance(value, float) else str(value)
