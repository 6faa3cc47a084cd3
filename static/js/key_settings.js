/* Below the list of keys: other keys are chosen, single keys switched off and on, and all of it set back. */

import { areSingleKeysOn, chooseKey, keyOf, resetKeys, showKeys, switchSingleKeys } from "./keys.js";
import { element } from "./elements.js";

const byId = (id) => document.getElementById(id);
const settings = byId("key-settings");
const list = byId("keys");
let listening = null; // the button whose key is chosen now

const say = (words) => (byId("key-says").textContent = words);
const nameOf = (action) => {
  const row = list.querySelector(`kbd[data-action="${action}"]`)?.closest("dt");
  return row?.nextElementSibling.textContent.trim().replace(/\s+/gu, " ") ?? "";
};
const filled = (words, values) => Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, value), words);

/** Let each key in the list be a button, or be none again. */
function change(on) {
  byId("change-keys").setAttribute("aria-expanded", String(on));
  listening = null;
  for (const kbd of list.querySelectorAll("dt kbd[data-action]")) {
    if (!on) {
      kbd.closest(".key-button")?.replaceWith(kbd);
      continue;
    }
    const button = element("button", { type: "button", className: "button small key-button" });
    button.setAttribute("aria-label", `${kbd.textContent}: ${nameOf(kbd.dataset.action)}`);
    button.addEventListener("click", () => listen(button));
    kbd.replaceWith(button);
    button.append(kbd);
  }
  say(on ? settings.dataset.choose : "");
}

function listen(button) {
  listening = button;
  for (const one of list.querySelectorAll(".key-button")) one.classList.toggle("primary", one === button);
  say(settings.dataset.press);
}

function take(event) {
  if (!listening || ["Shift", "Control", "Alt", "Meta", "AltGraph", "Tab"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const button = listening;
  listening = null;
  button.classList.remove("primary");
  if (event.key === "Escape") return say("");
  const key = keyOf(event);
  const { action } = button.querySelector("kbd").dataset;
  const refused = chooseKey(action, key);
  if (refused === "not") return say(settings.dataset.not);
  if (refused) return say(filled(settings.dataset.taken, { key: key.toUpperCase(), action: nameOf(refused) || refused }));
  showKeys();
  button.setAttribute("aria-label", `${key.toUpperCase()}: ${nameOf(action)}`);
  return say(filled(settings.dataset.done, { key: key.toUpperCase(), action: nameOf(action) }));
}

if (settings) {
  settings.hidden = false;
  byId("single-keys").checked = areSingleKeysOn();
  byId("single-keys").addEventListener("change", ({ target }) => {
    switchSingleKeys(target.checked);
    showKeys();
  });
  byId("change-keys").addEventListener("click", () => change(byId("change-keys").getAttribute("aria-expanded") === "false"));
  byId("reset-keys").addEventListener("click", () => {
    resetKeys();
    change(false);
    showKeys();
    say(settings.dataset.reset);
  });
  list.addEventListener("keydown", take, { capture: true });
  list.addEventListener("close", () => change(false));
}
