/** A button that copies the text of an element next to it. */

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { texts } from "../texts.ts";

interface CopyButtonProps {
  readonly text: () => string;
  /** The element that shows the text. */
  readonly place: RefObject<HTMLElement | null>;
}

/** Also selects the text: if the browser forbids copying, the reader can copy it with the keyboard. */
export function CopyButton({ text, place }: CopyButtonProps) {
  const [state, setState] = useState<"" | "copied" | "selected">("");
  const copy = async () => {
    select(place.current);
    setState((await copyText(text())) ? "copied" : "selected");
  };
  return (
    <>
      <button type="button" onClick={copy}>
        {state === "copied" ? texts.shown.copied : texts.shown.copy}
      </button>
      <span role="status">{state === "selected" ? texts.shown.selected : ""}</span>
    </>
  );
}

function select(place: HTMLElement | null): void {
  if (place instanceof HTMLInputElement) place.select();
  else if (place !== null) getSelection()?.selectAllChildren(place);
}

/** @returns whether the text was copied. Only pages of a secure origin have a clipboard. Others use the older command, which copies the selection. */
async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) return document.execCommand("copy");
  return await clipboard.writeText(text).then(
    () => true,
    () => document.execCommand("copy"),
  );
}
