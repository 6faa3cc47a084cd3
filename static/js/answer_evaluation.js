/* The page on which answers are evaluated. One panel is seen at a time: an answer, an answer with its passages, or a
   pair. Every choice goes to the outbox at once; the first step ends when the assessor asks for the passages. */

import { comeBack, fetchAheadOnceDone, isLeaving, showAsItIs, submitAndGoOn } from "./ahead.js";
import { AutoAdvance, whyNotByItself } from "./auto_advance.js";
import { Clock } from "./clock.js";
import { allAnswers, askedOf, isAnswered, isAsked, isBegun, isDone, panelOf, panels, questions } from "./evaluation_panels.js";
import { fit, fitToWindow } from "./fit.js";
import { toggleGuidelines } from "./guidelines.js";
import { isChanged } from "./judged_text.js";
import { listenToKeys, NEXT_ARROW, PREVIOUS_ARROW } from "./keys.js";
import { offerToTakeBack, takeBackLastTask } from "./last_task.js";
import { explain } from "./meanings.js";
import { keep, kept } from "./memory.js";
import { Outbox } from "./outbox.js";
import { showSession } from "./session_strip.js";
import { openDialog, openDialogs, setSizeOf, tell, tellWhatIsSaved } from "./task_bar.js";
import { isAllSaved } from "./waiting.js";
import { gettext } from "./words.js";

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
showAsItIs(page.assignment);
const outbox = new Outbox(page.user, page.assignment);
for (const [key, { choice }] of outbox.waiting()) {
  const question = questions.find(({ answers }) => answers.some((one) => one.key === key));
  if (!question) continue;
  question.answers.find((one) => one.key === key).grade = choice.grade;
  question.unsure = Boolean(choice.unsure);
}
const clock = new Clock(questions.map(({ answers: [first], seconds }) => [first.key, Number(seconds)]));
const meaningOf = new Map(questions.filter(({ fieldset }) => fieldset.matches(".lines")).map((question) => [question, explain(question)]));
const undone = [];
let current = null;
let open = null;
let lastPressed = null; // what was answered by a key, if the page turned to the next question since
let cameOpen = false; // whether the panel was open when it came into view
const advance = new AutoAdvance(byId("goes-on"), goOn);

// --- Choosing ------------------------------------------------------------------------------------

/** Give the question these grades, one for each of its answers. */
function answer(question, grades, unsure = question.unsure) {
  if (page.fixed || isBack(question, { grades, unsure })) return;
  const panel = panelOf(question);
  undone.push({ panel, before: panel.questions.map(asItIs) });
  put(question, { grades, unsure });
  forgetWhatIsNotAsked(panel);
  if (byId("take-back")) byId("take-back").hidden = true; // this task is under way
  render();
}

const asItIs = ({ answers, unsure }) => ({ grades: answers.map(({ grade }) => grade), unsure });

function put(question, { grades, unsure }) {
  const isAsSure = question.unsure === unsure;
  question.unsure = unsure;
  question.answers.forEach((one, i) => {
    if (one.grade === grades[i] && isAsSure) return;
    one.grade = grades[i];
    const choice = { item: Number(one.item), criterion: Number(one.criterion), grade: one.grade, spans: [], seconds: clock.seconds(one.key), guidelines: Number(page.guidelines) || null, unsure, page_changed: isChanged(panelOf(question).element) };
    outbox.put(one.key, page.save, choice);
    channel?.postMessage({ key: one.key, grade: one.grade, unsure });
  });
}

/** Say whether the assessor is not sure. Of what is not answered yet, that goes with the answer. */
function flag(question, unsure) {
  if (isAnswered(question)) answer(question, asItIs(question).grades, unsure);
  else question.unsure = unsure;
  render();
}

function forgetWhatIsNotAsked(panel) {
  for (const question of panel.questions) {
    if (isAsked(panel, question)) continue;
    question.unsure = false;
    for (const one of question.answers) {
      one.grade = null;
      outbox.drop(one.key); // the server takes it back with the answer that closed it
    }
  }
}

function tick(question, box) {
  const emptied = !question.none.checked && !question.boxes.some(({ checked }) => checked);
  if (box === question.none) for (const one of question.boxes) one.checked = false;
  else question.none.checked = false;
  answer(question, question.answers.map(({ box: one }) => (emptied ? null : Number(one.checked))));
}

function undo() {
  if (isLeaving()) return comeBack();
  if (takeBackLastTask(byId("take-back"))) return undefined;
  const last = undone.pop();
  if (!last) return say(gettext("There is nothing to undo."));
  last.panel.questions.forEach((question, i) => isBack(question, last.before[i]) || put(question, last.before[i]));
  return show(last.panel);
}

