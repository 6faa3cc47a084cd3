/* The page of an assignment. The server sends the text, the questions and the answers so far; every choice made
   here goes to the outbox at once. */

import { fetchAhead, isOutOfDate, submitAndGoOn } from "./ahead.js";
import { Caret } from "./caret.js";
import { Clock } from "./clock.js";
import { canDraw, draw, overlaps, reveal } from "./highlights.js";
import { JudgedText } from "./judged_text.js";
import { keep, kept } from "./memory.js";
import { Outbox } from "./outbox.js";
import {
  allAnswers,
  askedOf,
  firstPositive,
  isAsked,
  isBegun,
  isDone,
  isPositive,
  markedOf,
  nameOfFirstPositive,
  needsMark,
  openOf,
  questions,
} from "./questions.js";

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
const text = new JudgedText(byId("text"));
const outbox = new Outbox(page.user);
const marksFit = text.length === Number(page.length);

for (const [key, choice] of outbox.entries()) {
  const answer = allAnswers.find((one) => one.key === key);
  if (answer) Object.assign(answer, { grade: choice.grade, spans: choice.spans, seconds: choice.seconds });
}
const clock = new Clock(allAnswers.map(({ key, seconds }) => [key, seconds]));
const undone = [];
const isAlone = questions.length === 1; // then the page has no tabs and no ways to other questions
const homeOf = ({ tab, panel }) => tab ?? panel;
let current = null;

function remember(question) {
  undone.push({ question, answers: question.answers.map(({ grade, spans }) => ({ grade, spans })) });
}

function save(answer) {
  const spans = answer.spans.map((span) => ({ ...span, quote: text.quote(span) }));
  const { item, criterion, grade, key } = answer;
  const choice = { item: Number(item), criterion: Number(criterion), grade, spans, seconds: clock.seconds(key) };
  outbox.put(key, page.save, choice);
  channel?.postMessage(choice);
}

function choose(answer, grade) {
  const question = questions.find(({ answers }) => answers.includes(answer));
  if (answer.grade === grade) return;
  remember(question);
  answer.grade = grade;
  if (answer.highlighting === "when positive" && !isPositive(answer)) answer.spans = [];
  save(answer);
  forgetWhatIsNotAsked(question);
  render();
}

function forgetWhatIsNotAsked(question) {
  for (const answer of question.answers) {
    if (isAsked(question, answer)) continue;
    answer.grade = null;
    outbox.drop(answer.key); // the server takes it back with the answer that it follows
  }
}

/** Mark a span for the question, or say why not. Returns whether it was marked. */
function mark(span) {
  const answer = markedOf(current);
  const refusal = answer && span ? whyNotMarked(answer, span) : "";
  say(refusal);
  if (!answer || !span || refusal) return false;
  remember(current);
  if (answer.highlighting === "when positive") answer.grade ??= firstPositive(answer);
  answer.spans = [...answer.spans, span];
  save(answer);
  render();
  return true;
}

function whyNotMarked(answer, span) {
  if (!marksFit) return "The text came through changed, so nothing can be marked in it. Tell the researcher.";
  if (answer.spans.some(({ start, end }) => start === span.start && end === span.end)) return "This is marked already.";
  const refuses = answer.highlighting === "when positive" && answer.grade !== null && !isPositive(answer);
  return refuses ? `To mark words, choose “${nameOfFirstPositive(answer)}” first.` : "";
}

function unmark(answer, index) {
  remember(current);
  answer.spans = answer.spans.filter((_, i) => i !== index);
  save(answer);
  render();
}

function undo() {
  const last = undone.pop();
  if (!last) return say("There is nothing to undo.");
  last.question.answers.forEach((answer, i) => {
    const before = last.answers[i];
    if (answer.grade === before.grade && answer.spans === before.spans) return;
    Object.assign(answer, before);
    if (isAsked(last.question, answer)) save(answer);
  });
  show(last.question);
}

// --- What is seen --------------------------------------------------------------------------------

function show(question) {
  current = question;
  for (const one of questions) {
    one.panel.hidden = one !== question;
    one.tab?.setAttribute("aria-selected", String(one === question));
    if (one.tab) one.tab.tabIndex = one === question ? 0 : -1;
  }
  keep(`assize:position:${page.assignment}`, question.item);
  if (byId("candidates-help")) byId("candidates-help").hidden = !question.candidates.length;
  say("");
  render();
}

