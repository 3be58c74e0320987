"""Small tables for notebooks."""

from __future__ import annotations

from html import escape


def facts(title: str, rows: dict[str, str]) -> str:
    """A table of two columns."""
    lines = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{lines}</tbody></table>"
