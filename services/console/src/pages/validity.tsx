/** `/validity/AS3333/193.0.0.0/21`, and `/validity` with a form for it. */

import { useState } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import { classify } from "../domain/classify.ts";
import { validitySentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { AsLink, Card, PrefixLink } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { RpkiDetails } from "../parts/rpki.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { navigate } from "../router.ts";

export function ValidityForm() {
  const [fault, setFault] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const origin = classify(String(form.get("asn")));
    const prefix = classify(String(form.get("prefix")));
    if (origin?.kind !== "as") return setFault("The origin must be an AS number, such as AS3333.");
    if (prefix?.kind !== "prefix") return setFault("The prefix must have an address and a length, such as 193.0.0.0/21.");
    navigate(`/validity/${origin.text}/${prefix.text}`);
  };
  return (
    <>
      <h1>May this AS announce this prefix?</h1>
      <form class="key" onSubmit={submit}>
        <label for="asn">Origin AS</label>
        <input id="asn" name="asn" required maxLength={20} placeholder="AS3333" autocomplete="off" />
        <label for="prefix">Prefix</label>
        <input id="prefix" name="prefix" required maxLength={60} placeholder="193.0.0.0/21" autocomplete="off" />
        <p class="fault" role="alert">
          {fault}
        </p>
        <button type="submit">Validate</button>
      </form>
    </>
  );
}

export function ValidityPage({ asn, prefix }: { readonly asn: string; readonly prefix: string }) {
  const [answer, again] = useAnswer(`${asn} ${prefix}`, (client, signal) => client.validity(asn, prefix, { signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => {
        const { route } = record;
        return (
          <>
            <h1>{validitySentence(record)}</h1>
            <div class="cards">
              <Card title="Route origin validation" wide>
                <p>
                  <AsLink asn={route.asn} /> · <PrefixLink prefix={route.prefix} />
                </p>
                <RpkiDetails validation={record.rpki} />
              </Card>
              <DataBehind meta={record.meta} />
            </div>
            <Snippets
              lookup={{
                path: `/api/v1/validity?asn=AS${route.asn}&prefix=${route.prefix}`,
                call: callOf("validity", `AS${route.asn}`, route.prefix),
              }}
              record={record}
            />
          </>
        );
      }}
    </Answered>
  );
}
