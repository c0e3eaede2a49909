/** A new key's secret, which is shown once. */

import { useEffect, useRef } from "preact/hooks";
import { moment } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { newSecret } from "../new-secret.ts";
import { texts } from "../texts.ts";

/** Shown above every page until its reader has stored it. */
export function NewSecret() {
  const key = newSecret.value;
  if (key === null) return null;
  return (
    <>
      <Secret label={key.label} secret={key.secret} />
      {"replaces" in key ? (
        <p>
          {texts.key.successor} <a href={`/keys/${key.id}`}>{key.id}</a>. {texts.key.works} {moment(key.replaces.valid_until)}.
        </p>
      ) : null}
    </>
  );
}

/** @param secret  null: an earlier try of the same request made the key, and its answer was lost. */
function Secret({ label, secret }: { readonly label: string; readonly secret: string | null }) {
  useEffect(() => {
    if (secret === null) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [secret]);
  const field = useRef<HTMLInputElement>(null);
  const done = () => {
    newSecret.value = null;
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
