/* The form in which an answer is written: what stands in it, what may be changed there now, and what it still lacks. */

import { gettext } from "./words.js";

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
export const sentences = JSON.parse(byId("sentences-of-passage").textContent);
export const seen = JSON.parse(byId("first-answer")?.textContent ?? "null");
export const text = byId("answer");
export const sentenceBoxes = [...byId("sentences").querySelectorAll("input")];
export const confirmationBoxes = [...byId("confirmations").querySelectorAll("input")];
export const outcomes = [...byId("outcomes").querySelectorAll("input[data-key]")];
export const unsureBox = byId("outcomes").querySelector(".unsure input");
export const locked = text.readOnly;
const withAnswer = page.grades.trim().split(" ").map(Number);
const changed = page.changed === undefined ? null : Number(page.changed); // in round 2
export const nameOfChanged = () =>
  outcomes.find(({ value }) => Number(value) === changed).closest("label").querySelector(".choice-name").textContent.trim();

const ticked = (boxes) => boxes.filter(({ checked }) => checked).map(({ value }) => value);

export function onPage() {
  const outcome = outcomes.find(({ checked }) => checked);
  return {
    grade: outcome ? Number(outcome.value) : null,
    sentences: ticked(sentenceBoxes),
    text: text.value,
    confirmed: ticked(confirmationBoxes),
    unsure: unsureBox.checked,
  };
}

export function put(state) {
  for (const box of outcomes) box.checked = state.grade !== null && Number(box.value) === state.grade;
  for (const box of sentenceBoxes) box.checked = state.sentences.includes(box.value);
  for (const box of confirmationBoxes) box.checked = state.confirmed.includes(box.value);
  unsureBox.checked = state.unsure;
  if (text.value !== state.text) text.value = state.text;
}

export const takesAnswer = ({ grade }) => grade === null || withAnswer.includes(grade);
/** Whether sentences and words are the assessor's to change: not where the first answer is kept, nor before. */
export const isWritten = ({ grade }) => (seen ? grade === changed : takesAnswer({ grade }));

// --- What is missing -----------------------------------------------------------------------------

/** Return what is missing, and the element at which it is filled in; null if nothing is. */
export function lackOf(state) {
  const { grade } = state;
  if (grade === null) return { words: gettext("Choose an outcome."), at: outcomes[0], part: byId("outcomes") };
  if (!takesAnswer(state)) return null;
  if (isWritten(state)) {
    if (!state.sentences.length) {
      return { words: gettext("Tick at least one sentence that the answer is based on."), at: sentenceBoxes[0], part: byId("sentences") };
    }
    if (!state.text.trim()) return { words: gettext("Write the answer."), at: text, part: byId("own-words") };
    if (seen && grade === changed && isAsSeen(state)) {
      return { words: gettext("Nothing is changed yet: change the answer or its sentences, or keep it."), at: text, part: byId("own-words") };
    }
  }
  const open = confirmationBoxes.find(({ checked }) => !checked);
  return open ? { words: gettext("Confirm all points."), at: open, part: byId("confirmations") } : null;
}

function isAsSeen(state) {
  const places = (spans) => spans.map(({ start, end }) => `${start}-${end}`).sort().join();
  return state.text.trim() === seen.text.trim() && places(state.sentences.map((number) => sentences[number])) === places(seen.spans);
}
