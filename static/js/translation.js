/* A passage and its translation: side by side where there is room, else one at a time, which a button chooses. */

const section = document.querySelector(".assignment-text");
const button = document.getElementById("show-translation");

button.addEventListener("click", () => {
  const wanted = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(wanted));
  section.classList.toggle("shows-translation", wanted);
});
section.classList.add("switches");
button.hidden = false;
