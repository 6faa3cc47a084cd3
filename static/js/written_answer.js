/* The pages of written answers: sentences are ticked, an outcome is chosen, an answer is written and confirmed. What
   is on the page goes to the outbox at every change, and a moment after the last key while somebody types. */

import { comeBack, fetchAheadOnceDone, isLeaving, showAsItIs, submitAndGoOn } from "./ahead.js";
import { AutoAdvance, whyNotByItself } from "./auto_advance.js";
import { Clock } from "./clock.js";
import { fit, fitToWindow } from "./fit.js";
import { toggleGuidelines } from "./guidelines.js";
import { isChanged } from "./judged_text.js";
import { keyFor, listenToKeys } from "./keys.js";
import { explain } from "./meanings.js";
import { keep, kept } from "./memory.js";
import { offerToTakeBack, takeBackLastTask } from "./last_task.js";
import { Outbox } from "./outbox.js";
import { showSession } from "./session_strip.js";
import { element } from "./elements.js";
import { openDialog, openDialogs, setSizeOf, tell, tellWhatIsSaved } from "./task_bar.js";
import { isAllSaved } from "./waiting.js";
import {
  confirmationBoxes,
  isWritten,
  lackOf,
  locked,
  nameOfChanged,
  onPage,
  outcomes,
  put,
  seen,
  sentenceBoxes,
  sentences,
  takesAnswer,
  text,
  unsureBox,
} from "./writing_form.js";
import { countPastes } from "./pasting.js";
import { gettext, ngettext } from "./words.js";

const WHILE_TYPING = 1_000; // milliseconds without a key before the text is sent; it is kept here at once
const RECENT = 15_000; // milliseconds after which the server's page is newer than what was sent before it

const byId = (id) => document.getElementById(id);
const page = byId("assignment").dataset;
showAsItIs(page.assignment);
const key = `${page.assignment}/${page.item}/${page.criterion}`;
const outbox = new Outbox(page.user, page.assignment);
const clock = new Clock([[key, Number(page.seconds)]]);
clock.turnTo(key);
const ownAnswer = document.querySelector(".writing-questions");
fitToWindow(() => ownAnswer);
// What is scrolled to comes above them where they stick to the end of the window.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--outcomes", `${target.offsetHeight}px`)).observe(byId("outcomes"));
const showMeaning = explain({ fieldset: byId("outcomes") });
const undone = [];
const LAST = `assize:last:${key}`;

const pasted = countPastes(text, () => setTimeout(() => save(WHILE_TYPING))); // after the text has changed

// --- Changes ---------------------------------------------------------------------------------------

function save(wait) {
  const state = onPage();
  const { grade, confirmed, unsure } = state;
  const spans = takesAnswer(state) ? state.sentences.map((number) => sentences[number]) : [];
  const answer = { text: text.value, confirmations: confirmed };
  const choice = { item: Number(page.item), criterion: Number(page.criterion), grade, spans, seconds: clock.seconds(key), guidelines: Number(page.guidelines) || null, answer, unsure, page_changed: isChanged(byId("sentences")) };
  if (pasted.times) choice.pasted = { ...pasted };
  outbox.put(key, page.save, choice, wait);
  if (page.save) keep(LAST, JSON.stringify({ at: Date.now(), choice })); // a preview keeps nothing
}

// What was on the page before the change that comes next. Typing has the browser's own undo, so that what was typed
// since a change stays when the change is undone.
let before = onPage();
const cameOpen = lackOf(before) !== null;
let isOpen = cameOpen; // what was complete when the page came is left when somebody says so

function change() {
  undone.push({ state: before, text: text.value });
  const wasOpen = cameOpen && isOpen;
  before = onPage();
  save();
  render();
  if (byId("take-back")) byId("take-back").hidden = true; // this task is under way
  if (wasOpen && !isOpen) advance.soon({ mayBeMarked: false });
}

const advance = new AutoAdvance(byId("goes-on"), () => {
  const isBusy = document.querySelector("dialog:modal") || document.activeElement === text;
  if (isBusy || lackOf(onPage()) || !page.ahead) return false;
  const why = whyNotByItself();
  if (why === undefined) submit();
  else say(why);
  return false;
});

/** Some points are confirmed in other words under other outcomes; what was confirmed in those is not confirmed in these. */
function wordConfirmations(grade) {
  for (const box of confirmationBoxes) {
    const wordings = [...box.closest("label").querySelectorAll("[data-under]")];
    const shown = wordings.find(({ dataset }) => dataset.under === String(grade)) ?? wordings.at(-1);
    if (shown.hidden && box.checked && !locked) box.checked = false;
    for (const one of wordings) one.hidden = one !== shown;
  }
}

/** What is confirmed holds for the words and sentences of that moment only. */
function mustBeConfirmedAgain() {
  if (!confirmationBoxes.some(({ checked }) => checked)) return;
  for (const box of confirmationBoxes) box.checked = false;
  tell(gettext("The answer has changed: confirm it again."));
}

