/* Once everything on a task is answered and saved, the next one is claimed and its page fetched: it stands there as
   soon as this one is submitted. */

let asked = false;
let ahead = "";

export async function fetchAhead(url, token) {
  if (asked || !url || navigator.connection?.saveData) return;
  asked = true;
  try {
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": token } });
    if (response.status !== 200) return;
    ahead = (await response.json()).next;
    document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: ahead, as: "document" }));
  } catch {
    asked = false; // offline: another time
  }
}

/** Submit the form. Where a page was fetched ahead the browser goes there itself: it shows what it holds only to a
    plain visit, not to one that the server redirects. */
export async function submitAndGoOn(form) {
  if (!ahead) return form.submit();
  const headers = { Accept: "application/json" };
  const response = await fetch(form.action, { method: "POST", body: new FormData(form), headers }).catch(() => null);
  if (!response?.ok || !response.headers.get("Content-Type")?.startsWith("application/json")) return form.submit();
  location.assign((await response.json()).next);
}

/** A page that was fetched ahead holds for a while what it held then. Whoever comes back to it gets it anew. */
export function isOutOfDate(assignment) {
  const name = `assize:shown:${assignment}`;
  const [visit] = performance.getEntriesByType("navigation");
  try {
    const shown = sessionStorage.getItem(name);
    sessionStorage.setItem(name, "yes");
    return Boolean(shown) && visit?.type === "navigate" && visit.transferSize === 0;
  } catch {
    return false; // where the browser lets us store nothing, it stores no page either
  }
}
