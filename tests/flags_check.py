"""How often flags are raised of honest people, and of those who click through: `python tests/flags_check.py`.

Prints for each number of tasks a person how many of 100 honest people have each flag, and how many of 100 of the others
(`tests/simulations/flags.py`). The exit status is 1 where more than 1 of 100 honest people have one of a kind.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("SECRET_KEY", "for simulations")
    django.setup()
    from tests.simulations.flags import KINDS, MOST, SEED, TASKS, flagged, table

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--tasks", type=int, nargs="+", default=list(TASKS))
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    both = {n_tasks: flagged(n_tasks, options.simulations, options.seed) for n_tasks in options.tasks}
    honest, careless = ({n_tasks: of[which] for n_tasks, of in both.items()} for which in (0, 1))
    for title, rates in (("Of 100 honest people:", honest), ("Of 100 who click through:", careless)):
        sys.stdout.write("\n".join([title, *table(rates), ""]))
    return int(any(of[kind] > MOST for of in honest.values() for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
