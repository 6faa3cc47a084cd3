/* The panels of an evaluation of answers with their questions, as the server wrote them into the page, and what can
   be said of them. An answer is one grade: that of a question, or that of one box to be ticked. */

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
const answerOf = (item, criterion, box) => ({ key: `${page.assignment}/${item}/${criterion}`, item, criterion, box, grade: null });

/** A question: one grade by radio buttons, or one for each of several check boxes ("none of them" is a box too). */
function questionOf(fieldset) {
  const inputs = [...fieldset.querySelectorAll(".choice input")];
  const boxes = inputs.filter(({ type, value }) => type === "checkbox" && value !== "none");
  const { item, criterion, name, threshold, closedBy = "", seconds } = fieldset.dataset;
  const answers = boxes.length
    ? boxes.map((box) => answerOf(box.dataset.item, box.dataset.criterion, box))
    : [answerOf(item, criterion)];
  const question = { fieldset, inputs, boxes, answers, name, threshold, seconds, closedBy: closedBy.split(" ").filter(Boolean) };
  question.none = inputs.find(({ value }) => value === "none");
  question.unsureBox = fieldset.querySelector(".unsure input");
  question.unsure = question.unsureBox.checked;
  readInputs(question);
  return question;
}

/** Take the grades over from what is ticked on the page. */
function readInputs({ boxes, answers, none, inputs }) {
  if (boxes.length) {
    const answered = none.checked || boxes.some(({ checked }) => checked);
    for (const answer of answers) answer.grade = answered ? Number(answer.box.checked) : null;
  } else {
    const { value } = inputs.find(({ checked }) => checked) ?? { value: "" };
    answers[0].grade = value === "" ? null : Number(value);
  }
}

export const panels = [...document.querySelectorAll(".panel")].map((element) => ({
  element,
  tab: byId(`tab-${element.id}`),
  questions: [...element.querySelectorAll("fieldset")].map(questionOf),
}));
export const questions = panels.flatMap((panel) => panel.questions);
export const allAnswers = questions.flatMap(({ answers }) => answers);

export const isAnswered = ({ answers }) => answers.every(({ grade }) => grade !== null);
export const isAsked = (panel, { closedBy }) =>
  !panel.questions.some(({ name, answers, threshold }) => closedBy.includes(name) && answers[0].grade !== null && answers[0].grade >= Number(threshold));
export const askedOf = (panel) => panel.questions.filter((question) => isAsked(panel, question));
export const isDone = (panel) => askedOf(panel).every(isAnswered);
export const isBegun = (panel) => panel.questions.some(({ answers }) => answers.some(({ grade }) => grade !== null));
export const panelOf = (question) => panels.find((panel) => panel.questions.includes(question));
