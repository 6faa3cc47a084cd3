/* The one script of its page. */
import "./answer_evaluation.js";
import "./task_parts.js";
