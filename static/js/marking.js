/* Marking words, whole ones unless Alt is held, with a mouse, where the mark is made when its button goes up, or with a finger, which adjusts the
   selection first and then presses "Mark". The keyboard has its caret. */

import { element } from "./elements.js";
import { gettext } from "./words.js";

/** `mark` gets the span that was selected and returns whether it was marked; `takesMarks` says whether any may be. */
export function markByPointer(text, { mark, undo, takesMarks }) {
  const button = element("button", { type: "button", className: "button primary mark-button", textContent: gettext("Mark"), hidden: true });
  document.body.append(button);
  let pointer = "mouse";
  let markedByDoubleClick = false;

  document.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
  text.element.addEventListener("mousedown", (event) => {
    if (pointer !== "mouse" || event.shiftKey || event.detail > 1) return;
    markedByDoubleClick = false;
    getSelection().removeAllRanges(); // or a click on what was selected before would mark it
  });
  document.addEventListener("mouseup", (event) => {
    if (pointer !== "mouse" || event.button !== 0 || !takesMarks() || !text.selected()) return;
    if (event.detail === 3 && markedByDoubleClick) undo(); // the third click means the paragraph, not the word
    const marked = markSelection(text, mark, { exactly: event.altKey });
    markedByDoubleClick = event.detail === 2 && marked;
  });
  document.addEventListener("selectionchange", () => {
    button.hidden = pointer === "mouse" || !takesMarks() || !text.selected();
  });
  button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
  button.addEventListener("click", () => markSelection(text, mark, { exactly: false }));
}

export function markSelection(text, mark, { exactly }) {
  const span = text.selected();
  getSelection().removeAllRanges();
  return mark(exactly ? span : span && text.wholeWords(span));
}
