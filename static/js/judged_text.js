/* The text under judgment: what stands where, in code points, in UTF-16 units and in the page.

   The server writes the stored text so that the text nodes of its element, joined, are it exactly, and its checksum
   beside it. Nothing here ever changes those nodes, but browsers that translate and extensions do. A span is
   {start, end} in code points of the stored text, end-exclusive. */

import { element } from "./elements.js";
import { gettext } from "./words.js";

const SPACE = /\s/u;
// A full stop after one of these, or after a single capital, does not end a sentence.
const ABBREVIATION = /(?:^|[\s(“"'])(?:\p{Lu}|Mr|Mrs|Ms|Dr|Prof|Rep|Sen|Gov|Gen|Col|Lt|Sgt|St|Jr|Sr|vs|No|Fig|approx|ca|e\.g|i\.e|cf)\.\s*$/u;

export class JudgedText {
  #inWords;
  #inCharacters;
  #several;

  /** Where the element holds several texts, each says of which items it is, and one of them is read at a time. */
  constructor(element) {
    this.element = element;
    this.#several = [...element.querySelectorAll("[data-items]")];
    this.turnTo(this.#several[0]?.dataset.items.split(" ")[0]);
  }

  /** The part with the text of an item, where there are several. */
  partOf(item) {
    return this.#several.find(({ dataset }) => dataset.items.split(" ").includes(item));
  }

  /** Read the text that an item is about, and show it. */
  turnTo(item) {
    const part = this.partOf(item);
    const root = part?.querySelector(".cited-text") ?? this.element;
    if (root === this.root) return;
    for (const one of this.#several) one.classList.toggle("at-hand", one === part);
    this.root = root;
    Object.assign(this, textIn(root));
    this.#words = this.#sentences = undefined;
    this.#inWords = this.#cut("word");
    this.#inCharacters = this.#cut("grapheme");
    // Where the pairs stand that take two UTF-16 units for one code point.
    this.pairs = [];
    for (let i = 0; i < this.string.length; i++) {
      if (this.string.codePointAt(i) > 0xffff) this.pairs.push(i++);
    }
  }

  #toCodePoints(unit) {
    return unit - firstIndex(this.pairs, (pair) => pair >= unit);
  }

  #toUnits(point) {
    return point + firstIndex(this.pairs, (pair, i) => pair - i >= point);
  }

  /** The words of a span. */
  quote({ start, end }) {
    return this.string.slice(this.#toUnits(start), this.#toUnits(end));
  }

  /** The span of these UTF-16 units without white space at its ends, or null if nothing is left. */
  spanOfUnits(from, to) {
    while (from < to && SPACE.test(this.string[from])) from++;
    while (to > from && SPACE.test(this.string[to - 1])) to--;
    return from < to ? { start: this.#toCodePoints(from), end: this.#toCodePoints(to) } : null;
  }

  /** The span with the words, of the text's own script, that its ends cut through. */
  wholeWords(span) {
    let { from, to } = this.unitsOfSpan(span);
    const first = this.#inWords.containing(from);
    const last = this.#inWords.containing(to - 1);
    from = first.index;
    to = last.index + last.segment.length;
    return this.spanOfUnits(from, to);
  }

  /** Where the character, as a reader sees it, begins that stands before this place, or ends that stands after it. */
  characterEdge(unit, forward) {
    const character = this.#inCharacters.containing(forward ? unit : unit - 1);
    if (!character) return unit;
    return forward ? character.index + character.segment.length : character.index;
  }

  unitsOfSpan({ start, end }) {
    return { from: this.#toUnits(start), to: this.#toUnits(end) };
  }

  /** The span that the reader has selected in this text, or null. */
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(this.root)) return null;
    const whole = document.createRange();
    whole.selectNodeContents(this.root);
    const beforeStart = range.compareBoundaryPoints(Range.START_TO_START, whole) < 0;
    const afterEnd = range.compareBoundaryPoints(Range.END_TO_END, whole) > 0;
    const span = this.spanOfUnits(
      beforeStart ? 0 : this.unitAt(range.startContainer, range.startOffset),
      afterEnd ? this.string.length : this.unitAt(range.endContainer, range.endOffset),
    );
    // Words that somebody put in stand nowhere in the text; what is marked of them is refused all the same.
    return span ?? (isChanged(this.root) ? this.spanOfUnits(0, this.string.length) : null);
  }

  /** How many UTF-16 units of the text stand before a place in the page. */
  unitAt(container, offset) {
    const before = document.createRange();
    before.selectNodeContents(this.root);
    before.setEnd(container, offset);
    return Math.min(before.toString().length, this.string.length);
  }

  /** The page's range over these UTF-16 units. */
  rangeOfUnits(from, to) {
    return rangeOver(this.nodes, from, to);
  }

  range(span) {
    const { from, to } = this.unitsOfSpan(span);
    return this.rangeOfUnits(from, to);
  }

  /** Every word as {from, to} in UTF-16 units, found when first asked for. */
  get words() {
    this.#words ??= [...this.#inWords].filter(({ isWordLike }) => isWordLike).map(extent);
    return this.#words;
  }
  #words;

  /** Every sentence as {from, to} in UTF-16 units, without the space after it. */
  get sentences() {
    this.#sentences ??= this.#findSentences();
    return this.#sentences;
  }
  #sentences;

  #findSentences() {
    const sentences = [];
    for (const { segment, index } of this.#cut("sentence")) {
      const from = index + segment.length - segment.trimStart().length;
      const to = index + segment.trimEnd().length;
      if (from >= to) continue;
      const before = sentences.at(-1);
      const gap = before && this.string.slice(before.to, from);
      if (before && !gap.includes("\n") && ABBREVIATION.test(this.string.slice(before.from, before.to))) before.to = to;
      else sentences.push({ from, to });
    }
    return sentences;
  }

  #cut(granularity) {
    const language = this.element.closest("[lang]")?.lang || "en";
    return new Intl.Segmenter(language, { granularity }).segment(this.string);
  }
}

/** The text in an element, as `string`, and the `nodes` it is made of, each with the UTF-16 units before it. */
export function textIn(root) {
  const nodes = [];
  let string = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: string.length });
    string += walker.currentNode.data;
  }
  return { nodes, string };
}

