/* The tour of five steps: it opens by itself at a researcher's first visit, goes along from page to page, and stays away
   once it is ended. This browser remembers where it is; the menu of the account opens it again. */

import { keep, kept } from "./memory.js";

const ENDED = "ended";
const tour = document.getElementById("tour");
const opener = document.getElementById("tour-open");
const back = document.getElementById("tour-back");
const next = document.getElementById("tour-next");
const steps = [...tour.querySelectorAll("li")];
let at = Math.min(Math.max(Number(kept("tour")) || 0, 0), steps.length - 1);

function show(step) {
  at = step;
  tour.hidden = false;
  steps.forEach((one, number) => {
    one.hidden = number !== at;
  });
  if (at === 0 && document.activeElement === back) next.focus();
  back.disabled = at === 0;
  next.textContent = at === steps.length - 1 ? "Finish" : "Next";
  keep("tour", String(at));
}

function end() {
  tour.hidden = true;
  keep("tour", ENDED);
  document.getElementById("main").focus({ preventScroll: true });
}

next.addEventListener("click", () => (at === steps.length - 1 ? end() : show(at + 1)));
back.addEventListener("click", () => show(at - 1));
document.getElementById("tour-end").addEventListener("click", end);
tour.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") end();
});
opener.hidden = false;
opener.addEventListener("click", () => {
  opener.closest("details").open = false;
  show(0);
  next.focus();
});

const firstVisit = kept("tour") === null && Boolean(tour.dataset.begins);
if (firstVisit || (kept("tour") !== null && kept("tour") !== ENDED)) show(at);
