/* Choices that an assessor made and that wait in this browser: shown on My work, and sent from there by themselves. What a
   closed study does not accept, or the server refused, is shown by the reason, to be downloaded or discarded. */

import { Outbox } from "./outbox.js";

const byId = (id) => document.getElementById(id);
const note = byId("waiting");
const says = byId("waiting-says");
const button = byId("send-waiting");
const shelf = byId("shelf");
const words = note.dataset;
const outbox = new Outbox(words.user);

const countOf = (n) => words.n.replace("%", n);

function show(reason, look) {
  const kept = outbox.entries().filter(([, { reason }]) => reason);
  const n = outbox.entries().length - kept.length;
  note.hidden = !(n || reason);
  note.className = `message ${look}`;
  says.textContent = [n ? countOf(n) : "", reason].filter(Boolean).join(" ");
  button.hidden = !n;
  const shown = kept.map(([key]) => key).join(" ");
  if (shown === shelf.dataset.shown) return; // the focus may be on its buttons
  shelf.dataset.shown = shown;
  const reasons = new Set(kept.map(([, { reason }]) => reason));
  shelf.replaceChildren(...[...reasons].map((reason) => shelved(reason, kept.filter(([, one]) => one.reason === reason))));
}

/** What was not accepted for one reason. */
function shelved(reason, entries) {
  const row = byId("shelved").content.cloneNode(true);
  const isRefused = entries.some(([, { refused }]) => refused);
  row.querySelector("p").textContent = `${isRefused ? `${words.refused} ` : ""}${reason} ${countOf(entries.length)}`;
  const [download, discard] = row.querySelectorAll("button");
  download.addEventListener("click", () => save(entries));
  discard.addEventListener("click", () => {
    if (!confirm(discard.dataset.confirm)) return;
    for (const [key] of entries) outbox.drop(key);
    show("", "success");
    byId("main").focus();
  });
  return row;
}

function save(entries) {
  const answers = entries.map(([key, { url, choice, reason }]) => ({ key, url, choice, reason }));
  const href = URL.createObjectURL(new Blob([JSON.stringify(answers, null, 1)], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "answers.json" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 0);
}

outbox.addEventListener("state", ({ detail: { state } }) => {
  const why = { saving: words.saving, saved: outbox.entries().length ? "" : words.saved, offline: words.offline, "signed-out": words.signedOut };
  show(why[state] ?? "", state === "saved" ? "success" : "warning");
});
outbox.addEventListener("refused", () => show("", ""));
button.addEventListener("click", () => outbox.send());
if (outbox.size) outbox.send();
else show("", "");
