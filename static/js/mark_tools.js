/* What can be done to the chosen mark without a keyboard: buttons over the text, which leave the focus there, and two handles
   at its ends, which a finger (or a mouse) drags from word to word. */

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

/** `drag` gets the end that is dragged and the pointer's place. */
export function markHandles({ drag }) {
  const handles = ["start", "end"].map((end) => {
    const handle = element("div", { className: `mark-handle ${end}`, hidden: true });
    handle.setAttribute("aria-hidden", "true"); // the buttons below the text do the same
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // or the text would lose the focus
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      // Above a finger, which covers what it points at.
      const lift = event.pointerType === "mouse" ? 0 : 28;
      drag(end, { clientX: event.clientX, clientY: event.clientY - lift });
    });
    document.body.append(handle);
    return handle;
  });
  return {
    /** Stand at the ends of this range, or nowhere. */
    show(range) {
      const boxes = range ? [...range.getClientRects()].filter(({ width }) => width) : [];
      handles.forEach((handle, i) => {
        const box = i ? boxes.at(-1) : boxes[0];
        handle.hidden = !box;
        if (!box) return;
        handle.style.left = `${(i ? box.right : box.left) + scrollX}px`;
        handle.style.top = `${box.bottom + scrollY}px`;
      });
    },
  };
}
