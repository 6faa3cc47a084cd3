/* The text under judgment: what stands where, in code points, in UTF-16 units and in the page.

   The server writes the stored text so that the text nodes of its element, joined, are it exactly. Nothing here
   ever changes those nodes. A span is {start, end} in code points of the stored text, end-exclusive. */

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
    this.nodes = [];
    this.string = "";
    this.#words = this.#sentences = undefined;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      this.nodes.push({ node: walker.currentNode, start: this.string.length });
      this.string += walker.currentNode.data;
    }
    this.#inWords = this.#cut("word");
    this.#inCharacters = this.#cut("grapheme");
    // Where the pairs stand that take two UTF-16 units for one code point.
    this.pairs = [];
    for (let i = 0; i < this.string.length; i++) {
      if (this.string.codePointAt(i) > 0xffff) this.pairs.push(i++);
    }
  }

  /** The length in code points. */
  get length() {
    return this.string.length - this.pairs.length;
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
    return this.spanOfUnits(
      beforeStart ? 0 : this.unitAt(range.startContainer, range.startOffset),
      afterEnd ? this.string.length : this.unitAt(range.endContainer, range.endOffset),
    );
  }

  /** How many UTF-16 units of the text stand before a place in the page. */
  unitAt(container, offset) {
    const before = document.createRange();
    before.selectNodeContents(this.root);
    before.setEnd(container, offset);
    return before.toString().length;
  }

  /** The page's range over these UTF-16 units. */
  rangeOfUnits(from, to) {
    const range = document.createRange();
    const first = this.#nodeAt(from);
    const last = this.#nodeAt(to - 1);
    range.setStart(first.node, from - first.start);
    range.setEnd(last.node, to - last.start);
    return range;
  }

  range(span) {
    const { from, to } = this.unitsOfSpan(span);
    return this.rangeOfUnits(from, to);
  }

  #nodeAt(unit) {
    return this.nodes[Math.max(0, firstIndex(this.nodes, ({ start }) => start > unit) - 1)];
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
