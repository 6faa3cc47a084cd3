/* The service worker of the task pages. A page that goes on to the next task gives it that task's page, which came with the
   reply to the last answer; it is shown once, right then. All else goes to the server as if this were not here. */

const WAITS = 5_000; // milliseconds: whoever has not come by then does not
const ALL_BUT_VISITS = { or: ["cors", "no-cors", "same-origin"].map((requestMode) => ({ requestMode })) };
const pages = new Map();

addEventListener("install", (event) => {
  globalThis.skipWaiting();
  // Where the browser can, it does not even ask here about scripts, answers and the like.
  const rule = { condition: ALL_BUT_VISITS, source: "network" };
  event.waitUntil(event.addRoutes ? event.addRoutes([rule]).catch(() => {}) : Promise.resolve());
});

addEventListener("message", ({ data: { address, html, headers }, ports: [port] }) => {
  pages.set(address, { html, headers });
  setTimeout(() => pages.delete(address), WAITS);
  port.postMessage("here");
});

addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  const page = event.request.method === "GET" && pages.get(event.request.url);
  pages.clear();
  if (page) event.respondWith(new Response(page.html, { headers: page.headers }));
});
