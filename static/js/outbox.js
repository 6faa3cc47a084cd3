/* Choices on their way to the server. Each is kept in this browser until the server has said what became of it, so
   nothing is lost when the network, the server or the browser goes away. Those of an assignment are sent one after the
   other, in the order in which their questions were first answered; of several choices at one question only the last is
   sent. No assignment waits for another. */

import { gettext } from "./words.js";

const QUIET = 200; // milliseconds in which a question must not change again before it is sent
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
const PATIENCE = 30_000; // milliseconds that the server may take for a choice

export class Outbox extends EventTarget {
  #pause = FIRST_PAUSE;
  #timer;
  #sending = false;
  #kept = {}; // where the browser lets us store nothing
  #replies = new Map(); // to what submitted its task, by assignment
  #waits = new Map(); // why an assignment must wait, and `until` when, in milliseconds since 1970

  /** `assignment` is the page's own: its choices go first, and states are of these. Without one, all are. */
  constructor(user, assignment) {
    super();
    this.user = user;
    this.assignment = assignment;
    this.name = `assize:outbox:${user}`;
    addEventListener("online", () => this.send());
    addEventListener("pagehide", () => this.send());
    addEventListener("focus", () => this.size && this.send());
  }

  /** Keep a choice under its key until it is saved, and send it soon: when nothing was put for so long. */
  put(key, url, choice, quiet = QUIET) {
    if (!url) return this.#tell("saved"); // a preview saves nothing
    const waiting = this.#read();
    waiting[key] = { url, choice, stamp: newStamp() };
    this.#write(waiting);
    this.#tell("saving");
    this.#sendIn(quiet);
  }

  /** Let what waits wait for so long, unless it is sent by hand. */
  delay(milliseconds) {
    if (this.size) this.#sendIn(milliseconds);
  }

  /** Submit the task with the last of its choices that waits, which takes `along` what else the server is to know.
      Resolves to what comes next; to nothing where no choice waits, or it has not arrived yet. */
  async submit(along) {
    const waiting = this.#read();
    const key = this.#own().at(-1);
    if (key) {
      const { url, choice } = waiting[key];
      waiting[key] = { url, choice: { ...choice, submit: true, ...along }, stamp: newStamp() };
      this.#write(waiting);
      await this.settled();
    }
    return this.#replies.get(this.assignment);
  }

  /** Do not send this any more. */
  drop(key) {
    const waiting = this.#read();
    delete waiting[key];
    this.#write(waiting);
  }

