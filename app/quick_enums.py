"""Makes the enums of PySide6 in a third of the time.

PySide6 makes enums of Python for all of its classes that a program touches: 300 with 4,500 members until the
window is painted, one by one and with all checks that Python has for enums that people write. It took 150 ms
of a start. Python has a shorter way for enums that are known to be right, which it goes for its own; so those
of PySide6 begin that way, get their members in one go, and are the same afterwards (`tests/app/test_start.py`
compares them all).
"""

from __future__ import annotations

import enum
import sys
from typing import Any

_COMPARED = (3, 11) <= sys.version_info < (3, 14)
"""Whether the short way was found to make the same enums in this Python: it is not promised to anybody."""
_TAKEN: dict[Any, frozenset[str]] = {
    kind: frozenset(name for base in kind.__mro__ for name in vars(base))
    for kind in (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)
}
"""What enums of each kind have already: a member of such a name needs all that Python does for it."""

_create: Any = enum.EnumType._create_  # type: ignore[attr-defined]
_set_attribute: Any = type.__setattr__


def _create_quickly(cls: Any, class_name: str, names: Any, **options: Any) -> Any:
    if options.get("module") is None:
        # As Python does it, which would find this module here.
        options["module"] = sys._getframe(2).f_globals.get("__name__")
    if not _is_made_by_pyside(cls, names, options):
        return _create(cls, class_name, names, **options)
    short_way: Any = enum._simple_enum  # type: ignore[attr-defined]
    body = {"__module__": options["module"]}
    made = short_way(cls, boundary=options["boundary"])(type(class_name, (object,), body))
    made.__doc__ = None
    _add_members(made, names)
    return made


def _add_members(made: Any, names: list[tuple[str, int]]) -> None:
    """What the short way does with members, without asking of each one what it is."""
    new, has_values = made._new_member_, made._use_args_
    in_order, by_name, by_value = made._member_names_, made._member_map_, made._value2member_map_
    is_flag = issubclass(made, enum.Flag)
    single = several = 0
    for name, value in names:
        member = by_value.get(value)
        if member is None:
            member = by_value[value] = new(made, value) if has_values else new(made)
            member._value_ = value
            member._name_ = name
            member.__objclass__ = made
            member._sort_order_ = len(in_order)
            if not is_flag or (value > 0 and value & (value - 1) == 0):
                in_order.append(name)
                single |= value
            else:
                several |= value
        by_name[name] = member
        _set_attribute(made, name, member)
    if is_flag:
        mask = single | several
        made._flag_mask_, made._singles_mask_ = mask, single
        made._all_bits_ = 2 ** mask.bit_length() - 1
        if (values := [by_name[name]._value_ for name in in_order]) != sorted(values):
            made._iter_member_ = made._iter_member_by_def_
    elif (hashable := vars(made).get("_hashable_values_")) is not None:
        hashable.extend(by_value)


def _is_made_by_pyside(cls: Any, names: Any, options: dict[str, Any]) -> bool:
    """It is the only one that also tells a mere `Enum` what to do with unknown bits; and for plain names."""
    if (
        options.get("boundary") is not enum.KEEP
        or options.get("type") is not None
        or options.get("qualname") is not None
        or cls not in _TAKEN
        or not isinstance(names, list)
    ):
        return False
    members = dict(names)
    return (
        {*map(type, members.values())} <= {int}
        and len(members) == len(names)
        and _TAKEN[cls].isdisjoint(members)
        and not any(name.startswith("_") for name in members)
    )


def make_enums_quickly() -> None:
    """From now on, in this process."""
    if _COMPARED:
        enum.EnumType._create_ = _create_quickly  # type: ignore[attr-defined]