function render() {
  if (!isAlone) renderTabs();
  const done = questions.filter(isDone).length;
  byId("progress").textContent = `${done} of ${questions.length}`;
  byId("submit-button").classList.toggle("primary", done === questions.length);
  for (const answer of current.answers) renderAnswer(answer);
  clock.turnTo(openOf(current).key);
  drawAll();
}

function renderTabs() {
  for (const question of questions) {
    const state = isDone(question) ? "done" : isBegun(question) ? "draft" : "";
    const words = { done: "answered", draft: "not complete", "": "not answered" }[state];
    question.tab.dataset.state = state;
    question.tab.setAttribute("aria-label", `${question.number}, ${words}`);
  }
  byId("previous").disabled = current === questions[0];
  byId("next").disabled = current === questions.at(-1);
}

function renderAnswer(answer) {
  answer.fieldset.hidden = !isAsked(current, answer);
  for (const input of answer.fieldset.querySelectorAll("input")) {
    input.checked = input.value === "" ? answer.grade === null : Number(input.value) === answer.grade;
  }
  if (!answer.marked) return;
  const optional = answer.highlighting === "optional";
  answer.marked.hidden = !optional && answer.grade !== null && !isPositive(answer);
  answer.marked.querySelector(".marked-help").replaceChildren(...helpFor(answer, optional));
  answer.marked.classList.toggle("missing", needsMark(answer));
  answer.marked.querySelector(".chips").replaceChildren(...answer.spans.map((span, i) => chip(answer, span, i)));
}

function helpFor(answer, optional) {
  if (answer.spans.length) return ["Marked in the text:"];
  const how = matchMedia("(pointer: coarse)").matches
    ? ["select words in the text, then press “Mark”."]
    : ["select them with the mouse, or press ", key("T"), ", then ", key("S"), " for a sentence and ", key("⏎"), "."];
  return [optional ? "If you like, mark the words behind your grade: " : "Mark the words that answer it: ", ...how];
}

const key = (textContent) => element("kbd", { textContent });

function chip(answer, span, index) {
  const quote = text.quote(span);
  const goThere = element("button", { type: "button", className: "chip-text", textContent: shortened(quote), title: quote, dir: "auto" });
  const remove = element("button", { type: "button", className: "chip-remove", textContent: "×" });
  remove.setAttribute("aria-label", `Remove “${shortened(quote)}”`);
  goThere.addEventListener("click", () => reveal(text.range(span)));
  remove.addEventListener("click", () => {
    unmark(answer, index);
    (answer.marked.querySelectorAll(".chip-remove")[Math.max(0, index - 1)] ?? homeOf(current)).focus();
  });
  const item = element("li", { className: `chip ${page.purpose}` }, goThere, remove);
  for (const sign of ["pointerenter", "focusin"]) item.addEventListener(sign, () => draw(text, "active", [span]));
  for (const sign of ["pointerleave", "focusout"]) item.addEventListener(sign, () => draw(text, "active", []));
  return item;
}

const shortened = (quote) => (quote.length > 90 ? `${[...quote].slice(0, 88).join("")}…` : quote).replace(/\s+/gu, " ");

function drawAll() {
  const spans = markedOf(current)?.spans ?? [];
  const others = questions.filter((question) => question !== current).flatMap((question) => markedOf(question)?.spans ?? []);
  draw(text, page.purpose, spans);
  draw(text, "overlap", overlaps(spans));
  draw(text, "elsewhere", showsOthers() ? others : []);
  draw(text, "candidate", current.candidates);
  draw(text, "active", []);
}

function say(words) {
  byId("says").textContent = words;
}

