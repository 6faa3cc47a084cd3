/* Marking words by the keyboard: a caret that goes through the text by words and sentences. */

import { drawRanges, reveal } from "./highlights.js";
import { firstIndex } from "./judged_text.js";

export class Caret {
  /** `mark` gets the span that was chosen; `leave` is called when the reader is done with the text. */
  constructor(text, { mark, leave }) {
    this.text = text;
    this.mark = mark;
    this.leave = leave;
    this.says = document.getElementById("caret-says");
    // What is selected reaches from the one unit to the other; a unit is a word or a sentence.
    this.anchor = this.focus = null;
    text.element.addEventListener("keydown", (event) => this.#onKey(event));
    text.element.addEventListener("focus", () => text.element.matches(":focus-visible") && this.#enter());
    text.element.addEventListener("blur", () => this.#draw());
    text.element.addEventListener("pointerdown", () => this.#put(null));
  }

  #enter() {
    if (!this.focus) this.#put(this.#firstSeen());
    else this.#draw();
  }

  /** The first word in the window. */
  #firstSeen() {
    const { words, element } = this.text;
    const top = document.querySelector(".task-bar").offsetHeight;
    const paragraph = [...element.children].find((child) => child.getBoundingClientRect().bottom > top + 8);
    const from = paragraph ? this.text.unitAt(paragraph, 0) : 0;
    let index = firstIndex(words, (word) => word.from >= from);
    while (index < words.length - 1 && this.#range(words[index]).getBoundingClientRect().top < top) index++;
    return words[Math.min(index, words.length - 1)] ?? null;
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey) return this.#onExactKey(event);
    const step = STEPS[event.key];
    const action = ACTIONS[event.key];
    if (!step && !action) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.focus) this.#enter();
    if (!this.focus) return;
    if (action) this[action]();
    else this.#go(step, event.shiftKey);
  }

  /** Alt and Shift with an arrow: the end that moves goes by one character, into a word. */
  #onExactKey(event) {
    const step = STEPS[event.key];
    if (!event.shiftKey || step?.by !== "words" || !Number.isFinite(step.to) || !this.focus) return;
    event.preventDefault();
    event.stopPropagation();
    const [fixed, moving] = this.#isBackwards ? [this.#end, this.#start] : [this.#start, this.#end];
    const moved = this.text.characterEdge(moving, this.#isForward(step));
    if (moved !== fixed) this.#put(at(fixed), at(moved));
  }

  #isForward({ by, to }) {
    const paragraph = this.#range(this.focus).startContainer.parentElement;
    const rightToLeft = getComputedStyle(paragraph).direction === "rtl";
    return (to > 0) !== (by === "words" && rightToLeft && Number.isFinite(to));
  }

  #go({ by, to }, extend) {
    const forward = this.#isForward({ by, to });
    const units = this.text[by];
    const here = this.focus;
    let index;
    if (!Number.isFinite(to)) index = forward ? units.length - 1 : 0;
    else if (forward) index = extend && !this.#isBackwards ? firstIndex(units, (unit) => unit.to > this.#end) : firstIndex(units, (unit) => unit.from > here.from);
    else if (here.from === here.to && !this.#isBackwards) index = firstIndex(units, (unit) => unit.to >= here.to) - 1;
    else index = firstIndex(units, (unit) => unit.from >= here.from) - 1;
    const unit = units[Math.max(0, Math.min(units.length - 1, index))];
    if (!unit) return;
    if (extend) this.#put(this.anchor, unit);
    else this.#put(by === "words" ? unit : this.#firstWordIn(unit));
  }

  #firstWordIn(sentence) {
    const { words } = this.text;
    const word = words[firstIndex(words, ({ from }) => from >= sentence.from)];
    return word && word.from < sentence.to ? word : sentence;
  }

  selectSentence() {
    const { sentences } = this.text;
    const index = firstIndex(sentences, (sentence) => sentence.to > this.#start);
    const sentence = sentences[Math.min(index, sentences.length - 1)];
    const isSelected = this.#start === sentence.from && this.#end >= sentence.to;
    const last = isSelected ? sentences[firstIndex(sentences, (other) => other.to > this.#end)] : sentence;
    this.#put(sentence, last ?? this.focus);
  }

  markSelected() {
    const span = this.text.spanOfUnits(this.#start, this.#end);
    const last = this.focus;
    this.#put(this.#lastWordOf(last));
    if (span) this.mark(span);
  }

  #lastWordOf(unit) {
    const { words } = this.text;
    return words[Math.max(0, firstIndex(words, ({ from }) => from >= unit.to) - 1)] ?? unit;
  }

  leaveOrCollapse() {
    if (this.anchor !== this.focus) this.#put(this.#lastWordOf(this.focus));
    else this.leave();
  }

  get #isBackwards() {
    return this.focus.from < this.anchor.from;
  }

  get #start() {
    return Math.min(this.anchor.from, this.focus.from);
  }

  get #end() {
    return Math.max(this.anchor.to, this.focus.to);
  }

  #range({ from, to }) {
    return this.text.rangeOfUnits(from, to);
  }

  #put(anchor, focus = anchor) {
    this.anchor = anchor;
    this.focus = focus;
    if (this.#draw()) {
      reveal(this.#range(focus));
      this.says.textContent = this.text.string.slice(this.#start, this.#end);
    }
  }

  /** Draw the caret if it is in use. Returns whether it is. */
  #draw() {
    const inUse = Boolean(this.focus) && document.activeElement === this.text.element;
    drawRanges("caret", inUse ? [this.#range({ from: this.#start, to: this.#end })] : []);
    return inUse;
  }
}

/** A place between two characters, as a unit without extent. */
const at = (unit) => ({ from: unit, to: unit });

const STEPS = {
  ArrowRight: { by: "words", to: 1 },
  ArrowLeft: { by: "words", to: -1 },
  ArrowDown: { by: "sentences", to: 1 },
  ArrowUp: { by: "sentences", to: -1 },
  End: { by: "words", to: Infinity },
  Home: { by: "words", to: -Infinity },
};
const ACTIONS = {
  s: "selectSentence",
  S: "selectSentence",
  Enter: "markSelected",
  m: "markSelected",
  M: "markSelected",
  Escape: "leaveOrCollapse",
};
