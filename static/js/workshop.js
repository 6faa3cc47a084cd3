/* A topic of a nugget workshop: a highlight, by mouse or keyboard, becomes a nugget. */

import { Caret } from "./caret.js";
import { draw } from "./highlights.js";
import { isChanged, JudgedText } from "./judged_text.js";
import { areSingleKeysOn, listenToKeys } from "./keys.js";
import { markByPointer, markSelection } from "./marking.js";

const byId = (id) => document.getElementById(id);
const form = byId("proposal");
const wording = byId("wording");
const element = byId("text");

if (element && wording) {
  const text = new JudgedText(element);
  const highlight = byId("highlight");
  const tools = byId("highlight-tools");
  const said = byId("judge-says");

  const mark = (span) => {
    if (!span || isChanged(element, { marks: true })) return false;
    byId("source").value = element.dataset.key;
    byId("start").value = span.start;
    byId("end").value = span.end;
    byId("quote").value = text.quote(span);
    forgetJudge();
    show(span);
    return true;
  };

  const show = (span) => {
    draw(text, "support", [span]);
    highlight.textContent = text.quote(span);
    highlight.hidden = tools.hidden = false;
  };

  const unmark = () => {
    for (const id of ["source", "start", "end", "quote"]) byId(id).value = "";
    forgetJudge();
    draw(text, "support", []);
    highlight.hidden = tools.hidden = true;
    return true;
  };

  /** What a judge wrote was about the highlight that it was asked of. */
  const forgetJudge = () => {
    byId("wording-of-judge").value = "";
    said.replaceChildren();
  };

  const marks = () => (byId("end").value ? [{ start: Number(byId("start").value), end: Number(byId("end").value), quote: highlight.textContent }] : []);

  /** The highlight's words as a new nugget, to be made shorter. */
  const fromHighlight = () => {
    if (highlight.hidden) return;
    byId("wording-of-judge").value = "";
    form.querySelector('[name="kind"][value="new"]').checked = true;
    for (const box of form.querySelectorAll('[name="elements"]')) box.checked = false;
    wording.value = highlight.textContent.replace(/\s+/gu, " ");
    wording.focus();
    wording.select();
  };

  /** A nugget in the judge's words, to be changed or not. */
  const takeWords = () => {
    const words = byId("words-of-judge");
    form.querySelector('[name="kind"][value="new"]').checked = true;
    for (const box of form.querySelectorAll('[name="elements"]')) box.checked = false;
    byId("wording-of-judge").value = words.dataset.wording;
    wording.value = words.textContent;
    wording.focus();
  };

  new Caret(text, {
    mark,
    marks,
    change: (_, span) => (span ? mark(span) : unmark()),
    leave: () => wording.focus(),
  });
  markByPointer(text, { mark, undo: unmark, takesMarks: () => true });
  byId("from-highlight").addEventListener("click", fromHighlight);
  said.addEventListener("click", ({ target }) => target.id === "take-words" && takeWords());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !text.selected() || event.target.closest("textarea, input, select")) return;
    event.preventDefault();
    markSelection(text, mark, { exactly: event.altKey });
  });
  const [stored] = marks();
  if (stored && byId("source").value === element.dataset.key) show(stored);

  // What is changed begins with the words that it has.
  form.addEventListener("change", ({ target }) => {
    const kind = form.querySelector('[name="kind"]:checked')?.value;
    const chosen = [...form.querySelectorAll('[name="elements"]:checked')];
    byId("aggregators").hidden = kind !== "merge";
    if (!["kind", "elements"].includes(target.name) || kind !== "revise" || chosen.length !== 1) return;
    const { text: words, importance, weight } = chosen[0].dataset;
    wording.value = words;
    byId("importance").value = importance;
    byId("weight").value = weight;
  });
  byId("aggregators").hidden = form.querySelector('[name="kind"]:checked')?.value !== "merge";
  wording.addEventListener("keydown", (event) => {
    if (event.key === "Escape") wording.blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });

  listenToKeys({
    press: (digit) => areSingleKeysOn() && ({ 1: byId("relevant"), 0: byId("not-relevant") })[digit]?.click(),
    actions: {
      answer: () => (highlight.hidden ? wording.focus() : fromHighlight()),
      text: () => element.focus({ focusVisible: true, preventScroll: true }),
      next: () => byId("next")?.click(),
      previous: () => byId("previous")?.click(),
    },
    withCtrl: { Enter: () => form.requestSubmit() },
  });
}
