"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def facts(title: str, rows: dict[str, str]) -> str:
    """A table of two columns."""
    lines = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{lines}</tbody></table>"


def table(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table with a line at the top."""

    def cells(kind: str, texts: tuple[str, ...]) -> str:
        return "".join(f"<{kind}>{escape(text)}</{kind}>" for text in texts)

    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table><caption><b>{escape(title)}</b></caption>"
        f"<thead><tr>{cells('th', header)}</tr></thead><tbody>{lines}</tbody></table>"
    )
