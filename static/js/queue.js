/* Choices that an assessor made and that wait in this browser: shown on My work, and sent from there by themselves. */

import { Outbox } from "./outbox.js";

const note = document.getElementById("waiting");
const says = document.getElementById("waiting-says");
const button = document.getElementById("send-waiting");
const words = note.dataset;
const outbox = new Outbox(words.user);

function show(reason, look) {
  note.hidden = false;
  note.className = `message ${look}`;
  says.textContent = [outbox.size ? words.n.replace("%", outbox.size) : "", reason].filter(Boolean).join(" ");
  button.hidden = !outbox.size;
}

outbox.addEventListener("state", ({ detail: { state, reason } }) => {
  const why = { saving: words.saving, saved: words.saved, offline: words.offline, closed: reason, "signed-out": words.signedOut };
  show(why[state], state === "saved" ? "success" : "warning");
});
outbox.addEventListener("refused", ({ detail: { refused } }) => show(`${words.refused} ${refused}`, "error"));
button.addEventListener("click", () => outbox.send());
if (outbox.size) outbox.send();
