"""The answer of a page that holds many figures at once, in a sentence or two, by rules.

Like `stats.answers_in_words`: a sentence says no more than the intervals do. Each interval of several is its own, so
how many of them are settled is counted, and none is picked out as if it had been the only one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stats.answers_in_words import (
    ALIKE,
    RELIABLE,
    TENTATIVE,
    agreement_of_people,
    citations_supported,
    ended,
    in_brackets,
    in_percent,
    judge_beside_people,
    listed,
)
from stats.intervals import FEWEST_TOPICS, Estimate
from stats.plurals import counted

if TYPE_CHECKING:  # they weigh much, and are only passed in
    from stats.judges.threshold_choice import Ceiling
    from stats.measures.cited_reports import Counts

MOST_RATERS_NAMED = 3
EACH_ITS_OWN = "Each rests on its own 95 % interval, without a correction for their number"


def judges_beside_people(
    judges: Sequence[tuple[str, Ceiling, Estimate]], *, n_marked: int = 0, n_simulated: int = 0
) -> str:
    """Say of how many judges it is settled that they agree with people as people do with one another.

    `judges` are comparisons of complete judges, by the judge's name, with the κ of judge and people, which counts where
    no item has two people's labels; `n_marked` more are unfinished or failing; `n_simulated` of all of them rest on
    grades that a simulation made.
    """
    left_out = f" {_are(n_marked, 'more comparison')} of an unfinished or failing judge." if n_marked else ""
    n = len(judges) + n_marked
    if not n:
        return "No judge can be compared with people yet."
    if not judges:
        return f"No finished judge can be compared with people yet.{left_out}"
    if len(judges) == 1:
        (one,) = judges
        return f"{judge_beside_people(*one)}{left_out}{_simulated(n_simulated, n)}"
    beside = [ceiling.difference for _, ceiling, _ in judges if ceiling.n_items]
    alone = [kappa for _, ceiling, kappa in judges if not ceiling.n_items]
    said = " ".join(filter(None, (_beside_one_another(beside), _beside_chance(alone))))
    return f"{said}{left_out}{_simulated(n_simulated, n)}"


def _beside_one_another(differences: Sequence[Estimate]) -> str:
    """Count where the judge agrees with people more, less or as well as they with one another; empty of none."""
    if not differences:
        return ""
    ways = Counter(map(_beside, differences))
    settled = [f"{way} in {ways[way]:,}" for way in ("more", "as well", "less") if ways[way]]
    of = _comparisons(len(differences), "people")
    if settled:
        said = f"Of {of}, beside how people agree with one another, the judge agrees with them {listed(settled)}"
    else:
        said = f"In none of {of} is it settled whether the judge agrees with them as they do with one another"
    return _with_the_rest(said, differences, ways, bool(settled))


def _beside_chance(kappas: Sequence[Estimate]) -> str:
    """Count where the judge agrees with one set of labels more, or less, than by chance; empty of none."""
    if not kappas:
        return ""
    ways = Counter(_beside(one, alike=0.0) for one in kappas)
    settled = [f"{way} than by chance in {ways[way]:,}" for way in ("more", "less") if ways[way]]
    of = _comparisons(len(kappas), "one set of human labels")
    if settled:
        said = f"Of {of}, the judge agrees with it {listed(settled)}, by κ"
    else:
        said = f"In none of {of} is it settled whether the judge agrees with it more than by chance, by κ"
    return _with_the_rest(said, kappas, ways, bool(settled))


def _comparisons(n: int, of: str) -> str:
    return f"{n:,} comparison{'' if n == 1 else 's'} of a judge with {of}"


def _with_the_rest(said: str, estimates: Sequence[Estimate], ways: Counter[str], settled: bool) -> str:
    """End a sentence with what is not settled or has no interval, and with what the intervals are."""
    rest = [f"{ways['open']:,} not settled"] * bool(ways["open"] and settled)
    too_few = "for too few topics, people or items of another grade than the commonest"
    rest += [f"{ways['unknown']:,} without an interval, {too_few}"] * bool(ways["unknown"])
    said += f" ({listed(rest)})" if rest else ""
    return f"{said}. {EACH_ITS_OWN}{_over(estimates)}." if ways["unknown"] < len(estimates) else f"{said}."


def people_by_criterion(alphas: Mapping[str, Estimate], *, n_simulated: int = 0) -> str:
    """Say under which criteria assessors' labels can be relied on. `alphas`: Krippendorff's, by criterion."""
    if not alphas:
        return "How far assessors agree cannot be told yet: no item has the grades of two."
    if len(alphas) == 1:
        ((name, alpha),) = alphas.items()
        return f"{name}: {agreement_of_people(alpha)}{_simulated(n_simulated, 1)}"
    by_verdict: dict[str, list[str]] = {}
    for name, alpha in alphas.items():
        by_verdict.setdefault(_reliance(alpha), []).append(name)
    order = ("well enough for firm conclusions", "well enough for tentative conclusions", "too little")
    settled = [f"{verdict} under {listed(by_verdict[verdict])}" for verdict in order if verdict in by_verdict]
    unsettled = by_verdict.get("open", [])
    unknown = by_verdict.get("unknown", [])
    parts = [f"Assessors agree {'; '.join(settled)}."] if settled else []
    if unsettled:
        parts.append(f"Whether they agree well enough is not settled under {listed(unsettled)}.")
    if unknown:
        parts.append(f"There is no interval under {listed(unknown)}.")
    known = {name: one for name, one in alphas.items() if one.low is not None and one.value is not None}
    if known:
        least = min(known, key=lambda name: (known[name].value or 0.0, name))
        parts.append(f"α is lowest under {least} {in_brackets('α', known[least])}. {EACH_ITS_OWN}.")
    if not settled:
        parts = [part.replace("they agree", "assessors agree") for part in parts]
    return " ".join(parts) + _simulated(n_simulated, len(alphas))


def report_supported(source: str, citations: Counts, nuggets: Counts) -> str:
    """Say what one source finds of one report: how many citations support their sentence, how many nuggets it answers.

    What is not judged makes the bounds; it is one report and one source, so there is no interval.
    """
    if not citations.of and not citations.unjudged:
        said = "The report cites nothing."
    elif not citations.of:
        said = f"{source} has judged none of the report’s {counted(citations.unjudged, 'citations')}."
    else:
        counts = citations.yes, citations.of, citations.unjudged
        said = citations_supported(source, *counts, over="this report alone")
    if not nuggets.of:
        return said
    of_judged = f"{nuggets.yes:,} of {counted(nuggets.of, 'judged nuggets' if nuggets.unjudged else 'nuggets')}"
    if not nuggets.unjudged:
        return f"{said} It answers {of_judged}."
    most = f"at least {nuggets.yes:,} and at most {nuggets.yes + nuggets.unjudged:,}"
    return f"{said} It answers {of_judged}, so of {nuggets.of + nuggets.unjudged:,} {most}."


def held_out(n_test: int, n_topics: int, readings: Sequence[int]) -> str:
    """Say how many topics are held out, and how often that was made use of. `readings`: of each judge."""
    said = f"{n_test:,} of {counted(n_topics, 'topics')} {_is(n_test)} held out"
    read = [n for n in readings if n]
    if not readings:
        said += "; no judge has graded anything yet"
    elif not read:
        none = f"none of {len(readings):,} judges" if len(readings) > 1 else "no judge"
        said += f"; {none} has been tested on them yet"
    else:
        times = "once" if sum(read) == 1 else f"{sum(read):,} times in all"
        said += f"; {len(read):,} of {counted(len(readings), 'judges')} {_has(len(read))} been tested on them, {times}"
    too_few = f" They are too few for an interval, which takes {FEWEST_TOPICS} topics."
    return f"{said}.{too_few if n_test < FEWEST_TOPICS else ''}"


def planted_texts(judge: str, rates: Mapping[str, Estimate]) -> str:
    """Say what lifts a judge's grades most. `rates` by planted thing: the share of texts that it lifts over η."""
    known = {name: one for name, one in rates.items() if one.value is not None}
    if not known:
        reason = next((one.reason for one in rates.values() if one.reason), "no text is graded twice")
        return f"Whether {judge} can be talked round cannot be told: {ended(reason)}"
    name = max(known, key=lambda name: (known[name].value or 0.0, name))
    figures = in_brackets("share", known[name])
    if not known[name].value:
        return f"Nothing that was planted lifted a grade of {judge} {figures}."
    said = f"What lifts most grades of {judge} is “{name}” {figures}"
    return f"{said}, the highest of {len(known):,} shares, which is biased upwards." if len(known) > 1 else f"{said}."


