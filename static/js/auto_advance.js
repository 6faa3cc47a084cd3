/* Auto-advance: a choice that completes a question leads to the next open one, and from the last to the next
   task. The choice is seen for a moment; whatever is pressed in it stops the way on. The switch is the assessor's own. */

import { keep, kept } from "./memory.js";
import { gettext } from "./words.js";

const MOMENT = 400; // milliseconds
const MOMENT_TO_MARK = 800; // where words may be marked too
const LATE = 600; // so much later a press of Next was still meant for the question before

const byId = (id) => document.getElementById(id);

/** Why a task may not be submitted by itself, although its last choice is made: something that somebody should see
    before. Empty where it says so already, undefined where nothing is in the way. */
export function whyNotByItself() {
  if (byId("submitted-elsewhere")?.hidden === false || byId("saving").dataset.state === "error") return "";
  return byId("comment-text")?.value.trim() ? gettext("Your comment is not sent yet. Send it, or submit without it.") : undefined;
}

export class AutoAdvance {
  #timer;
  #wentAt = -Infinity;
  #wasGoing = false;
  #byArrow = false;

  /** `button` is the switch; `go` goes on, and returns whether it went to another question. */
  constructor(button, go) {
    this.button = button;
    this.go = go;
    for (const sign of ["keydown", "pointerdown", "wheel"]) {
      addEventListener(sign, (event) => this.#notice(event), { capture: true, passive: true });
    }
    button.addEventListener("click", () => {
      keep("assize:goes-on", this.isOn ? "off" : "on");
      this.#show();
    });
    button.hidden = false;
    this.#show();
  }

  get isOn() {
    return kept("assize:goes-on") !== "off";
  }

  /** Whether the last press, or tap, stopped the way on. */
  get wasGoing() {
    return this.#wasGoing;
  }

  /** Whether the page went on so lately that somebody who asks for it now meant the question before. */
  get hasJustGone() {
    return performance.now() - this.#wentAt < LATE;
  }

  /** Go on in a moment, unless the choice was made by an arrow key, which passes over choices on its way to another.
      Returns how long the moment is; 0 where it stays. */
  soon({ mayBeMarked }) {
    if (!this.isOn || this.#byArrow) return 0;
    const moment = mayBeMarked ? MOMENT_TO_MARK : MOMENT;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.go()) this.#wentAt = performance.now();
    }, moment);
    return moment;
  }

  #notice(event) {
    if (event.repeat) return; // a key held down is one press
    this.#wasGoing = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#byArrow = Boolean(event.key?.startsWith("Arrow"));
  }

  #show() {
    this.button.setAttribute("aria-pressed", String(this.isOn));
  }
}
