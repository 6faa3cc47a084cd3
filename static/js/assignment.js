/* The page of an assignment. The server sends the text, the questions and the answers so far; every choice made
   here goes to the outbox at once. */

import { comeBack, fetchAheadOfAnswer, fetchAheadOnceDone, isLeaving, showAsItIs, submitAndGoOn, submitWithAnswer } from "./ahead.js";
import { AutoAdvance, whyNotByItself } from "./auto_advance.js";
import { Caret } from "./caret.js";
import { Choices } from "./choices.js";
import { Clock } from "./clock.js";
import { canDraw, draw, reveal } from "./highlights.js";
import { JudgedText } from "./judged_text.js";
import { toggleGuidelines } from "./guidelines.js";
import { listenToKeys, NEXT_ARROW, PREVIOUS_ARROW } from "./keys.js";
import { offerToTakeBack, takeBackLastTask } from "./last_task.js";
import { markByPointer, markSelection } from "./marking.js";
import { kept } from "./memory.js";
import { Outbox } from "./outbox.js";
import { showSession } from "./session_strip.js";
import { QuestionPanel } from "./question_panel.js";
import { allAnswers, askedOf, isBegun, isDone, markedOf, needsMark, openOf, questionOf, questions } from "./questions.js";
import { awaitsDecision, offerSuggestions, pressSuggestion } from "./suggestions.js";
import { openDialog, openDialogs, setSizeOf, tell, tellWhatIsSaved } from "./task_bar.js";
import { isAllSaved } from "./waiting.js";
import { gettext } from "./words.js";

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
const TYPED_IN = "input:not([type=radio], [type=checkbox]), textarea, select, dialog:modal";
showAsItIs(page.assignment);
const text = new JudgedText(byId("text"));
const outbox = new Outbox(page.user, page.assignment);
for (const [key, { choice }] of outbox.waiting()) {
  const answer = allAnswers.find((one) => one.key === key);
  if (answer) Object.assign(answer, { grade: choice.grade, spans: choice.spans, seconds: choice.seconds, unsure: Boolean(choice.unsure) });
  if (answer?.suggestion) answer.suggestion.decided = true;
}
const clock = new Clock(allAnswers.map(({ key, seconds }) => [key, seconds]));
const choices = new Choices({ page, text, outbox, clock });
const panel = new QuestionPanel({ page, text, clock, unmark: (answer, index) => choices.unmark(answer, index) });
choices.addEventListener("change", () => {
  panel.render();
  if (byId("take-back")) byId("take-back").hidden = true; // this task is under way
});
const advance = new AutoAdvance(byId("goes-on"), goOn);

/** Mark a span for the question in view, or say why not. Returns whether it was marked. */
function mark(span) {
  const answer = markedOf(panel.current);
  const refusal = answer && span ? choices.whyNotMarked(answer, span) : "";
  panel.say(refusal);
  if (!answer || !span || refusal) return false;
  choices.mark(answer, span);
  return true;
}

/** Let a mark become another, or none; say why where it may not. */
function change(from, to) {
  const answer = allAnswers.find(({ spans }) => spans.includes(from));
  if (!answer) return;
  const index = answer.spans.indexOf(from);
  const refusal = to ? choices.whyNotMarked(answer, to) : "";
  if (refusal) panel.say(refusal);
  else if (to) choices.replace(answer, index, to);
  else choices.unmark(answer, index);
}

function undo() {
  if (isLeaving()) return comeBack();
  if (takeBackLastTask(byId("take-back"))) return undefined;
  const question = choices.undo();
  return question ? panel.show(question) : panel.say(gettext("There is nothing to undo."));
}

function removeLast() {
  const answer = markedOf(panel.current);
  if (answer?.spans.length) choices.unmark(answer, answer.spans.length - 1);
}

function press(digit) {
  for (const answer of askedOf(panel.current)) {
    const input = answer.fieldset.querySelector(`input[data-key="${digit}"]`);
    if (input) {
      tell(input.closest("label").querySelector(".choice-name").textContent.trim());
      return choose(answer, Number(input.value));
    }
  }
}

function takeBack() {
  const answer = askedOf(panel.current).findLast(({ grade, spans }) => grade !== null || spans.length);
  if (answer) choices.takeBack(answer);
}

/** Say that the assessor is not sure of the grade given last here, or of the next if there is none; or that they are. */
function flagLast() {
  const asked = askedOf(panel.current);
  const answer = asked.findLast(({ grade }) => grade !== null) ?? openOf(panel.current);
  answer.unsureBox.click();
  tell(`${answer.unsureBox.closest("label").querySelector("span").textContent}${answer.unsure ? "" : " –"}`);
}

