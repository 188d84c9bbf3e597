# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report's figures, drawn with matplotlib."""

import io
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot                       # noqa: E402
from matplotlib.axes import Axes                    # noqa: E402
from matplotlib.figure import Figure                # noqa: E402

from bench.matrix import MODES, REFS, VERBS         # noqa: E402
from bench.table import name_of, size_text          # noqa: E402

COLOURS = {"A": "#8a8f98", "B": "#1f6fd0", "siw": "#d9822b",
           "tcp": "#3a9d5d", "udp": "#8dc7a1"}
VERDICTS = {"faster": "#2e8b57", "slower": "#c0392b",
            "no difference": "#8a8f98"}
TITLES = {"two-vm": "two VMs", "insn": "instruction mode",
          "native": "native (UML)"}
STYLE = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
         "axes.axisbelow": True, "figure.facecolor": "white",
         "svg.fonttype": "none", "axes.spines.top": False,
         "axes.spines.right": False}


def figures(report: dict) -> dict[str, Figure]:
    """All figures that the report has data for, by name."""
    made = report["cells"]
    drawn = {"gain": gain(report),
             "latency": over_size(made, "latency"),
             "bandwidth": over_size(made, "bandwidth"),
             "instructions": instructions(made)}
    return {name: figure for name, figure in drawn.items() if figure}


def _label(report: dict, mode: str) -> str:
    accel = report["env"]["modes"].get(mode, {}).get("accel")
    if mode == "two-vm" and accel == "tcg":
        return "two VMs (TCG: ratios of emulation)"
    return TITLES[mode]


def gain(report: dict) -> Figure | None:
    """Bars of B's gain, one panel per mode, with the spread of the pairs."""
    by_mode = {mode: [c for c in report["cells"] if c["mode"] == mode
                      and c["gain"] is not None] for mode in MODES}
    by_mode = {mode: found for mode, found in by_mode.items() if found}
    if not by_mode:
        return None
    heights = [len(found) + 1.5 for found in by_mode.values()]
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            len(by_mode), 1, squeeze=False, sharex=True,
            figsize=(8.5, 0.22 * sum(heights) + 1),
            gridspec_kw={"height_ratios": heights})
        for ax, (mode, found) in zip(axes[:, 0], by_mode.items()):
            _gain_bars(ax, found)
            ax.set_title(_label(report, mode), loc="left", fontsize=9)
        axes[-1, 0].set_xlabel("gain of B over A (1 = equal, right is better)")
        figure.tight_layout()
    return figure


def _gain_bars(ax: Axes, found: list[dict]) -> None:
    places = range(len(found))
    gains = [c["gain"] for c in found]
    low = [c["gain"] - c["gain_min"] for c in found]
    high = [c["gain_max"] - c["gain"] for c in found]
    ax.barh(places, [g - 1 for g in gains], left=1, height=0.65,
            xerr=[low, high], ecolor="#444", capsize=2,
            error_kw={"elinewidth": 0.8},
            color=[VERDICTS[c["verdict"]] for c in found])
    ax.set_yticks(list(places), [f"{name_of(c)}  {c['kind']}" for c in found])
    ax.invert_yaxis()
    ax.axvline(1, color="black", linewidth=0.8)
    ax.grid(axis="y", visible=False)
    for place, cell in zip(places, found):
        right = cell["gain"] >= 1
        ax.annotate(f"{cell['gain']:.2f}",
                    (cell["gain_max" if right else "gain_min"], place),
                    xytext=(4 if right else -4, 0),
                    textcoords="offset points", va="center", fontsize=7,
                    ha="left" if right else "right")
    _gain_axis(ax, found)


