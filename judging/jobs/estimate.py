"""What a job would take, before it is started: pairs, tokens, minutes and money."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from django.db.models import QuerySet

from collection.models import Criterion, Item, User
from judging.data.items import with_texts
from judging.data.selection import Selection, check_selection, items_asked, narrowed, without_text
from judging.engines.probe_store import room_of_thinking
from judging.engines.servers import prices_of
from judging.engines.token_counts import CHARACTERS_A_TOKEN, TOKENS_OF_A_CHOICE
from judging.grading.jobs import JobLimits, check_fit, missing, priced
from judging.models import Completion, GradingJob, Judge
from judging.prompts.rendering import request_for

# Prompts are filled for so many items to see how long they are.
LOOKED_AT = 40


@dataclass(frozen=True)
class JobEstimate:
    """What a job would have to do.

    Tokens and cost are None for a judge that reads no prompt; cost also without prices. `counted` says
    whether tokens follow from what the model counted before; else they are guessed from characters. `thinking_tokens`
    are those of the replies that are thinking: as counted before, else the most that there is room for.
    `seconds` is None where this judge has never worked. What a prefix cache saves is not taken off.
    """

    pairs: int
    skipped: int
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    thinking_tokens: int = 0
    counted: bool = False
    seconds: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    @property
    def minutes(self) -> float | None:
        return None if self.seconds is None else self.seconds / 60

    @property
    def tokens(self) -> int | None:
        return None if self.prompt_tokens is None else self.prompt_tokens + (self.completion_tokens or 0)

    @property
    def cost(self) -> float | None:
        if self.prompt_tokens is None or (self.price_in is None and self.price_out is None):
            return None
        paid = self.prompt_tokens * (self.price_in or 0) + (self.completion_tokens or 0) * (self.price_out or 0)
        return paid / 1_000_000


def estimate(
    *,
    criterion: Criterion,
    judge: Judge,
    selection: Selection = Selection(),  # noqa: B008  # immutable
    price_in: float | None = None,
    price_out: float | None = None,
    by: User | None = None,
) -> JobEstimate:
    """Count what a job would grade and tell what that takes. Without prices, those of the judge's servers hold.

    Raises JudgeDoesNotFit and NoSuchPart.
    """
    terms = priced(JobLimits(price_in, price_out), judge, by)
    check_fit(judge, criterion)
    check_selection(criterion.study, selection)
    asked = missing(narrowed(items_asked(criterion), selection, criterion), criterion=criterion, judge=judge, attempt=1)
    skipped = without_text(asked).count()
    pairs = asked.count() - skipped
    if selection.sample is not None:
        pairs = min(pairs, selection.sample)
    seen = asked.exclude(pk__in=without_text(asked).values("pk"))
    prompt, reply, counted = _tokens_of_a_pair(judge, seen, pairs)
    thinking = 0.0 if reply is None else thinking_of_a_pair(judge)
    return JobEstimate(
        pairs=pairs,
        skipped=skipped,
        prompt_tokens=None if prompt is None else round(prompt * pairs),
        completion_tokens=None if reply is None else round(reply * pairs),
        thinking_tokens=round(thinking * pairs),
        counted=counted,
        seconds=_seconds_of_a_pair(judge, pairs),
        price_in=terms.price_in,
        price_out=terms.price_out,
    )


def usual_prices(judge: Judge, user: User) -> tuple[float | None, float | None]:
    """Return the prices of the servers that the judge asks for the user, else those of its last job that had any."""
    of_servers = prices_of(judge, user)
    last = GradingJob.objects.filter(judge=judge, price_in__isnull=False).first()
    return of_servers if last is None or of_servers != (None, None) else (last.price_in, last.price_out)


def _tokens_of_a_pair(judge: Judge, items: QuerySet[Item], pairs: int) -> tuple[float | None, float | None, bool]:
    """Return the mean tokens of a prompt and of a reply, and whether they follow from counts."""
    if judge.template is None or not pairs:
        return None, None, False
    step = max(items.count() // LOOKED_AT, 1)
    keys = list(items.order_by("pk").values_list("pk", flat=True))[::step][:LOOKED_AT]
    ratio, reply_tokens, counted = used_before(judge)
    looked_at = with_texts(Item.objects.filter(pk__in=keys))
    return mean(characters_of(judge, item) for item in looked_at) / ratio, reply_tokens, counted


def used_before(judge: Judge) -> tuple[float, float, bool]:
    """Return the characters of a token, the tokens of a reply, and whether both follow from counts; else a guess."""
    before: list[tuple[int, int | None, int | None]] = list(
        Completion.objects.filter(job__judge=judge, prompt_tokens__isnull=False)
        .order_by("-pk")
        .values_list("item_id", "prompt_tokens", "completion_tokens")[:LOOKED_AT]
    )
    if not before:
        orders = judge.template.orders if judge.template else 1
        return float(CHARACTERS_A_TOKEN), TOKENS_OF_A_CHOICE * orders + thinking_of_a_pair(judge), False
    items = with_texts(Item.objects.filter(pk__in=[item for item, _, _ in before]))
    characters = {item.pk: characters_of(judge, item) for item in items}
    ratio = sum(characters[item] for item, _, _ in before) / max(sum(tokens or 0 for _, tokens, _ in before), 1)
    return ratio, sum(tokens or 0 for _, _, tokens in before) / len(before), True


def thinking_of_a_pair(judge: Judge) -> float:
    """Return the tokens of thinking that a pair takes: the mean of the latest that were counted, else all the room."""
    latest = Completion.objects.filter(job__judge=judge, completion_tokens__isnull=False).order_by("-pk")
    newest: list[tuple[int | None, str]] = list(latest.values_list("thinking_tokens", "thinking")[:LOOKED_AT])
    counted = [tokens for tokens, _ in newest if tokens is not None]
    if counted:
        return mean(counted)
    if newest and not any(thought for _, thought in newest):
        return 0.0
    return float(room_of_thinking(judge) * (judge.template.orders if judge.template else 1))


def characters_of(judge: Judge, item: Item) -> int:
    """Return how long the judge's prompts about the item are. Raises BadTemplate."""
    request = request_for(judge, item)
    orders = [request] if request.swapped is None else [request, request.swapped]
    return sum(len(each.system) + len(each.prompt) for each in orders)


def _seconds_of_a_pair(judge: Judge, pairs: int) -> float | None:
    """Return how long so many pairs take at the pace of the judge's last job that was done."""
    last = GradingJob.objects.filter(judge=judge, state=GradingJob.State.DONE, started_at__isnull=False).first()
    if last is None or last.finished_at is None or last.started_at is None or last.done <= last.done_at_start:
        return None
    pace = (last.finished_at - last.started_at).total_seconds() / (last.done - last.done_at_start)
    return pace * pairs
