/** Entry point of the public pages. */

import { render } from "preact";
import { App } from "./app.tsx";
import { keepFocus } from "./kept-focus.ts";
import { KeyInUse } from "./parts/failed.tsx";
import { followPrinting } from "./printing.ts";
import { forgetKey, hasKey } from "./session.ts";

followPrinting();
keepFocus();
const place = document.querySelector("#console");
if (place !== null)
  render(
    <KeyInUse.Provider value={{ hasKey, forget: forgetKey }}>
      <App />
    </KeyInUse.Provider>,
    place,
  );
