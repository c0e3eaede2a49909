/** `/key`: the form for a key, and the limits and scopes of the key. */

import { useState } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import { count, duration, moment } from "../domain/format.ts";
import { callOf } from "../domain/snippets.ts";
import { Card, Facts, Outside } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { Snippets } from "../parts/shown-as.tsx";
import { forgetKey, hasKey, isKept, useKey } from "../session.ts";
import { texts } from "../texts.ts";

export function KeyPage() {
  return hasKey.value ? <KeyInUse /> : <KeyForm title={texts.key.title} />;
}

/** The form is also shown instead of a page that needs a key. */
export function KeyForm({ title }: { readonly title: string }) {
  const [fault, setFault] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    if (!useKey(String(form.get("key")), form.get("keep") !== null)) setFault(texts.key.bad);
  };
  return (
    <>
      <h1>{title}</h1>
      <p>{texts.key.needed}</p>
      <form class="key" onSubmit={submit}>
        <label for="key">{texts.key.label}</label>
        <input id="key" name="key" type="password" autocomplete="off" spellcheck={false} required aria-describedby="key-where key-fault" />
        <label class="check">
          <input type="checkbox" name="keep" /> {texts.key.keep}
        </label>
        <p id="key-fault" class="fault" role="alert">
          {fault}
        </p>
        <button type="submit">{texts.key.use}</button>
      </form>
      <p id="key-where" class="detail">
        {texts.key.where}
      </p>
    </>
  );
}

function KeyInUse() {
  const [answer, again] = useAnswer("me", (client, signal) => client.me({ signal }));
  return (
    <>
      <Answered answer={answer} again={again}>
        {(record) => (
          <>
            <h1>
              The key “<Outside text={record.key.label} />” is in use
              {record.plan === null ? (
                ""
              ) : (
                <>
                  {" "}
                  with the plan <Outside text={record.plan} />
                </>
              )}
              .
            </h1>
            <div class="cards">
              <Card title={texts.key.limits}>
                {record.limits.map((limit) => (
                  <div key={limit.name} class="gauge">
                    <p>
                      <strong>{limit.name}</strong>: {limit.used === null ? texts.unknown : count(limit.used)} of {count(limit.limit)} used
                      {limit.resets_in_seconds === null || limit.resets_in_seconds === undefined
                        ? ""
                        : `; resets in ${duration(limit.resets_in_seconds)}`}
                    </p>
                    <meter aria-label={limit.name} min={0} max={limit.limit} high={limit.limit * 0.9} value={limit.used ?? 0} />
                  </div>
                ))}
              </Card>
              <Card title={texts.key.about}>
                <Facts
                  facts={[
                    ["Key", <code key="d">{record.key.display}</code>],
                    ["Scopes", record.key.scopes.join(", ")],
                    ["Created", moment(record.key.created_at)],
                    ["Expires", record.key.expires_at === null ? "never" : moment(record.key.expires_at)],
                    ["Allowed from", record.key.allowed_cidrs?.length ? record.key.allowed_cidrs.join(", ") : "anywhere"],
                    ["Your address", record.client.ip],
                  ]}
                />
              </Card>
            </div>
            <Snippets lookup={{ path: "/api/v1/me", call: callOf("me") }} record={record} />
          </>
        )}
      </Answered>
      <p class="detail">{isKept.value ? texts.key.kept : texts.key.memory}</p>
      <button type="button" onClick={forgetKey}>
        {texts.key.forget}
      </button>
    </>
  );
}
