/* Two reports side by side: each scrolls on its own or, if the assessor wants it, both together. On a phone one is seen
   at a time. */

import { keep, kept } from "./memory.js";

const sides = [...document.querySelectorAll(".side")];
const tools = document.getElementById("side-tools");
const together = document.getElementById("scroll-together");
const TOGETHER = "assize:scroll-together";

/** Show one side where there is no room for both. */
function show(name) {
  for (const side of sides) side.classList.toggle("in-view", side.dataset.side === name);
  for (const button of tools.querySelectorAll("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === name));
}

function scrollTogether(wanted) {
  together.setAttribute("aria-pressed", String(wanted));
}

let led = null; // the side that is scrolled by the other

/** Bring the other side to the same part of its text. */
function follow({ target: side }) {
  if (led === side) {
    led = null;
    return;
  }
  if (together.getAttribute("aria-pressed") !== "true") return;
  const other = sides.find((one) => one !== side);
  const way = side.scrollHeight - side.clientHeight;
  const to = Math.round(way > 0 ? (side.scrollTop / way) * (other.scrollHeight - other.clientHeight) : 0);
  if (Math.abs(to - other.scrollTop) < 1) return;
  led = other;
  other.scrollTop = to;
}

for (const side of sides) side.addEventListener("scroll", follow, { passive: true });
for (const button of tools.querySelectorAll("[data-show]")) button.addEventListener("click", () => show(button.dataset.show));
together.addEventListener("click", () => {
  const wanted = together.getAttribute("aria-pressed") !== "true";
  scrollTogether(wanted);
  keep(TOGETHER, wanted ? "yes" : "");
});
scrollTogether(kept(TOGETHER) === "yes");
show("left");
tools.hidden = false;
