"""A fictional country in documents: each fact is stated in exactly one, and questions follow one to three facts.

Everything is drawn from a seed, including names, so no fact of one country can be learned from another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

import numpy as np

from heredity._core.ids import generator
from heredity.kinds.checkpoint.tasks.env.search import Document, Library, Question

_COUNTS = {"person": 90, "town": 50, "river": 20, "bridge": 40, "book": 70, "ship": 40, "company": 30}
_ONSETS = ("b", "br", "c", "d", "dr", "f", "g", "gl", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "w")
_MIDDLES = ("b", "d", "f", "g", "k", "l", "m", "n", "r", "s", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oa", "ou")
_ENDS = {
    "town": ("ham", "wick", "stead", "mouth", "ford"),
    "river": ("ar", "ene", "ow"),
    "person": ("sen", "ley", "man", "er"),
}
_THINGS = (
    "Lantern",
    "Orchard",
    "Winter",
    "Harbour",
    "Mirror",
    "Sparrow",
    "Garden",
    "Tide",
    "Clock",
    "Valley",
    "Letter",
    "Ember",
    "Feather",
    "Ladder",
    "Window",
    "Kettle",
)
_KINDS = (
    "Silent",
    "Broken",
    "Golden",
    "Distant",
    "Hidden",
    "Crooked",
    "Second",
    "Hollow",
    "Burning",
    "Patient",
    "Borrowed",
    "Northern",
    "Seventh",
    "Quiet",
)


@dataclass(frozen=True)
class Relation:
    """A kind of fact: `subject` and `object` are kinds of things, or the object is `"year"`.

    Attributes:
        said: the sentence of the subject's document, with `{o}`.
        phrase: description of the object by the subject, `{s}`.
        asked: the question for the object; `""` if it is only an intermediate hop.
        inverse: the question for all subjects of an object, `{o}`; `""` for none.
    """

    name: str
    subject: str
    object: str
    said: str
    phrase: str
    asked: str
    inverse: str = ""


RELATIONS = (
    Relation("born in", "person", "town", "{s} was born in {o}.", "the town where {s} was born", "In which town was {s} born?"),
    Relation("birth", "person", "year", "The year of birth is given as {o}.", "", "In which year was {s} born?"),
    Relation("on", "town", "river", "It lies on the river {o}.", "the river on which {s} lies", "On which river does {s} lie?"),
    Relation("charter", "town", "year", "Its charter dates from {o}.", "", "From which year is the charter of {s}?"),
    Relation("mouth", "river", "town", "It reaches the sea at {o}.", "the town where {s} reaches the sea",
             "At which town does {s} reach the sea?"),
    Relation("crosses", "bridge", "town", "It stands in {o}.", "the town where {s} stands", "In which town does {s} stand?",
             "Which bridges stand in {o}?"),
    Relation("designed by", "bridge", "person", "Its designer was {o}.", "the designer of {s}", "Who designed {s}?",
             "Which bridges did {o} design?"),
    Relation("opened", "bridge", "year", "It was opened in {o}.", "", "In which year was {s} opened?"),
    Relation("written by", "book", "person", "It was written by {o}.", "the author of {s}", "Who wrote {s}?",
             "Which books did {o} write?"),
    Relation("printed by", "book", "company", "It was printed by {o}.", "the company that printed {s}",
             "Which company printed {s}?"),
    Relation("built by", "ship", "company", "It was built by {o}.", "the company that built {s}", "Which company built {s}?",
             "Which ships did {o} build?"),
    Relation("captain", "ship", "person", "Its first captain was {o}.", "the first captain of {s}",
             "Who was the first captain of {s}?"),
    Relation("seat", "company", "town", "It has its seat in {o}.", "the town where {s} has its seat",
             "In which town does {s} have its seat?"),
    Relation("founder", "company", "person", "It was founded by {o}.", "the founder of {s}", "Who founded {s}?"),
)  # fmt: skip
"""What documents say. Every thing has one object for each relation of its kind."""

_INTRODUCTIONS = {
    "person": "{s} is remembered in several letters of the time.",
    "town": "{s} is a town with a market and two mills.",
    "river": "{s} is a river that carries timber in spring.",
    "bridge": "{s} is a bridge of stone and iron.",
    "book": "{s} is a book of which few copies are left.",
    "ship": "{s} is a ship that carried grain and mail.",
    "company": "{s} is a company that has changed its trade twice.",
}


@dataclass
class Country:
    """A fictional country.

    Attributes:
        names: kind to the things of that kind.
        facts: (subject, relation's name) to the object.
    """

    names: Mapping[str, Sequence[str]]
    facts: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    @property
    def library(self) -> Library:
        """Its documents, one per thing."""
        return Library([self._document(kind, name) for kind, names in self.names.items() for name in names])

    def _document(self, kind: str, name: str) -> Document:
        sentences = [r.said.format(s=name, o=self.facts[name, r.name]) for r in RELATIONS if r.subject == kind]
        text = " ".join([_INTRODUCTIONS[kind].format(s=name), *sentences])
        return Document(name, text[0].upper() + text[1:])


@dataclass(frozen=True)
class Asked:
    """A question, the documents that lead to its answer in order, and the number of facts needed."""

    question: Question
    path: tuple[str, ...]

    @property
    def hops(self) -> int:
        """Number of documents to read."""
        return len(self.path)


@lru_cache(maxsize=4)
def countries(seed: int) -> tuple[Country, Country]:
    """Return the two countries of a seed, for practice and for grading, which share no name: 340 things each and their facts."""
    draws = generator(seed, "posttraining", "search", "countries")
    taken: set[str] = set()
    return _country(draws, taken), _country(draws, taken)


def _country(draws: np.random.Generator, taken: set[str]) -> Country:
    names = {kind: [_new(_MAKERS[kind], draws, taken) for _ in range(count)] for kind, count in _COUNTS.items()}
    made = Country(names)
    for relation in RELATIONS:
        for subject in names[relation.subject]:
            objects = names.get(relation.object)
            made.facts[subject, relation.name] = (
                objects[int(draws.integers(len(objects)))] if objects else str(int(draws.integers(1500, 1950)))
            )
    return made


@lru_cache(maxsize=4)
def questions(seed: int, part: int) -> tuple[Asked, ...]:
    """Return all questions about one of the countries of a seed, shuffled: one, two, three hops and lists take turns."""
    made = countries(seed)[part]
    draws = generator(seed, "posttraining", "search", "questions", part)
    along = list(_along(made))
    groups = [*([a for a in along if a.hops == hops] for hops in (1, 2, 3)), list(_backwards(made))]
    shuffled = [[group[i] for i in draws.permutation(len(group))] for group in groups]
    return tuple(asked for turn in zip_longest(*shuffled) for asked in turn if asked is not None)


def solution(asked: Asked) -> list[tuple[str, str]]:
    """Return thoughts and actions of the reference solution, which knows the titles of the documents it needs."""
    first, *others = asked.path
    steps = [(f"I look for {first}.", f"search[{first}]"), ("This is what the question begins with.", f"open[{first}]")]
    steps += [("Now I read about what that names.", f"open[{title}]") for title in others]
    answer = "; ".join(ways[0] for ways in asked.question.answers)
    return [*steps, ("This is what was asked for.", f"answer[{answer}]")]


def _along(made: Country) -> Iterator[Asked]:
    """Follow one to three relations from every thing; intermediate things are only described."""
    paths = [((name,), name) for names in made.names.values() for name in names]
    kinds = {name: kind for kind, names in made.names.items() for name in names}
    for _ in range(3):
        longer: list[tuple[tuple[str, ...], str]] = []
        for path, phrase in paths:
            for relation in RELATIONS:
                if relation.subject != kinds[path[-1]]:
                    continue
                answer = made.facts[path[-1], relation.name]
                if answer in path:
                    continue
                yield Asked(Question(relation.asked.format(s=phrase), ((answer,),)), path)
                if relation.phrase:
                    longer.append(((*path, answer), relation.phrase.format(s=phrase)))
        paths = longer


def _backwards(made: Country) -> Iterator[Asked]:
    """Ask for all subjects of an object for which a search shows at most two or three of them."""
    for relation in RELATIONS:
        if not relation.inverse:
            continue
        subjects: dict[str, list[str]] = defaultdict(list)
        for name in made.names[relation.subject]:
            subjects[made.facts[name, relation.name]].append(name)
        for answer, members in subjects.items():
            if len(members) in (2, 3):
                asked = Question(relation.inverse.format(o=answer), tuple((name,) for name in members))
                yield Asked(asked, tuple(members))


def _new(make: Callable[[np.random.Generator], str], draws: np.random.Generator, taken: set[str]) -> str:
    while (name := make(draws)) in taken:
        continue
    taken.add(name)
    return name


def _pick(draws: np.random.Generator, values: Sequence[str]) -> str:
    return values[int(draws.integers(len(values)))]


def _word(draws: np.random.Generator, kind: str) -> str:
    return (
        _pick(draws, _ONSETS) + _pick(draws, _VOWELS) + _pick(draws, _MIDDLES) + _pick(draws, _ENDS[kind])
    ).capitalize()


def _person(draws: np.random.Generator) -> str:
    return f"{(_pick(draws, _ONSETS) + _pick(draws, _VOWELS) + _pick(draws, 'dlmnrst')).capitalize()} {_word(draws, 'person')}"


_MAKERS: Mapping[str, Callable[[np.random.Generator], str]] = {
    "person": _person,
    "town": lambda draws: _word(draws, "town"),
    "river": lambda draws: f"the {_word(draws, 'river')}",
    "bridge": lambda draws: f"the {_word(draws, 'person')} Bridge",
    "book": lambda draws: f"“The {_pick(draws, _KINDS)} {_pick(draws, _THINGS)}”",
    "ship": lambda draws: f"the ship {_word(draws, 'person')}",
    "company": lambda draws: f"{_word(draws, 'person')} and {_pick(draws, ('Sons', 'Company', 'Partners'))}",
}
