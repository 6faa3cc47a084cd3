/* Once everything on a task is answered and saved, the next one is claimed and its page fetched: it stands there as
   soon as this one is submitted. What such a page shows may be old when somebody comes back to it. */

import { rememberLastTask } from "./last_task.js";
import { keep, kept } from "./memory.js";
import { tellOtherTabs } from "./task_bar.js";
import { patientFetch } from "./waiting.js";

const REMEMBERED = 50; // assignments; what was fetched ahead is old after two minutes

const token = () => document.querySelector("#submit [name=csrfmiddlewaretoken]").value;
let asked = false;
let ahead = "";
let leaves = false;
let staysHere = false;

/** Fetch what `url` names as next, once, as soon as everything is saved and `isDone` holds. */
export function fetchAheadOnceDone(outbox, url, isDone) {
  outbox.addEventListener("state", ({ detail: { state } }) => {
    if (url && state === "saved" && isDone()) fetchAhead(url);
  });
}

async function fetchAhead(url) {
  if (asked || navigator.connection?.saveData) return;
  asked = true;
  try {
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": token() } });
    if (response.status !== 200) return;
    ahead = (await response.json()).next;
    document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: ahead, as: "document" }));
  } catch {
    asked = false; // offline: another time
  }
}

/** Whether the task is being submitted. What is pressed meanwhile is not meant for it any more. */
export const isLeaving = () => leaves;

/** Once the task is submitted, come back to it. */
export function comeBack() {
  staysHere = true;
}

/** Submit the form, once: who taps twice would have the second answer, that nothing is open any more. Where a page
    was fetched ahead the browser goes there itself: it shows what it holds only to a plain visit, not to one that
    the server redirects. `last` is who submits it and the item answered last; without it, the form goes as it is, and
    cannot be taken back from the next page. */
export async function submitAndGoOn(form, last) {
  if (leaves) return undefined;
  leaves = true;
  staysHere = false;
  tellOtherTabs();
  const letThemTryAgain = () => setTimeout(() => (leaves = false), 10_000);
  if (!ahead && !last && navigator.onLine) {
    letThemTryAgain();
    return form.submit();
  }
  const headers = { Accept: "application/json" };
  const response = await patientFetch(form.action, { method: "POST", body: new FormData(form), headers });
  letThemTryAgain();
  if (!response.ok || !response.headers.get("Content-Type")?.startsWith("application/json")) return form.submit();
  const { next } = await response.json();
  const here = last && rememberLastTask({ ...last, next });
  if (!here || !staysHere) return location.assign(next);
  history.replaceState(null, "", here);
  return location.reload();
}

/** Load the page anew where the browser shows what it kept of it: fetched ahead and shown before, gone back to, or
    taken whole out of its memory. What was chosen since is in the server or in the outbox. */
export function showAsItIs(assignment) {
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  const [visit] = performance.getEntriesByType("navigation");
  const shown = (kept("assize:shown") ?? "").split(" ");
  keep("assize:shown", [assignment, ...shown.filter((one) => one !== assignment)].slice(0, REMEMBERED).join(" "));
  const fromCache = visit?.transferSize === 0 && visit.type !== "reload";
  if (fromCache && (visit.type === "back_forward" || shown.includes(assignment))) location.reload();
}