def people_disagree(n_shared: int, n_across: int, n_undecided: int) -> str:
    """Say how often people disagree about yes or no. All are counted, of what was judged: there is no interval.

    `n_shared` questions have the grades of two people or more, `n_across` of them a yes and a no.
    """
    if not n_shared:
        return "Whether people disagree cannot be told yet: no question has the grades of two."
    shared = counted(n_shared, "questions")
    if not n_across:
        return f"People agree about yes and no in all {shared} that two or more have judged."
    share = f"{100 * n_across / n_shared:.0f} %"
    decided = f"{n_across - n_undecided:,} {_is(n_across - n_undecided)} decided"
    return f"Of {shared} that two or more people judged, {n_across:,} have a yes and a no ({share}); {decided}."


def assessors_differ(agreements: Mapping[str, tuple[float, int]], n_flagged: int, n: int) -> str:
    """Say how far apart assessors' agreement with others lies, and how many have flags.

    `agreements` by name: the mean closeness of so many pairs of grades, which share assessors and items, and so have
    no interval.
    """
    if not n:
        return ""
    flagged = f"{n_flagged:,} of {counted(n, 'assessors')} {_has(n_flagged)} flags"
    if len(agreements) < 2:
        return f"{flagged}; nobody can be compared with others yet."
    low, high = (pick(agreements, key=lambda name: (agreements[name][0], name)) for pick in (min, max))
    ends = [
        f"{agreements[name][0]:.2f} ({name}, {counted(agreements[name][1], 'pairs')} of grades)" for name in (low, high)
    ]
    return (
        f"{flagged}. Agreement with others is from {ends[0]} to {ends[1]}, without an interval; the ends of several "
        "are further apart than they would be of other grades."
    )


