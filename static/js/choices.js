/* What is chosen and marked at the questions of an assignment. Every change can be undone, goes to the outbox at once
   and is told to other tabs with this assignment. */

import { isLeaving } from "./ahead.js";
import { isChanged } from "./judged_text.js";
import { firstPositive, isAsked, isPositive, nameOfFirstPositive, questionOf, questions } from "./questions.js";
import { awaitsDecision, spansWith } from "./suggestions.js";
import { gettext } from "./words.js";

export class Choices extends EventTarget {
  #undone = [];

  /** `page` is what the server says of the assignment. Fires "change" when what is chosen has changed. */
  constructor({ page, text, outbox, clock }) {
    super();
    Object.assign(this, { page, text, outbox, clock });
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel(`assize:assignment:${page.assignment}`) : null;
    this.channel?.addEventListener("message", ({ data }) => this.#takeFromOtherTab(data));
  }

  get isFixed() {
    return Boolean(this.page.fixed) || isLeaving();
  }

  choose(answer, grade) {
    const question = questionOf(answer);
    if ((answer.grade === grade && !awaitsDecision(answer)) || this.isFixed) return;
    this.#remember(question);
    answer.spans = spansWith(answer, grade);
    answer.grade = grade;
    if (answer.highlighting === "when positive" && !isPositive(answer)) answer.spans = [];
    this.#save(answer);
    this.#forgetWhatIsNotAsked(question);
    this.#takeWhatWasSaid(question, answer);
    this.#tell();
  }

  /** The server copies what was said at another text, once something else is answered here. */
  #takeWhatWasSaid(question, answered) {
    if (answered.grade === null || answered.before !== null) return;
    for (const answer of question.answers) if (isAsked(question, answer)) answer.grade ??= answer.before;
  }

  /** Say whether the assessor is not sure of the grade. Where it is not chosen yet, that goes with the choice. */
  flag(answer, unsure) {
    if (this.isFixed) return this.#tell();
    if (answer.grade === null && answer.before === null || awaitsDecision(answer)) {
      answer.unsure = unsure;
      return this.#tell();
    }
    this.#remember(questionOf(answer));
    answer.grade ??= answer.before;
    answer.unsure = unsure;
    this.#save(answer);
    return this.#tell();
  }

  /** Say why this span may not be marked for the answer; nothing where it may. */
  whyNotMarked(answer, span) {
    if (this.isFixed) return this.page.fixed ?? gettext("This task is being submitted.");
    if (isChanged(this.text.root, { marks: true })) return gettext("Nothing was marked.");
    if (answer.spans.some(({ start, end }) => start === span.start && end === span.end)) return gettext("This is already marked.");
    const refuses = answer.highlighting === "when positive" && answer.grade !== null && !isPositive(answer);
    return refuses ? gettext("To mark words, choose “{grade}” first.", { grade: nameOfFirstPositive(answer) }) : "";
  }

  mark(answer, span) {
    this.#remember(questionOf(answer));
    if (answer.highlighting === "when positive") answer.grade ??= firstPositive(answer);
    answer.spans = [...answer.spans, this.#quoted(answer, span)];
    this.#save(answer);
    this.#tell();
  }

  unmark(answer, index) {
    if (this.isFixed) return;
    this.#remember(questionOf(answer));
    answer.spans = answer.spans.filter((_, i) => i !== index);
    this.#save(answer);
    this.#tell();
  }

  /** Let the span at this index become another. */
  replace(answer, index, span) {
    this.#remember(questionOf(answer));
    answer.spans = answer.spans.with(index, this.#quoted(answer, span));
    this.#save(answer);
    this.#tell();
  }

  #quoted({ item }, span) {
    this.text.turnTo(item);
    return { ...span, quote: this.text.quote(span) };
  }

  takeBack(answer) {
    if (this.isFixed) return;
    const question = questionOf(answer);
    this.#remember(question);
    Object.assign(answer, { grade: null, spans: [], unsure: false });
    this.#save(answer);
    this.#forgetWhatIsNotAsked(question);
    this.#tell();
  }

  /** Undo the last change. Returns its question; undefined where nothing is left to undo. */
  undo() {
    const last = this.#undone.pop();
    last?.question.answers.forEach((answer, i) => {
      const before = last.answers[i];
      if (Object.keys(before).every((name) => answer[name] === before[name])) return;
      Object.assign(answer, before);
      if (isAsked(last.question, answer)) this.#save(answer);
    });
    return last?.question;
  }

  #remember(question) {
    this.#undone.push({ question, answers: question.answers.map(({ grade, spans, unsure }) => ({ grade, spans, unsure })) });
  }

  #save({ item, criterion, grade, key, spans, suggestion, unsure }) {
    if (suggestion) suggestion.decided = true;
    const choice = {
      item: Number(item),
      criterion: Number(criterion),
      grade,
      spans,
      seconds: this.clock.seconds(key),
      guidelines: Number(this.page.guidelines) || null,
      unsure,
      page_changed: isChanged(this.text.partOf(item) ?? this.text.element),
    };
    this.outbox.put(key, this.page.save, choice);
    this.channel?.postMessage(choice);
  }

  #forgetWhatIsNotAsked(question) {
    for (const answer of question.answers) {
      if (isAsked(question, answer)) continue;
      Object.assign(answer, { grade: null, unsure: false });
      this.outbox.drop(answer.key); // the server takes it back with the answer that it follows
    }
  }

  #takeFromOtherTab({ item, criterion, grade, spans, unsure }) {
    const question = questions.find((one) => one.item === String(item));
    const answer = question.answers.find((one) => one.criterion === String(criterion));
    Object.assign(answer, { grade, unsure, spans });
    for (const one of question.answers) if (!isAsked(question, one)) one.grade = null;
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
