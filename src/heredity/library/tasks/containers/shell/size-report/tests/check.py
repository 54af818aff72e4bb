"""The report has every folder, its size and the order."""

from pathlib import Path

assert Path("/app/sizes.tsv").read_text().splitlines() == [
    "4000\tbeta",
    "3127\talpha",
    "3127\tdelta set",
    "50\t.",
    "3\tgamma",
    "0\tempty",
    "10307\ttotal",
]
