"""Celery in the environment of vLLM, with Assize's own packages behind it: `python worker_with_vllm.py FOLDER …`.

FOLDER is where Assize's packages are; what follows are celery's arguments. vLLM starts processes of its
own, which import this file again: so nothing happens outside the last lines.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.append(sys.argv.pop(1))
    sys.path.insert(0, "")
    from celery.__main__ import main

    main()
