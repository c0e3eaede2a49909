/** A new key's secret, which is shown once. */

import { useRef } from "preact/hooks";
import { Outside } from "../../parts/basics.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { texts } from "../texts.ts";

interface SecretProps {
  readonly label: string;
  /** Null: an earlier try of the same request made the key, and its answer was lost. */
  readonly secret: string | null;
  readonly done: () => void;
}

export function Secret({ label, secret, done }: SecretProps) {
  const field = useRef<HTMLInputElement>(null);
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
            <CopyButton text={() => secret} place={field} />
          </div>
        </>
      )}
      <button type="button" class="quiet" onClick={done}>
        {texts.secret.done}
      </button>
    </section>
  );
}
