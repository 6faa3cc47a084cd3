/* Ticks beside the page's scroll bar say where the marks of the question stand; a click goes there. The list of marks
   says the same to those who do not see them. */

import { reveal } from "./highlights.js";
import { element } from "./elements.js";

const strip = element("div", { className: "ticks" });
strip.setAttribute("aria-hidden", "true");
document.body.append(strip);

export function drawTicks(text, spans) {
  const { scrollHeight } = document.documentElement;
  strip.hidden = scrollHeight <= innerHeight;
  if (strip.hidden) return;
  strip.replaceChildren(...spans.map((span) => {
    const range = text.range(span);
    const tick = element("div", { className: "tick" });
    tick.style.top = `${(100 * (range.getBoundingClientRect().top + scrollY)) / scrollHeight}%`;
    tick.addEventListener("click", () => reveal(range));
    return tick;
  }));
}
