/* What a judge suggests at an answer. In the arm "after" the assessor's own answer is stored already, and is kept or
   changed now; in "post_edit" the judge's stands there until it is confirmed or another is chosen. */

/** Whether the assessor has yet to say whether they keep what they had said. */
export const awaitsDecision = ({ suggestion }) => suggestion?.arm === "after" && !suggestion.decided;

/** The grade that is filled in and not confirmed yet; undefined where none is. */
export const filledIn = ({ grade, suggestion }) =>
  grade === null && suggestion?.arm === "post_edit" && !suggestion.decided ? suggestion.grade : undefined;

/** The words that go with a grade if it is taken over from the judge; otherwise those that are marked already. */
export function spansWith(answer, grade) {
  const { suggestion, spans, highlighting } = answer;
  const isTakenOver = suggestion && suggestion.arm !== "verify" && suggestion.grade === grade;
  return isTakenOver && !spans.length && highlighting !== "none" ? suggestion.spans : spans;
}

/** Let the buttons beside a suggestion choose: the own answer again, or the judge's. */
export function offerSuggestions(answers, choose) {
  for (const answer of answers.filter(({ suggestion }) => suggestion)) {
    const { panel } = answer.suggestion;
    const ways = panel?.querySelector(".suggestion-ways");
    if (ways) ways.hidden = false;
    for (const button of ways?.querySelectorAll("button") ?? []) {
      button.addEventListener("click", () => choose(answer, button.dataset.does === "keep" ? answer.grade : answer.suggestion.grade));
    }
    answer.fieldset.addEventListener("click", ({ target }) => {
      if (target.matches("input") && Number(target.value) === filledIn(answer)) choose(answer, filledIn(answer));
    });
  }
}

/** Press the button beside the suggestion of one of these answers that does this. */
export function pressSuggestion(answers, does) {
  const waits = (answer) => awaitsDecision(answer) || filledIn(answer) !== undefined;
  const answer = answers.find(waits) ?? answers.find(({ suggestion }) => suggestion?.arm === "after");
  answer?.suggestion.panel?.querySelector(`[data-does="${does}"]`)?.click();
}

/** Show what still waits. */
export function renderSuggestion(answer) {
  const { suggestion, fieldset } = answer;
  if (!suggestion) return;
  suggestion.panel?.classList.toggle("waits", awaitsDecision(answer) || filledIn(answer) !== undefined);
  for (const input of fieldset.querySelectorAll(".choice input")) {
    const isFilledIn = input.value !== "" && Number(input.value) === filledIn(answer);
    input.closest(".choice").classList.toggle("filled-in", isFilledIn);
    if (isFilledIn) input.checked = true;
  }
}
