/* The keys of the pages on which assessors work, and what each does. A key is known by its character; where the
   keyboard's layout has none that is meant (no Latin letters, digits only with Shift), by its place. Assessors may
   choose other keys and switch single keys off; this browser remembers that. */

import { keep, kept } from "./memory.js";

const CHOSEN = "assize:keys";
const SINGLE = "assize:single-keys";
const EVERYWHERE = { back: "b", clear: "-", comment: "w", guidelines: "g", help: "?", later: "l", skip: "x", undo: "u", unsure: "q" };
const THROUGH = { next: "n", previous: "p" };
// The key of each action, unless its assessor chose another, by the kind of page that has it.
const PAGES = [
  { ...EVERYWHERE, ...THROUGH, accept: "y", candidate: "c", end: "e", find: "/", jump: "j", keep: "k", others: "o", sentence: "s", text: "t" },
  { ...EVERYWHERE, ...THROUGH },
  { ...EVERYWHERE, answer: "a", confirm: "c", insert: "i", sentences: "s" },
];
const DEFAULTS = Object.assign({}, ...PAGES);
const SIGNS = { Minus: "-", NumpadSubtract: "-", Slash: "/" }; // where they stand on a keyboard for English

/** The character that this press means: a small Latin letter, a digit or a sign; or the name of the key. */
export function keyOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (/^[0-9a-z]$/u.test(key) || event.getModifierState("AltGraph")) return key;
  const digit = event.code?.match(/^Digit(\d)$/u);
  if (digit && !event.shiftKey) return digit[1]; // AZERTY's digits, and those of other scripts
  if ([...key].length > 1 || Object.keys(DEFAULTS).some((action) => keyFor(action) === key)) return key;
  const letter = event.code?.match(/^Key([A-Z])$/u);
  return letter ? letter[1].toLowerCase() : SIGNS[event.code] ?? key;
}

// --- The assessor's own keys ----------------------------------------------------------------------

function chosen() {
  try {
    return JSON.parse(kept(CHOSEN)) ?? {};
  } catch {
    return {};
  }
}

/** The key in force for an action. */
export function keyFor(action) {
  const own = chosen()[action];
  return typeof own === "string" && isAllowed(own) ? own : DEFAULTS[action];
}

const isAllowed = (key) => /^[^\s\d\p{C}]$/u.test(key);

/** Let this key do the action. Returns why not: `not` where it is no letter or sign, or the action that has it. */
export function chooseKey(action, key) {
  if (!isAllowed(key)) return "not";
  const beside = PAGES.filter((page) => action in page).flatMap(Object.keys);
  const taken = beside.find((other) => other !== action && keyFor(other) === key);
  if (!taken) keep(CHOSEN, JSON.stringify({ ...chosen(), [action]: key }));
  return taken;
}

export const resetKeys = () => keep(CHOSEN, "{}");
export const areSingleKeysOn = () => kept(SINGLE) !== "off";
export const switchSingleKeys = (on) => keep(SINGLE, on ? "on" : "off");

/** Show on the page which keys are in force. */
export function showKeys() {
  document.documentElement.classList.toggle("no-single-keys", !areSingleKeysOn());
  for (const kbd of document.querySelectorAll("kbd[data-action]")) {
    kbd.textContent = keyFor(kbd.dataset.action).toUpperCase();
    const named = kbd.closest("[aria-keyshortcuts]");
    if (named && !areSingleKeysOn()) named.removeAttribute("aria-keyshortcuts");
    else named?.setAttribute("aria-keyshortcuts", kbd.textContent);
  }
}

/** A key cap with the key of the action. */
export function keyCap(action) {
  const kbd = document.createElement("kbd");
  kbd.dataset.action = action;
  kbd.textContent = keyFor(action).toUpperCase();
  return kbd;
}

// Where a page runs from right to left, what comes next stands on the left.
export const [NEXT_ARROW, PREVIOUS_ARROW] =
  document.documentElement.dir === "rtl" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];

// --- Listening ----------------------------------------------------------------------------------

const TYPED_IN = "input:not([type=radio], [type=checkbox]), textarea, select, dialog:modal";

/** `press` gets the digits, `actions` says what is done under the names above, `keys` what keys without a character do,
    and `withCtrl` what Ctrl (or ⌘) does with one. Keys that go to an element of the selector `but` stay there. */
export function listenToKeys({ press, actions = {}, keys = {}, withCtrl = {}, but = TYPED_IN }) {
  document.addEventListener("keydown", (event) => {
    if (!event.key || event.isComposing || event.altKey || event.target.closest(but)) return;
    const held = event.ctrlKey || event.metaKey;
    const key = keyOf(event);
    if (!held && key.length === 1 && !areSingleKeysOn()) return;
    const isDigit = press && /^\d$/u.test(key);
    if (isDigit && event.repeat) return; // or a key held down would answer the next question too
    const named = Object.keys(actions).find((action) => keyFor(action) === key);
    const act = held ? withCtrl[key] : isDigit ? () => press(key) : actions[named] ?? keys[key];
    if (!act) return;
    event.preventDefault();
    if (!held || !event.repeat) act(event);
  });
}

showKeys();
