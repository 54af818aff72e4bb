"""The shop: its pages, its reward, and what policies without a model earn in it."""

from __future__ import annotations

import re

import pytest

from heredity._core.ids import generator
from heredity.kinds.checkpoint.tasks.env.rollout import following, play
from heredity.kinds.checkpoint.tasks.env.shop import (
    INSTRUCTION,
    Goal,
    Product,
    Shop,
    ShopEpisode,
    goal_of,
    oracle,
    product_of,
    reward,
)
from heredity.library.tasks.posttraining.shop.catalogue import open_shop, wishes
from heredity.library.tasks.posttraining.shop.task import _deal

SEED = 11
LAMP = Product(
    "P1", "Alder desk lamp", "desk lamp", "lighting", ("dimmable", "slim"), {"colour": ("red", "blue"), "size": ("small",)}, 1999
)  # fmt: skip
GOAL = Goal("desk lamp", "lighting", ("dimmable", "slim"), {"colour": "red", "size": "small"}, 2000)


def mean(scores: list[float]) -> float:
    return sum(scores) / len(scores)


@pytest.mark.parametrize(
    ("change", "chosen", "expected"),
    [
        ({}, {"colour": "red", "size": "small"}, 1.0),
        ({}, {"colour": "red"}, 0.8),
        ({}, {"colour": "blue", "size": "small"}, 0.8),
        ({"cents": 2000}, {"colour": "red", "size": "small"}, 0.8),
        ({"features": ("dimmable",)}, {"colour": "red", "size": "small"}, 0.8),
        ({"category": "lantern"}, {"colour": "red", "size": "small"}, 0.5),
        ({"category": "bread box", "department": "kitchen"}, {"colour": "red", "size": "small"}, 0.0),
        ({"features": (), "cents": 9000}, {}, 0.0),
    ],
)
def test_a_purchase_is_paid_by_what_it_meets(
    change: dict[str, object], chosen: dict[str, str], expected: float
) -> None:
    fields = {name: getattr(LAMP, name) for name in LAMP.__dataclass_fields__}
    assert reward(GOAL, Product(**{**fields, **change}), chosen) == pytest.approx(expected)


def test_the_reference_solution_is_paid_in_full_on_every_request() -> None:
    shop = open_shop(SEED)
    scores = [
        play(ShopEpisode(shop, goal), INSTRUCTION, following(oracle(shop, goal, target))).total
        for goal, target in wishes(SEED, 100)
    ]
    assert scores == [1.0] * 100


def test_who_buys_the_first_hit_earns_less_than_the_reference_and_more_than_chance() -> None:
    shop = open_shop(SEED)
    goals = [goal for goal, _ in wishes(SEED, 100)]
    first, chance = [], []
    for number, goal in enumerate(goals):
        hit = shop.search(goal.request)[0]
        steps = [("", f"search[{goal.request}]"), ("", f"click[{hit}]"), ("", "click[buy now]")]
        first.append(play(ShopEpisode(shop, goal), INSTRUCTION, following(steps)).total)
        chance.append(at_random(ShopEpisode(shop, goal), number))
    assert 0.4 < mean(first) < 0.7
    assert mean(chance) < mean(first) - 0.1
    assert max(first) < 1.0


def at_random(episode: ShopEpisode, number: int) -> float:
    draws = generator(number, "tests", "shop")

    def reply(question: str) -> str:
        shown = question.rsplit("Observation:", 1)[1]
        offered = re.findall(r"\[([^\]]+)\]", shown)
        words = re.findall(r"[a-z]+", question.split("Wanted:")[1].splitlines()[0])
        if not offered:
            return f"Action: search[{words[int(draws.integers(len(words)))]}]"
        return f"Action: click[{offered[int(draws.integers(len(offered)))]}]"

    return play(episode, INSTRUCTION, reply).total


def test_pages_are_turned_and_left_as_they_are_shown() -> None:
    shop = open_shop(SEED)
    goal, _ = wishes(SEED, 1)[0]
    episode = ShopEpisode(shop, goal)
    assert goal.request in episode.reset()
    assert "search[words]" in episode.step("buy it")[0]
    first = episode.step("Search[ DESK Lamp ]")[0]
    assert "[next page]" in first
    assert "[previous page]" not in first
    assert "no search field" in episode.step("search[desk]")[0]
    second = episode.step("click[next page]")[0]
    assert second != first
    assert "no [p999] here" in episode.step("click[P999]")[0]
    unseen = re.findall(r"\[(P\d+)\]", first)[0]
    assert f"no [{unseen.lower()}] here" in episode.step(f"click[{unseen}]")[0]
    assert episode.step("click[previous page]")[0] == first
    number = re.findall(r"\[(P\d+)\]", first)[1]
    assert episode.step(f"click[{number.lower()}]")[0].startswith(f"{number}: ")
    assert f"Features of {number}: {shop.products[number].features[0]}" in episode.step("click[features]")[0]
    colour = shop.products[number].options["colour"][0]
    assert f"(chosen: {colour})" in episode.step(f"click[{colour}]")[0]
    assert episode.step("click[back to results]")[0] == first
    assert "(chosen" not in episode.step(f"click[{number}]")[0]
    assert episode.step("click[back to search]")[0] == "You are at the search page."
    assert episode.step("click[buy now]")[:2] == ("There is no [buy now] here.\nYou are at the search page.", 0.0)
    assert "Nothing was found" in episode.step("search[zzz]")[0]


def test_shops_and_goals_come_back_from_their_files() -> None:
    from dataclasses import asdict

    goal, _ = wishes(SEED, 1)[0]
    assert goal_of(asdict(goal)) == goal
    product = next(iter(open_shop(SEED).products.values()))
    assert product_of(asdict(product)) == product
    assert Shop.of([asdict(product)]).products == {product.id: product}


def test_the_shop_of_the_graded_view_is_another_one() -> None:
    for entropy in range(6):
        dealt = _deal(entropy)
        assert dealt["train"][0]["shop"] != dealt["validation"][0]["shop"] == dealt["heldout"][0]["shop"]
        texts = [spec["question"] for specs in dealt.values() for spec in specs]
        assert len(set(texts)) == 400
    assert open_shop(1).products != open_shop(2).products
