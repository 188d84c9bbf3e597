# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report as one page of HTML that needs nothing beside it."""

import html
from pathlib import Path

from bench.matrix import MODES, REFS
from bench.table import counts, failures, heading, rows

METHOD = Path(__file__).with_name("METHOD.md")
SUMMARY = "## In short"

CAPTIONS = {
    "gain": "Gain of B over A in every cell; whiskers are the extremes of "
            "the pairs. Green: faster, red: slower, grey: no difference.",
    "latency": "Latency over message size, medians.",
    "bandwidth": "Bandwidth over message size, medians; small messages from "
                 "their rate.",
    "instructions": "Kernel instructions per message, both ends together.",
}

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733;
       max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .25rem .7rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid #dde3ea; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
.faster { color: #2e8b57; font-weight: 600; }
.slower, .failed, pre { color: #c0392b; }
.scroll, figure { overflow-x: auto; } figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #55606c; font-size: .85rem; }
pre { white-space: pre-wrap; font-size: .8rem; }
"""


def _cell(tag: str, text: str) -> str:
    kind = f' class="{text}"' if text in ("faster", "slower", "failed") else ""
    return f"<{tag}{kind}>{html.escape(text)}</{tag}>"


def _table(titles: list[str], lines: list[list[str]]) -> str:
    out = ["<div class=scroll><table><tr>",
           *(_cell("th", title) for title in titles), "</tr>"]
    for line in lines:
        out += ["<tr>", *(_cell("td", text) for text in line), "</tr>"]
    return "".join(out) + "</table></div>"


def _facts(value: dict, prefix: str = "") -> list[list[str]]:
    lines = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += _facts(item, f"{prefix}{key}: ")
        else:
            lines.append([prefix + key.replace("_", " "),
                          "unknown" if item is None else str(item)])
    return lines


def method_summary(text: str) -> str:
    """METHOD.md's "In short" section, paragraphs and bullets, as HTML."""
    after = text.split(SUMMARY + "\n", 1)[1].split("\n## ", 1)[0]
    out = []
    for block in after.strip().split("\n\n"):
        if block.startswith("- "):
            items = ("\n" + block).split("\n- ")[1:]
            out.append("<ul>" + "".join(
                f"<li>{html.escape(' '.join(item.split()))}</li>"
                for item in items) + "</ul>")
        else:
            out.append(f"<p>{html.escape(' '.join(block.split()))}</p>")
    return "".join(out)


def page(report: dict, figures: dict[str, str]) -> str:
    """The page. figures: <svg> elements by name."""
    made, env = report["cells"], report["env"]
    series = env["series"]
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>rdma_rxe: A against B</title><style>{CSS}</style></head>"
        "<body><h1>rdma_rxe: the untouched driver (A) against the series "
        "(B)</h1>",
        f"<p>Linux {html.escape(str(env['kernel']))}, "
        f"{series['patches']} patches (tree {html.escape(series['tree'])}). "
        f"{html.escape(counts(made))}. A gain above 1 means that B is "
        "better, in every unit.</p>",
    ]
    if why := failures(made):
        parts.append(f"<h2>Failures</h2><pre>{html.escape(why)}</pre>")
    for name, svg in figures.items():
        parts.append(f"<figure>{svg}<figcaption>{CAPTIONS[name]}"
                     "</figcaption></figure>")
    titles = ["cell", "kind", "A", "B", "gain", "verdict", *REFS]
    for mode in MODES:
        if lines := rows(made, mode, ("all", "kernel")):
            parts.append(f"<h2>{html.escape(heading(mode, env))}</h2>"
                         + _table(titles, lines))
    parts.append("<h2>Method</h2>" + method_summary(METHOD.read_text()))
    parts.append("<h2>Environment</h2>"
                 + _table(["fact", "value"], _facts(env)))
    return "\n".join(parts) + "\n</body></html>\n"
