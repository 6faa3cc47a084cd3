"""The demonstration: a small collection of our own, its study, and the simulated labels in it.

`topics/*.toml` holds the texts with what their author meant them to say; `docs/demonstration.md` tells
the rest.
"""
