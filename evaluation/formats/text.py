"""Figures as text for a terminal."""

from __future__ import annotations

from stats.judges.text_level import RolledUpComparison
from stats.pattern_intervals import Estimate
from stats.plurals import counted

LABELS = {
    "percent_agreement": "percent agreement",
    "fleiss_kappa": "Fleiss’ κ",
    "randolph_kappa": "Randolph’s κ",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2": "Gwet’s AC2",
    "krippendorff_alpha": "Krippendorff’s α",
}


def estimate_text(estimate: Estimate) -> str:
    """Return “0.5160  [0.4480, 0.5790] (25 topics)”, or why there is no value."""
    if estimate.value is None:
        return f"– ({estimate.reason})"
    return "  ".join(filter(None, (f"{estimate.value:.4f}", interval_text(estimate))))


def interval_text(estimate: Estimate) -> str:
    """Return “[.4480, .5790] over 25 topics”, or why there is no interval."""
    if estimate.low is None or estimate.high is None:
        return f"({estimate.reason})" if estimate.reason else ""
    resampled = "resampled, " if estimate.resampled else ""
    over = f"({resampled}{estimate.over})" if estimate.over else ""
    return f"[{estimate.low:.4f}, {estimate.high:.4f}] {over}".rstrip()


def rolled_up_text(one: RolledUpComparison) -> str:
    """Return a judge's rolled-up grades beside people's: at the thresholds, and at all others."""
    figures = {
        "Spearman’s ρ": one.spearman,
        "Kendall’s τ_b": one.kendall,
        f"κ (unweighted) at ≥ {one.threshold.at:g}": one.threshold.kappa,
        **{name.replace(".", " "): figure for name, figure in one.threshold.figures().items()},
    }
    lines = [
        f"{counted(one.n_texts, 'texts')}; left out, without a readable grade of the judge: {one.n_ungraded:,}; "
        f"positive: judge ≥ {one.threshold.at:g}, people ≥ {one.threshold.people_at:g}",
        *(f"{name:<26}{estimate_text(figure)}" for name, figure in figures.items()),
        "",
        "κ (unweighted) by the judge’s and the human threshold",
    ]
    lines += [
        f"{f'  ≥ {at:g}, ≥ {people_at:g}':<26}{estimate_text(kappa)}" for (at, people_at), kappa in one.kappas.items()
    ]
    grades = "".join(f"{f'human {grade:g}':>12}" for grade in one.contingency.people)
    lines += ["", f"{'texts':<12}{grades}"]
    lines += [f"{f'judge {grade:g}':<12}{''.join(f'{n:>12,}' for n in row)}" for grade, row in one.contingency.rows]
    return "\n".join(lines)
