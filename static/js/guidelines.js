/* The guidelines beside the task: opened at the part about its task type, they stay open, on the next task too, until
   their reader closes them. New ones come first, over everything. */

import { listenToKeys } from "./keys.js";
import { keep, kept } from "./memory.js";

const OPEN = "assize:guidelines";
const panel = document.getElementById("guidelines");
const button = document.getElementById("open-guidelines");
let cameFrom = null;

export function toggleGuidelines() {
  if (!panel) return;
  if (panel.open) panel.close();
  else open({ focus: true });
}

function open({ focus }) {
  cameFrom = document.activeElement;
  if (focus) panel.show();
  else panel.open = true; // the reader goes on with the task
  keep(OPEN, "open");
  showState();
  const reading = panel.querySelector(".reading");
  if (focus) reading.focus({ preventScroll: true });
  const section = sectionOfTask(reading);
  if (section) reading.scrollTop += section.getBoundingClientRect().top - reading.getBoundingClientRect().top;
}

/** The heading about this task type, if one is: by our own words, or by the name of the task type. */
function sectionOfTask(reading) {
  const headings = [...reading.querySelectorAll("h1, h2, h3, h4")];
  const names = panel.dataset.sections.toLowerCase().split("|").filter(Boolean);
  return names.map((name) => headings.find((one) => one.textContent.toLowerCase().includes(name))).find(Boolean);
}

function showState() {
  button?.setAttribute("aria-expanded", String(panel.open));
  document.documentElement.classList.toggle("with-guidelines", panel.open && !panel.matches(":modal"));
  dispatchEvent(new Event("resize")); // what fits the window fits the rest of it
}

function tellThatTheyAreRead({ read, version }) {
  const body = new FormData();
  body.set("version", version);
  body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
  fetch(read, { method: "POST", body, keepalive: true }).catch(() => {}); // offline: they open once more
}

/** Open what must be read first over the task, and what was left open beside it. */
export function showGuidelines() {
  if (!panel) return;
  panel.addEventListener("close", () => {
    if (panel.contains(document.activeElement) || document.activeElement === document.body) cameFrom?.focus();
    keep(OPEN, "closed");
    showState();
  });
  button?.setAttribute("aria-controls", panel.id);
  button?.addEventListener("click", (event) => {
    event.preventDefault();
    toggleGuidelines();
  });
  listenToKeys({ keys: { Escape: () => panel.open && panel.close() } });
  if (panel.dataset.read) {
    panel.addEventListener("close", () => tellThatTheyAreRead(panel.dataset), { once: true });
    panel.showModal();
  } else if (kept(OPEN) === "open" && matchMedia("(min-width: 75rem)").matches) open({ focus: false });
  showState();
}
