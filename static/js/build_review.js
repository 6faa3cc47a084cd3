/* Review of what a model wrote: go through the list by keyboard, select, and decide about one or many. */

import { listenToKeys } from "./keys.js";

const NEXT = "review-next";
const form = document.getElementById("review");
const boxes = [...form.querySelectorAll('[name="product"]')];
const wording = document.getElementById("wording");
const edit = document.getElementById("edit");
const all = document.getElementById("select-all");

const at = () => boxes.indexOf(document.activeElement);
const go = (step) => boxes[Math.min(Math.max(at() + step, 0), boxes.length - 1)]?.focus();
const selected = () => boxes.filter((box) => box.checked);

/** If nothing is selected, what is decided is about the one that has the focus. */
function selectFocused() {
  if (selected().length === 0 && at() >= 0) boxes[at()].checked = true;
  return selected();
}

function decide(decision) {
  if (selectFocused().length > 0) form.querySelector(`button[value="${decision}"]`).click();
}

function beginEdit() {
  const [one, ...others] = selectFocused();
  if (!one || others.length > 0) return;
  edit.open = true;
  wording.value = one.dataset.text;
  wording.focus();
}

/** What was decided comes back as a new page: there the list goes on behind the last one decided about. */
function goOn() {
  const next = sessionStorage.getItem(NEXT);
  sessionStorage.removeItem(NEXT);
  boxes.find((box) => box.value === next)?.focus();
}

if (boxes.length > 0) {
  goOn();
  form.addEventListener("submit", () => {
    const next = boxes[boxes.indexOf(selected().at(-1)) + 1];
    if (next && selected().length > 0) sessionStorage.setItem(NEXT, next.value);
  });
  all.hidden = false;
  all.addEventListener("click", () => boxes.forEach((box) => { box.checked = true; }));
  edit.addEventListener("toggle", () => {
    const [one, ...others] = selected();
    if (edit.open && one && others.length === 0 && !wording.value) wording.value = one.dataset.text;
  });
  listenToKeys({
    press: (digit) => ({ 0: () => decide("rejected"), 1: () => decide("accepted"), 2: beginEdit })[digit]?.(),
    actions: { next: () => go(1), previous: () => go(-1) },
  });
}
