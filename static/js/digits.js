/* Plain forms by keyboard: digits choose at the first question without an answer (or the one in focus), Ctrl+Enter
   sends, or goes on where a page only has a way on. */

import { areSingleKeysOn, keyOf } from "./keys.js";

const form = document.querySelector("form[data-digits]");

function open() {
  const groups = [...form.querySelectorAll("fieldset")];
  const focused = document.activeElement?.closest("fieldset");
  return focused ?? groups.find((group) => !group.querySelector(":checked")) ?? groups.at(-1);
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=radio]), textarea, select") || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (form) form.requestSubmit();
    else document.querySelector("a[data-onward]")?.click();
    return;
  }
  const key = keyOf(event);
  const chosen = form && areSingleKeysOn() && /^\d$/u.test(key) && open()?.querySelector(`input[data-key="${key}"]`);
  if (!chosen) return;
  event.preventDefault();
  chosen.checked = true;
  if (document.activeElement?.closest("fieldset")) document.activeElement.blur();
  chosen.closest("fieldset").scrollIntoView({ block: "nearest" });
});
document.body.dataset.keys = "live";
