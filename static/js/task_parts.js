/* What all tasks' pages have, and what some of them do. */
import { takeComments } from "./comments.js";
import "./theme.js";

takeComments();
if (document.getElementById("terms")) import("./terms.js");
if (document.getElementById("show-translation")) import("./translation.js");

// On a screen that is shown for training the answers are sent with the form that ends it, and nowhere else.
if (document.querySelector("#submit [name=text]")) {
  document.getElementById("submit").addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of new FormData(document.getElementById("choices"))) {
      if (name.startsWith("grade-")) formData.set(name, value);
    }
  });
}
