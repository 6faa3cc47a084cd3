/* Counts the seconds in which somebody is at work: the page in front, and a sign of life in the last minute. */

const PATIENCE = 60;

export class Clock {
  /** `spent` maps a name to the seconds counted before. */
  constructor(spent) {
    this.spent = new Map(spent);
    this.counted = 0;
    this.lastTick = performance.now();
    this.lastSign = performance.now();
    for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "touchmove"]) {
      addEventListener(sign, () => this.#sign(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.#tick());
    setInterval(() => this.#tick(), 1000);
  }

  /** From now on, time counts for this name. */
  turnTo(name) {
    this.#tick();
    this.name = name;
  }

  /** The seconds of work that were counted on this page. */
  get worked() {
    this.#tick();
    return this.counted;
  }

  seconds(name) {
    this.#tick();
    return Math.round((this.spent.get(name) ?? 0) * 10) / 10;
  }

  #sign() {
    this.#tick();
    this.lastSign = performance.now();
  }

  #tick() {
    const now = performance.now();
    const passed = (now - this.lastTick) / 1000;
    this.lastTick = now;
    const away = document.visibilityState !== "visible" || !document.hasFocus();
    const idle = (now - this.lastSign) / 1000 > PATIENCE;
    if (away || idle) return;
    this.counted += Math.min(passed, PATIENCE);
    if (this.name) this.spent.set(this.name, (this.spent.get(this.name) ?? 0) + Math.min(passed, PATIENCE));
  }
}
