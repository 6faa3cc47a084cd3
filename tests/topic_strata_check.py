"""Whether the interval of a mean over all topics keeps its promise where a stratified sample of them was drawn.

`python -m tests.topic_strata_check`: 2,000 draws of each design and kind of values; docs/measures.md has the figures.
"""

from __future__ import annotations

from tests.simulations.topic_strata import coverages

if __name__ == "__main__":
    for row in coverages(2_000, 2026):
        print("{:28} {:24} {:5} intervals, held {:.3f}, off {:+.4f}".format(*row))  # noqa: T201 - a table to read
