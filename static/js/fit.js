/* Grades that must be scrolled to are chosen less. Where not all of them are in view, each says less: it moves closer to
   the next, then what it means takes one line, then stands under all of them (meanings.js). */

const STEPS = ["", "close", "short", "keys"];
const GRADES = ".choices:not(.boxes) > .choice:not(.none)";
const CHOICES = ".choices > .choice:not(.none), .box > .choice";
const isWide = matchMedia("(min-width: 60rem)");

/** Let the grades in this part be in view together. What was made smaller stays so until `anew`: nothing jumps back
    under a pointer. */
export function fit(part, { anew = false } = {}) {
  if (anew || !part.dataset.fit) part.dataset.fit = "";
  if (!isWide.matches) {
    if (!part.matches(".question")) return;
    part.dataset.fit = "keys"; // there is never room beside them on a phone
    scrollToOpen(part);
  }
  while (part.dataset.fit !== "keys" && !isInView(part)) part.dataset.fit = SMALLER[part.dataset.fit];
}

const SMALLER = Object.fromEntries(STEPS.slice(1).map((step, i) => [STEPS[i], step]));

/** Scroll the panel, where it scrolls by itself, so far that the first list of grades without an answer is seen. */
function scrollToOpen(part) {
  const panel = part.closest("#panel");
  const open = [...part.querySelectorAll("fieldset:not([hidden])")].find((list) => !list.querySelector(".choice:not(.none) :checked"));
  if (!open) return;
  const seen = panel.getBoundingClientRect();
  const { top } = open.getBoundingClientRect();
  const bottom = [...open.querySelectorAll(GRADES)].at(-1).getBoundingClientRect().bottom;
  if (bottom > seen.bottom) panel.scrollTop += Math.min(bottom - seen.bottom, top - seen.top);
  else if (top < seen.top) panel.scrollTop += top - seen.top;
}

function isInView(part) {
  const last = [...part.querySelectorAll(CHOICES)].findLast(({ offsetParent }) => offsetParent);
  if (!last || last.closest(".helpful")) return true; // there a passage stands over each box
  const scroller = part.closest(".assignment-questions, .writing-questions");
  const ways = document.querySelector(".assignment-ways, .writing-ways").getBoundingClientRect();
  const bottom = last.getBoundingClientRect().bottom + (scroller ? scroller.scrollTop : higherWhileStuck(part));
  return bottom <= Math.min(ways.top, innerHeight);
}

/** How much higher a part stands now, stuck to the top of the window, than when the page is not scrolled; in px. */
function higherWhileStuck(part) {
  const title = part.parentElement.querySelector(".panel-title");
  return Math.max(0, title.getBoundingClientRect().bottom + scrollY - part.getBoundingClientRect().top);
}

/** Fit what `part` returns again whenever the window has another size. */
export function fitToWindow(part) {
  addEventListener("resize", () => part() && fit(part(), { anew: true }));
}
