"""Run `heredity bench rollouts` without the command line installed: python benchmarks/rollouts.py [--json]."""

from heredity.cli.bench import app

if __name__ == "__main__":
    import sys

    sys.argv.insert(1, "rollouts")
    app()
