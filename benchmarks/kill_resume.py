"""Run `heredity bench kills` without the command line installed: python benchmarks/kill_resume.py [--kills 200] [--json]."""

from heredity.cli.bench import app

if __name__ == "__main__":
    import sys

    sys.argv.insert(1, "kills")
    app()
