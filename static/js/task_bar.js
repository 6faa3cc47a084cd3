/* What the bar over a task does on every kind of page: it says what is saved, sets the size of the text and opens the
   guidelines and the keys. */

import { element } from "./elements.js";
import { showGuidelines } from "./guidelines.js";
import { keep, kept } from "./memory.js";
import { gettext, ngettext } from "./words.js";

const byId = (id) => document.getElementById(id);
const SIZES = ["1rem", "1.125rem", "1.25rem", "1.4rem", "1.6rem"];

/** Say this to those who hear the page. */
export function tell(words) {
  byId("tells").textContent = words;
}

/** Say in the bar what has become of the choices. `where` names the place of a refused one; `signIn` is empty for
    people without a password. */
export function tellWhatIsSaved(outbox, { signIn, where }) {
  const saving = byId("saving");
  let incomplete = false;
  let said = ""; // that it is saved is seen; only what goes wrong is said, once
  const sayIfNew = (words) => {
    if (words && words !== said) tell(words);
    said = words;
  };
  outbox.addEventListener("kept", ({ detail: { isOwn, submitted, lack } }) => {
    if (!isOwn) return;
    incomplete = Boolean(submitted && lack);
    if (submitted) showThatItIsSubmitted();
  });
  listenForSubmission();
  outbox.addEventListener("state", ({ detail: { state, size, reason } }) => {
    const waiting = ngettext("{n} choice is kept here", "{n} choices are kept here", size);
    const look = { saved: "saved", saving: "saving", offline: "offline" }[state] ?? "error";
    if (look === "saved" && saving.dataset.state === "error") return;
    saving.dataset.state = look === "saved" && incomplete ? "offline" : look;
    if (state === "saved" && incomplete) saving.textContent = gettext("Incomplete again – your submitted answers count until this is complete");
    else if (state === "saved") saving.textContent = gettext("Saved");
    else if (state === "saving") saving.textContent = gettext("Saving…");
    else if (state === "offline") saving.textContent = gettext("Offline – {waiting}", { waiting });
    else if (state === "closed") saving.textContent = `${reason} ${waiting}.`;
    else if (signIn) saving.replaceChildren(gettext("Signed out – {waiting}.", { waiting }), " ", element("a", { textContent: gettext("Sign in"), href: signIn, target: "_blank" }));
    else saving.textContent = gettext("Signed out – {waiting}. Open your link again.", { waiting });
    sayIfNew(["saved", "saving"].includes(state) && !incomplete ? "" : saving.textContent);
  });
  outbox.addEventListener("refused", ({ detail: { key, refused } }) => {
    saving.dataset.state = "error";
    const reload = element("button", { type: "button", className: "link", textContent: gettext("Show the saved choice") });
    reload.addEventListener("click", () => location.reload());
    saving.replaceChildren(gettext("{what} was refused: {refused}", { what: where(key), refused }), " ", reload);
    sayIfNew(gettext("{what} was refused: {refused}", { what: where(key), refused }));
  });
}

const submissions = "BroadcastChannel" in window ? new BroadcastChannel("assize:submissions") : null;

/** Tell this browser's other tabs that the task on this page is on its way to being submitted. */
export function tellOtherTabs() {
  submissions?.postMessage(byId("assignment").dataset.assignment);
}

function listenForSubmission() {
  submissions?.addEventListener("message", ({ data }) => data === byId("assignment").dataset.assignment && showThatItIsSubmitted());
}

function showThatItIsSubmitted() {
  const note = byId("submitted-elsewhere"); // there is none where the page knows it already
  if (note) note.hidden = false;
}

/** Let the reader set the size of the text in these elements. */
export function setSizeOf(elements) {
  const resize = (by) => {
    const size = Math.max(0, Math.min(SIZES.length - 1, Number(kept("assize:size") ?? 1) + by));
    keep("assize:size", String(size));
    for (const one of elements) one.style.fontSize = SIZES[size];
    byId("smaller").disabled = size === 0;
    byId("larger").disabled = size === SIZES.length - 1;
  };
  byId("smaller").addEventListener("click", () => resize(-1));
  byId("larger").addEventListener("click", () => resize(1));
  byId("smaller").closest("[hidden]").hidden = false;
  resize(0);
}

export function openDialog(id) {
  byId(id)?.showModal();
  if (id === "keys") import("./key_settings.js").catch(() => {}); // offline: the list alone
}

/** Let the page's buttons open their dialogs, and a click beside a dialog close it. */
export function openDialogs() {
  byId("open-keys").hidden = byId("open-own-ways").hidden = false;
  byId("open-keys").addEventListener("click", () => openDialog("keys"));
  byId("open-skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    openDialog("skip");
  });
  showGuidelines();
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.matches(":modal") && dialog.close());
  }
}
