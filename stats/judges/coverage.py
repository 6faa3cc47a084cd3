"""Coverage: the share of a text's rubric elements that it answers.

Source: Ju et al., CRUX (2025), eq. 3: Cov(Z) = #{q in Q : G(Z, q) ≥ η} / |Q|, where Q are the
sub-questions that were asked. Masked sub-questions are not asked, so they are not in Q.
"""

from __future__ import annotations

import numpy as np

from stats.ratings import BoolArray, FloatArray, IntArray, quotient


def coverage(answered: BoolArray, asked: BoolArray, texts: IntArray, n_texts: int) -> FloatArray:
    """Return the coverage of each text, shape (n_texts,): NaN for a text of which nothing was asked.

    `answered` and `asked` have one place an item, `texts` numbers the text of each from 0. An item
    that was asked but not graded counts as not answered.
    """
    n_asked = np.bincount(texts, weights=asked, minlength=n_texts)
    n_answered = np.bincount(texts, weights=answered & asked, minlength=n_texts)
    return quotient(n_answered, n_asked)
