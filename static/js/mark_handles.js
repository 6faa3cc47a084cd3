/* Two handles at the ends of the chosen mark, which a finger (or a mouse) drags from word to word. */

import { element } from "./elements.js";

/** `place` returns the range of the chosen mark; `drag` gets the end that is dragged and the pointer's place. */
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
