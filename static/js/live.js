/* Parts of a page that look again while work goes on: every so many seconds as their `data-live` says, which the server sets
   anew with each answer, and never where it sets none. A page that nobody sees does not ask, and no part is exchanged while
   the focus is on a link in it or its words are selected. */

const asked = new WeakMap();

function inUse(part) {
  const selection = document.getSelection();
  if (selection && !selection.isCollapsed && part.contains(selection.anchorNode)) return true;
  const focus = document.activeElement;
  return part.contains(focus) && !focus.id; // what has an id gets the focus back
}

function look() {
  for (const part of document.querySelectorAll("[data-live]")) {
    if (!asked.has(part)) asked.set(part, Date.now());
    const due = Date.now() - asked.get(part) >= 1000 * Number(part.dataset.live);
    if (!due || document.hidden || inUse(part)) continue;
    asked.set(part, Date.now());
    part.dispatchEvent(new CustomEvent("live"));
  }
}

look();
setInterval(look, 1000);
document.addEventListener("visibilitychange", look);

// What was opened stays open, what was scrolled sideways stays there, and so does the focus.
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  if (!target.matches("[data-live], [data-keeps-open]")) return;
  const open = [...target.querySelectorAll("details[id][open]")].map((one) => one.id);
  const scrolled = [...target.querySelectorAll(".table-scroll[id]")].map((one) => [one.id, one.scrollLeft]);
  const focus = target.contains(document.activeElement) && document.activeElement.id;
  document.addEventListener(
    "htmx:afterSwap",
    () => {
      for (const id of open) document.getElementById(id)?.setAttribute("open", "");
      if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
      for (const [id, left] of scrolled) document.getElementById(id)?.scrollTo({ left, behavior: "instant" });
    },
    { once: true },
  );
});
