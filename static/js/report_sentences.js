/* The report around the sentence that is asked about: that one is in view, the others are dimmed. */

const report = document.getElementById("report");
const isAbout = (item) => ({ dataset }) => dataset.items.split(" ").includes(item);

/** Where the page itself scrolls past the report, on a phone, begin at the text that is asked about. */
function showText() {
  const text = document.getElementById("text");
  if (text.getBoundingClientRect().top > innerHeight / 4) text.scrollIntoView({ behavior: "instant" });
}

/** Bring the sentence that an item is about into view, and say which of its citations the item is. */
export function showSentence(item) {
  const sentences = [...report.querySelectorAll("[data-items]")];
  const atHand = sentences.find(isAbout(item));
  for (const sentence of sentences) sentence.classList.toggle("at-hand", sentence === atHand);
  for (const citation of report.querySelectorAll(".cite[href]")) {
    const isThis = citation.hash === `#question-${item}`;
    citation.toggleAttribute("aria-current", isThis);
    if (isThis) citation.setAttribute("aria-current", "true");
  }
  if (!atHand) return;
  // The page keeps room for the panel from the next frame on.
  if (getComputedStyle(report).maxHeight === "none") return requestAnimationFrame(() => requestAnimationFrame(showText));
  const [seen, here] = [report, atHand].map((one) => one.getBoundingClientRect());
  if (here.top < seen.top || here.bottom > seen.bottom) report.scrollBy({ top: here.top - seen.top - seen.height / 4, behavior: "instant" });
}