// --- From question to question -------------------------------------------------------------------

/** Choose a grade, and go on if that completes a question which was open when it came into view. */
function choose(answer, grade) {
  const question = panel.current;
  const wasOpen = panel.cameOpen && !isDone(question);
  choices.choose(answer, grade);
  if (wasOpen) goOnSoon(question);
}

function goOnSoon(question) {
  if (!isDone(question) || page.state === "submitted") return;
  const moment = advance.soon({ mayBeMarked: markedOf(question)?.highlighting === "optional" && !markedOf(question).spans.length });
  if (moment && questions.every(isDone)) outbox.delay(2 * moment); // it goes with the submission
}

/** Go to the next open question, or submit where none is left. Returns whether it went to a question. */
function goOn() {
  const { current } = panel;
  const isBusy = document.querySelector("dialog:modal") || document.activeElement.closest(TYPED_IN);
  if (isBusy || !isDone(current) || (markedOf(current) && text.selected())) return false;
  const open = questions.filter((question) => !isDone(question));
  const next = open.find((question) => questions.indexOf(question) > questions.indexOf(current)) ?? open[0];
  if (!next) {
    submitByItself();
    return false;
  }
  const hadFocus = current.panel.contains(document.activeElement);
  panel.show(next);
  if (hadFocus) panel.home.focus({ preventScroll: true });
  sayQuestion(next);
  return true;
}

function move(by) {
  const next = questions[questions.indexOf(panel.current) + by];
  if (!next || (by > 0 && advance.hasJustGone)) return;
  const fromTab = document.activeElement?.role === "tab";
  panel.show(next);
  if (fromTab) next.tab.focus();
  else sayQuestion(next);
}

/** Say the question to those who hear the page. */
function sayQuestion({ number, panel: shown }) {
  const words = shown.querySelector(".question-text").cloneNode(true);
  words.querySelector(".question-number")?.remove();
  const asked = words.textContent.trim();
  tell(questions.length > 1 ? gettext("Question {number}: {words}", { number, words: asked }) : asked);
}

function jump(event) {
  event.preventDefault();
  const to = questions.find(({ number }) => number === byId("jump-to").value.trim());
  byId("jump-to").value = "";
  if (!to) return panel.say(gettext("There is no question with this number."));
  byId("jump-to").blur();
  panel.show(to);
}

function linkQuestions() {
  for (const question of questions) {
    question.panel.setAttribute("role", "tabpanel");
    question.panel.setAttribute("aria-labelledby", question.tab.id);
    question.tab.addEventListener("click", () => panel.show(question));
  }
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("jump").addEventListener("submit", jump);
  byId("jump-to").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
}

let shownCandidate = -1;

function nextCandidate() {
  const { candidates } = panel.current;
  if (!candidates.length) return;
  shownCandidate = (shownCandidate + 1) % candidates.length;
  const span = candidates[shownCandidate];
  reveal(text.range(span));
  draw(text, "active", [span]);
}

// --- Saving and submitting -----------------------------------------------------------------------

function placeOf(key) {
  const answer = allAnswers.find((one) => one.key === key);
  return answer ? gettext("Question {number}", { number: questionOf(answer).number }) : gettext("A choice in another task");
}

async function submit(event) {
  event?.preventDefault();
  const missing = questions.find((question) => !isDone(question));
  if (missing) {
    panel.show(missing);
    return panel.say(lackOf(missing));
  }
  const last = page.ahead && { user: page.user, item: panel.current.item };
  const isGone = async () => page.ahead && submitWithAnswer(outbox, last);
  if (await isGone()) return undefined;
  if (!(await isAllSaved(outbox, submit)) || (await isGone())) return undefined;
  if (byId("back") && page.state === "submitted") return location.assign(byId("back").href);
  return submitAndGoOn(byId("submit"), last);
}

/** Submit without being asked to: only work that is open. */
function submitByItself() {
  if (!page.ahead) return undefined;
  const why = whyNotByItself();
  return why === undefined ? submit() : panel.say(why);
}

function lackOf(question) {
  const answer = openOf(question);
  if (answer.grade !== null && awaitsDecision(answer)) return answer.suggestion.panel.dataset.lack;
  const asked = answer.fieldset.querySelector("legend").textContent.trim();
  const words = needsMark(answer) ? gettext("Mark the words that answer it at least once.") : gettext("“{asked}” is not answered yet.", { asked });
  return questions.length === 1 ? words : gettext("Question {number}: {words}", { number: question.number, words });
}

// --- Keys, pointer and touch ---------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !text.selected()) return;
  if (event.target.closest(TYPED_IN)) return;
  event.preventDefault();
  markSelection(text, mark, { exactly: event.altKey });
});

