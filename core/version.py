"""Which OpenLoop this is."""

from __future__ import annotations


def own_version() -> str:
    """OpenLoop's version; `checkout` where it is not installed."""
    # Only when it is asked for: the import costs more than most starts take for everything else.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openloop")
    except PackageNotFoundError:
        return "checkout"
