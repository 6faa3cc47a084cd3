/* What grades mean, where the page has no room to say it beside each: of the chosen one it stands under them, of all it
   opens. */

import { element } from "./elements.js";
import { gettext } from "./words.js";

const FEW = 2; // grades say what they mean by their names, unless that takes long
const LONG = 100; // characters

/** Put a button under an answer's grades. Returns what shows the chosen one's meaning in it. */
export function explain({ fieldset }) {
  const grades = [...fieldset.querySelectorAll(".choice:not(.none)")];
  if (grades.length <= FEW && grades.every((grade) => wordsOf(grade, ".choice-text").length < LONG)) return () => {};
  const button = element("button", { type: "button", className: "means" });
  button.addEventListener("click", () => open(fieldset.querySelector("legend").textContent.trim(), grades));
  fieldset.append(button);
  return () => {
    const chosen = grades.find((grade) => grade.querySelector("input").checked);
    const all = element("span", { className: "link", textContent: gettext("Meaning of each grade") });
    button.replaceChildren(chosen ? `${wordsOf(chosen, ".choice-text")} ` : "", all);
  };
}

const wordsOf = (grade, part) => grade.querySelector(part).textContent.trim();

function open(asked, grades) {
  const title = element("h2", { id: "meanings-title", textContent: asked });
  const close = element("form", { method: "dialog" }, element("button", { className: "button small", textContent: gettext("Close") }));
  const meanings = grades.flatMap((grade) => [
    element("dt", { textContent: wordsOf(grade, ".choice-name") }),
    element("dd", { textContent: wordsOf(grade, ".choice-text") }),
  ]);
  const head = element("div", { className: "head" }, title, close);
  const dialog = element("dialog", { className: "keys" }, head, element("dl", { className: "key-list" }, ...meanings));
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