function element(name, fields, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

// --- What this browser remembers -----------------------------------------------------------------

const showsOthers = () => kept("assize:others") === "shown";

function toggleOthers() {
  keep("assize:others", showsOthers() ? "hidden" : "shown");
  drawAll();
  say(showsOthers() ? "What you marked at other questions is shown." : "What you marked at other questions is hidden.");
}

const SIZES = ["1rem", "1.125rem", "1.25rem", "1.4rem", "1.6rem"];

function resize(by) {
  const now = Number(kept("assize:size") ?? 1);
  const size = Math.max(0, Math.min(SIZES.length - 1, now + by));
  keep("assize:size", String(size));
  text.element.style.fontSize = SIZES[size];
  byId("smaller").disabled = size === 0;
  byId("larger").disabled = size === SIZES.length - 1;
}

// --- Saving --------------------------------------------------------------------------------------

const saving = byId("saving");

function link(words, href) {
  return element("a", { textContent: words, href, target: "_blank" });
}

outbox.addEventListener("state", ({ detail: { state, size, reason } }) => {
  const waiting = `${size} ${size === 1 ? "choice waits" : "choices wait"} here`;
  const look = { saved: "saved", saving: "saving", offline: "offline" }[state] ?? "error";
  if (look === "saved" && saving.dataset.state === "error") return;
  saving.dataset.state = look;
  if (state === "saved" && page.ahead && questions.every(isDone)) {
    fetchAhead(page.ahead, document.querySelector("#submit [name=csrfmiddlewaretoken]").value);
  }
  if (state === "saved") saving.textContent = "Saved";
  else if (state === "saving") saving.textContent = "Saving…";
  else if (state === "offline") saving.textContent = `Offline – ${waiting}`;
  else if (state === "closed") saving.textContent = `${reason} ${waiting}.`;
  else saving.replaceChildren("Signed out – ", waiting, ". ", link("Sign in", page.signIn));
});

outbox.addEventListener("refused", ({ detail: { key, refused } }) => {
  const question = questions.find(({ answers }) => answers.some((answer) => answer.key === key));
  saving.dataset.state = "error";
  const where = question ? `Question ${question.number}` : "A choice at another task";
  const reload = element("button", { type: "button", className: "link", textContent: "Show what is kept" });
  reload.addEventListener("click", () => location.reload());
  saving.replaceChildren(`${where} was refused: ${refused} `, reload);
});

// Another tab with this assignment shows what is chosen here.
const channel = "BroadcastChannel" in window ? new BroadcastChannel(`assize:assignment:${page.assignment}`) : null;
channel?.addEventListener("message", ({ data: { item, criterion, grade, spans } }) => {
  const question = questions.find((one) => one.item === String(item));
  const answer = question.answers.find((one) => one.criterion === String(criterion));
  Object.assign(answer, { grade, spans: spans.map(({ start, end }) => ({ start, end })) });
  for (const one of question.answers) if (!isAsked(question, one)) one.grade = null;
  render();
});

async function submit(event) {
  event?.preventDefault();
  const missing = questions.find((question) => !isDone(question));
  if (missing) {
    show(missing);
    const answer = openOf(missing);
    const asked = answer.fieldset.querySelector("legend").textContent;
    const words = needsMark(answer) ? "mark the words that answer it, at least once." : `“${asked}” is not answered yet.`;
    say(isAlone ? words[0].toUpperCase() + words.slice(1) : `Question ${missing.number}: ${words}`);
    return;
  }
  if (!(await outbox.settled())) return say("Not everything is saved yet. Submit again when the line above says “Saved”.");
  submitAndGoOn(byId("submit"));
}

// --- Keys, pointer and touch ---------------------------------------------------------------------

function linkQuestions() {
  for (const question of questions) {
    question.panel.setAttribute("role", "tabpanel");
    question.panel.setAttribute("aria-labelledby", question.tab.id);
    question.tab.addEventListener("click", () => show(question));
  }
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("jump").addEventListener("submit", jump);
  byId("jump-to").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
}

function jump(event) {
  event.preventDefault();
  const to = questions.find(({ number }) => number === byId("jump-to").value.trim());
  byId("jump-to").value = "";
  if (!to) return say("There is no question with this number.");
  byId("jump-to").blur();
  show(to);
}

function move(by) {
  const next = questions[questions.indexOf(current) + by];
  if (!next) return;
  const fromTab = document.activeElement?.role === "tab";
  show(next);
  if (fromTab) next.tab.focus();
}

function removeLast() {
  const answer = markedOf(current);
  if (answer?.spans.length) unmark(answer, answer.spans.length - 1);
}

function press(digit) {
  for (const answer of askedOf(current)) {
    const input = answer.fieldset.querySelector(`input[data-key="${digit}"]`);
    if (input) return choose(answer, Number(input.value));
  }
}

function takeBack() {
  const answer = askedOf(current).findLast(({ grade, spans }) => grade !== null || spans.length);
  if (!answer) return;
  remember(current);
  Object.assign(answer, { grade: null, spans: [] });
  save(answer);
  forgetWhatIsNotAsked(current);
  render();
}

let shownCandidate = -1;

function nextCandidate() {
  if (!current.candidates.length) return;
  shownCandidate = (shownCandidate + 1) % current.candidates.length;
  const span = current.candidates[shownCandidate];
  reveal(text.range(span));
  draw(text, "active", [span]);
}

const KEYS = {
  n: () => move(1),
  p: () => move(-1),
  ArrowRight: () => move(1),
  ArrowLeft: () => move(-1),
  t: () => markedOf(current) && text.element.focus({ focusVisible: true, preventScroll: true }),
  j: () => byId("jump-to")?.focus(),
  g: () => openDialog("guidelines"),
  o: toggleOthers,
  u: undo,
  c: nextCandidate,
  x: () => openDialog("skip"),
  "?": () => openDialog("keys"),
  "-": takeBack,
  Backspace: removeLast,
};

function openDialog(id) {
  byId(id)?.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=radio]), textarea, select, dialog[open]")) return;
  if (event.ctrlKey || event.metaKey) {
    const does = { Enter: submit, z: undo }[event.key];
    if (!does) return;
    event.preventDefault();
    return does();
  }
  if (event.altKey) return;
  if (event.key === "Enter" && text.selected()) {
    event.preventDefault();
    return markSelection();
  }
  const action = /^\d$/.test(event.key) ? () => press(event.key) : KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function markSelection() {
  const span = text.selected();
  getSelection().removeAllRanges();
  return mark(span);
}

