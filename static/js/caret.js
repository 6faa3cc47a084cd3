/* Marking words by the keyboard: a caret that goes through the text by words and sentences. What it selects is a new mark
   or, once one was chosen by a click or by E, that one, of which it moves the ends. */

import { drawRanges, reveal } from "./highlights.js";
import { firstIndex } from "./judged_text.js";
import { areSingleKeysOn, keyFor, keyOf } from "./keys.js";
import { markHandles, markTools } from "./mark_tools.js";
import { gettext } from "./words.js";

export class Caret {
  /** `mark` gets the span that was chosen; `marks` returns those of the question in view; `change` gets one of them and
      the span that it becomes, null to remove it; `leave` is called when the reader is done with the text. */
  constructor(text, { mark, marks, change, leave }) {
    Object.assign(this, { text, mark, marks, change, leave });
    this.chosen = null; // the mark whose ends are moved
    this.tools = markTools({
      move: (end, forward) => this.#moveEnd(end, forward),
      remove: () => this.removeChosen(),
      done: () => this.#letGo(),
    });
    this.handles = markHandles({ drag: (end, pointer) => this.#drag(end, pointer) });
    this.says = document.getElementById("caret-says");
    // What is selected reaches from the one unit to the other; a unit is a word or a sentence.
    this.anchor = this.focus = null;
    text.element.addEventListener("keydown", (event) => this.#onKey(event));
    text.element.addEventListener("focus", () => text.element.matches(":focus-visible") && this.#enter());
    text.element.addEventListener("blur", ({ relatedTarget }) => {
      if (!this.tools.contains(relatedTarget)) this.#letGo();
      this.#draw();
    });
    text.element.addEventListener("pointerdown", () => {
      this.#letGo();
      this.#put(null);
    });
    text.element.addEventListener("click", (event) => getSelection().isCollapsed && this.#chooseAt(this.#unitUnder(event)));
  }

  /** Go to this unit, to mark it or to go on from it. */
  goTo(unit) {
    this.#put(unit);
    this.text.element.focus({ focusVisible: true, preventScroll: true });
    this.#put(unit);
  }

  /** Where in the text a pointer is; -1 where it is in no line. */
  #unitUnder({ clientX, clientY }) {
    const range = document.caretRangeFromPoint?.(clientX, clientY);
    const position = range ?? document.caretPositionFromPoint?.(clientX, clientY);
    const node = position?.startContainer ?? position?.offsetNode;
    return node && this.text.root.contains(node) ? this.text.unitAt(node, position.startOffset ?? position.offset) : -1;
  }

  /** Choose the shortest mark over this place. Returns whether there is one. */
  #chooseAt(unit) {
    const around = this.marks().filter((span) => {
      const { from, to } = this.text.unitsOfSpan(span);
      return from <= unit && unit < to;
    });
    const [mark] = around.toSorted((a, b) => a.end - a.start - (b.end - b.start));
    if (!mark) return false;
    this.chosen = mark;
    const { from, to } = this.text.unitsOfSpan(mark);
    const ends = [at(from), at(to)];
    this.#put(...(unit - from < to - unit ? ends.toReversed() : ends)); // the nearer end moves first
    this.tools.hidden = false;
    this.says.textContent = gettext("Mark chosen: {quote}", { quote: mark.quote });
    return true;
  }

  /** Keep what has become of the chosen mark. */
  #letGo() {
    const { chosen } = this;
    if (!chosen) return;
    const span = this.text.spanOfUnits(this.#start, this.#end);
    this.#forget();
    if (span && (span.start !== chosen.start || span.end !== chosen.end)) this.change(chosen, span);
  }

  #forget() {
    this.chosen = null;
    this.tools.hidden = true;
    this.#put(this.#lastWordOf(this.focus));
  }

  removeChosen() {
    const { chosen } = this;
    if (!chosen) return;
    this.#forget();
    this.change(chosen, null);
  }

  /** Choose the mark under the caret; of a chosen one, move the other end from now on. */
  chooseOrTurn() {
    if (this.chosen) this.#put(this.focus, this.anchor);
    else if (!this.#chooseAt(this.focus.from)) this.says.textContent = gettext("There is no mark here.");
  }

  #moveEnd(end, forward) {
    this.text.element.focus();
    if ((end === "start") !== this.#isBackwards) this.#put(this.focus, this.anchor);
    const { words } = this.text;
    const [fixed, moving] = this.#isBackwards ? [this.#end, this.#start] : [this.#start, this.#end];
    const side = this.#isBackwards ? "from" : "to";
    const index = forward ? firstIndex(words, (word) => word[side] > moving) : firstIndex(words, (word) => word[side] >= moving) - 1;
    const moved = words[index]?.[side];
    if (moved !== undefined && moved !== fixed && moved < fixed === moving < fixed) this.#put(at(fixed), at(moved));
  }

  /** Move an end of the chosen mark to the word under the pointer. */
  #drag(end, pointer) {
    const unit = this.#unitUnder(pointer);
    const { words } = this.text;
    if (unit < 0 || !this.chosen) return;
    const atEnd = end === "end";
    const word = atEnd ? words[firstIndex(words, ({ to }) => to > unit)] : words[firstIndex(words, ({ from }) => from > unit) - 1];
    const fixed = atEnd ? this.#start : this.#end;
    const moved = word && (atEnd ? word.to : word.from);
    if (moved !== undefined && moved !== fixed && atEnd === moved > fixed) this.#put(at(fixed), at(moved));
  }

  #enter() {
    if (!this.focus) this.#put(this.#firstSeen());
    else this.#draw();
  }

  /** The first word in the window. */
  #firstSeen() {
    const { words, root } = this.text;
    const top = document.querySelector(".task-bar").offsetHeight;
    const paragraph = [...root.children].find((child) => child.getBoundingClientRect().bottom > top + 8);
    const from = paragraph ? this.text.unitAt(paragraph, 0) : 0;
    let index = firstIndex(words, (word) => word.from >= from);
    while (index < words.length - 1 && this.#range(words[index]).getBoundingClientRect().top < top) index++;
    return words[Math.min(index, words.length - 1)] ?? null;
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey) return this.#onExactKey(event);
    const step = STEPS[event.key];
    const action = ACTIONS[event.key] ?? this.#letter(event);
    if (!step && !action) return;
    if (action === "removeChosen" && !this.chosen) return; // the page removes the last mark
    event.preventDefault();
    event.stopPropagation();
    if (!this.focus) this.#enter();
    if (!this.focus) return;
    if (action) this[action]();
    else {
      if (this.chosen && !event.shiftKey) this.#letGo();
      this.#go(step, event.shiftKey);
    }
  }

  #letter(event) {
    const key = areSingleKeysOn() && keyOf(event);
    return Object.keys(LETTERS).filter((name) => keyFor(name) === key).map((name) => LETTERS[name])[0];
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
    const paragraph = this.#range(this.focus).startContainer.parentElement ?? this.text.root;
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
    if (this.chosen) {
      this.#letGo();
      return;
    }
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
    if (this.chosen) this.#forget();
    else if (this.anchor !== this.focus) this.#put(this.#lastWordOf(this.focus));
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
    const range = inUse && this.#range({ from: this.#start, to: this.#end });
    drawRanges("caret", inUse ? [range] : []);
    this.handles.show(this.chosen && range);
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
const LETTERS = { sentence: "selectSentence", end: "chooseOrTurn" };
const ACTIONS = {
  Enter: "markSelected",
  Delete: "removeChosen",
  Backspace: "removeChosen",
  Escape: "leaveOrCollapse",
};
