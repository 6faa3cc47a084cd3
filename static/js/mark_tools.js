/* What can be done to the chosen mark without a keyboard. It stands over the text and leaves the focus there. */

import { element } from "./elements.js";
import { gettext } from "./words.js";

/** `move` gets an end, "start" or "end", and whether it goes forward by a word. */
export function markTools({ move, remove, done }) {
  const button = (textContent, label, act) => {
    const made = element("button", { type: "button", className: "button small", textContent, tabIndex: -1 });
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const ends = [
    { end: "start", name: gettext("Start"), back: gettext("Move the start a word back"), on: gettext("Move the start a word on") },
    { end: "end", name: gettext("End"), back: gettext("Move the end a word back"), on: gettext("Move the end a word on") },
  ].flatMap(({ end, name, back, on }) => [
    button("◂", back, () => move(end, false)),
    element("span", { textContent: name }),
    button("▸", on, () => move(end, true)),
  ]);
  const tools = element("div", { className: "mark-tools", hidden: true }, ...ends, button(gettext("Remove"), gettext("Remove this mark"), remove), button(gettext("Done"), "", done));
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", gettext("The chosen mark"));
  tools.addEventListener("pointerdown", (event) => event.preventDefault()); // or the text would lose the focus
  document.querySelector(".assignment-text").append(tools);
  return tools;
}