  /** What is kept here, as [key, {choice, url, reason, refused}]: with the reason why a closed study does not take it now,
      or why it was refused for good, and is not sent any more. */
  entries() {
    return Object.entries(this.#read());
  }

  /** Those of them that wait to be sent. */
  waiting() {
    return this.entries().filter(([, { refused }]) => !refused);
  }

  get size() {
    return this.waiting().length;
  }

  /** Whether none of the page's own waits. */
  get isSaved() {
    return !this.#own().length;
  }

  #own() {
    return this.waiting().map(([key]) => key).filter((key) => this.#isOwn(key));
  }

  /** Send what waits, and wait until the page's own has arrived or cannot. Resolves to whether none of it waits. */
  async settled() {
    if (this.isSaved) return true;
    await new Promise((resolve) => {
      this.addEventListener("state", ({ detail: { state } }) => state !== "saving" && resolve());
      this.addEventListener("refused", ({ detail: { isOwn } }) => isOwn && resolve());
      this.send();
    });
    return this.isSaved;
  }

  /** Send all that waits, at once. */
  send() {
    this.#waits.clear();
    return this.#send();
  }

  async #send() {
    clearTimeout(this.#timer);
    if (this.#sending) return;
    this.#sending = true;
    try {
      // Two pages of one browser share what waits: one sends, the other waits its turn.
      await (navigator.locks ? navigator.locks.request(this.name, () => this.#sendAll()) : this.#sendAll());
    } finally {
      this.#sending = false;
    }
  }

  async #sendAll() {
    let refused = false;
    this.#waits.delete(this.assignment);
    for (;;) {
      const [key, entry] = this.#next();
      const isOwn = key && this.#isOwn(key);
      if (!isOwn && !refused) this.#tellOwn();
      if (!key) break;
      if (isOwn) this.#tell("saving");
      const answer = await post(entry, this.user);
      if (isOwn && answer.over) location.assign(answer.over); // the session has ended: there its code stands
      if (answer.everywhere) {
        this.#tell(answer.wait);
        return this.#sendLater();
      }
      if (answer.wait) this.#letWait(assignmentOf(key), answer);
      else this.#settle(key, entry, { key, isOwn, choice: entry.choice, ...answer });
      if (isOwn) refused = Boolean(answer.refused);
    }
    if (this.waiting().some(([key]) => this.#until(key) < Infinity)) this.#sendLater();
    else this.#pause = FIRST_PAUSE;
    return undefined;
  }

  /** What is sent next: the page's own first. */
  #next() {
    const entries = this.waiting().filter(([key]) => this.#until(key) <= Date.now());
    return entries.find(([key]) => this.#isOwn(key)) ?? entries[0] ?? [];
  }

  #until(key) {
    return this.#waits.get(assignmentOf(key))?.until ?? 0;
  }

  #settle(key, { stamp }, answer) {
    const all = this.#read();
    if (all[key]?.stamp === stamp) {
      if (answer.refused) Object.assign(all[key], { reason: answer.refused, refused: true });
      else delete all[key];
      this.#write(all);
    }
    if (answer.next) this.#replies.set(assignmentOf(key), answer);
    this.dispatchEvent(new CustomEvent(answer.refused ? "refused" : "kept", { detail: answer }));
  }

  #letWait(assignment, { wait, reason }) {
    this.#waits.set(assignment, { wait, reason, until: reason && assignment !== this.assignment ? Infinity : Date.now() + this.#pause });
    const all = this.#read();
    for (const key of Object.keys(all)) if (assignmentOf(key) === assignment && !all[key].refused) all[key].reason = reason;
    this.#write(all);
  }

  #tellOwn() {
    const own = this.#own().map((key) => this.#waits.get(assignmentOf(key)) ?? {});
    const { wait, reason } = own.find((one) => !one.reason) ?? own[0] ?? { wait: "saved" };
    this.#tell(wait ?? "saving", reason);
  }

  #isOwn(key) {
    return !this.assignment || assignmentOf(key) === this.assignment;
  }

  #sendLater() {
    this.#sendIn(this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  #sendIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), milliseconds);
  }

  #tell(state, reason) {
    const size = this.waiting().filter(([, one]) => one.reason === reason).length; // that are kept here for this
    this.dispatchEvent(new CustomEvent("state", { detail: { state, size, reason } }));
  }

  #read() {
    try {
      return { ...JSON.parse(localStorage.getItem(this.name)), ...this.#kept };
    } catch {
      return { ...this.#kept };
    }
  }

  #write(waiting) {
    this.#kept = {};
    try {
      if (Object.keys(waiting).length) localStorage.setItem(this.name, JSON.stringify(waiting));
      else localStorage.removeItem(this.name);
    } catch {
      this.#kept = waiting; // not allowed, or full
    }
  }
}

const assignmentOf = (key) => key.split("/")[0];
const newStamp = () => `${Date.now()}-${Math.random()}`;

/** Post one choice. The answer holds `wait` if it must be tried again, `everywhere` if all must, and `refused` if it never
    will be taken. */
async function post({ url, choice }, user) {
  const body = JSON.stringify(choice);
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken(), "X-Assessor": user },
      credentials: "same-origin",
      redirect: "manual",
      keepalive: body.length < 30_000, // browsers let 64 KB outlive their page
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch ({ name }) {
    return { wait: "offline", everywhere: name !== "TimeoutError" };
  }
  if (response.type === "opaqueredirect" || response.status === 403) return { wait: "signed-out", everywhere: true };
  if (response.status >= 500 || response.status === 429) return { wait: "offline" };
  const answer = await response.json().catch(() => ({ refused: gettext("The server answered {status}.", { status: response.status }) }));
  if (response.status === 409) return { wait: "closed", reason: answer.refused, over: answer.over };
  return { ...answer, headers: [...response.headers] };
}

function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return cookie ? cookie[1] : document.querySelector("[name=csrfmiddlewaretoken]").value;
}
