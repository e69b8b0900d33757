"""Tables from measurements.

A ratio is that of the two medians as they are printed, so that it can be checked by whoever reads
the table. How far the turns of a run lie apart is beside its median; the JSON has every turn.
"""

import statistics
import sys

BEGIN = "<!-- whole-run: begin. What follows is written by `lab/whole-run`. -->"
END = "<!-- whole-run: end -->"


def references(row):
    """The runs that a row is a multiple of, by the names of columns."""
    return {"cp": row["cp"], "copier": row["copier"], **row.get("peers", {})}


def columns(names):
    ratios = [f"x {name}" for name in names]
    return ["run", "wall s", "quartiles", *ratios, "CPU s", *ratios, "peak MiB"]


def row(run, turns, reason):
    """What the JSON has of a run."""
    entry = {"name": run.name, "cp": run.cp, "copier": run.copier, "peers": run.peers}
    if reason or not turns:
        return {**entry, "missing": reason or "no turn ended well"}
    columns = {name: [figures[name] for figures in turns.values()] for name in ("wall", "cpu", "peak_mib")}
    return {**entry, "turns": list(turns), **columns}


def finish(rows):
    """Adds medians and ratios to the rows of a group."""
    present = {row["name"]: row for row in rows if "missing" not in row}
    for row in present.values():
        for name in ("wall", "cpu"):
            row[f"{name}_median"] = float(seconds(statistics.median(row[name])))
            values = row[name]
            quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
            row[f"{name}_quartiles"] = [float(seconds(quartiles[0])), float(seconds(quartiles[2]))]
        row["peak_mib_median"] = statistics.median(row["peak_mib"])
    for row in present.values():
        for beside, run in references(row).items():
            for name in ("wall", "cpu"):
                other = present.get(run, {}).get(f"{name}_median")
                row[f"{name}_x_{beside}"] = row[f"{name}_median"] / other if other else None


def seconds(value):
    return f"{value:.{3 if value >= 0.1 else 4 if value >= 0.01 else 5}f}"


def text(data):
    """The report in Markdown."""
    lines = [*data["about"], ""]
    for group in data["groups"]:
        lines += [f"#### {group['title']}", "", f"{group['files']}", ""]
        if "about" in group:  # of another run than the rest
            lines += [*group["about"], ""]
        names = list(dict.fromkeys(name for row in group["rows"] for name in references(row)))
        head = columns(names)
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        turns = group.get("turns", data["turns"])
        lines += [f"| {' | '.join(cells(row, turns, names))} |" for row in group["rows"]]
        lines.append("")
    return "\n".join(lines)


def added(data, more):
    """The report with the groups of another run, instead of those of the same names."""
    own = {"about": more["about"], "turns": more["turns"], "seed": more["seed"], "peers": more["peers"]}
    fresh = {group["name"]: {**group, **own} for group in more["groups"]}
    kept = [fresh.pop(group["name"], group) for group in data["groups"]]
    return {**data, "groups": kept + list(fresh.values())}


def cells(row, turns, names):
    name = row["name"]
    if "missing" in row:
        return [name, f"*{row['missing'].replace('|', '/')}*", *[""] * (len(columns(names)) - 2)]
    if len(row["turns"]) < turns:
        name += f" ({len(row['turns'])} turns of {turns})"

    def ratios(figure):
        values = [row.get(f"{figure}_x_{name}") for name in names]
        return ["-" if value is None else f"{value:.2f}" for value in values]

    return [
        f"**{name}**" if "lanelock" in name else name,
        seconds(row["wall_median"]),
        "..".join(map(seconds, row["wall_quartiles"])),
        *ratios("wall"),
        seconds(row["cpu_median"]),
        *ratios("cpu"),
        f"{row['peak_mib_median']:.0f}",
    ]


def insert(path, report):
    """Replaces what is between the marks in a Markdown file."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{path} has no marks for lab/whole-run")
    path.write_text(f"{before}{begin}\n\n{report}\n{end}{after}")
