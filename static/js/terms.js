/* Terms to scan for, highlighted in the texts as whole words of their script, whatever their case. The page's elements
   stay as they are, so places in the text do too. */

import { drawRanges } from "./highlights.js";
import { fold, hitsOf } from "./find.js";
import { rangeOver, textIn } from "./judged_text.js";
import { keep, kept } from "./memory.js";

const TERMS = "assize:terms";
const terms = JSON.parse(document.getElementById("terms").textContent).map((term) => fold(term, asItIs).string);
const legend = document.getElementById("terms-legend");
const button = document.getElementById("show-terms");
const ranges = textsOf(document.getElementById("text")).flatMap(termsIn);

function asItIs(point) {
  return point;
}

/** The elements that hold a text each. */
function textsOf(element) {
  const several = [...element.querySelectorAll(".cited-text, .side-text")];
  return several.length ? several : [element];
}

/** The ranges of the terms in one text. */
function termsIn(root) {
  const { nodes, string } = textIn(root);
  const edges = edgesOf(string, root.closest("[lang]")?.lang || "en");
  const folded = fold(string, asItIs);
  const hits = terms.flatMap((term) => hitsOf(term, folded)).filter(({ from, to }) => edges.has(from) && edges.has(to));
  return hits.map(({ from, to }) => rangeOver(nodes, from, to));
}

/** Where words, and what stands between them, begin and end, by the rules of their script. */
function edgesOf(string, language) {
  const edges = new Set([string.length]);
  for (const { index } of new Intl.Segmenter(language, { granularity: "word" }).segment(string)) edges.add(index);
  return edges;
}

function show(wanted) {
  button.setAttribute("aria-pressed", String(wanted));
  drawRanges("term", wanted ? ranges : []);
}

button.addEventListener("click", () => {
  const wanted = button.getAttribute("aria-pressed") !== "true";
  keep(TERMS, wanted ? "shown" : "hidden");
  show(wanted);
});
document.getElementById("terms-found").textContent = String(ranges.length);
legend.hidden = false;
show(kept(TERMS) !== "hidden");
