"""The section of a suite that is run seed after seed: what was known after each, and why it ended."""

from __future__ import annotations

from heredity.reports.sentences import sequential_summary
from heredity.results import text
from heredity.results.charts import Lines, Reference, Series
from heredity.results.page import Group, Mean, Number, Section, Table, Text, of_rows
from heredity.results.sequence import Scale, Sequential


def sequential_section(sequence: Sequential | None) -> Section:
    """Return what each look said; without parts for a suite that was not run seed after seed."""
    if sequence is None:
        return Section("sequential", "Seed after seed")
    unit = "rescaled score" if sequence.scale is Scale.NORMALISED else "score"
    about = (
        f"{sequence.a} and {sequence.b} were run seed after seed and compared after each, until they were told apart or "
        f"{text.plural(sequence.most_seeds, 'seed')} were run. All these intervals hold together in at least "
        f"{text.percent(1.0 - sequence.level)} of such suites, and p at most {sequence.level:g} comes up falsely in at most "
        f"{text.percent(sequence.level)}, whenever one stops: of seeds, if differences are as likely as their opposites, "
        "which those of alike entries are; of cases, as Student's t does."
    )
    rows = [
        [
            look.seed,
            look.pairs,
            Mean(look.difference, *(look.ci or (None, None)), signed=True),
            Number(look.p, form="p"),
        ]
        for look in sequence.looks
    ]
    named = of_rows(("after seed", "paired seeds", f"{sequence.a} less {sequence.b}", "p, at any time"), rows, left=0)
    table = Table(
        named.columns, named.rows, f"What was known after each seed, in {unit}", csv="sequential.csv", page_only=True
    )
    points = tuple((float(look.pairs), look.difference) for look in sequence.looks if look.difference is not None)
    band = tuple((float(look.pairs), *look.ci) for look in sequence.looks if look.ci is not None)
    line = Series("difference", 0, points, band, dots=True)
    chart = Lines(
        f"{sequence.a} less {sequence.b}", "paired seeds", unit, (line,), reference=Reference(0.0, "alike"), whole=True
    )
    parts = (Text(sequential_summary(sequence)), Text(about, "about"), Group((table, chart), "pair"))
    return Section("sequential", "Seed after seed", parts, "lead", "files")
