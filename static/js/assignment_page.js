/* The one script of its page. */
import "./assignment.js";
import "./task_parts.js";
