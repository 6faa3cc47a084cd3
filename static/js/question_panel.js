/* One question of an assignment is in view, with its answers, its marks in the text and the tabs of all questions. */

import { fit, fitToWindow } from "./fit.js";
import { draw, overlaps, reveal } from "./highlights.js";
import { keyCap } from "./keys.js";
import { explain } from "./meanings.js";
import { keep, kept } from "./memory.js";
import { allAnswers, isAsked, isBegun, isDone, isPositive, markedOf, needsMark, openOf, questions } from "./questions.js";
import { renderSuggestion } from "./suggestions.js";
import { element } from "./elements.js";
import { gettext } from "./words.js";

const byId = (id) => document.getElementById(id);
const isAlone = questions.length === 1; // then the page has no tabs and no ways to other questions
const showsOthers = () => kept("assize:others") === "shown";

export class QuestionPanel {
  /** `unmark` gets an answer and the index of the span to be taken off. */
  constructor({ page, text, clock, unmark }) {
    Object.assign(this, { page, text, clock, unmark });
    this.meaningOf = new Map(allAnswers.map((answer) => [answer, explain(answer)]));
    for (const answer of allAnswers) {
      answer.fieldset.querySelector(".change-it")?.addEventListener("click", () => {
        answer.isChanged = true;
        this.render();
        answer.fieldset.querySelector("input:checked").focus();
      });
    }
    this.current = null;
    fitToWindow(() => this.current?.panel);
    this.cameOpen = false; // whether the question was open when it came into view
  }

  show(question) {
    const comesBack = this.current && this.current !== question;
    this.current = question;
    this.cameOpen = !isDone(question);
    this.text.turnTo(question.item);
    for (const one of questions) {
      one.panel.hidden = one !== question;
      one.tab?.setAttribute("aria-selected", String(one === question));
      if (one.tab) one.tab.tabIndex = one === question ? 0 : -1;
    }
    if (question.tab) bringIntoView(question.tab);
    keep(`assize:position:${this.page.assignment}`, question.item);
    if (byId("candidates-help")) byId("candidates-help").hidden = !question.candidates.length;
    this.say("");
    this.render();
    fit(question.panel, { anew: true });
    if (byId("report")) import("./report_sentences.js").then(({ showSentence }) => showSentence(question.item));
    const [first] = markedOf(question)?.spans ?? [];
    if (comesBack && first) reveal(this.text.range(first));
  }

  say(words) {
    byId("says").textContent = words;
  }

  /** Where the focus goes when what had it is gone. */
  get home() {
    return this.current.tab ?? this.current.panel;
  }

  render() {
    if (!isAlone) this.#renderTabs();
    const done = questions.filter(isDone).length;
    byId("progress").textContent = gettext("{n_done} of {n_all}", { n_done: done, n_all: questions.length });
    byId("submit-button").classList.toggle("primary", done === questions.length);
    for (const answer of this.current.answers) this.#renderAnswer(answer);
    this.clock.turnTo(openOf(this.current).key);
    this.#drawAll();
    fit(this.current.panel);
  }