listenToKeys({
  press,
  actions: {
    next: () => move(1),
    previous: () => move(-1),
    text: () => markedOf(panel.current) && text.element.focus({ focusVisible: true, preventScroll: true }),
    find,
    jump: () => byId("jump-to")?.focus(),
    guidelines: toggleGuidelines,
    others: () => panel.toggleOthers(),
    undo,
    candidate: nextCandidate,
    later: () => byId("later")?.requestSubmit(),
    skip: () => openDialog("skip"),
    back: () => byId("back")?.click(),
    help: () => openDialog("keys"),
    clear: takeBack,
    unsure: flagLast,
    keep: () => pressSuggestion(askedOf(panel.current), "keep"),
    accept: () => pressSuggestion(askedOf(panel.current), "accept"),
  },
  keys: { [NEXT_ARROW]: () => move(1), [PREVIOUS_ARROW]: () => move(-1), Backspace: removeLast },
  withCtrl: { Enter: submit, z: undo },
  but: TYPED_IN,
});

markByPointer(text, { mark, undo, takesMarks: () => Boolean(markedOf(panel.current)) });

for (const answer of allAnswers) {
  answer.fieldset.addEventListener("change", ({ target }) => choose(answer, target.value === "" ? null : Number(target.value)));
  answer.fieldset.querySelector(".clear").addEventListener("click", () => choose(answer, null));
  answer.unsureBox.addEventListener("change", (event) => {
    event.stopPropagation();
    choices.flag(answer, answer.unsureBox.checked);
    if (answer.unsure && advance.wasGoing) goOnSoon(panel.current);
  });
}
offerSuggestions(allAnswers, choose);
byId("choices").addEventListener("submit", (event) => event.preventDefault());
byId("submit").addEventListener("submit", submit);
byId("next-candidate")?.addEventListener("click", nextCandidate);
byId("panel-toggle").addEventListener("click", ({ currentTarget }) => {
  const opens = currentTarget.getAttribute("aria-expanded") === "false";
  currentTarget.setAttribute("aria-expanded", String(opens));
  currentTarget.setAttribute("aria-label", opens ? gettext("Hide the question") : gettext("Show the question"));
  byId("panel").hidden = !opens;
});
addEventListener("hashchange", () => {
  const to = questions.find(({ item }) => location.hash === `#question-${item}`);
  if (to) panel.show(to);
});
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--panel", `${byId("questions").offsetHeight}px`);
}).observe(byId("questions"));
const caret = questions.some(markedOf) ? new Caret(text, { mark, marks: () => markedOf(panel.current)?.spans ?? [], change, leave: () => panel.home.focus() }) : null;
let openFind;

async function find() {
  openFind ??= (await import("./find.js")).findIn(text, {
    take: (hit) => {
      if (hit && caret) caret.goTo(hit);
      else text.element.focus({ preventScroll: true });
    },
  });
  openFind();
}

// --- The beginning -------------------------------------------------------------------------------

function firstQuestion() {
  const compares = page.state === "open" && allAnswers.some(awaitsDecision);
  const wanted = location.hash || compares || `#question-${kept(`assize:position:${page.assignment}`)}`;
  return (
    questions.find(({ item }) => wanted === `#question-${item}`) ?? questions.find((question) => !isDone(question)) ?? questions[0]
  );
}

tellWhatIsSaved(outbox, { signIn: page.signIn, where: placeOf });
fetchAheadOnceDone(outbox, page.ahead, () => questions.every(isDone));
const fetchSoon = () => page.ahead && questions.filter((question) => !isDone(question)).length < 2 && fetchAheadOfAnswer();
choices.addEventListener("change", fetchSoon);
fetchSoon();
byId("assignment").classList.add("live");
const first = firstQuestion();
if (location.hash) {
  history.replaceState(null, "", location.pathname + location.search); // or the browser would scroll to it
  scrollTo(0, 0);
}
for (const part of document.querySelectorAll("#asked, #ways, #panel-toggle")) part.hidden = false;
if (questions.length > 1) linkQuestions();
else first.panel.tabIndex = -1;
openDialogs();
showSession(clock, page.user);
setSizeOf([text.element]);
if (byId("take-back") && !questions.some(isBegun)) offerToTakeBack(byId("take-back"));
panel.show(first);
if (!canDraw) panel.say(gettext("This browser cannot draw marks in the text. They are listed under the question and saved all the same."));
if (outbox.size) outbox.send();
byId("open-find").hidden = false;
byId("open-find").addEventListener("click", find);
performance.mark("usable");
