"""The table has the expected rows in the expected order."""

import csv
from pathlib import Path

expected = [
    ["name", "born", "score"],
    ["Ida Moor", "1990-04-03", "7.50"],
    ["Jon Vale", "1988-12-01", "8.00"],
    ["Kim Oak", "", ""],
    ["lea Pine", "2001-01-31", "10.00"],
    ["Max Reed", "1979-02-01", "6.25"],
]
with Path("/app/clean.csv").open(newline="", encoding="utf-8") as file:
    assert list(csv.reader(file)) == expected