def spot_checks_found(n_good: int, n_flawed: int, n_open: int) -> str:
    """Say how many of the drawn tasks were found flawed, and how many could be; empty where none is drawn."""
    checked = n_good + n_flawed
    if not checked + n_open:
        return ""
    if not checked:
        return f"None of {counted(n_open, 'drawn tasks')} has been checked yet."
    are = "is" if checked == 1 else _is(n_flawed)
    said = f"{n_flawed:,} of {counted(checked, 'checked tasks')} {are} flawed"
    if not n_open:
        return f"{said}."
    most = f"at least {n_flawed:,} and at most {n_flawed + n_open:,}"
    return f"{said}; {n_open:,} more {_is(n_open)} not checked, so of {checked + n_open:,} {most}."


def most_alike(shares: Mapping[str, Estimate], *, commonest: float, n_marked: int = 0) -> str:
    """Say which judge most often says what people's majority says. `shares` by finished judge; `n_marked` are not.

    `commonest`: the share of the grade that people give most often, which a judge reaches that always gives it.
    """
    known = {name: one for name, one in shares.items() if one.value is not None}
    left_out = f" {_are(n_marked, 'more judge')} that {_is(n_marked)} unfinished or failing." if n_marked else ""
    if not known:
        return f"No finished judge can be compared with people yet.{left_out}"
    name = max(known, key=lambda name: (known[name].value or 0.0, name))
    figures = in_brackets("share", known[name])
    if len(known) == 1:
        return f"{name} is the only finished judge compared with people’s majority {figures}.{left_out}"
    low = known[name].low
    if low is None or low <= commonest:
        always = f"the grade that is most frequent, always given, agrees in {100 * commonest:.0f} %"
        why = ended(known[name].reason or always)
        return f"Which of {len(known):,} judges is most like people’s majority is not known: {why}{left_out}"
    said = f"Of {len(known):,} judges, {name} says most often what people’s majority says {figures}"
    return f"{said}; the highest of several shares is biased upwards.{left_out}"


