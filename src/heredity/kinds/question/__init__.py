"""Questions as tasks: benchmarks, files and generated ones, with answers checked by a rule or by a judge."""
