"""Table 2 as Autogenesis' authors published it: pass@1 on GAIA in %, by level and on average; measured by them, not here."""

from __future__ import annotations

from collections.abc import Mapping

Figures = tuple[float, float, float, float]
"""Levels 1, 2 and 3, and the average."""

OURS = ("Vanilla", "Agent-Evo")
"""The rows of the system itself, without and with evolution; the others are what it is compared with."""

PUBLISHED: Mapping[str, Mapping[str, Figures]] = {
    "validation": {
        "HF ODR": (67.92, 53.49, 34.62, 55.15),
        "o3-DR": (74.29, 69.06, 47.60, 67.36),
        "DeSearch": (90.57, 72.01, 38.46, 72.73),
        "Co-Sight": (86.79, 73.26, 42.31, 72.73),
        "Manus": (86.50, 70.10, 57.69, 73.90),
        "AWorld": (88.68, 77.91, 53.85, 77.58),
        "Langfun": (88.68, 80.23, 57.69, 79.39),
        "Skywork": (92.45, 83.72, 57.69, 82.42),
        "agent-2030": (96.23, 90.70, 57.69, 87.27),
        "Alita": (88.68, 89.53, 76.92, 87.27),
        "Vanilla": (92.45, 88.37, 88.46, 89.70),
        "Agent-Evo": (96.23, 93.02, 88.46, 93.33),
    },
    "test": {
        "o4-mini-DR": (67.59, 59.10, 44.28, 59.30),
        "JoyAgent": (77.42, 67.30, 46.94, 67.11),
        "o3-DR": (79.42, 68.97, 47.48, 68.70),
        "Langfun": (84.95, 73.58, 48.98, 73.09),
        "Alita": (92.47, 71.70, 55.10, 75.42),
        "DeSearch": (91.40, 75.47, 61.22, 78.07),
        "h2o": (89.25, 79.87, 61.22, 79.73),
        "Su-Zero-Ultra": (93.55, 77.36, 65.31, 80.40),
        "AWorld": (95.70, 81.13, 57.14, 81.73),
        "HALO": (94.62, 84.91, 69.39, 85.38),
        "ToolOrchestra": (95.70, 82.39, 87.76, 87.38),
        "openJiuwen": (98.92, 88.68, 87.76, 91.69),
        "Vanilla": (91.40, 77.36, 61.22, 79.07),
        "Agent-Evo": (98.92, 85.53, 81.63, 89.04),
    },
}
"""By split of GAIA and by name; the average of a split weighs its questions, of which level 1 to 3 have different numbers."""


def published(*, whole: bool) -> Mapping[str, Mapping[str, Figures]]:
    """Return the rows to show: all, beside results on GAIA itself; those of the system alone beside other questions."""
    return {
        split: {name: figures for name, figures in rows.items() if whole or name in OURS}
        for split, rows in PUBLISHED.items()
    }
