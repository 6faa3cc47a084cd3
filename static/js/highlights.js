/* Draws spans in the text by the CSS Custom Highlight API: the page's elements stay as they are. */

export const canDraw = typeof Highlight === "function" && Boolean(CSS.highlights);

// Later ones lie on top.
const LAYERS = ["term", "candidate", "elsewhere", "support", "rationale", "overlap", "found", "active", "caret"];

/** Draw these spans, and no others, in a layer. */
export function draw(text, layer, spans) {
  drawRanges(layer, spans.map((span) => text.range(span)));
}

export function drawRanges(layer, ranges) {
  if (!canDraw) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = LAYERS.indexOf(layer);
  CSS.highlights.set(layer, highlight);
}

/** The spans in which at least two of the given ones overlap. */
export function overlaps(spans) {
  const edges = spans.flatMap(({ start, end }) => [[start, 1], [end, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const found = [];
  let depth = 0;
  let since = 0;
  for (const [place, change] of edges) {
    if (depth >= 2 && place > since) found.push({ start: since, end: place });
    depth += change;
    since = place;
  }
  return found;
}

/** Scroll so that the range is seen, not under the bars at the top or the bottom of the window. */
export function reveal(range) {
  const box = range.getBoundingClientRect();
  const bar = document.querySelector(".assignment-questions");
  const barIsBelow = getComputedStyle(bar).position === "fixed";
  const top = 24 + document.querySelector(".task-bar").offsetHeight;
  const bottom = (barIsBelow ? bar.getBoundingClientRect().top : innerHeight) - 24;
  if (box.top >= top && box.bottom <= bottom) return;
  const middle = top + (bottom - top) / 3;
  scrollBy({ top: box.top - middle, behavior: "instant" });
}