const isBack = (question, { grades, unsure }) => question.unsure === unsure && question.answers.every(({ grade }, i) => grade === grades[i]);

// --- What is seen --------------------------------------------------------------------------------

function show(panel, question) {
  current = panel;
  lastPressed = null;
  cameOpen = !isDone(panel);
  open = question ?? askedOf(panel).find((one) => !isAnswered(one)) ?? askedOf(panel)[0];
  for (const one of panels) {
    one.element.hidden = one !== panel;
    one.tab.setAttribute("aria-selected", String(one === panel));
    one.tab.tabIndex = one === panel ? 0 : -1;
  }
  panel.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  keep(`assize:position:${page.assignment}`, panel.element.id);
  say("");
  render();
  fit(questionsIn(panel), { anew: true });
}

const questionsIn = ({ element }) => element.querySelector(".panel-questions");
fitToWindow(() => current && questionsIn(current));

function render() {
  for (const panel of panels) {
    const state = isDone(panel) ? "done" : isBegun(panel) ? "draft" : "";
    panel.tab.dataset.state = state;
    const words = { done: gettext("answered"), draft: gettext("not complete"), "": gettext("not answered") }[state];
    const tab = panel.tab.textContent.trim();
    const title = titleOf(panel);
    panel.tab.setAttribute("aria-label", `${title.includes(tab) ? title : `${tab}: ${title}`}, ${words}`);
  }
  const done = panels.filter(isDone).length;
  byId("progress").textContent = gettext("{n_done} of {n_all}", { n_done: done, n_all: panels.length });
  byId(byId("reveal") ? "reveal" : "submit-button").classList.toggle("primary", done === panels.length);
  byId("previous").disabled = current === panels[0];
  byId("next").disabled = current === panels.at(-1);
  if (!current) return;
  if (!isAsked(current, open)) open = askedOf(current).at(-1);
  for (const question of current.questions) renderQuestion(question);
  clock.turnTo(open.answers[0].key);
  fit(questionsIn(current));
}

function renderQuestion(question) {
  const { fieldset, inputs, boxes, answers, none, unsure, unsureBox } = question;
  unsureBox.checked = unsure;
  fieldset.hidden = !isAsked(current, question);
  fieldset.classList.toggle("current", question === open);
  fieldset.classList.toggle("answered", isAnswered(question));
  meaningOf.get(question)?.();
  if (boxes.length) {
    for (const { box, grade } of answers) box.checked = grade === 1;
    none.checked = answers.every(({ grade }) => grade === 0);
  } else {
    for (const input of inputs) input.checked = input.value !== "" && Number(input.value) === answers[0].grade;
  }
}

function say(words) {
  byId("says").textContent = words;
}

// --- Saving --------------------------------------------------------------------------------------

const titleOf = (panel) => panel.element.querySelector("h2").textContent.trim();
const where = (key) => {
  const question = questions.find(({ answers }) => answers.some((one) => one.key === key));
  return question ? gettext("“{title}”", { title: titleOf(panelOf(question)) }) : gettext("A choice in another task");
};
tellWhatIsSaved(outbox, { signIn: page.signIn, where });
if (byId("submit")) fetchAheadOnceDone(outbox, page.ahead, () => panels.every(isDone));

// Another tab with this assignment shows what is chosen here.
const channel = "BroadcastChannel" in window ? new BroadcastChannel(`assize:assignment:${page.assignment}`) : null;
channel?.addEventListener("message", ({ data: { key, grade, unsure } }) => {
  const question = questions.find(({ answers }) => answers.some((one) => one.key === key));
  if (!question) return;
  question.answers.find((one) => one.key === key).grade = grade;
  question.unsure = unsure;
  render();
});

/** Go on, if all is answered and saved: to the passages, or to the end. */
async function finish(event) {
  event?.preventDefault();
  const missing = panels.find((panel) => !isDone(panel));
  if (missing) {
    show(missing);
    const wanted = open.boxes.length ? gettext("Tick what applies, or “None of them”.") : gettext("Choose an answer.");
    return say(`${titleOf(missing)}: ${wanted}`);
  }
  if (!(await isAllSaved(outbox, finish))) return undefined;
  const reveal = byId("reveal");
  if (byId("back") && page.state === "submitted") return location.assign(byId("back").href);
  if (!reveal) return submitAndGoOn(byId("submit"), page.ahead && { user: page.user, item: allAnswers[0].item });
  if (reveal.href) return location.assign(reveal.href); // of a preview
  const form = byId("choices");
  form.action = reveal.formAction;
  return form.submit();
}

// --- Keys and pointer ----------------------------------------------------------------------------

