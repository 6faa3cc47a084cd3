/* A comment on the question in view, or the word that its item is broken, from the page of any assignment. It is sent
   at once; without a connection it waits in the outbox with the choices. */

import { listenToKeys } from "./keys.js";
import { Outbox } from "./outbox.js";
import { gettext } from "./words.js";

const LONG_ENOUGH_TO_READ = 8_000; // milliseconds

const byId = (id) => document.getElementById(id);
const dialog = byId("comment");
const form = byId("comment-form");
const item = byId("comment-item");
const text = byId("comment-text");
const broken = byId("comment-broken");
const says = byId("comment-says");

const shown = (element) => element.getClientRects().length > 0;

/** Name the questions as the page does, where it shows them in panels of their own. */
function nameQuestions() {
  for (const option of item.options) {
    const asked = document.querySelector(`[data-item="${option.value}"]`);
    const panel = asked?.closest(".panel")?.querySelector(".panel-title");
    if (panel) option.textContent = `${panel.textContent.trim()}: ${asked.querySelector("legend")?.textContent.trim() ?? ""}`;
  }
}

function open() {
  const current = [...document.querySelectorAll("main [data-item]")].find(shown)?.dataset.item;
  if ([...item.options].some(({ value }) => value === current)) item.value = current;
  say("");
  dialog.showModal();
  text.focus();
}

function say(words, look = "") {
  says.textContent = words;
  says.className = words ? `message ${look}` : "";
}

function sent(words, look) {
  const message = byId("comment-sent");
  message.className = `message sent ${look}`;
  message.textContent = words;
  clearTimeout(forgetting);
  forgetting = setTimeout(() => (message.textContent = ""), LONG_ENOUGH_TO_READ);
}
let forgetting;

/** Send the comment, once however often it is asked for; where it is on its way, close the dialog and say so. */
async function send() {
  const button = byId("comment-send");
  const comment = { item: Number(item.value), text: text.value, broken: broken.checked };
  if (button.disabled) return undefined;
  if (!comment.text.trim() && !comment.broken) {
    say(gettext("Enter a comment, or mark the item as broken."), "error");
    return text.focus();
  }
  button.disabled = true;
  const answer = await post(comment);
  button.disabled = false;
  if (answer.refused) return say(answer.refused, "error");
  if (answer.waits) outbox.put(`comment:${Date.now()}`, form.action, comment);
  text.value = "";
  broken.checked = false;
  dialog.close(); // which gives the focus back
  if (answer.waits) return sent(gettext("You are offline: your comment is kept here and sent when you are back."), "warning");
  return sent(gettext("Sent. The researcher will read it."), "success");
}

/** What the server says of it. `waits` where it cannot be reached, or no longer knows who is there. */
async function post(comment) {
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  try {
    const response = await fetch(form.action, {
      method: "POST",
      body: JSON.stringify(comment),
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      credentials: "same-origin",
      redirect: "manual",
    });
    if (response.type === "opaqueredirect" || response.status === 403 || response.status >= 500) return { waits: true };
    return await response.json().catch(() => ({ refused: gettext("It was not saved: the server answered {status}.", { status: response.status }) }));
  } catch {
    return { waits: true };
  }
}

let outbox;

/** Let comments be written, on a page that has the dialog for them. */
export function takeComments() {
  if (!dialog) return;
  const page = byId("assignment").dataset;
  outbox = new Outbox(page.user, page.assignment);
  nameQuestions();
  byId("open-comment").addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    send();
  });
  listenToKeys({ actions: { comment: open } });
}
