# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report as text for a terminal."""

from bench.matrix import REFS

HEADINGS = {
    "two-vm": "Two VMs, wall clock",
    "insn": "Instruction mode: one VM, virtual time (1 instruction = 1 ns)",
    "native": "User-mode Linux, native speed, wall clock",
}


def heading(mode: str, env: dict) -> str:
    """A mode's title, with what its ratios must not be taken for."""
    facts = env["modes"].get(mode, {})
    title = HEADINGS[mode]
    if mode == "two-vm" and facts.get("accel") == "tcg":
        title += ", under TCG (emulated CPUs: ratios are of emulation, " \
                 "not of hardware)"
    elif mode == "two-vm" and facts.get("accel"):
        title += f", under {facts['accel'].upper()}"
    return title


def size_text(size: int) -> str:
    """2 B, 4 KiB, 1 MiB."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def number(value: float) -> str:
    """Three or four digits that matter, for people."""
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def name_of(cell: dict) -> str:
    """What a cell measures: "write 64 B, 4 QPs, lists of 16, depth 1"."""
    words = [f"{cell['verb']} {size_text(cell['size'])}"]
    if cell["qps"] > 1:
        words.append(f"{cell['qps']} QPs")
    if cell.get("post_list", 1) > 1:
        words.append(f"lists of {cell['post_list']}")
    if "depth" in cell:
        words.append(f"depth {cell['depth']}")
    if cell.get("events"):
        words.append("events")
    if "family" in cell:
        words.append(f"IPv{cell['family']}")
    if "qdisc" in cell:
        words.append(cell["qdisc"])
    if cell["mtu"] != 4200:
        words.append(f"MTU {cell['mtu']}")
    return ", ".join(words)


def value_text(found: dict | None) -> str:
    """A variant's median with half its spread in percent."""
    if found is None:
        return "-"
    if "error" in found:
        return "FAILED"
    median = found["median"]
    if len(found["samples"]) < 2:
        return number(median)
    spread = (found["max"] - found["min"]) / 2 / median * 100
    return f"{number(median)} ±{spread:.0f}%"


def gain_text(cell: dict) -> str:
    if cell["gain"] is None:
        return "-"
    if cell["gain_min"] == cell["gain_max"]:
        return f"{cell['gain']:.2f}x"
    return (f"{cell['gain']:.2f}x "
            f"[{cell['gain_min']:.2f}..{cell['gain_max']:.2f}]")


def row(cell: dict) -> list[str]:
    found = cell["variants"]
    return [name_of(cell), f"{cell['kind']} {cell['unit']}",
            *(value_text(found.get(name)) for name in ("A", "B")),
            gain_text(cell), cell["verdict"],
            *(value_text(found.get(name)) for name in REFS)]


def cpu_row(cell: dict, part: str) -> list[str]:
    """A row of the guest CPU time that a cell carries."""
    one = dict(cell["cpu"][part])
    what = "CPU us/msg" if part == "all" else "CPU us/msg, kernel"
    return ["", what,
            *(value_text(one["variants"].get(name)) for name in ("A", "B")),
            gain_text(one), one["verdict"],
            *(value_text(one["variants"].get(name)) for name in REFS)]


def rows(made: list[dict], mode: str,
         cpu: tuple[str, ...] = ("kernel",)) -> list[list[str]]:
    """The rows of a mode; cpu: which parts of the CPU time they show."""
    out = []
    for cell in made:
        if cell["mode"] != mode:
            continue
        out.append(row(cell))
        if "cpu" in cell:
            out += [cpu_row(cell, part) for part in cpu]
    return out


def layout(lines: list[list[str]]) -> str:
    """Columns as wide as needed; empty ones left out."""
    used = [i for i in range(len(lines[0]))
            if any(line[i] not in ("", "-") for line in lines[1:])]
    widths = {i: max(len(line[i]) for line in lines) for i in used}
    out = []
    for line in lines:
        cells = [line[i].ljust(widths[i]) if i < 2 or i == 5
                 else line[i].rjust(widths[i]) for i in used]
        out.append("  " + "  ".join(cells).rstrip())
    return "\n".join(out)


def mode_table(report: dict, mode: str) -> str:
    """A mode's heading and rows; "" when it has none."""
    lines = rows(report["cells"], mode)
    if not lines:
        return ""
    titles = ["cell", "kind", "A", "B", "gain", "verdict", *REFS]
    return (heading(mode, report["env"]) + "\n" + layout([titles, *lines])
            + "\n")


def closing(report: dict) -> str:
    """Why variants failed, and the count of verdicts."""
    return failures(report["cells"]) + counts(report["cells"])


def shortened(text: str, lines: int = 16) -> str:
    """A long message without its middle."""
    all_of_it = text.splitlines()
    if len(all_of_it) <= lines:
        return text
    half = lines // 2
    return "\n".join([*all_of_it[:half], f"... {len(all_of_it) - lines} lines "
                      "more in report.json ...", *all_of_it[-half:]])


def failures(made: list[dict]) -> str:
    """Why variants failed, each cause once."""
    seen: dict[str, list[str]] = {}
    for cell in made:
        for name, found in cell["variants"].items():
            if "error" in found:
                where = f"{cell['mode']} {name_of(cell)} {cell['kind']} {name}"
                seen.setdefault(found["error"], []).append(where)
    return "".join(f"FAILED: {'; '.join(where)}\n    "
                   + shortened(why).replace("\n", "\n    ") + "\n"
                   for why, where in seen.items())


def counts(made: list[dict]) -> str:
    """The closing line."""
    verdicts = [cell["verdict"] for cell in made]
    return (f"{len(made)} cells: "
            + ", ".join(f"{verdicts.count(v)} {v}" for v in
                        ("faster", "slower", "no difference", "failed")))
