/* The tasks that come next are claimed ahead: the next one stands there as soon as this one is submitted. They are claimed
   with each submission, whose reply brings their pages along, or else once everything on a task is answered and saved;
   then, and where a browser cannot show what came along, their pages are fetched. What a page that was fetched ahead
   shows may be old when somebody comes back to it. */

import { heldTasks, holdPages, holds, showHeld, taskAt } from "./held_pages.js";
import { rememberLastTask } from "./last_task.js";
import { keep, kept } from "./memory.js";
import { tellOtherTabs } from "./task_bar.js";
import { patientFetch } from "./waiting.js";

const REMEMBERED = 50; // assignments; what was fetched ahead is old after two minutes
const AHEAD = `assize:ahead:${document.getElementById("assignment").dataset.user}`;

const token = () => document.querySelector("#submit [name=csrfmiddlewaretoken]").value;
let asked = false;
let isFetched = false;
let leaves = false;
let staysHere = false;

/** Fetch what `url` names as next, once, as soon as everything is saved and `isDone` holds. */
export function fetchAheadOnceDone(outbox, url, isDone) {
  outbox.addEventListener("state", ({ detail: { state } }) => {
    if (url && state === "saved" && !leaves && isDone()) claimAhead(url);
  });
}

async function claimAhead(url) {
  if (asked || navigator.connection?.saveData) return;
  asked = true;
  try {
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": token() } });
    if (response.status !== 200) return;
    rememberAhead((await response.json()).ahead);
    fetchWhatIsAhead();
  } catch {
    asked = false; // offline: another time
  }
}

/** Fetch the pages of the tasks that are claimed ahead, where the next answer will not bring them along. */
export function fetchAheadOfAnswer() {
  if (!heldTasks()) fetchWhatIsAhead();
}

/** Fetch those pages, but for what is here. What the browser has of them it does not fetch again. */
function fetchWhatIsAhead() {
  if (isFetched || navigator.connection?.saveData) return;
  const hrefs = ahead().filter((address) => address !== location.pathname && !holds(address));
  isFetched = hrefs.length > 0;
  for (const href of hrefs) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href, as: "document" }));
  }
}

function ahead() {
  try {
    return JSON.parse(sessionStorage.getItem(AHEAD)) ?? [];
  } catch {
    return [];
  }
}

function rememberAhead(addresses) {
  try {
    sessionStorage.setItem(AHEAD, JSON.stringify(addresses ?? []));
  } catch {
    // Not allowed here.
  }
}

/** Whether the task is being submitted. What is pressed meanwhile is not meant for it any more. */
export const isLeaving = () => leaves;

/** Once the task is submitted, come back to it. */
export function comeBack() {
  staysHere = true;
}

/** Submit the task with the answer that completes it, if that is not sent yet, and go on. Resolves to whether it went:
    else `submitAndGoOn` is to submit what is saved. `last` is as there. */
export async function submitWithAnswer(outbox, last) {
  if (leaves) return true;
  leaves = true;
  staysHere = false;
  const answered = await outbox.submit(heldTasks());
  leaves = Boolean(answered);
  if (answered) {
    tellOtherTabs();
    holdPages(answered);
    goOnTo(answered, last);
  }
  return leaves;
}

async function goOnTo({ next, ahead: behind }, last) {
  rememberAhead(behind);
  const here = last && rememberLastTask({ ...last, next });
  if (!staysHere && !wasShown(next)) await showHeld(next);
  if (!here || !staysHere) return location.assign(next);
  history.replaceState(null, "", here);
  return location.reload();
}

/** Submit the form, once: who taps twice would have the second answer, that nothing is open any more. Where a page
    was fetched ahead the browser goes there itself: it shows what it holds only to a plain visit, not to one that
    the server redirects. Where the reply is lost it asks again. `last` is who submits it and the item answered last;
    without it, the form goes as it is, and cannot be taken back from the next page. */
export async function submitAndGoOn(form, last) {
  if (leaves) return undefined;
  leaves = true;
  staysHere = false;
  tellOtherTabs();
  const letThemTryAgain = () => setTimeout(() => (leaves = false), 10_000);
  if (!last && navigator.onLine) {
    letThemTryAgain();
    return form.submit();
  }
  const headers = last && { Accept: "application/json" };
  const response = await patientFetch(form.action, { method: "POST", body: new FormData(form), headers });
  letThemTryAgain();
  if (!response.ok || !response.headers.get("Content-Type")?.startsWith("application/json")) return form.submit();
  return goOnTo(await response.json(), last);
}

/** Load the page anew where the browser shows what it kept of it: fetched ahead and shown before, gone back to, or
    taken whole out of its memory. What was chosen since is in the server or in the outbox. */
export function showAsItIs(assignment) {
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  const [visit] = performance.getEntriesByType("navigation");
  const shown = tasksShown();
  keep("assize:shown", [assignment, ...shown.filter((one) => one !== assignment)].slice(0, REMEMBERED).join(" "));
  const fromCache = visit?.transferSize === 0 && visit.type !== "reload";
  if (fromCache && (visit.type === "back_forward" || shown.includes(assignment))) location.reload();
}

const tasksShown = () => (kept("assize:shown") ?? "").split(" ");
const wasShown = (address) => tasksShown().includes(taskAt(address));
