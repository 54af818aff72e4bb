"""A small shop: one searches, looks at products, chooses options and buys. A purchase is scored by how much of it was wanted.

Pages, actions `search[words]` and `click[what is shown]`, and the shape of the reward are those of WebShop (Yao et al. 2022,
section 3): attributes, options and price that match, times how well the kind of product does. Goods and words are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .ranking import Index
from .rollout import FORM

STEPS = 15
PAGE = 5
"""How many products a page of results shows."""

INSTRUCTION = f"""\
You are shopping. Buy what the request asks for: the kind of product, its features, its options, and a price below the limit.
Actions: search[words] looks for products; click[…] clicks on anything shown in brackets, such as a product's number or an option.
Choose the options before you click[buy now]. Buying ends the game.
{FORM}"""

_ACTION = re.compile(r"(search|click)\s*\[(.*)\]", re.IGNORECASE | re.DOTALL)
_RELATED = 0.5


@dataclass(frozen=True)
class Product:
    """Something to buy.

    Attributes:
        id: its number, such as `"P042"`.
        title: what results show.
        category: its kind, such as `"desk lamp"`; `department` is the wider kind.
        features: its attributes.
        options: each option's name to the values one can choose.
        cents: its price.
    """

    id: str
    title: str
    category: str
    department: str
    features: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    cents: int


@dataclass(frozen=True)
class Goal:
    """What is wanted.

    Attributes:
        category: kind of product; `department` the wider kind, which earns half.
        features: attributes it should have.
        options: options it should be bought with.
        below_cents: what it should cost less than.
    """

    category: str
    department: str
    features: tuple[str, ...]
    options: Mapping[str, str]
    below_cents: int

    @property
    def request(self) -> str:
        """What the customer says."""
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
        features = " and ".join(self.features)
        return f"Wanted: {self.category}, {features}, {chosen}, below {self.below_cents // 100} dollars."


def reward(goal: Goal, product: Product, chosen: Mapping[str, str]) -> float:
    """Return how much of a goal a purchase meets, 0 to 1, higher is better.

    The share of wanted features, options and of the price limit that it meets, times 1 for the right category, 0.5 for another
    one of its department, and 0 for anything else (WebShop, section 3, with categories in place of matching titles).
    """
    kind = 1.0 if product.category == goal.category else _RELATED if product.department == goal.department else 0.0
    met = sum(feature in product.features for feature in goal.features)
    met += sum(chosen.get(name) == value for name, value in goal.options.items())
    met += product.cents < goal.below_cents
    return kind * met / (len(goal.features) + len(goal.options) + 1)


class Shop:
    """A catalogue and its search, shared by all episodes.

    Args:
        products: what there is.
    """

    def __init__(self, products: Sequence[Product]) -> None:
        self.products = {product.id: product for product in products}
        self._ids = list(self.products)
        self._index = Index([f"{p.title} {p.category} {' '.join(p.features)}" for p in products])

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Shop:
        """Return the shop of `catalogue.json`."""
        return cls([product_of(row) for row in rows])

    def search(self, words: str) -> list[str]:
        """Return the numbers of the products that fit best, at most 10 pages of them."""
        return [self._ids[i] for i in self._index.search(words, 10 * PAGE)]


class ShopEpisode:
    """One purchase.

    Args:
        shop: where to buy.
        goal: what is wanted.
    """

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self.steps = STEPS
        self._shop, self._goal = shop, goal
        self._results: list[str] = []
        self._page = 0
        self._item: Product | None = None
        self._chosen: dict[str, str] = {}

    def reset(self) -> str:
        """Begin on the page with the search field."""
        self._results, self._page, self._item, self._chosen = [], 0, None, {}
        return f"{self._goal.request}\nYou are at the search page."

    def step(self, action: str) -> tuple[str, float, bool]:
        """Search or click; anything else, or a click on what is not shown, changes nothing."""
        read = _ACTION.search(action)
        if read is None:
            return "That is no action. Use search[words] or click[…].", 0.0, False
        verb, argument = read[1].lower(), " ".join(read[2].lower().split())
        if verb == "search":
            if self._item is not None or self._results:
                return f"There is no search field here; click[back to search] first.\n{self._shown()}", 0.0, False
            self._results, self._page = self._shop.search(argument), 0
            return self._shown() if self._results else "Nothing was found. Search again.", 0.0, False
        if self._item is not None and argument == "buy now":
            return "Thank you for your purchase.", reward(self._goal, self._item, self._chosen), True
        message = self._click(argument)
        return f"{message}\n{self._shown()}" if message else self._shown(), 0.0, False

    def _click(self, what: str) -> str:
        if what == "back to search":
            self._results, self._item = [], None
        elif self._item is not None:
            return self._click_on_item(self._item, what)
        elif what == "next page" and len(self._results) > (self._page + 1) * PAGE:
            self._page += 1
        elif what == "previous page" and self._page:
            self._page -= 1
        elif what.upper() in self._results[self._page * PAGE : (self._page + 1) * PAGE]:
            self._item, self._chosen = self._shop.products[what.upper()], {}
        else:
            return f"There is no [{what}] here."
        return ""

    def _click_on_item(self, item: Product, what: str) -> str:
        if what == "back to results":
            self._item = None
            return ""
        if what == "features":
            return f"Features of {item.id}: {', '.join(item.features)}."
        for name, values in item.options.items():
            if what in values:
                self._chosen[name] = what
                return f"You chose {name} {what}."
        return f"There is no [{what}] here."

    def _shown(self) -> str:
        if self._item is not None:
            item = self._item
            options = [
                f"{name}: {' '.join(f'[{v}]' for v in values)}"
                + (f" (chosen: {c})" if (c := self._chosen.get(name)) else "")
                for name, values in item.options.items()
            ]
            head = f"{item.id}: {item.title}, {_dollars(item.cents)}"
            return "\n".join([head, *options, "[features] [buy now] [back to results] [back to search]"])
        if not self._results:
            return "You are at the search page."
        first = self._page * PAGE
        products = [self._shop.products[i] for i in self._results[first : first + PAGE]]
        lines = [f"[{p.id}] {p.title}, {_dollars(p.cents)}" for p in products]
        turning = ["[previous page]"] * bool(self._page) + ["[next page]"] * (len(self._results) > first + PAGE)
        return "\n".join([*lines, " ".join([*turning, "[back to search]"])])


def oracle(shop: Shop, goal: Goal, target: str) -> list[tuple[str, str]]:
    """Return thoughts and actions that buy the product `target` for a goal: the reference solution, which knows its number."""
    words = f"{' '.join(goal.features)} {goal.category}"
    rank = shop.search(words).index(target)
    steps = [("I search for the product and its features.", f"search[{words}]")]
    steps += [("It is not on this page.", "click[next page]")] * (rank // PAGE)
    steps.append((f"{target} may fit.", f"click[{target}]"))
    steps += [(f"The {name} should be {value}.", f"click[{value}]") for name, value in goal.options.items()]
    return [*steps, ("It fits, so I buy it.", "click[buy now]")]


def product_of(row: Mapping[str, Any]) -> Product:
    """Return the product of a row of `catalogue.json`."""
    fields: dict[str, Any] = dict(row)
    fields["features"] = tuple(row["features"])
    fields["options"] = {name: tuple(values) for name, values in row["options"].items()}
    return Product(**fields)


def goal_of(row: Mapping[str, Any]) -> Goal:
    """Return the goal of a row of `episodes.jsonl`."""
    fields: dict[str, Any] = dict(row)
    fields["features"] = tuple(row["features"])
    return Goal(**fields)


def _dollars(cents: int) -> str:
    return f"${cents / 100:.2f}"
