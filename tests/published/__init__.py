"""Published figures, rebuilt from the data they were made of: `python tests/papers.py` writes docs/papers.md."""
