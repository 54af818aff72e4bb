"""Products of the shop and wishes of its customers, generated from a seed, so no shop is known in advance."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import numpy as np

from heredity._core.ids import generator
from heredity.kinds.checkpoint.tasks.env.shop import Goal, Product, Shop

DEPARTMENTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "furniture": (
        ("bookshelf", "desk chair", "side table", "shoe rack", "folding stool"),
        (
            "solid oak",
            "stackable",
            "scratch resistant",
            "easy to assemble",
            "space saving",
            "reclaimed wood",
            "heavy duty",
        ),
    ),
    "kitchen": (
        ("frying pan", "tea kettle", "bread box", "salad bowl", "spice jar"),
        ("dishwasher safe", "non stick", "airtight", "heat resistant", "hand made", "induction ready", "stain proof"),
    ),
    "clothing": (
        ("rain jacket", "wool sweater", "running shorts", "linen shirt", "hiking socks"),
        ("machine washable", "quick drying", "wind proof", "breathable", "organic", "slim fit", "reflective"),
    ),
    "lighting": (
        ("desk lamp", "floor lamp", "night light", "bicycle light", "lantern"),
        ("dimmable", "rechargeable", "water proof", "warm white", "touch controlled", "energy saving", "adjustable"),
    ),
    "garden": (
        ("plant pot", "watering can", "garden hose", "bird feeder", "pruning shears"),
        ("frost proof", "rust free", "light weight", "self draining", "biodegradable", "long lasting", "non slip"),
    ),
}
"""Department to its categories and the features that its products may have."""

_MAKERS = ("Alder", "Brimsby", "Corvane", "Dunmoor", "Elvet", "Farrow", "Glint", "Hobbin", "Ilex", "Jorrin")
_COLOURS = ("black", "white", "red", "green", "blue", "grey", "yellow", "brown")
_SIZES = ("small", "medium", "large", "extra large")
_PER_CATEGORY = 12
_FEATURES = 4
_WANTED = 2


@lru_cache(maxsize=8)
def open_shop(seed: int) -> Shop:
    """Return the shop of a seed: 12 products of each of 25 categories."""
    draws = generator(seed, "posttraining", "shop", "catalogue")
    numbers = iter(draws.permutation(len(DEPARTMENTS) * 5 * _PER_CATEGORY))
    return Shop(
        [
            _product(draws, f"P{int(next(numbers)):03d}", department, category, features)
            for department, (categories, features) in DEPARTMENTS.items()
            for category in categories
            for _ in range(_PER_CATEGORY)
        ]
    )


def _product(
    draws: np.random.Generator, number: str, department: str, category: str, features: tuple[str, ...]
) -> Product:
    having = _some(draws, features, _FEATURES)
    shown = having[int(draws.integers(_FEATURES))]
    title = f"{_MAKERS[int(draws.integers(len(_MAKERS)))]} {category}, {shown}"
    options = {"colour": _some(draws, _COLOURS, 4), "size": _some(draws, _SIZES, 3)}
    return Product(number, title, category, department, having, options, int(draws.integers(500, 12000)))


def _some(draws: np.random.Generator, values: tuple[str, ...], count: int) -> tuple[str, ...]:
    return tuple(values[i] for i in sorted(draws.choice(len(values), count, replace=False)))


def wishes(seed: int, count: int, avoid: Collection[str] = ()) -> list[tuple[Goal, str]]:
    """Return `count` different goals for the shop of a seed, each with the number of a product that meets it fully.

    Every product is wanted once before any repeats.

    Args:
        seed: seed of the shop.
        count: number of goals.
        avoid: requests to exclude.
    """
    draws = generator(seed, "posttraining", "shop", "goals")
    products = list(open_shop(seed).products.values())
    goals: dict[str, tuple[Goal, str]] = {}
    while len(goals) < count:
        for index in draws.permutation(len(products)):
            goal, target = _goal(draws, products[index]), products[index].id
            if goal.request not in avoid:
                goals.setdefault(goal.request, (goal, target))
    return list(goals.values())[:count]


def _goal(draws: np.random.Generator, product: Product) -> Goal:
    wanted = _some(draws, product.features, _WANTED)
    options = {name: values[int(draws.integers(len(values)))] for name, values in product.options.items()}
    # The next ten dollars above the price, so that most dearer products of the category miss the limit.
    below = (product.cents // 1000 + 1) * 1000
    return Goal(product.category, product.department, wanted, options, below)
