/** Moves the focus after a key was entered or forgotten, because the form or the button with the focus is then removed. */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Moves the focus to the field for the key, else to the answer, after each change of the value. */
export function useFocusAfter(value: boolean): void {
  const last = useRef(value);
  // A layout effect runs before the user can move the focus.
  useLayoutEffect(() => {
    if (last.current === value) return;
    last.current = value;
    document.querySelector<HTMLElement>("#key, main:not(:has(#key))")?.focus({ preventScroll: true });
  }, [value]);
}
