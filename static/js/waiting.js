/* Submitting waits for the network by itself: it says so, and goes on when the network is back. */

const RETRIED = 5_000; // milliseconds: not every browser says when the network is back
const says = document.getElementById("says");
let waits = false;

const sayThatItWaits = () => (says.textContent = says.dataset.waits);

/** Resolves to whether everything is saved. Where the network is away it says so, and calls `again` once it is back. */
export async function isAllSaved(outbox, again) {
  if (waits) {
    sayThatItWaits();
    return false;
  }
  let last = "";
  outbox.addEventListener("state", ({ detail: { state } }) => (last = state));
  if (await outbox.settled()) return true;
  if (last === "offline") {
    waits = true;
    sayThatItWaits();
    await arrival(outbox);
    waits = false;
    says.textContent = "";
    if (outbox.isSaved) again();
  } else says.textContent = says.dataset.unsaved;
  return false;
}

/** Wait until what waits has arrived, or the server answers that it will not take it. */
function arrival(outbox) {
  return new Promise((resolve) => {
    outbox.addEventListener("state", ({ detail: { state } }) => !["saving", "offline"].includes(state) && resolve());
    outbox.addEventListener("refused", ({ detail: { isOwn } }) => isOwn && resolve());
  });
}

/** Ask the server until the network lets it answer. */
export async function patientFetch(url, options) {
  for (;;) {
    const response = await fetch(url, options).catch(() => null);
    if (response) return response;
    sayThatItWaits();
    await new Promise((resolve) => {
      addEventListener("online", resolve, { once: true });
      setTimeout(resolve, RETRIED);
    });
  }
}
