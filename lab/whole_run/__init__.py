"""Whole runs of the packager beside `cp`, a copier without encryption, and other packagers.

`groups` says what is measured, `measure` measures it, `report` writes it down. `media` makes the
files, `packagers` gets the peers, and `check` looks at what came out before any of it is timed.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / ".cache"

KID, KEY, IV = "11" * 16, "22" * 16, "33" * 16
NEW_KID, NEW_KEY = "44" * 16, "55" * 16


class Missing(Exception):
    """Something is not there; the text says what and why."""


class Wrong(Exception):
    """A run failed, or what came out is not what should have come out; the text says how."""
