"""Facts of Varnholm: people, bridges, ships, companies and their archive records, all drawn from one seed.

Every fact is stored once, here; pages, documents and answers are made from it. Values that identify things in
questions, such as names and years of opening, are drawn without repetition, so a description matches one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

import numpy as np

from heredity._core.ids import generator

FIRST = (
    "Ada", "Bertil", "Clara", "Dagny", "Edvin", "Frida", "Gunnar", "Hedda", "Ivar", "Johanna",
    "Karsten", "Liv", "Magnus", "Nora", "Oskar", "Petra", "Rasmus", "Signe", "Tove", "Viggo",
)  # fmt: skip
LAST = (
    "Almgren", "Brandt", "Corvin", "Dahlby", "Ekeroth", "Falk", "Grimstad", "Holm", "Isager", "Jernberg",
    "Kjellin", "Lindqvist", "Mørk", "Nyborg", "Oxholm", "Ponting", "Ravn", "Storm", "Tegner", "Wessel",
)  # fmt: skip
TRADES = ("clockmaker", "engineer", "fisher", "printer", "teacher", "botanist", "carpenter", "pilot", "baker", "notary")
BRIDGES = ("Mill", "Harbour", "Linden", "Kings", "Weavers", "North", "Swan", "Old Customs")
SHIPS = (
    "Aurora", "Bittern", "Cormorant", "Dovekie", "Ester", "Fulmar", "Guillemot", "Havfruen", "Isbjorn", "Jolle", "Kittiwake", "Lom",
)  # fmt: skip
COMPANIES = ("Salt", "Rope", "Glass", "Timber", "Lamp", "Paper", "Canvas", "Copper")
DISTRICTS = ("Eastgate", "Westquay", "Northfield", "Southmere", "Hillside", "Oldtown")
OBJECTS = (
    "sextant", "barometer", "ship model", "clock", "harpoon", "compass", "lantern", "map case", "bell", "figurehead",
)  # fmt: skip
MAKES = ("Brass", "Silver", "Painted")
PROJECTS = ("Tram depot", "Flood wall", "Public baths", "Fish market", "Observatory", "Night school")
FESTIVALS = ("Lantern Night", "Herring Fair", "Ice Regatta", "Midsummer Dance", "Harvest Mass", "Rope Walk")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
VISIT_YEARS = tuple(range(1985, 2005))
RAIN_YEARS = tuple(range(1990, 1995))


@dataclass(frozen=True, slots=True)
class Person:
    """A person in the town."""

    name: str
    trade: str
    born: int
    district: str


@dataclass(frozen=True, slots=True)
class Bridge:
    """A bridge; `inspector` and `grade` come from the inspection in the archive."""

    name: str
    opened: int
    metres: int
    engineer: str
    inspector: str
    grade: str


@dataclass(frozen=True, slots=True)
class Ship:
    """A ship."""

    name: str
    built: int
    tons: int
    captain: str


@dataclass(frozen=True, slots=True)
class Company:
    """A company; `staff` is only shown in a tab of its page."""

    name: str
    founded: int
    founder: str
    staff: int


@dataclass(frozen=True, slots=True)
class District:
    """A district of the town."""

    name: str
    people: int
    councillor: str


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An item of the museum's catalogue."""

    number: int
    name: str
    year: int
    donor: str
    room: int


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting of the council."""

    day: date
    chair: str
    granted: int


@dataclass(frozen=True, slots=True)
class Project:
    """A project of the town's plan of works."""

    name: str
    district: str
    cost: int
    begins: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """The arrival of a ship, with its cargo in tons."""

    day: date
    ship: str
    cargo: int


@dataclass(frozen=True, eq=False)
class Town:
    """All facts of the town."""

    people: tuple[Person, ...]
    bridges: tuple[Bridge, ...]
    ships: tuple[Ship, ...]
    companies: tuple[Company, ...]
    districts: tuple[District, ...]
    exhibits: tuple[Exhibit, ...]
    meetings: tuple[Meeting, ...]
    projects: tuple[Project, ...]
    arrivals: tuple[Arrival, ...]
    festivals: tuple[tuple[str, int], ...]
    visits: dict[int, int]
    rain: dict[tuple[int, str], int]
    ferry: dict[str, tuple[str, ...]]
    map_by: str
    map_year: int
    map_size: tuple[int, int]


