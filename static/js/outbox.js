/* Choices on their way to the server. Each is kept in this browser until the server has said what became of it, so
   nothing is lost when the network, the server or the browser goes away. They are sent one after the other, in the
   order in which their questions were first answered; of several choices at one question only the last is sent. */

import { gettext } from "./words.js";

const QUIET = 200; // milliseconds in which a question must not change again before it is sent
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export class Outbox extends EventTarget {
  #pause = FIRST_PAUSE;
  #timer;
  #sending = false;
  #kept = {}; // where the browser lets us store nothing
  #replies = new Map(); // to what submitted its task, by assignment

  constructor(user) {
    super();
    this.user = user;
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
      Resolves to what the server says comes next; to nothing where no choice waits, and where it cannot arrive now: once
      it has, this resolves to it too. */
  async submit(assignment, along) {
    const waiting = this.#read();
    const key = Object.keys(waiting).findLast((one) => one.startsWith(`${assignment}/`));
    if (key) {
      const { url, choice } = waiting[key];
      waiting[key] = { url, choice: { ...choice, submit: true, ...along }, stamp: newStamp() };
      this.#write(waiting);
      await this.settled();
    }
    return this.#replies.get(assignment);
  }

  /** Do not send this any more. */
  drop(key) {
    const waiting = this.#read();
    delete waiting[key];
    this.#write(waiting);
  }

  /** What waits, as [key, choice]. */
  entries() {
    return Object.entries(this.#read()).map(([key, { choice }]) => [key, choice]);
  }

  get size() {
    return Object.keys(this.#read()).length;
  }

  /** Send what waits, and wait until it has arrived or cannot. Resolves to whether nothing waits any more. */
  async settled() {
    await new Promise((resolve) => {
      this.addEventListener("state", ({ detail: { state } }) => state !== "saving" && resolve());
      this.addEventListener("refused", resolve);
      this.send();
    });
    return this.size === 0;
  }

  /** Send all that waits. Resolves to whether nothing waits any more. */
  async send() {
    clearTimeout(this.#timer);
    if (this.#sending) return false;
    this.#sending = true;
    try {
      // Two pages of one browser share what waits: one sends, the other waits its turn.
      await (navigator.locks ? navigator.locks.request(this.name, () => this.#sendAll()) : this.#sendAll());
    } finally {
      this.#sending = false;
    }
    return this.size === 0;
  }

  async #sendAll() {
    for (;;) {
      const [first] = Object.entries(this.#read());
      if (!first) return this.#tell("saved");
      this.#tell("saving");
      const [key, entry] = first;
      const answer = await post(entry, this.user);
      if (answer.wait) {
        this.#tell(answer.wait, answer);
        this.#sendIn(this.#pause);
        this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
        return undefined;
      }
      this.#pause = FIRST_PAUSE;
      if (this.#read()[key]?.stamp === entry.stamp) this.drop(key);
      if (answer.next) this.#replies.set(key.split("/")[0], answer);
      const detail = { key, choice: entry.choice, ...answer };
      this.dispatchEvent(new CustomEvent(answer.refused ? "refused" : "kept", { detail }));
      if (answer.refused && !this.size) return undefined;
    }
  }

  #sendIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.send(), milliseconds);
  }

  #tell(state, answer = {}) {
    this.dispatchEvent(new CustomEvent("state", { detail: { state, size: this.size, reason: answer.reason } }));
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

const newStamp = () => `${Date.now()}-${Math.random()}`;

/** Post one choice. The answer holds `wait` if it must be tried again, `refused` if it never will be taken. */
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
    });
  } catch {
    return { wait: "offline" };
  }
  if (response.type === "opaqueredirect" || response.status === 403) return { wait: "signed-out" };
  if (response.status >= 500 || response.status === 429) return { wait: "offline" };
  const answer = await response.json().catch(() => ({ refused: gettext("The server answered {status}.", { status: response.status }) }));
  if (response.status === 409) return { wait: "closed", reason: answer.refused };
  return { ...answer, headers: [...response.headers] };
}

function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return cookie ? cookie[1] : document.querySelector("[name=csrfmiddlewaretoken]").value;
}
