"""What a drag inside the builder carries: names of agents, or ids of nodes of one document."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QMimeData

AGENTS_MIME = "application/x-openloop-agents"
"""JSON: a list of agent names."""
NODES_MIME = "application/x-openloop-nodes"
"""JSON: [token of the document, [node ids]]."""
MAX_PAYLOAD = 1 << 20


def agents_payload(names: Sequence[str]) -> QMimeData:
    """Agents of the pool; also as plain text, for other programs."""
    data = QMimeData()
    data.setData(AGENTS_MIME, QByteArray(json.dumps(list(names)).encode()))
    data.setText("\n".join(names))
    return data


def nodes_payload(token: str, node_ids: Sequence[int]) -> QMimeData:
    """Nodes of a document, told by `token` from those of another window."""
    data = QMimeData()
    data.setData(NODES_MIME, QByteArray(json.dumps([token, list(node_ids)]).encode()))
    return data


def agents_in(data: QMimeData | None) -> tuple[str, ...]:
    """The agents a drag carries; empty where it carries anything else or anything odd."""
    content = _content(data, AGENTS_MIME)
    if not isinstance(content, list) or not all(isinstance(name, str) and name for name in content):
        return ()
    return tuple(content)


def nodes_in(data: QMimeData | None, token: str) -> tuple[int, ...]:
    """The nodes of this document that a drag carries; empty where it carries anything else."""
    content = _content(data, NODES_MIME)
    if not isinstance(content, list) or len(content) != 2 or content[0] != token:
        return ()
    ids = content[1]
    if not isinstance(ids, list) or not all(type(node_id) is int for node_id in ids):
        return ()
    return tuple(ids)


def copy_of(data: QMimeData | None, token: str) -> QMimeData | None:
    """A copy of what a drag carries, which outlives its events; None: nothing for this document."""
    names = agents_in(data)
    if names:
        return agents_payload(names)
    nodes = nodes_in(data, token)
    return nodes_payload(token, nodes) if nodes else None


def _content(data: QMimeData | None, mime: str) -> object:
    if data is None or not data.hasFormat(mime):
        return None
    raw = bytes(data.data(mime).data())
    if len(raw) > MAX_PAYLOAD:
        return None
    try:
        content: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return content