def _draws(
    rng: np.random.Generator,
) -> tuple[Callable[[int, int, int], list[int]], Callable[[tuple[str, ...], int], list[str]]]:
    """Return functions that draw several distinct numbers of a range, and that order texts, repeating them if needed."""

    def several(low: int, high: int, count: int) -> list[int]:
        return [int(v) + low for v in rng.choice(high - low, count, replace=False)]

    def shuffled(values: tuple[str, ...], count: int) -> list[str]:
        picked = [str(v) for v in rng.permutation(list(values))]
        return (picked * (count // len(picked) + 1))[:count]

    return several, shuffled


@lru_cache(maxsize=4)
def make_town(seed: int = 0) -> Town:
    """Return the town of a seed; names of things are the same in all towns, the facts are not."""
    rng = generator(seed, "local-web")

    several, shuffled = _draws(rng)
    names = tuple(f"{first} {last}" for first, last in zip(FIRST, LAST, strict=True))
    traits = zip(names, shuffled(TRADES, 20), several(1820, 1900, 20), shuffled(DISTRICTS, 20), strict=True)
    days = [date(1931, 1, 5) + timedelta(days=d) for d in sorted(several(0, 1400, 48))]
    exhibits = [f"{make} {thing}" for make in MAKES for thing in OBJECTS]
    grades = shuffled(("sound", "worn", "weak"), 8)
    inspectors, chairs = shuffled(names, 8), shuffled(names, 6)
    minutes = [date(1925 + n, 3, 1) + timedelta(days=7 * n) for n in range(6)]
    visits = several(2000, 9000, len(VISIT_YEARS))
    rain = iter(several(5, 260, 60))
    clock = [f"{5 + n}:{m:02d}" for n, m in enumerate(several(0, 59, 8))]
    width, height = several(24, 60, 2)
    return Town(
        tuple(Person(*trait) for trait in traits),
        tuple(
            Bridge(f"{name} Bridge", *rest)
            for name, *rest in zip(
                BRIDGES,
                several(1860, 1930, 8),
                several(20, 190, 8),
                shuffled(names, 8),
                inspectors,
                grades,
                strict=True,
            )
        ),
        tuple(map(Ship, SHIPS, several(1880, 1930, 12), several(60, 900, 12), shuffled(names, 12))),
        tuple(
            Company(f"Varnholm {name} Works", founded, founder, staff)
            for name, founded, founder, staff in zip(
                COMPANIES, several(1850, 1920, 8), shuffled(names, 8), several(12, 400, 8), strict=True
            )
        ),
        tuple(map(District, DISTRICTS, several(900, 7000, 6), shuffled(names, 6))),
        tuple(
            map(
                Exhibit,
                several(100, 999, 30),
                exhibits,
                several(1600, 1850, 30),
                shuffled(names, 30),
                [int(r) for r in rng.integers(1, 9, 30)],
            )
        ),
        tuple(map(Meeting, minutes, chairs, several(400, 9000, 6))),
        tuple(map(Project, PROJECTS, shuffled(DISTRICTS, 6), several(3000, 90000, 6), several(1926, 1940, 6))),
        tuple(map(Arrival, days, shuffled(SHIPS, 48), several(10, 400, 48))),
        tuple(zip(FESTIVALS, several(1700, 1900, 6), strict=True)),
        dict(zip(VISIT_YEARS, visits, strict=True)),
        {(year, month): next(rain) for year in RAIN_YEARS for month in MONTHS},
        {"To the islands": tuple(clock[:4]), "To the town": tuple(clock[4:])},
        str(rng.permutation(list(names))[0]),
        int(rng.integers(1870, 1899)),
        (width * 4, height * 4),
    )
