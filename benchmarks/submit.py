"""Run `heredity bench submit` without the command line installed: python benchmarks/submit.py [--json]."""

from heredity.cli.bench import app

if __name__ == "__main__":
    import sys

    sys.argv.insert(1, "submit")
    app()
