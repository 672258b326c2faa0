"""The results as a picture (SVG): how many times better than its target each figure is, with a dot per round."""

from __future__ import annotations

import math
from html import escape

from benchmarks.report import Result, number

_LEFT, _WIDTH, _ROW, _TOP = 400, 460, 26, 56
_LEAST, _MOST = 0.25, 4.0  # the scale is logarithmic
_MET, _MISSED = "#2a7d4f", "#b3402a"


def _x(merit: float) -> float:
    share = math.log(min(max(merit, _LEAST), _MOST) / _LEAST) / math.log(_MOST / _LEAST)
    return _LEFT + share * _WIDTH


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{escape(words)}</text>'


def _bar(x: float, y: float, width: float, colour: str) -> str:
    size = f'width="{max(width, 1):.1f}" height="{_ROW - 10}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}" fill-opacity="0.75"/>'


def _row(result: Result, y: float) -> list[str]:
    merit = result.figure.merit(result.median)
    if merit is None:
        return []
    colour = _MET if result.verdict == "met" else _MISSED
    start, end = sorted((_x(1), _x(merit)))
    middle = y + _ROW / 2
    dots = [result.figure.merit(value) for value in result.values]
    found = f"{number(result.median)}{result.figure.suffix} (target {result.figure.target})"
    return [
        _text(_LEFT - 10, middle + 4, result.figure.title, 'text-anchor="end"'),
        _bar(start, y + 5, end - start, colour),
        *(f'<circle cx="{_x(dot):.1f}" cy="{middle:.1f}" r="2.5" fill="#222"/>' for dot in dots if dot is not None),
        _text(_LEFT + _WIDTH + 12, middle + 4, found),
    ]


def _scale(bottom: float) -> list[str]:
    lines = []
    for merit in (_LEAST, 0.5, 1.0, 2.0, _MOST):
        x, colour = _x(merit), "#222" if merit == 1 else "#ccc"
        lines.append(f'<line x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>')
        lines.append(_text(x, _TOP - 14, "target" if merit == 1 else f"{merit:g}x", 'text-anchor="middle"'))
    return lines


def picture(results: list[Result], caption: str) -> str:
    """Return the whole picture."""
    shown = [result for result in results if result.figure.bound is not None]
    bottom = _TOP + _ROW * len(shown)
    width, height = _LEFT + _WIDTH + 240, bottom + 40
    parts = _scale(bottom)
    for place, result in enumerate(shown):
        parts += _row(result, _TOP + place * _ROW)
    parts.append(_text(12, 20, "Better than the target to the right, worse to the left; a dot a round"))
    parts.append(_text(12, bottom + 26, caption, 'fill="#666"'))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
