"""The table has the expected rows in the expected order."""

import csv
from pathlib import Path

expected = [
    ["sensor", "readings", "missing", "median"],
    ["attic", "0", "1", ""],
    ["cellar", "25", "4", "14.90"],
    ["north", "31", "3", "10.00"],
    ["roof", "22", "6", "16.00"],
    ["south", "23", "6", "14.60"],
]
with Path("/app/medians.csv").open(newline="", encoding="utf-8") as file:
    assert list(csv.reader(file)) == expected
