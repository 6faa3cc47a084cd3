import { listenToKeys } from "./keys.js";
import { offerToTakeBack, takeBackLastTask } from "./last_task.js";

const link = document.getElementById("take-back");
const takeBack = () => takeBackLastTask(link);
offerToTakeBack(link);
listenToKeys({ actions: { undo: takeBack }, withCtrl: { z: takeBack } });
