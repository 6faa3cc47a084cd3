/* On a screen that is shown for training the answers are sent with the form that ends it, and nowhere else. */

document.getElementById("submit").addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of new FormData(document.getElementById("choices"))) {
    if (name.startsWith("grade-")) formData.set(name, value);
  }
});
