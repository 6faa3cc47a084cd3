/* The questions of an assignment with the answers so far, as the server wrote them into the page, and what can be
   said of them. An answer is one criterion of a question. */

import { awaitsDecision } from "./suggestions.js";

const page = document.getElementById("assignment").dataset;
const candidates = JSON.parse(document.getElementById("candidates").textContent);
const answersSoFar = JSON.parse(document.getElementById("answers").textContent);
const toSpan = ([start, end, quote]) => ({ start, end, quote });

export const questions = [...document.querySelectorAll(".question")].map((panel) => {
  const item = panel.dataset.item;
  return {
    item,
    panel,
    number: panel.dataset.number,
    tab: document.getElementById(`tab-${item}`),
    candidates: (candidates[item] ?? []).map(toSpan),
    answers: [...panel.querySelectorAll("fieldset[data-criterion]")].map((fieldset) => {
      const criterion = fieldset.dataset.criterion;
      const { before = null, grade, spans, seconds, suggestion, unsure } = answersSoFar[item][criterion];
      if (suggestion) suggestion.panel = panel.querySelector(`[data-suggestion="${criterion}"]`);
      return {
        key: `${page.assignment}/${item}/${criterion}`,
        item,
        criterion,
        fieldset,
        marked: panel.querySelector(`[data-marked="${criterion}"]`),
        unsureBox: fieldset.querySelector(".unsure input"),
        threshold: Number(fieldset.dataset.threshold),
        highlighting: fieldset.dataset.highlighting,
        follows: fieldset.dataset.follows,
        afterNo: "afterNo" in fieldset.dataset,
        before, // what was said of it at another text
        grade,
        seconds,
        spans: spans.map(toSpan),
        unsure,
        suggestion,
      };
    }),
  };
});
export const allAnswers = questions.flatMap((question) => question.answers);
export const questionOf = (answer) => questions.find(({ answers }) => answers.includes(answer));

export const isPositive = (answer) => answer.grade !== null && answer.grade >= answer.threshold;
export const needsMark = (answer) => answer.highlighting === "when positive" && isPositive(answer) && !answer.spans.length;
const isComplete = (answer) => answer.grade !== null && !needsMark(answer) && !awaitsDecision(answer);
const gateOf = (question, answer) => question.answers.find(({ criterion }) => criterion === answer.follows);
const opens = (gate, answer) => gate.grade !== null && isPositive(gate) !== answer.afterNo;
export const isAsked = (question, answer) => !answer.follows || opens(gateOf(question, answer), answer);
export const askedOf = (question) => question.answers.filter((answer) => isAsked(question, answer));
export const isDone = (question) => askedOf(question).every(isComplete);
export const isBegun = (question) => question.answers.some(({ grade, spans }) => grade !== null || spans.length);
/** The answer that takes highlights, if any does. */
export const markedOf = (question) => question.answers.find(({ highlighting }) => highlighting !== "none");
/** The answer that the assessor is working on. */
export const openOf = (question) => askedOf(question).find((answer) => !isComplete(answer)) ?? askedOf(question).at(-1);

const positiveInputs = (answer) =>
  [...answer.fieldset.querySelectorAll("input")].filter(({ value }) => value !== "" && Number(value) >= answer.threshold);
export const firstPositive = (answer) => Number(positiveInputs(answer)[0].value);
export const nameOfFirstPositive = (answer) => positiveInputs(answer)[0].closest("label").querySelector(".choice-name").textContent.trim();
