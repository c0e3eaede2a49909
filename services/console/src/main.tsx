/** The program of the page. */

import { render } from "preact";
import { App } from "./app.tsx";

const place = document.querySelector("#console");
if (place !== null) render(<App />, place);
