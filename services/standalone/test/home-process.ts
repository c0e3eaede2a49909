/** Takes the folder that its argument names, says whether it could, and holds it until it is killed or its parent is gone. */

import { takeHome } from "../src/home.ts";

const [folder = ""] = process.argv.slice(2);
let said = "taken";
try {
  takeHome(folder, "http://127.0.0.1:8080");
} catch (error) {
  said = (error as Error).message;
}
process.on("disconnect", () => process.exit());
// Keeps the channel open, and with it the process.
process.on("message", () => undefined);
process.send?.(said);