def _gain_axis(ax: Axes, found: list[dict]) -> None:
    """Ratios: twice and half as good are equally far from 1."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    low = min([low, *(c["gain_min"] for c in found)]) / 1.1
    high = max([high, *(c["gain_max"] for c in found)]) * 1.1
    ax.set_xlim(min(low, 0.8), max(high, 1.25))
    steps = [s for s in (0.1, 0.2, 0.33, 0.5, 0.7, 1, 1.4, 2, 3, 5, 7, 10, 20)
             if ax.get_xlim()[0] <= s <= ax.get_xlim()[1]]
    ax.set_xticks(steps, [f"{s:g}" for s in steps])
    ax.minorticks_off()


def _y(cell: dict, found: dict, what: str) -> float:
    """A variant's median in the figure's unit: us, or MiB/s."""
    if cell["kind"] == "rate" and what == "bandwidth":
        return found["median"] * cell["size"] / 2**20
    return found["median"]


def _series(made: list[dict], mode: str, verb: str, what: str) -> dict:
    """{variant: [(size, value)]} of the plain cells: 1 QP, no lists."""
    kinds = ("lat",) if what == "latency" else ("bw", "rate")
    out: dict[str, list[tuple[int, float]]] = {}
    for cell in made:
        plain = cell["qps"] == 1 and cell["mtu"] == 4200 \
            and not {"post_list", "depth", "family", "qdisc"} & set(cell)
        if (cell["mode"], cell["verb"]) != (mode, verb) or not plain \
                or cell["kind"] not in kinds:
            continue
        for name, found in cell["variants"].items():
            if "error" not in found:
                out.setdefault(name, []).append(
                    (cell["size"], _y(cell, found, what)))
    return {name: sorted(points) for name, points in out.items()}


def over_size(made: list[dict], what: str) -> Figure | None:
    """Medians of all variants over the message size, a panel per mode and
    verb. what: "latency" or "bandwidth"."""
    panels = [(mode, verb, found) for mode in MODES for verb in VERBS
              if (found := _series(made, mode, verb, what))]
    if not panels:
        return None
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(lines, columns, squeeze=False,
                                       figsize=(3.3 * columns, 2.7 * lines))
        for ax, panel in zip(axes.flat, panels):
            _lines(ax, *panel)
            ax.set_ylabel("us" if what == "latency" else "MiB/s")
        for ax in axes.flat[len(panels):]:
            ax.set_visible(False)
        figure.tight_layout()
    return figure


def _lines(ax: Axes, mode: str, verb: str, found: dict) -> None:
    for name in ("A", "B", *REFS):
        if name in found:
            sizes, values = zip(*found[name])
            ax.plot(sizes, values, marker="o", markersize=4, label=name,
                    color=COLOURS[name])
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    sizes = sorted({size for points in found.values() for size, _ in points})
    ax.set_xticks(sizes, [size_text(size) for size in sizes], rotation=30)
    ax.set_xlim(min(sizes) / 2, max(sizes) * 2)
    ax.set_title(f"{TITLES[mode]}: {verb}", loc="left", fontsize=9)
    ax.legend(fontsize=7, frameon=False)


def instructions(made: list[dict]) -> Figure | None:
    """Bars of kernel instructions per message, A beside B."""
    found = [c for c in made if c["kind"] == "kinsn" and c["gain"] is not None]
    if not found:
        return None
    with pyplot.rc_context(STYLE):
        figure, ax = pyplot.subplots(figsize=(8.5, 0.34 * len(found) + 1.2))
        for shift, name in ((-0.2, "A"), (0.2, "B")):
            values = [c["variants"][name]["median"] for c in found]
            places = [i + shift for i in range(len(found))]
            ax.barh(places, values, height=0.38, color=COLOURS[name],
                    label=name)
        ax.set_yticks(range(len(found)),
                      [f"{name_of(c)}, {_test(c, made)}" for c in found])
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("kernel instructions per message, both ends")
        ax.legend(frameon=False)
        figure.tight_layout()
    return figure


def _test(cell: dict, made: list[dict]) -> str:
    """The kind of the cell that comes from the same run."""
    return made[made.index(cell) - 1]["kind"]


def png(figure: Figure, path: Path) -> None:
    """Write a figure as a picture of about 1,200 pixels' width."""
    figure.savefig(path, dpi=140, metadata={"Software": None})


def svg(figure: Figure, name: str) -> str:
    """A figure as an <svg> element to stand in a page.

    name: keeps its ids apart from those of other figures in the page.
    """
    out = io.StringIO()
    with pyplot.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg",
                       metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return re.sub(r'id="(figure|axes|patch|text|line2d|xtick|ytick|legend|'
                  r'matplotlib\.axis|PolyCollection|LineCollection)_(\d+)"',
                  rf'id="{name}-\1-\2"', text)
