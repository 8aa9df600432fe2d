"""Starts OpenLoop from a checkout: `python main.py [workflow.json]`, or a command; see `--help`."""

import sys

from app.cli import main

if __name__ == "__main__":
    sys.exit(main())
