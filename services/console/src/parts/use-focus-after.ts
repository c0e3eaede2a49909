/** Where the focus goes when a key was entered or forgotten: the form or the button that had it is gone. */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Moves the focus to the field for the key, else to the answer, each time that the value has changed. */
export function useFocusAfter(value: boolean): void {
  const last = useRef(value);
  // Before anybody can move it themselves.
  useLayoutEffect(() => {
    if (last.current === value) return;
    last.current = value;
    document.querySelector<HTMLElement>("#key, main:not(:has(#key))")?.focus({ preventScroll: true });
  }, [value]);
}
