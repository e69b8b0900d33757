"""Tables from measurements.

A ratio is that of the two medians as they are printed, so that it can be checked by whoever reads
the table. How far the turns of a run lie apart is beside its median; the JSON has every turn.
"""

import statistics
import sys

BEGIN = "<!-- whole-run: begin. What follows is written by `lab/whole-run`. -->"
END = "<!-- whole-run: end -->"

COLUMNS = ["run", "wall s", "quartiles", "x cp", "x copier", "CPU s", "x cp", "x copier", "peak MiB"]


def row(run, turns, reason):
    """What the JSON has of a run."""
    entry = {"name": run.name, "cp": run.cp, "copier": run.copier}
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
        for copy in ("cp", "copier"):
            for name in ("wall", "cpu"):
                other = present.get(row[copy], {}).get(f"{name}_median")
                row[f"{name}_x_{copy}"] = row[f"{name}_median"] / other if other else None


def seconds(value):
    return f"{value:.{3 if value >= 0.1 else 4 if value >= 0.01 else 5}f}"


def text(data):
    """The report in Markdown."""
    lines = [*data["about"], ""]
    for group in data["groups"]:
        lines += [f"#### {group['title']}", "", f"{group['files']}", ""]
        lines += [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        lines += [f"| {' | '.join(cells(row, data['turns']))} |" for row in group["rows"]]
        lines.append("")
    return "\n".join(lines)


def cells(row, turns):
    name = row["name"]
    if "missing" in row:
        return [name, f"*{row['missing'].replace('|', '/')}*", *[""] * (len(COLUMNS) - 2)]
    if len(row["turns"]) < turns:
        name += f" ({len(row['turns'])} turns of {turns})"
    ratio = lambda value: "-" if value is None else f"{value:.2f}"  # noqa: E731
    return [
        f"**{name}**" if "lanelock" in name else name,
        seconds(row["wall_median"]),
        "..".join(map(seconds, row["wall_quartiles"])),
        ratio(row["wall_x_cp"]), ratio(row["wall_x_copier"]),
        seconds(row["cpu_median"]),
        ratio(row["cpu_x_cp"]), ratio(row["cpu_x_copier"]),
        f"{row['peak_mib_median']:.0f}",
    ]


def insert(path, report):
    """Replaces what is between the marks in a Markdown file."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{path} has no marks for lab/whole-run")
    path.write_text(f"{before}{begin}\n\n{report}\n{end}{after}")