// With a mouse the mark is made when the button goes up; a finger adjusts the selection first, then presses "Mark".
const markButton = element("button", { type: "button", className: "button primary mark-button", textContent: "Mark", hidden: true });
document.body.append(markButton);
let pointer = "mouse";
document.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
let markedByDoubleClick = false;
text.element.addEventListener("mousedown", (event) => {
  if (pointer !== "mouse" || event.shiftKey || event.detail > 1) return;
  markedByDoubleClick = false;
  getSelection().removeAllRanges(); // or a click on what was selected before would mark it
});
document.addEventListener("mouseup", (event) => {
  if (pointer !== "mouse" || event.button !== 0 || !markedOf(current) || !text.selected()) return;
  if (event.detail === 3 && markedByDoubleClick) undo(); // the third click means the paragraph, not the word
  const marked = markSelection();
  markedByDoubleClick = event.detail === 2 && marked;
});
document.addEventListener("selectionchange", () => {
  markButton.hidden = pointer === "mouse" || !markedOf(current) || !text.selected();
});
markButton.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
markButton.addEventListener("click", markSelection);

new ResizeObserver(() => {
  document.documentElement.style.setProperty("--panel", `${byId("questions").offsetHeight}px`);
}).observe(byId("questions"));

for (const answer of allAnswers) {
  answer.fieldset.addEventListener("change", ({ target }) => choose(answer, target.value === "" ? null : Number(target.value)));
}
byId("choices").addEventListener("submit", (event) => event.preventDefault());
byId("submit").addEventListener("submit", submit);
byId("smaller").addEventListener("click", () => resize(-1));
byId("larger").addEventListener("click", () => resize(1));
byId("open-keys").addEventListener("click", () => openDialog("keys"));
byId("open-guidelines")?.addEventListener("click", (event) => {
  event.preventDefault();
  openDialog("guidelines");
});
byId("open-skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  openDialog("skip");
});
byId("next-candidate")?.addEventListener("click", nextCandidate);
byId("panel-toggle").addEventListener("click", ({ currentTarget }) => {
  const opens = currentTarget.getAttribute("aria-expanded") === "false";
  currentTarget.setAttribute("aria-expanded", String(opens));
  currentTarget.textContent = opens ? "Hide the question" : "Show the question";
  byId("panel").hidden = !opens;
});
addEventListener("hashchange", () => {
  const to = questions.find(({ item }) => location.hash === `#question-${item}`);
  if (to) show(to);
});
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
if (markedOf(questions[0])) {
  new Caret(text, { mark, leave: () => homeOf(current).focus() });
}

// --- The beginning -------------------------------------------------------------------------------

if (isOutOfDate(page.assignment)) location.reload();

function firstQuestion() {
  const position = kept(`assize:position:${page.assignment}`);
  const wanted = location.hash || `#question-${position}`;
  return (
    questions.find(({ item }) => wanted === `#question-${item}`) ?? questions.find((question) => !isDone(question)) ?? questions[0]
  );
}

byId("assignment").classList.add("live");
const first = firstQuestion();
if (location.hash) {
  history.replaceState(null, "", location.pathname + location.search); // or the browser would scroll to it
  scrollTo(0, 0);
}
for (const part of document.querySelectorAll("#asked, #ways, #open-keys, #panel-toggle, .text-size")) part.hidden = false;
if (isAlone) first.panel.tabIndex = -1;
else linkQuestions();
resize(0);
show(first);
if (!canDraw) say("This browser cannot draw marks in the text. They are listed under the question and saved all the same.");
if (outbox.size) outbox.send();
performance.mark("usable");