/** The page's range over these UTF-16 units of a text. */
export function rangeOver(nodes, from, to) {
  const range = document.createRange();
  const place = (unit, at) => {
    const { node, start } = nodes[Math.max(0, firstIndex(nodes, (one) => one.start > unit) - 1)];
    return [node, Math.min(at - start, node.length)]; // it may have become shorter
  };
  range.setStart(...place(from, from));
  range.setEnd(...place(to - 1, to));
  return range;
}

/** Whether a part of the page holds a text that is not the stored one. The assessor is shown it once: when they mark
    something there (`marks`), or where their study lets nobody translate texts. */
export function isChanged(part, { marks = false } = {}) {
  const changed = [part, ...part.querySelectorAll("[data-sum]")].find(({ dataset, textContent }) => dataset.sum && Number(dataset.sum) !== sumOf(textContent));
  if (changed && (marks || !changed.translate) && !document.getElementById("page-changed")) {
    const words = gettext("The browser or an extension has changed the words on this page. Switch that off here and reload the page.");
    const note = element("p", { className: "message warning", id: "page-changed", role: "alert", textContent: words });
    (document.getElementById("says") ?? document.getElementById("caret-says")).before(note);
    note.scrollIntoView({ block: "nearest" });
  }
  return Boolean(changed);
}

/** The text's checksum as the server computes it (Adler-32). */
function sumOf(text) {
  let [low, high] = [1, 0];
  for (const byte of new TextEncoder().encode(text.replace(/\r\n?/gu, "\n"))) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}

const extent = ({ segment, index }) => ({ from: index, to: index + segment.length });

/** The index of the first element for which the test holds, in a list where it holds from some place on. */
export function firstIndex(list, test) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(list[middle], middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
