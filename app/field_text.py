"""Text of a field to a value and back. Every parser raises ValueError with a sentence for the user."""

from __future__ import annotations

import math
import re
import shlex

from PySide6.QtCore import QCoreApplication, QLocale

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_AMOUNT = re.compile(
    r"""(?P<whole>[0-9]+ | [0-9]{1,3}(?P<group>[\ ,.'\u2019\u00a0\u202f])[0-9]{3}(?:(?P=group)[0-9]{3})*)
        (?:(?P<sign>(?!(?P=group))[.,])(?P<rest>[0-9]*))?""",
    re.VERBOSE,
)
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_DOLLARS = re.compile(r"^(?:US)?\$|^USD\b|(?:US)?\$$|\bUSD$|(?<=[0-9])USD$", re.IGNORECASE)
_PART = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("fields", text)


def parse_text(text: str) -> str | None:
    """Text; None for an empty field."""
    return text.strip() or None


def parse_count(text: str) -> int | None:
    """A whole number from 1 on; None for an empty field."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(tr("This needs a whole number, 1 or more."))
    return int(text)


def parse_required_count(text: str) -> int:
    """A whole number from 1 on."""
    value = parse_count(text)
    if value is None:
        raise ValueError(tr("This needs a whole number, 1 or more."))
    return value


def parse_number(text: str) -> int:
    """A whole number from 0 on; an empty field is 0."""
    if not text.strip():
        return 0
    if not text.strip().isdecimal():
        raise ValueError(tr("This needs a whole number, 0 or more."))
    return int(text)


def parse_optional_number(text: str) -> int | None:
    """A whole number from 0 on; None for an empty field."""
    return parse_number(text.replace(" ", "").replace(",", "")) if text.strip() else None


def parse_money(text: str) -> float | None:
    """Dollars; None for an empty field.

    Either sign may be the decimal one. `1,500` could be two amounts: there the system's language decides.
    """
    cleaned = _DOLLARS.sub("", text.strip(), count=1).strip()
    if not cleaned and not text.strip():
        return None
    number = _AMOUNT.fullmatch(cleaned)
    if number is None:
        raise ValueError(tr("This needs an amount in dollars, such as 5, 0.50 or 1500."))
    whole, sign, rest = number["whole"], number["sign"] or "", number["rest"] or ""
    if sign and _THOUSANDS.fullmatch(cleaned) and QLocale().groupSeparator() == sign:
        whole, rest = whole + rest, ""
    return float(f"{re.sub(r'[^0-9]', '', whole)}.{rest or '0'}")


def parse_cap(text: str) -> float | None:
    """Dollars as `parse_money`; infinite for `none`, which is no cap; None for an empty field."""
    return math.inf if _says_none(text) else parse_money(text)


def parse_count_cap(text: str) -> float | None:
    """A whole number from 0 on; infinite for `none`, which is no cap; None for an empty field."""
    return math.inf if _says_none(text) else parse_optional_number(text)


def write_cap(value: object) -> str:
    """The inverse of `parse_cap`."""
    return tr("none") if value == math.inf else write_money(value)


def write_count_cap(value: object) -> str:
    """The inverse of `parse_count_cap`."""
    return tr("none") if value == math.inf else write_plain(value)


def _says_none(text: str) -> bool:
    return text.strip().casefold() in {"none", tr("none").casefold()}


def parse_duration(text: str) -> float | None:
    """Seconds, from `90`, `90 s`, `30 min`, `1 h 30 min`; 0 for `none`; None for an empty field."""
    cleaned = text.strip().lower()
    if not cleaned:
        return None
    if _says_none(cleaned):
        return 0.0
    total, at = 0.0, 0
    while at < len(cleaned):
        part = _PART.match(cleaned, at)
        unit = part.group(2).lower() if part else ""
        if part is None or unit not in _UNITS:
            raise ValueError(tr("This needs a time such as 90 s, 30 min or 1 h; “none” for no limit."))
        total += float(part.group(1).replace(",", ".")) * _UNITS[unit]
        at = part.end()
    return total


def duration(seconds: float) -> str:
    """Seconds as a person writes them: `45 s`, `30 min`, `1 h 30 min`."""
    whole = int(seconds)
    if seconds != whole or whole < 60 or whole % 60:
        return tr("{0} s").format(f"{seconds:g}")
    hours, minutes = divmod(whole // 60, 60)
    if not hours:
        return tr("{0} min").format(minutes)
    return tr("{0} h {1} min").format(hours, minutes) if minutes else tr("{0} h").format(hours)


def write_duration(value: object) -> str:
    """The inverse of `parse_duration`."""
    if not isinstance(value, int | float):
        return ""
    return duration(value) if value else tr("none")


def write_plain(value: object) -> str:
    """A value as it is; empty for None."""
    return "" if value is None else str(value)


def write_money(value: object) -> str:
    """An amount without trailing zeros, and never with three digits behind the point: see `parse_money`."""
    if not isinstance(value, int | float):
        return ""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{text}0" if len(text.partition(".")[2]) == 3 else text


def write_number(value: object) -> str:
    """A number; empty for 0."""
    return str(value) if value else ""


def parse_arguments(text: str) -> list[str]:
    """Arguments of a command line, quoted as in a shell."""
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise ValueError(tr("A quotation mark is not closed.")) from problem


def write_arguments(value: object) -> str:
    """The inverse of `parse_arguments`."""
    return shlex.join(str(part) for part in value) if isinstance(value, list) else ""
