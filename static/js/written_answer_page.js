/* The one script of its page. */
import "./written_answer.js";
import "./task_parts.js";
