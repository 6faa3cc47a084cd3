/* Deciding where people disagree, wholly by keyboard: a digit decides and goes on. */

import { listenToKeys } from "./keys.js";

const byId = (id) => document.getElementById(id);
const form = byId("decision");
const note = form.elements.note;
let sent = false;

function decide() {
  if (sent || !form.reportValidity()) return;
  sent = true; // who presses twice decides once
  form.submit();
}

function press(digit) {
  const grade = form.querySelector(`input[data-key="${digit}"]`);
  if (!grade) return;
  grade.checked = true;
  decide();
}

const open = (id) => () => byId(id)?.showModal();

listenToKeys({
  press,
  actions: {
    next: () => byId("next")?.click(),
    previous: () => byId("previous")?.click(),
    guidelines: open("guidelines"),
    help: open("keys"),
  },
  keys: { r: () => note.focus() },
  withCtrl: { Enter: decide },
});
note.addEventListener("keydown", (event) => {
  if (event.key === "Escape") note.blur();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide();
});
for (const id of ["guidelines", "keys"]) {
  const button = byId(`open-${id}`);
  if (!button) continue;
  button.hidden = false;
  button.addEventListener("click", open(id));
  byId(id).addEventListener("click", (event) => event.target === byId(id) && byId(id).close());
}
addEventListener("pageshow", () => (sent = false));
