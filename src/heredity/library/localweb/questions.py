"""Sixty questions about Varnholm in three levels, each with its answer and the steps to find it.

An answer is computed from the town's facts. The steps know where to look but not the content there. They are made of
the names in the question, and are the same for every seed of the town.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from heredity.library.localweb import town as facts
from heredity.library.localweb.steps import (
    DONOR,
    PERSON,
    Call,
    LocalQuestion,
    Step,
    browse,
    chair,
    coder,
    page,
    read,
    reader,
    row,
    surfer,
    visits,
)
from heredity.library.localweb.town import Town


@lru_cache(maxsize=4)
def questions(town: Town) -> tuple[LocalQuestion, ...]:
    """Return the questions, by level."""
    made = [
        LocalQuestion(f"{level}-{number:02d}", level, *rest)
        for level, templates in ((1, _ONE), (2, _TWO), (3, _THREE))
        for number, rest in enumerate((made for template in templates for made in template(town)), 1)
    ]
    return tuple(made)


Made = tuple[str, str, tuple[Step, ...], str, str]


PDF, DOCX, XLSX, PPTX = "council-minutes.pdf", "inspection-of-bridges.docx", "museum-visits.xlsx", "plan-of-works.pptx"


def _simple(folder: str, take: slice, text: str, fact: str, key: str) -> Callable[[Town], list[Made]]:
    """Return a template: one fact on the page of a thing."""

    def made(town: Town) -> list[Made]:
        return [
            (
                text.format(name=thing.name),
                str(getattr(thing, fact)),
                (reader(read(page(folder, thing.name), {"answer": row(key)})),),
                "answer",
                "",
            )
            for thing in getattr(town, folder)[take]
        ]

    return made


def _first_of(text: str) -> Callable[[Town], list[Made]]:
    def made(town: Town) -> list[Made]:
        ways = list(town.ferry)
        open_page = browse("open", address="http://{site}/ferry.html")
        return [
            (
                text.format(way=way.lower()),
                town.ferry[way][0],
                (
                    surfer(
                        open_page,
                        browse(
                            "select", {"answer": r"Departures: (\d+:\d+)"}, element='combobox "Direction"', option=way
                        ),
                    ),
                ),
                "answer",
                "",
            )
            for way in ways
        ]

    return made


def _staff(town: Town) -> list[Made]:
    return [
        (
            f"How many people does the page of the {firm.name} give as its staff, under Figures?",
            str(firm.staff),
            (
                surfer(
                    browse("open", address=f"http://{{site}}/{page('companies', firm.name)}"),
                    browse("click", {"answer": r"Staff: (\d+) people"}, element='button "Figures"'),
                ),
            ),
            "answer",
            "",
        )
        for firm in town.companies[:2]
    ]


def _documents(town: Town) -> list[Made]:
    drawn = town.map_by
    made: list[Made] = [
        (
            f"How many visits did the museum have in {year}, according to the attached workbook?",
            str(town.visits[year]),
            (reader(read(XLSX, {"answer": visits(year)}, part="sheet Visits")),),
            "answer",
            XLSX,
        )
        for year in (1987, 1993, 1999, 2001)
    ]
    bridge, project, meeting = town.bridges[2], town.projects[1], town.meetings[3]
    name, year = town.festivals[4]
    questions = [
        (
            f"Who inspected the {bridge.name}, according to the archive?",
            bridge.inspector,
            DOCX,
            rf"\| {bridge.name} \| (.+?) \|",
        ),
        (
            f"What does the project {project.name} cost, in crowns?",
            project.cost,
            PPTX,
            rf"{project.name}\n.*\nCost: (\d+)",
        ),
        (f"Who was in the chair of the council on {meeting.day}?", meeting.chair, PDF, chair(meeting.day)),
        (f"Since which year has the {name} been held?", year, "festivals.md", rf"{name}\*\* has been held since (\d+)"),
        ("Who drew the old map of the harbour?", drawn, "old-map.png", r"drawn by (.+) in \d+"),
        ("How many pixels wide is the picture of the old map?", town.map_size[0], "old-map.png", r"picture, (\d+) × "),
        ("On which day of the week is the archive open?", "Tuesday", "opening-hours.txt", r"open on (\w+)s from"),
    ]
    for text, answer, name, pattern in questions:
        made.append((text, str(answer), (reader(read(f"archive/{name}", {"answer": pattern})),), "answer", ""))
    return made


_ONE: tuple[Callable[[Town], list[Made]], ...] = (
    _simple("bridges", slice(2), "In which year was the {name} opened?", "opened", "Opened"),
    _simple("people", slice(4, 5), "In which year was {name} of Varnholm born?", "born", "Born"),
    _simple("ships", slice(2, 4), "Who is the captain of the {name}?", "captain", "Captain"),
    _simple("districts", slice(2, 4), "How many inhabitants has {name}?", "people", "Inhabitants"),
    _simple("companies", slice(3, 5), "Who founded the {name}?", "founder", "Founder"),
    _documents,
    _first_of("When does the first ferry {way} leave?"),
    _staff,
)


def _of_whom(folder: str, take: slice, text: str, key: str, asked: str) -> Callable[[Town], list[Made]]:
    """Return a template: a fact about a person named on the page of a thing."""

    def made(town: Town) -> list[Made]:
        people = {person.name: person for person in town.people}
        attribute = {"Born": "born", "Trade": "trade", "Lived in": "district"}[asked]
        return [
            (
                text.format(name=thing.name),
                str(getattr(people[getattr(thing, key.lower())], attribute)),
                (
                    reader(
                        read(page(folder, thing.name), {"person": row(key)}),
                        read(PERSON, {"answer": row(asked)}),
                    ),
                ),
                "answer",
                "",
            )
            for thing in getattr(town, folder)[take]
        ]

    return made


def _difference(town: Town) -> list[Made]:
    path = f"archive/{XLSX}"
    return [
        (
            f"How many more visits did the museum have in {more} than in {less}? Give a negative number if it had fewer.",
            str(town.visits[more] - town.visits[less]),
            (
                reader(read(path, {"a": visits(more), "b": visits(less)}, part="sheet Visits")),
                coder("{a} - {b}", 0),
            ),
            "result",
            "",
        )
        for more, less in ((1995, 1990), (2003, 1986), (1992, 1991))
    ]


def _cargo(town: Town) -> list[Made]:
    return [
        (
            f"How many tons of cargo did the {ship} bring in all, according to the list of arrivals?",
            str(sum(a.cargo for a in town.arrivals if a.ship == ship)),
            (reader(read("archive/arrivals.csv", {"tons*": rf"\d,{ship},(\d+)"})), coder("sum(map(int, {tons*}))", 0)),
            "result",
            "",
        )
        for ship in ("Aurora", "Ester", "Lom")
    ]


def _chairs(town: Town) -> list[Made]:
    people = {person.name: person for person in town.people}
    return [
        (
            f"What was the trade of whoever was in the chair of the council on {meeting.day}?",
            people[meeting.chair].trade,
            (
                reader(
                    read(f"archive/{PDF}", {"person": chair(meeting.day)}),
                    read(PERSON, {"answer": row("Trade")}),
                ),
            ),
            "answer",
            "",
        )
        for meeting in town.meetings[1:3]
    ]


def _projects(town: Town) -> list[Made]:
    inhabitants = {district.name: district.people for district in town.districts}
    return [
        (
            f"How many inhabitants has the district of the project {project.name}?",
            str(inhabitants[project.district]),
            (
                reader(
                    read(f"archive/{PPTX}", {"district": rf"{project.name}\nDistrict: (.+)"}),
                    read("districts/{district|slug}.html", {"answer": row("Inhabitants")}),
                ),
            ),
            "answer",
            "",
        )
        for project in town.projects[2:4]
    ]


def _weather_calls(year: object, month: str, find: dict[str, str]) -> tuple[Call, ...]:
    return (
        browse("open", address="http://{site}/weather.html"),
        browse("select", element='combobox "Year"', option=str(year)),
        browse("select", element='combobox "Month"', option=month),
        browse("click", find, element='button "Show"'),
    )


def _rain(town: Town) -> list[Made]:
    return [
        (
            f"How many millimetres of rain does the weather station give for {month} {year}?",
            str(town.rain[year, month]),
            (surfer(*_weather_calls(year, month, {"answer": rf"Rain in {month} {year}: (\d+) millimetres"})),),
            "answer",
            "",
        )
        for year, month in ((1991, "March"), (1993, "October"), (1994, "May"))
    ]


def _catalogue(name: str, find: dict[str, str], pages: int) -> tuple[Call, ...]:
    turns = [browse("click", element='button "Next page"') for _ in range(pages)]
    turns[-1]["find"] = {key: pattern.format(name=name) for key, pattern in find.items()}
    return (browse("open", address="http://{site}/museum.html"), *turns)


def _donors(town: Town) -> list[Made]:
    return [
        (
            f"Who gave the {exhibit.name} to the museum?",
            exhibit.donor,
            (surfer(*_catalogue(exhibit.name, {"answer": DONOR}, index // 10)),),
            "answer",
            "",
        )
        for index, exhibit in enumerate(town.exhibits)
        if index in (12, 18, 25)
    ]


_TWO: tuple[Callable[[Town], list[Made]], ...] = (
    _of_whom("bridges", slice(3, 6), "In which year was the engineer of the {name} born?", "Engineer", "Born"),
    _of_whom("ships", slice(4, 7), "In which district did the captain of the {name} live?", "Captain", "Lived in"),
    _of_whom("companies", slice(5, 7), "What was the trade of the founder of the {name}?", "Founder", "Trade"),
    _difference,
    _cargo,
    _chairs,
    _projects,
    _rain,
    _donors,
)


def _ages(town: Town) -> list[Made]:
    born = {person.name: person.born for person in town.people}
    made: list[Made] = []
    for ship, bridge in zip(town.ships[7:10], town.bridges[5:8], strict=True):
        first = reader(read(page("ships", ship.name), {"person": row("Captain")}), read(PERSON, {"a": row("Born")}))
        second = reader(
            read(page("bridges", bridge.name), {"person": row("Engineer")}), read(PERSON, {"b": row("Born")})
        )
        text = f"How many years lie between the births of the captain of the {ship.name} and the engineer of the {bridge.name}?"
        answer = abs(born[ship.captain] - born[bridge.engineer])
        made.append((text, str(answer), (first, second, coder("abs({a} - {b})", 0, 1)), "result", ""))
    return made


def _councillors(town: Town) -> list[Made]:
    born = {person.name: person.born for person in town.people}
    councillor = {district.name: district.councillor for district in town.districts}
    return [
        (
            f"How old did the councillor of the district of the project {project.name} become in the year when it begins?",
            str(project.begins - born[councillor[project.district]]),
            (
                reader(
                    read(
                        f"archive/{PPTX}",
                        {
                            "district": rf"{project.name}\nDistrict: (.+)",
                            "begins": rf"{project.name}\n.*\n.*\nBegins: (\d+)",
                        },
                    ),
                    read("districts/{district|slug}.html", {"person": row("Councillor")}),
                    read(PERSON, {"born": row("Born")}),
                ),
                coder("{begins} - {born}", 0),
            ),
            "result",
            "",
        )
        for project in town.projects[3:6]
    ]


def _gifts(town: Town) -> list[Made]:
    born = {person.name: person.born for person in town.people}
    made: list[Made] = []
    for index, bridge in ((14, town.bridges[0]), (17, town.bridges[1]), (22, town.bridges[2])):
        exhibit = town.exhibits[index]
        steps = (
            surfer(*_catalogue(exhibit.name, {"person": DONOR}, index // 10)),
            reader(read(PERSON, {"a": row("Born")}), after=[0]),
            reader(read(page("bridges", bridge.name), {"b": row("Opened")})),
            coder("{b} - {a}", 1, 2),
        )
        text = f"How many years after the birth of whoever gave the {exhibit.name} to the museum was the {bridge.name} opened?"
        made.append((text, str(bridge.opened - born[exhibit.donor]), steps, "result", ""))
    return made


def _rain_of_the_best(town: Town) -> list[Made]:
    best = max(facts.RAIN_YEARS, key=lambda year: town.visits[year])
    pattern = r"A\d+: (199[0-4]) \| B\d+: \d+"
    counts = r"A\d+: 199[0-4] \| B\d+: (\d+)"
    made: list[Made] = []
    for month in ("January", "June", "November"):
        steps = (
            reader(read(f"archive/{XLSX}", {"years*": pattern, "counts*": counts}, part="sheet Visits")),
            coder("max(zip(map(int, {counts*}), {years*}))[1]", 0),
            surfer(
                *_weather_calls("{result}", month, {"answer": rf"Rain in {month} \d+: (\d+) millimetres"}), after=[1]
            ),
        )
        text = f"How many millimetres of rain fell in {month} of the year, from 1990 to 1994, in which the museum had most visits?"
        made.append((text, str(town.rain[best, month]), steps, "answer", ""))
    return made


_TRAIN = _simple("ships", slice(10), "In which year was the {name} built?", "built", "Built")


@lru_cache(maxsize=4)
def practice(town: Town) -> tuple[LocalQuestion, ...]:
    """Return ten questions of the first level for training."""
    return tuple(LocalQuestion(f"0-{number:02d}", 1, *rest) for number, rest in enumerate(_TRAIN(town), 1))


_THREE: tuple[Callable[[Town], list[Made]], ...] = (_ages, _councillors, _gifts, _rain_of_the_best)
