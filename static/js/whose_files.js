// Says, while files are chosen, how many are people's and how many LLM judges'.
const fieldset = document.querySelector("[data-whose]");
const said = fieldset.querySelector("[data-tally-said]");
const files = (count) => `${count} ${count === 1 ? "file" : "files"}`;

fieldset.addEventListener("change", () => {
  const people = [...fieldset.querySelectorAll("[data-tally=people]")];
  const chosen = people.filter((box) => box.checked).length;
  const isAnswered = chosen > 0 || fieldset.querySelector("[data-tally=nobody]").checked;
  const are = chosen === 1 ? "is" : "are";
  said.textContent = isAnswered ? `${files(chosen)} ${are} people’s, ${files(people.length - chosen)} LLM judges’.` : "";
});