function undo() {
  if (isLeaving()) return comeBack();
  if (takeBackLastTask(byId("take-back"))) return undefined;
  const last = undone.pop();
  if (!last) return say(gettext("There is nothing to undo."));
  wordConfirmations(last.state.grade);
  put({ ...last.state, text: text.value === last.text ? last.state.text : text.value });
  before = onPage();
  save();
  render();
  return undefined;
}

// --- What is seen --------------------------------------------------------------------------------

const say = (words) => (byId("says").textContent = words);
const quoteOf = (number) => sentences[number].quote;
const wordsIn = (string) => string.split(/\s+/u).filter(Boolean).length;

function render() {
  const state = onPage();
  const written = isWritten(state);
  byId("assignment").classList.toggle("decided", state.grade !== null);
  showMeaning();
  byId("sentences").disabled = locked || !written;
  byId("own-words").hidden = !written;
  byId("confirmations").hidden = seen ? !(state.grade !== null && takesAnswer(state)) : !takesAnswer(state);
  const words = wordsIn(text.value);
  byId("answer-length").textContent = ngettext("{n} word; the passage has {n_passage}.", "{n} words; the passage has {n_passage}.", words, { n_passage: wordsIn(sentences.filter(({ end }) => end).map(({ quote }) => quote).join(" ")) });
  byId("chosen").hidden = locked || !state.sentences.length;
  if (!locked) renderChosen(state.sentences);
  for (const part of document.querySelectorAll(".missing")) part.classList.remove("missing");
  if (byId("undo")) byId("undo").disabled = !undone.length;
  const done = lackOf(state) === null;
  isOpen = !done;
  byId("submit-button")?.classList.toggle("primary", done);
  byId("progress").textContent = gettext("{n_done} of {n_all}", { n_done: Number(done), n_all: 1 });
  say("");
  fit(ownAnswer);
}

function renderChosen(numbers) {
  const shown = [...byId("chosen").children].map(({ dataset }) => dataset.number);
  if (shown.join() === numbers.join()) return;
  const inFocus = document.activeElement?.closest("#chosen li")?.dataset.number;
  byId("chosen").replaceChildren(...numbers.map(chosen));
  byId("chosen").querySelector(`[data-number="${inFocus}"] button`)?.focus();
}

function chosen(number) {
  const quote = quoteOf(number);
  const insert = element("button", { type: "button", className: "button small", textContent: gettext("Insert") });
  insert.setAttribute("aria-label", gettext("Insert: {quote}", { quote }));
  insert.addEventListener("click", () => insertSentence(number));
  const item = element("li", {}, element("span", { className: "chosen-text", textContent: quote, title: quote, dir: "auto" }), insert);
  item.dataset.number = number;
  return item;
}

/** Put a sentence into the answer where the cursor was last: at the end if it was never there. */
function insertSentence(number) {
  const quote = quoteOf(number).trim();
  const [from, to] = wasInText ? [text.selectionStart, text.selectionEnd] : [text.value.length, text.value.length];
  const left = from > 0 && !/\s$/u.test(text.value.slice(0, from)) ? " " : "";
  const right = to < text.value.length && !/^\s/u.test(text.value.slice(to)) ? " " : "";
  if (text.value.length - (to - from) + left.length + quote.length + right.length > text.maxLength) {
    return say(gettext("The answer would be too long."));
  }
  text.setRangeText(left + quote + right, from, to, "end");
  wasInText = true;
  mustBeConfirmedAgain();
  change();
  tell("Inserted.");
  return undefined;
}
let wasInText = false;

// --- Submitting -----------------------------------------------------------------------------------

async function submit(event) {
  event?.preventDefault();
  if (locked) return undefined;
  const lack = lackOf(onPage());
  if (lack) {
    lack.part.classList.add("missing");
    lack.at.focus();
    return say(lack.words);
  }
  if (!(await isAllSaved(outbox, submit))) return undefined;
  if (byId("back") && page.state === "submitted") return location.assign(byId("back").href);
  return submitAndGoOn(byId("submit"), page.ahead && { user: page.user, item: page.item });
}

// --- Keys ----------------------------------------------------------------------------------------

let lastSentence = sentences.findIndex(({ end }) => end); // the title is above it

function step(boxes, by) {
  const index = boxes.indexOf(document.activeElement);
  boxes[Math.max(0, Math.min(boxes.length - 1, index + by))]?.focus();
}

function toSentences() {
  if (byId("sentences").disabled) return say(seen ? gettext("To change its sentences, choose “{grade}” first.", { grade: nameOfChanged() }) : gettext("This outcome takes no sentences."));
  return sentenceBoxes[lastSentence]?.focus();
}

function toAnswer() {
  if (byId("own-words").hidden) return say(seen ? gettext("To change the answer, choose “{grade}” first.", { grade: nameOfChanged() }) : gettext("This outcome takes no answer."));
  return text.focus();
}

function insertFocused() {
  const index = sentenceBoxes.indexOf(document.activeElement);
  if (index < 0) return say(gettext("Go to a sentence first: {key}.", { key: keyFor("sentences").toUpperCase() }));
  if (!sentenceBoxes[index].checked) sentenceBoxes[index].click();
  return insertSentence(String(index));
}

