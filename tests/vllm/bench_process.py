"""One process of `tests/bench/vllm.py`, with vLLM and Assize in it: `python bench_process.py SITE_PACKAGES TASK`.

TASK is a JSON object: `arm` is `Offline` or `Worker`; `study`, `model` and `options` say what is graded, by what.
Then each line that comes in is a command, and each line that goes out is its result. vLLM starts processes
of its own, which import this file again: so nothing happens outside the last lines.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

WARM_UP = 32
SEED = 7
BLOCK = 32
# With less, vLLM has room for two prompts at a time.
LEAST_CACHED_TOKENS = 2_048


class Offline:
    """`vllm.LLM` by hand: asked for everything at once, with what the judge's engine would send, in the same order."""

    def __init__(self, *, study: str, model: str, options: dict[str, Any]) -> None:
        # As it comes, vLLM runs its engine in a process of its own. In a worker of ours it does not.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "1"
        vllm = importlib.import_module("vllm")

        from judging.engines.messages import conversation
        from judging.engines.vllm import VLLMEngine

        judge = judge_of(study, engine="vllm", model=model)
        requests = requests_of(study, judge)
        engine = VLLMEngine(model=model, decoding=judge.decoding)
        self.chats = [conversation(request) for request in requests]
        self.parameters = [engine.sampling(request) for request in requests]
        self.llm = vllm.LLM(model=model, **options)
        self.llm.chat(self.chats[:WARM_UP], self.parameters[:WARM_UP], use_tqdm=False)

    def run(self) -> dict[str, Any]:
        self.llm.reset_prefix_cache()
        began = time.perf_counter()
        outputs = self.llm.chat(self.chats, self.parameters, use_tqdm=False)
        seconds = time.perf_counter() - began
        prompt_tokens = sum(len(output.prompt_token_ids) for output in outputs)
        return {
            "a_second": len(outputs) / seconds,
            "prompt_tokens": prompt_tokens / len(outputs),
            "cached": sum(output.num_cached_tokens or 0 for output in outputs) / prompt_tokens,
        }


class Worker:
    """A job on vLLM in the worker, done as a worker does it."""

    def __init__(self, *, study: str, model: str, options: dict[str, Any], cache_share: float | None = None) -> None:
        """Where a `cache_share` is given, vLLM's cache holds no more than that of the study's texts."""
        from django.conf import settings

        from judging.engines.vllm import MODEL

        self.study = study
        self.cache: dict[str, int] = {}
        self.judge = judge_of(study, engine="vllm", model=model)
        if cache_share is not None:
            self.cache = cache_for(requests_of(study, self.judge), model=model, share=cache_share)
            blocks = self.cache["cache_tokens"] // BLOCK
            options = {**options, "block_size": BLOCK, "num_gpu_blocks_override": blocks}
        self.llm = MODEL.load(model, options)
        settings.JUDGE_VLLM_MODELS = [model]
        warm_up(study, self.judge)

    def run(self, *, shuffled: bool = False) -> dict[str, Any]:
        self.llm.reset_prefix_cache()
        return done_job(a_job(self.study, self.judge, shuffled=shuffled)) | self.cache


def cache_for(requests: list[Any], *, model: str, share: float) -> dict[str, int]:
    """Return how many tokens the study's texts are, each with what stands before its question, and so much of them."""
    transformers = importlib.import_module("transformers")

    prompts: dict[str, str] = {}
    for request in requests:
        prompts.setdefault(request.text, request.prompt.partition(request.query)[0])
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    tokens = sum(len(tokenizer.encode(begin)) for begin in prompts.values())
    return {"text_tokens": tokens, "cache_tokens": max(LEAST_CACHED_TOKENS, int(share * tokens)) // BLOCK * BLOCK}


def judge_of(study_name: str, *, engine: str, model: str) -> Any:
    """Return the judge of this model, with the shipped template that puts the report before the question."""
    from collection.models import Study
    from judging.judges.registry import make_judge
    from judging.models import PromptTemplate

    criterion = Study.objects.get(name=study_name).criteria.get(name="answerability")
    judge, _ = make_judge(
        engine=engine, model=model, template=PromptTemplate.objects.get(name="answerability", version=1),
        task_type=criterion.task_type, criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    return judge


def a_job(study_name: str, judge: Any, *, shuffled: bool = False) -> Any:
    """Start a job over the whole study, in the order that a job has, or in one that is left to chance."""
    from django.utils.timezone import now

    from collection.models import Study
    from judging.grading.jobs import start_job

    criterion = Study.objects.get(name=study_name).criteria.get(name="answerability")
    job = start_job(criterion=criterion, judge=judge, by=None, at=now())
    if shuffled:
        chunks = list(job.chunks.order_by("number"))
        keys = [key for chunk in chunks for key in chunk.item_ids]
        random.Random(SEED).shuffle(keys)
        for chunk in chunks:
            chunk.item_ids, keys = keys[: len(chunk.item_ids)], keys[len(chunk.item_ids) :]
            chunk.save()
    return job


def requests_of(study_name: str, judge: Any) -> list[Any]:
    """Return what the judge is asked by a job over the whole study, in the job's order."""
    from collection.models import Study
    from judging.data.items import with_texts
    from judging.data.selection import items_asked
    from judging.grading.jobs import order_of_work
    from judging.prompts.rendering import requests_for

    criterion = Study.objects.get(name=study_name).criteria.get(name="answerability")
    return requests_for(judge, list(with_texts(items_asked(criterion).order_by(*order_of_work(judge)))))


def warm_up(study_name: str, judge: Any) -> None:
    """Ask a few, so that what is made once (the grammar of the choices, for one) is there."""
    from judging.engines.registry import engine_of

    for _ in engine_of(judge, by=None).grade(requests_of(study_name, judge)[:WARM_UP], stopping=lambda: False):
        pass


def done_job(job: Any) -> dict[str, Any]:
    """Do the job as a worker does, and forget it, so that the same judge can do it again.

    What was cached is None where the server does not tell it of every prompt.
    """
    from judging.engines.registry import engine_of
    from tests.bench.judging import work_through

    seconds = work_through(job, engine_of(job.judge, by=None))
    if job.ungraded:
        raise RuntimeError(f"{job.ungraded} of {job.total} pairs are ungraded: {job.by_kind}")
    forget(job)
    return {
        "a_second": job.total / seconds,
        "prompt_tokens": job.prompt_tokens / job.total,
        "cached": job.cached_tokens / job.prompt_tokens if job.cacheable_tokens == job.prompt_tokens else None,
    }


def forget(job: Any) -> None:
    from collection.models import Judgment
    from judging.models import Completion, GradingChunk, GradingJob

    Completion.objects.filter(job=job).delete()
    Judgment.objects.filter(rater=job.judge.rater).delete()
    GradingChunk.objects.filter(job=job).delete()
    GradingJob.objects.filter(pk=job.pk).delete()


def serve(task: dict[str, Any]) -> None:
    """Say that all is ready, then do what each line says."""
    # vLLM writes to standard output what it does; only results may go there.
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import django

    django.setup()
    arm = {"Offline": Offline, "Worker": Worker}[task.pop("arm")](**task)
    results.write("{}\n")
    for line in sys.stdin:
        results.write(json.dumps(arm.run(**json.loads(line))) + "\n")


if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    serve(json.loads(sys.argv[2]))
