/* Finding words in the text, whatever their case and diacritics. What was found goes to the caret, to be marked. */

import { drawRanges, reveal } from "./highlights.js";
import { firstIndex } from "./judged_text.js";
import { element } from "./elements.js";
import { gettext } from "./words.js";

/** Returns what opens the field. `take` gets the hit that was seen last, {from, to} in UTF-16 units, or null. */
export function findIn(text, { take }) {
  const input = element("input", { className: "input", type: "text", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-label", gettext("Find in the text"));
  const count = element("output", { className: "help" });
  const next = element("button", { className: "button small", textContent: gettext("Next") });
  const form = element("form", { className: "find", hidden: true }, input, count, next);
  form.setAttribute("role", "search");
  document.querySelector(".assignment-text").prepend(form);
  let hits = [];
  let current = -1;
  let folded = null;
  let foldedOf = null;

  function show(index) {
    current = hits.length ? (index + hits.length) % hits.length : -1;
    const ranges = hits.map(({ from, to }) => text.rangeOfUnits(from, to));
    drawRanges("found", ranges);
    drawRanges("active", current < 0 ? [] : [ranges[current]]);
    if (current >= 0) reveal(ranges[current]);
    count.textContent = !input.value ? "" : current < 0 ? gettext("Not found") : gettext("{n} of {n_all}", { n: current + 1, n_all: hits.length });
  }

  function close() {
    const hit = hits[current] ?? null;
    form.hidden = true;
    hits = [];
    show(-1);
    take(hit);
  }

  input.addEventListener("input", () => {
    if (foldedOf !== text.string) folded = fold((foldedOf = text.string));
    hits = hitsOf(fold(input.value).string, folded);
    show(0);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(current + 1);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.shiftKey) show(current - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return () => {
    form.hidden = false;
    input.select();
    input.focus();
    input.dispatchEvent(new Event("input"));
  };
}

const withoutDiacritics = (point) => point.normalize("NFKD").replace(/\p{M}/gu, "");

/** The string in small letters (without diacritics), and where in the given one each of its units, and the end, stands. */
export function fold(given, bare = withoutDiacritics) {
  let string = "";
  const places = [];
  let place = 0;
  for (const point of given) {
    const plain = bare(point).toLowerCase();
    for (let i = 0; i < plain.length; i++) places.push(place);
    string += plain;
    place += point.length;
  }
  places.push(place);
  return { string, places };
}

export function hitsOf(sought, { string, places }) {
  const hits = [];
  if (!sought.trim()) return hits;
  for (let at = string.indexOf(sought); at >= 0; at = string.indexOf(sought, at + sought.length)) {
    const from = places[at];
    // What is left out of the last letter, its diacritics, belongs to it: the hit ends where another letter begins.
    const after = firstIndex(places, (place) => place > places[at + sought.length - 1]);
    hits.push({ from, to: places[after] });
  }
  return hits;
}
