/* Says when htmx got no answer, or a bad one: it keeps the page as it was, so somebody has to. */
const messages = document.getElementById("messages");
const REASONS = { 403: "you are not allowed to", 404: "it no longer exists" };

/** Show a message above whatever is being read, until the next request succeeds. */
export function say(text, kind = "error") {
  const item = document.createElement("li");
  item.className = `message said ${kind}`;
  item.textContent = text;
  messages.replaceChildren(item);
}

document.addEventListener("htmx:sendError", () => say("The server cannot be reached. Nothing was changed; try again."));
document.addEventListener("htmx:timeout", () => say("The server did not answer in time. Try again."));
document.addEventListener("htmx:responseError", ({ detail }) => {
  const reason = REASONS[detail.xhr.status] ?? `the server answered ${detail.xhr.status}`;
  say(`That did not work: ${reason}. Reload the page and try again.`);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful) messages.querySelectorAll(".said").forEach((item) => item.remove());
});
