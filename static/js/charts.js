/* Charts say what their marks show: under the pointer, and by keyboard. A chart takes the focus; arrows go from mark to
   mark, Home and End to the first and the last, Escape out again. The words are each mark's own aria-label. */

const MARKS = ".mark-symbol > [aria-label], .mark-rect > [aria-label], .mark-arc > [aria-label]";
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const tip = Object.assign(document.createElement("div"), { className: "chart-tip", hidden: true });
tip.setAttribute("aria-hidden", "true"); // the mark says it itself
document.body.append(tip);

const markAt = (target) => target.closest?.(".chart")?.contains(target) && target.closest(MARKS);

function show(mark) {
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  const at = mark.getBoundingClientRect();
  const left = Math.min(at.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 4);
  const above = at.top - tip.offsetHeight - 6;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${above < 4 ? at.bottom + 6 : above}px`;
}

const hide = () => (tip.hidden = true);

function goTo(mark) {
  mark.setAttribute("tabindex", "-1");
  mark.focus();
}

document.addEventListener("pointerover", ({ target }) => {
  const mark = markAt(target);
  if (mark) show(mark);
  else hide();
});
document.addEventListener("focusin", ({ target }) => {
  const mark = markAt(target);
  if (mark) show(mark);
  else hide();
});
document.addEventListener("focusout", hide);
document.addEventListener("scroll", hide, { capture: true, passive: true });
document.addEventListener("keydown", (event) => {
  const chart = event.target.closest?.(".chart svg");
  if (!chart || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    hide();
    chart.focus();
    return;
  }
  const step = STEPS[event.key];
  if (!step) return;
  const marks = [...chart.querySelectorAll(MARKS)];
  if (!marks.length) return;
  event.preventDefault();
  const here = marks.indexOf(markAt(event.target));
  goTo(marks[Math.max(0, Math.min(marks.length - 1, here + step))]);
});