function press(digit) {
  outcomes.find(({ dataset, disabled }) => dataset.key === digit && !disabled)?.click();
}

/** Arrows and Enter on a list of check boxes. Returns whether the key was one of them. */
function moveIn(boxes, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" && [...outcomes, unsureBox].includes(event.target)) return true; // or it would send the form
  if (!boxes.includes(event.target) || (!by && event.key !== "Enter")) return false;
  if (by) step(boxes, by);
  else event.target.click();
  // ⏎ confirms one point after the other
  if (!by && boxes === confirmationBoxes && event.target.checked) boxes.find(({ checked }) => !checked)?.focus();
  return true;
}

byId("assignment").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || locked) return;
  if (!moveIn(sentenceBoxes, event) && !moveIn(confirmationBoxes, event)) return;
  event.preventDefault();
  event.stopPropagation();
});

text.addEventListener("keydown", (event) => {
  const held = event.ctrlKey || event.metaKey;
  if (event.key === "Escape" && !held && !event.altKey) text.blur();
  if (event.key !== "Enter" || !held || event.repeat) return;
  event.preventDefault();
  submit();
});

const toRead = { back: () => byId("back")?.click(), guidelines: toggleGuidelines, help: () => openDialog("keys") };
const toWrite = {
  sentences: toSentences,
  answer: toAnswer,
  insert: insertFocused,
  confirm: () => !byId("confirmations").hidden && (confirmationBoxes.find(({ checked }) => !checked) ?? confirmationBoxes[0]).focus(),
  undo,
  unsure: () => unsureBox.click(),
  later: () => byId("later")?.requestSubmit(),
  skip: () => openDialog("skip"),
};
listenToKeys({
  press,
  actions: locked ? toRead : { ...toRead, ...toWrite },
  withCtrl: { Enter: submit, z: undo },
  but: "#answer, dialog:modal",
});

// --- The beginning -------------------------------------------------------------------------------

for (const box of outcomes) {
  box.addEventListener("change", () => {
    wordConfirmations(onPage().grade);
    change();
  });
}
unsureBox.addEventListener("change", () => {
  change();
  tell(`${unsureBox.closest("label").querySelector("span").textContent}${unsureBox.checked ? "" : " –"}`);
  if (unsureBox.checked && advance.wasGoing) advance.soon({ mayBeMarked: false });
});
for (const box of sentenceBoxes) {
  box.addEventListener("change", () => {
    mustBeConfirmedAgain();
    change();
  });
  box.addEventListener("focus", () => (lastSentence = sentenceBoxes.indexOf(box)));
}
for (const box of confirmationBoxes) box.addEventListener("change", change);
text.addEventListener("focus", () => (wasInText = true));
text.addEventListener("input", () => {
  mustBeConfirmedAgain();
  before = onPage();
  save(WHILE_TYPING);
  render();
});
byId("undo")?.addEventListener("click", undo);
byId("assignment").addEventListener("submit", submit);

// Another tab with this assignment shows what is chosen here.
addEventListener("storage", ({ key: name }) => name === outbox.name && takeWhatWaits());

function takeWhatWaits() {
  const [, waiting] = outbox.waiting().find(([name]) => name === key) ?? [];
  if (waiting) take(waiting.choice);
}

/** The page may have been written while the last choice was on its way: then it shows what was before. */
function takeWhatWasSentLast() {
  const { at, choice } = JSON.parse(kept(LAST) ?? "{}");
  if (!at || Date.now() - at > RECENT) return;
  take(choice);
  save();
}

function take(waiting) {
  wordConfirmations(waiting.grade);
  const place = ({ start, end }) => `${start}-${end}`; // the title stands from 0 to 0
  const places = waiting.spans.map(place);
  put({
    grade: waiting.grade,
    sentences: sentenceBoxes.map(({ value }) => value).filter((number) => places.includes(place(sentences[number]))),
    text: waiting.answer.text,
    confirmed: waiting.answer.confirmations,
    unsure: Boolean(waiting.unsure),
  });
  before = onPage();
  render();
}

fetchAheadOnceDone(outbox, page.ahead, () => !lackOf(onPage()));
tellWhatIsSaved(outbox, { signIn: page.signIn, where: (name) => (name === key ? gettext("What you changed") : gettext("A choice in another task")) });
openDialogs();
showSession(clock, page.user);
setSizeOf([...document.querySelectorAll(".sentence-text, .first-answer blockquote"), text]);
byId("answer-length").hidden = false;
if (byId("take-back") && onPage().grade === null && !text.value) offerToTakeBack(byId("take-back"));
if (byId("undo")) byId("undo").hidden = false;
outbox.addEventListener("refused", ({ detail: { isOwn } }) => isOwn && keep(LAST, "{}"));
if (!locked && page.save) {
  takeWhatWasSentLast();
  takeWhatWaits();
}
render();
if (outbox.size) outbox.send();
performance.mark("usable");