def _beside(difference: Estimate, alike: float = ALIKE) -> str:
    if difference.low is None or difference.high is None:
        return "unknown"
    if difference.low > 0:
        return "more"
    if difference.high < 0:
        return "less"
    return "as well" if difference.low >= -alike and difference.high <= alike else "open"


def _reliance(alpha: Estimate) -> str:
    if alpha.low is None or alpha.high is None:
        return "unknown"
    if alpha.low >= RELIABLE:
        return "well enough for firm conclusions"
    if alpha.high < TENTATIVE:
        return "too little"
    return "well enough for tentative conclusions" if alpha.low >= TENTATIVE and alpha.high < RELIABLE else "open"


def _over(estimates: Sequence[Estimate]) -> str:
    """Return “, over 4 to 43 topics” of the figures that have an interval; empty where they rest on no topics."""
    topics = [one.sample.n_topics for one in estimates if one.low is not None and one.sample and one.sample.n_topics]
    if not topics:
        return ""
    few, many = min(topics), max(topics)
    return f", over {counted(many, 'topics') if few == many else f'{few:,} to {many:,} topics'}"


def _simulated(n: int, of: int) -> str:
    if not n:
        return ""
    if n == of:
        return " These figures rest on simulated grades, and say nothing about real ones."
    rest, say = ("rests", "says") if n == 1 else ("rest", "say")
    return f" {n:,} of them {rest} on simulated grades, and {say} nothing about real ones."


def _are(n: int, what: str) -> str:
    return f"There is {n:,} {what}" if n == 1 else f"There are {n:,} {what}s"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def bank_of_questions(source: str, minimum: float, n_bad: int, n: int, n_missed: int, missed: Estimate) -> str:
    """Say how many questions are bad, and how many relevant passages answer none. `missed`: the share of these."""
    graded = f"graded {minimum:g} or more"
    bad = (
        f"{n_bad:,} of {counted(n, 'questions')} {'is' if n_bad == 1 else 'are'} mostly {graded} on passages that "
        "people called not relevant"
        if n
        else "no question was graded on passages that people called not relevant"
    )
    if missed.value is None:
        return f"By {source}, {bad}; no passage that people called relevant has all its grades."
    of = f"{n_missed:,} of the passages called relevant ({in_percent(missed.value, missed)})"
    return f"By {source}, {bad}, and no question is {graded} on {of}."


def passage_answers(minimum: float, answered: Sequence[tuple[str, int, int]]) -> str:
    """Say how many of a topic's questions a passage answers. `answered`: by rater, how many of how many it graded."""
    known = [one for one in answered if one[2]]
    if not known:
        return "Nobody has graded this passage yet."
    if len(known) <= MOST_RATERS_NAMED:
        of = listed([f"{n:,} of {counted(total, 'questions')} by {rater}" for rater, n, total in known])
    else:
        shares = [n for _, n, _ in known]
        of = f"between {min(shares):,} and {max(shares):,} questions, by {counted(len(known), 'raters')}"
    return f"At grade {minimum:g} or more, this passage answers {of}."


def answer_covers(
    source: str, run: str, minimum: float, *, n_answering: int, n_passages: int, covered: int, asked: int, missing: int
) -> str:
    """Say how many of an answer's passages answer something, and how many of the topic's questions are answered."""
    open_ = f"; {missing:,} of {counted(n_passages * asked, 'grades')} {'is' if missing == 1 else 'are'} missing"
    return (
        f"By {source}, {n_answering:,} of the first {counted(n_passages, 'passages')} of {run} "
        f"{'answers' if n_answering == 1 else 'answer'} a question at grade {minimum:g} or more, and {covered:,} of "
        f"{counted(asked, 'questions')} {'is' if covered == 1 else 'are'} answered{open_ if missing else ''}."
    )
