"""Where things are."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tools" / "faults"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
FOLDER = TARGET / "faults"
COMMAND = FOLDER / "lanelock"
RUNS, BROKEN, INPUTS = FOLDER / "runs", FOLDER / "broken", FOLDER / "inputs"
TRACER, SHIM = FOLDER / "calls", FOLDER / "memory.so"
