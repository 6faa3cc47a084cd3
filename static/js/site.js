/* What every page does but those of tasks, which have one script each. */
import "./menus.js";
import "./messages.js";
import "./theme.js";
