/* The theme switch. The choice is kept in a cookie, so that the server writes it into <html> and no page flashes.
   No cookie: the theme is the system's. */
const A_YEAR = 60 * 60 * 24 * 365;
const button = document.getElementById("theme");

function themeInForce() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return document.documentElement.dataset.theme ?? system;
}

button.hidden = false;
button.addEventListener("click", () => {
  const theme = themeInForce() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=${A_YEAR}; samesite=lax`;
});
