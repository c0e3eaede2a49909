/** A new key's secret, which is shown once. */

import { useRef, useState } from "preact/hooks";
import { Outside } from "../../parts/basics.tsx";
import { texts as shared } from "../../texts.ts";
import { texts } from "../texts.ts";

interface SecretProps {
  readonly label: string;
  /** Null: an earlier try of the same request made the key, and its answer was lost. */
  readonly secret: string | null;
  readonly done: () => void;
}

export function Secret({ label, secret, done }: SecretProps) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    field.current?.select();
    // Only pages of a secure origin have a clipboard, if the browser allows it; what is selected can be copied all the same.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(secret ?? "")).then(
      () => navigator.clipboard !== undefined || document.execCommand("copy"),
      () => document.execCommand("copy"),
    );
    setCopied(copied);
  };
  return (
    <section class="secret" aria-labelledby="secret-title">
      <h2 id="secret-title">
        {texts.secret.title} “<Outside text={label} />”
      </h2>
      {secret === null ? (
        <p class="note">{texts.secret.lost}</p>
      ) : (
        <>
          <p class="note">{texts.secret.once}</p>
          <label for="secret">{texts.secret.label}</label>
          <div class="copied">
            <input
              id="secret"
              ref={field}
              readOnly
              value={secret}
              spellcheck={false}
              onFocus={({ currentTarget }) => currentTarget.select()}
            />
            <button type="button" onClick={copy}>
              {isCopied ? shared.shown.copied : shared.shown.copy}
            </button>
          </div>
        </>
      )}
      <button type="button" class="quiet" onClick={done}>
        {texts.secret.done}
      </button>
    </section>
  );
}
