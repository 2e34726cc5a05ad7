"""The command line. This module stays lean: `main` loads the rest, and each command loads what it needs."""

from __future__ import annotations


def main() -> int:
    """Run the command line on this process's arguments; return its exit code (U-2)."""
    try:
        from manent.cli.app import app

        return app.run()
    except KeyboardInterrupt:  # before a command could answer it
        return 130
