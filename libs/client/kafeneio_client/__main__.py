"""`kafeneio`, and `python -m kafeneio_client`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, if it is installed with what it needs; the library does without."""
    try:
        from kafeneio_client.cli.app import main as command
    except ModuleNotFoundError as missing:
        if missing.name not in {"typer", "rich"}:
            raise
        sys.exit(f"There is no {missing.name} here: install kafeneio-client[command].")
    command()


if __name__ == "__main__":
    main()
