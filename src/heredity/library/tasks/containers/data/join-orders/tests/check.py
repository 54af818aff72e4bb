"""The table has the expected rows in the expected order."""

import csv
from pathlib import Path

expected = [
    ["name", "city", "orders", "total"],
    ["Bolt", "Linz", "6", "4017.25"],
    ["Ada, Ltd", "Graz", "5", "2874.18"],
    ["Echo", "Linz", "5", "1847.90"],
    ['Corn "Q"', "Wien", "5", "1796.95"],
    ["Dune", "Graz", "0", "0.00"],
]
with Path("/app/totals.csv").open(newline="", encoding="utf-8") as file:
    assert list(csv.reader(file)) == expected
