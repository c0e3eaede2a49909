/** A dialog before a change: it describes the change, and shows a failure. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../../asked.ts";
import { Failed } from "../../parts/failed.tsx";
import { texts } from "../texts.ts";

interface ConfirmProps {
  readonly title: ComponentChildren;
  readonly action: string;
  /** Whether the change cannot be undone, or reaches every caller. */
  readonly isFinal?: boolean;
  /** Makes the change. The dialog closes when it is made, and not before: closing it would not stop the change, and hide its failure. */
  readonly change: (form: FormData) => Promise<void>;
  readonly close: () => void;
  /** Called after the dialog is closed without the change that the server refused: what the page shows may be outdated. */
  readonly refused: () => void;
  readonly children?: ComponentChildren;
}

export function Confirm({ title, action, isFinal = false, change, close, refused, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isRefused = failure?.kind === "problem";
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // Enter alone must not confirm a final change.
    const wanted = isFinal ? "button.quiet" : "input:not([type=checkbox])";
    const field = form.current?.querySelector<HTMLElement>(wanted) ?? form.current?.querySelector<HTMLElement>("button[type=submit]");
    field?.focus();
  }, []);
  const make = () => {
    if (isBusy || form.current === null) return;
    setFailure(null);
    setBusy(true);
    change(new FormData(form.current)).then(
      () => dialog.current?.close(),
      (error) => {
        setFailure(failureOf(error));
        setBusy(false);
      },
    );
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="confirm-title"
      onCancel={(event) => {
        if (isBusy) event.preventDefault();
      }}
      onClose={() => {
        close();
        if (isRefused) refused();
      }}
    >
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <h2 id="confirm-title">{title}</h2>
        {children}
        {failure === null ? null : <Failed failure={failure} again={make} />}
        <div class="buttons">
          <button type="submit" class={isFinal ? "danger" : ""} aria-disabled={isBusy}>
            {action}
          </button>
          <button type="button" class="quiet" aria-disabled={isBusy} onClick={() => isBusy || dialog.current?.close()}>
            {texts.cancel}
          </button>
        </div>
      </form>
    </dialog>
  );
}