function move(by) {
  const next = panels[panels.indexOf(current) + by];
  if (!next || (by > 0 && advance.hasJustGone)) return;
  const fromTab = document.activeElement?.role === "tab";
  if (!fromTab) document.activeElement?.blur();
  show(next);
  scrollTo({ top: 0, behavior: "instant" });
  if (fromTab) next.tab.focus();
  else tell(titleOf(next));
}

/** Go to the next open panel, or submit where none is left. To the passages, from where nobody comes back, goes only who
    says so. Returns whether it went to a panel. */
function goOn() {
  if (document.querySelector("dialog:modal") || !isDone(current)) return false;
  const left = panels.filter((panel) => !isDone(panel));
  const next = left.find((panel) => panels.indexOf(panel) > panels.indexOf(current)) ?? left[0];
  if (next) {
    const hadFocus = current.element.contains(document.activeElement);
    show(next);
    scrollTo({ top: 0, behavior: "instant" });
    if (hadFocus) next.tab.focus({ preventScroll: true });
    tell(titleOf(next));
    return true;
  }
  if (byId("reveal") || !page.ahead) return false;
  const why = whyNotByItself();
  if (why === undefined) finish();
  else say(why);
  return false;
}

function moveWithin(by) {
  const asked = askedOf(current);
  turnTo(asked[asked.indexOf(open) + by] ?? open);
}

function turnTo(question) {
  open = question;
  lastPressed = null;
  render();
  question.fieldset.scrollIntoView({ block: "nearest" });
}

function press(digit) {
  const input = open.inputs.find(({ dataset }) => dataset.key === digit);
  if (!input) return;
  const answered = open;
  input.checked = input.type === "checkbox" ? !input.checked : true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  tell(`${input.closest("label").querySelector(".choice-name").textContent.trim()}${input.checked ? "" : " –"}`);
  if (answered.boxes.length) return; // there may be more to tick
  const next = askedOf(current).find((question) => !isAnswered(question));
  if (!next) return;
  turnTo(next);
  lastPressed = answered;
}

function takeBack() {
  answer(open, open.answers.map(() => null), false);
}

function flagLast() {
  const question = lastPressed ?? open;
  question.unsureBox.click();
  tell(`${question.unsureBox.closest("label").querySelector("span").textContent}${question.unsure ? "" : " –"}`);
}

listenToKeys({
  press,
  actions: {
    next: () => move(1),
    previous: () => move(-1),
    back: () => byId("back")?.click(),
    guidelines: toggleGuidelines,
    undo,
    later: () => byId("later")?.requestSubmit(),
    skip: () => openDialog("skip"),
    help: () => openDialog("keys"),
    clear: takeBack,
    unsure: flagLast,
  },
  keys: {
    [NEXT_ARROW]: () => move(1),
    [PREVIOUS_ARROW]: () => move(-1),
    ArrowDown: () => moveWithin(1),
    ArrowUp: () => moveWithin(-1),
  },
  withCtrl: { Enter: finish, z: undo },
});

for (const question of questions) {
  question.fieldset.addEventListener("change", ({ target }) => {
    const wasOpen = cameOpen && !isDone(current);
    open = question;
    if (question.boxes.length) tick(question, target);
    else answer(question, [target.value === "" ? null : Number(target.value)]);
    const moreToTick = question.boxes.length && target !== question.none;
    if (wasOpen && isDone(current) && !moreToTick) advance.soon({ mayBeMarked: question.boxes.length > 0 });
  });
  question.unsureBox.addEventListener("change", (event) => {
    event.stopPropagation();
    flag(question, question.unsureBox.checked);
    if (question.unsure && advance.wasGoing && isDone(current)) advance.soon({ mayBeMarked: false });
  });
  question.fieldset.addEventListener("focusin", () => panelOf(question) === current && open !== question && turnTo(question));
}
for (const panel of panels) panel.tab.addEventListener("click", () => show(panel));
byId("choices").addEventListener("submit", finish);
byId("submit")?.addEventListener("submit", finish);
byId("previous").addEventListener("click", () => move(-1));
byId("next").addEventListener("click", () => move(1));

// --- The beginning -------------------------------------------------------------------------------

byId("assignment").classList.add("live");
for (const part of document.querySelectorAll("#tabs, #ways")) part.hidden = false;
for (const { element } of panels) element.setAttribute("role", "tabpanel");
setSizeOf(document.querySelectorAll(".reading.verbatim"));
openDialogs();
showSession(clock, page.user);
if (byId("take-back") && !panels.some(isBegun)) offerToTakeBack(byId("take-back"));
const position = kept(`assize:position:${page.assignment}`);
const first = panels.find(({ element }) => element.id === position) ?? panels.find((panel) => !isDone(panel)) ?? panels[0];
if (first) show(first);
else render();
if (outbox.size) outbox.send();
