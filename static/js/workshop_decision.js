/* Deciding about proposals: choose some, then a digit. */

import { listenToKeys } from "./keys.js";

const form = document.getElementById("decision");
const button = (value) => form.querySelector(`button[value="${value}"]`);

listenToKeys({ press: (digit) => ({ 1: button("accept"), 0: button("refuse") })[digit]?.click() });
