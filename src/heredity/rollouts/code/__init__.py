"""Programming problems judged: toolchains, compilation, cases, verdicts."""
