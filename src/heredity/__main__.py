"""`python -m heredity`: the command line, for where its script is not on the path."""

from __future__ import annotations

from heredity.cli.main import main

if __name__ == "__main__":
    main()
