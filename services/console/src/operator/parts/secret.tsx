/** The secrets of new keys, each shown only once. */

import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { moment } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { forgetSecret, newSecrets } from "../new-secret.ts";
import { texts } from "../texts.ts";

/** Shows the secrets above every page until their reader has stored them. */
export function NewSecrets() {
  return newSecrets.value.map((key) => (
    <Fragment key={key.id}>
      <Secret id={key.id} label={key.label} secret={key.secret} />
      {"replaces" in key ? (
        <p>
          {texts.key.successor} <a href={`/keys/${key.id}`}>{key.id}</a>. {texts.key.works} {moment(key.replaces.valid_until)}.
        </p>
      ) : null}
    </Fragment>
  ));
}

/** @param secret  null: an earlier try of the same request made the key, and its answer was lost. */
function Secret({ id, label, secret }: { readonly id: string; readonly label: string; readonly secret: string | null }) {
  useEffect(() => {
    if (secret === null) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [secret]);
  const field = useRef<HTMLInputElement>(null);
  return (
    <section class="secret" aria-labelledby={`secret-title-${id}`}>
      <h2 id={`secret-title-${id}`}>
        {texts.secret.title} “<Outside text={label} />”
      </h2>
      {secret === null ? (
        <p class="note">{texts.secret.lost}</p>
      ) : (
        <>
          <p class="note">{texts.secret.once}</p>
          <label for={`secret-${id}`}>{texts.secret.label}</label>
          <div class="copied">
            <input
              id={`secret-${id}`}
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
      <button type="button" class="quiet" onClick={() => forgetSecret(id)}>
        {texts.secret.done}
      </button>
    </section>
  );
}