  #renderTabs() {
    for (const question of questions) {
      const state = isDone(question) ? "done" : isBegun(question) ? "draft" : "";
      const words = { done: gettext("answered"), draft: gettext("not complete"), "": gettext("not answered") }[state];
      question.tab.dataset.state = state;
      question.tab.setAttribute("aria-label", `${question.number}, ${words}`);
    }
    byId("previous").disabled = this.current === questions[0];
    byId("next").disabled = this.current === questions.at(-1);
  }

  #renderAnswer(answer) {
    answer.fieldset.hidden = !isAsked(this.current, answer);
    answer.unsureBox.checked = answer.unsure;
    for (const input of answer.fieldset.querySelectorAll(".choice input")) {
      input.checked = input.value !== "" && Number(input.value) === answer.grade;
    }
    renderSuggestion(answer);
    const hasNothingToClear = !answer.fieldset.querySelector(".choice :checked");
    if (hasNothingToClear && document.activeElement?.matches(".clear") && answer.fieldset.contains(document.activeElement)) {
      answer.fieldset.querySelector(".choice input").focus(); // before its button goes
    }
    const isAsBefore = answer.before !== null && !answer.isChanged && (answer.grade ?? answer.before) === answer.before;
    answer.fieldset.classList.toggle("as-before", isAsBefore);
    this.meaningOf.get(answer)();
    if (!answer.marked) return;
    const optional = answer.highlighting === "optional";
    answer.marked.hidden = !optional && answer.grade !== null && !isPositive(answer);
    answer.marked.querySelector(".marked-help").replaceChildren(...helpFor(answer, optional));
    answer.marked.classList.toggle("missing", needsMark(answer));
    answer.marked.querySelector(".chips").replaceChildren(...answer.spans.map((span, i) => this.#chip(answer, span, i)));
  }

  #chip(answer, span, index) {
    const { text } = this;
    const { quote } = span;
    const goThere = element("button", { type: "button", className: "chip-text", textContent: shortened(quote), title: quote, dir: "auto" });
    const remove = element("button", { type: "button", className: "chip-remove", textContent: "×" });
    remove.setAttribute("aria-label", gettext("Remove “{quote}”", { quote: shortened(quote) }));
    goThere.addEventListener("click", () => reveal(text.range(span)));
    remove.addEventListener("click", () => {
      this.unmark(answer, index);
      (answer.marked.querySelectorAll(".chip-remove")[Math.max(0, index - 1)] ?? this.home).focus();
    });
    const item = element("li", { className: `chip ${this.page.purpose}` }, goThere, remove);
    for (const sign of ["pointerenter", "focusin"]) item.addEventListener(sign, () => draw(text, "active", [span]));
    for (const sign of ["pointerleave", "focusout"]) item.addEventListener(sign, () => draw(text, "active", []));
    return item;
  }

  #drawAll() {
    const { current, text } = this;
    const isAboutThisText = ({ item }) => text.partOf(item) === text.partOf(current.item);
    const spans = markedOf(current)?.spans ?? [];
    const others = questions.filter((question) => question !== current && isAboutThisText(question)).flatMap((question) => markedOf(question)?.spans ?? []);
    draw(text, this.page.purpose, spans);
    drawTicks(text, spans);
    draw(text, "overlap", overlaps(spans));
    draw(text, "elsewhere", showsOthers() ? others : []);
    draw(text, "candidate", current.candidates);
    draw(text, "active", []);
  }

  toggleOthers() {
    keep("assize:others", showsOthers() ? "hidden" : "shown");
    this.#drawAll();
    this.say(showsOthers() ? gettext("Your marks at other questions are shown.") : gettext("Your marks at other questions are hidden."));
  }
}

// Ticks beside the page's scroll bar say where the question's marks stand, as their list does; a click goes there.
const ticks = element("div", { className: "ticks" });
ticks.setAttribute("aria-hidden", "true");
document.body.append(ticks);

function drawTicks(text, spans) {
  const { scrollHeight } = document.documentElement;
  ticks.hidden = scrollHeight <= innerHeight;
  if (ticks.hidden) return;
  ticks.replaceChildren(...spans.map((span) => {
    const range = text.range(span);
    const tick = element("div", { className: "tick" });
    tick.style.top = `${(100 * (range.getBoundingClientRect().top + scrollY)) / scrollHeight}%`;
    tick.addEventListener("click", () => reveal(range));
    return tick;
  }));
}

/** Scroll the strip of tabs, where it is one, and nothing else. */
function bringIntoView(tab) {
  const strip = tab.parentElement;
  const [seen, here] = [strip, tab].map((one) => one.getBoundingClientRect());
  strip.scrollBy({ left: here.left + here.width / 2 - seen.left - seen.width / 2, behavior: "instant" });
}

function helpFor(answer, optional) {
  if (answer.spans.length) return [gettext("Marked in the text:")];
  const wanted = optional ? gettext("If you like, mark the words behind your grade:") : gettext("Mark the words that answer it:");
  if (matchMedia("(pointer: coarse)").matches) return [wanted, " ", gettext("select words in the text, then press “Mark”.")];
  const how = gettext("select them with the mouse, or press {text}, then {sentence} for a sentence and {enter}.");
  const caps = { text: () => keyCap("text"), sentence: () => keyCap("sentence"), enter: () => element("kbd", { textContent: "⏎" }) };
  return [wanted, " ", ...how.split(/\{(\w+)\}/u).map((part, i) => (i % 2 ? caps[part]() : part))];
}

const shortened = (quote) => (quote.length > 90 ? `${[...quote].slice(0, 88).join("")}…` : quote).replace(/\s+/gu, " ");
