"""The table has the expected rows in the expected order."""

import csv
from pathlib import Path

expected = [
    ["shop", "item", "week_9", "week_10", "week_11", "week_12", "week_13", "sum"],
    ["A", "milk", "12", "7", "1", "0", "0", "20"],
    ["A", "rye bread", "5", "7", "9", "0", "0", "21"],
    ["A", "tea", "2", "22", "2", "0", "0", "26"],
    ["B", "milk", "5", "6", "9", "0", "0", "20"],
    ["B", "rye bread", "0", "8", "12", "0", "0", "20"],
    ["B", "tea", "15", "4", "0", "2", "0", "21"],
    ["C", "milk", "13", "0", "21", "2", "0", "36"],
    ["C", "rye bread", "10", "0", "12", "10", "0", "32"],
    ["C", "tea", "14", "6", "5", "7", "0", "32"],
]
with Path("/app/wide.csv").open(newline="", encoding="utf-8") as file:
    assert list(csv.reader(file)) == expected
