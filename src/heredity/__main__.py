"""`heredity` and `python -m heredity`: the command line."""

import signal


def main() -> None:
    """Run the command line; Ctrl-C before it is loaded ends the process without a traceback."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from heredity.cli.main import main as command_line

    signal.signal(signal.SIGINT, handler)
    command_line()


if __name__ == "__main__":
    main()
