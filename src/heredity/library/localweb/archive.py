"""The archive of Varnholm: documents of every kind, made from the town's facts."""

from __future__ import annotations

from itertools import pairwise

from heredity.library.localweb.town import Town
from heredity.library.localweb.writers import docx, pdf, png, pptx, xlsx


def documents(town: Town) -> dict[str, bytes]:
    """Return the archive's documents by name."""
    return {
        "council-minutes.pdf": pdf([_minutes(town, n) for n in range(len(town.meetings))]),
        "inspection-of-bridges.docx": docx(
            [
                "Inspection of the bridges",
                "All bridges were looked at in the same autumn.",
                [["Bridge", "Inspector", "Grade"], *([b.name, b.inspector, b.grade] for b in town.bridges)],
            ]
        ),
        "museum-visits.xlsx": xlsx(
            {
                "Visits": [["Year", "Visits"], *([year, count] for year, count in town.visits.items())],
                "Change": [["Change", "Year"], *([town.visits[b] - town.visits[a], b] for a, b in pairwise(town.visits))],
            }
        ),
        "plan-of-works.pptx": pptx(
            [
                ["Plan of works", "Six projects for Varnholm"],
                *([p.name, f"District: {p.district}", f"Cost: {p.cost} crowns", f"Begins: {p.begins}"] for p in town.projects),
            ]
        ),
        "arrivals.csv": "\n".join(["day,ship,cargo_tons", *(f"{a.day},{a.ship},{a.cargo}" for a in town.arrivals), ""]).encode(),
        "festivals.md": "\n\n".join(
            ["# Festivals", *(f"**{name}** has been held since {year}." for name, year in town.festivals)]
        ).encode(),
        "opening-hours.txt": b"The archive is open on Tuesdays from 9 to 12.\n\nThe museum is closed on Mondays.\n",
        "old-map.png": png(
            _chequered(*town.map_size),
            {"Description": f"Map of the harbour, drawn by {town.map_by} in {town.map_year}"},
        ),
    }  # fmt: skip


def _chequered(width: int, height: int) -> list[list[tuple[int, int, int]]]:
    return [
        [(60, 90 + y % 100, 160) if (x // 8 + y // 8) % 2 else (200, 190, 150) for x in range(width)]
        for y in range(height)
    ]


def _minutes(town: Town, number: int) -> list[str]:
    meeting = town.meetings[number]
    return [
        f"Minutes of the council, {meeting.day.isoformat()}",
        "",
        f"In the chair: {meeting.chair}",
        f"The council grants {meeting.granted} crowns for the poor.",
        "The minutes of the last meeting were read and found right.",
    ]
