"""A field of a form page that is bound to a setting of the document."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from app.form_rows import Row, TextRow

if TYPE_CHECKING:
    from app.builder.form_page import FormPage
    from app.document import WorkflowDocument
    from app.outline import Unfinished


def bind_field(
    page: FormPage,
    row: Row,
    document: WorkflowDocument,
    key: str,
    nodes: Callable[[], Collection[int]],
    read: Callable[[], object],
    write: Callable[[object], object],
    *,
    wide: bool = False,
) -> None:
    """Add a row that shows what `read` gives and hands every edit to `write`.

    `key` as in the file, of the groups or agents `nodes`; none: of the workflow. A text that cannot be the
    value is the document's, too: it is a problem, and stands in the field until it is put right. Other rows
    follow what is typed when nothing more is typed.
    """
    row.setObjectName(key)
    row.finished.connect(document.end_merging)
    if not isinstance(row, TextRow):
        page.add(row, read, write, wide=wide)
        return

    def take(value: object) -> None:
        with document.typing():
            write(value)
        page.refresh_row(row)

    def keep(typed: Unfinished) -> None:
        with document.typing():
            document.refuse_text(nodes(), row.label.text(), key, typed.text, typed.mistake)
        page.refresh_row(row)

    row.keep_refused(keep)
    page.add(row, lambda: document.outline.refused_text(nodes(), key) or read(), take, wide=wide)
