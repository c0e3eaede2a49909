/** Entry point of the pages for operators. */

import { render } from "preact";
import { keepFocus } from "../kept-focus.ts";
import { KeyInUse } from "../parts/failed.tsx";
import { followPrinting } from "../printing.ts";
import { OperatorApp } from "./app.tsx";
import { forgetKey, hasKey } from "./session.ts";

followPrinting();
keepFocus();
const place = document.querySelector("#console");
if (place !== null)
  render(
    <KeyInUse.Provider value={{ hasKey, forget: forgetKey }}>
      <OperatorApp />
    </KeyInUse.Provider>,
    place,
  );
