/* The one script of its page. */
import "./battle.js";
import "./assignment_page.js";
