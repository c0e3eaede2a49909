/** `/compare/193.0.6.139,1.1.1.1`: two addresses, prefixes or ASes side by side. */

import type { NetfactsClient } from "@netfacts/client";
import { useState } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import { classify, pathOf, type Subject } from "../domain/classify.ts";
import { type Compared, comparedAs, comparedIp, comparedPrefix, rowsOf } from "../domain/compare.ts";
import { plainText } from "../domain/plain-text.ts";
import { Outside } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { DataBehind } from "../parts/shown-as.tsx";
import { navigate } from "../router.ts";
import { texts } from "../texts.ts";

const charactersMax = 100;

/** @param given  texts of a URL that cannot be compared; the fields show them, so that they can be corrected. */
export function CompareForm({ given = [] }: { readonly given?: readonly string[] }) {
  const [fault, setFault] = useState(given.length === 0 ? "" : given.length > 2 ? texts.compare.two : texts.search.unknown);
  const [first = "", second = ""] = given.map((text) => plainText(text, charactersMax));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const subjects = ["first", "second"].map((name) => classify(String(form.get(name))));
    if (subjects.includes(null)) return setFault(texts.search.unknown);
    navigate(`/compare/${subjects.map((subject) => subject?.text).join(",")}`);
  };
  return (
    <>
      <h1>{texts.compare.title}</h1>
      <form class="key" onSubmit={submit}>
        <label for="first">{texts.compare.first}</label>
        <input
          id="first"
          name="first"
          defaultValue={first}
          required
          maxLength={charactersMax}
          placeholder="193.0.6.139"
          autocomplete="off"
        />
        <label for="second">{texts.compare.second}</label>
        <input
          id="second"
          name="second"
          defaultValue={second}
          required
          maxLength={charactersMax}
          placeholder="1.1.1.1"
          autocomplete="off"
        />
        <p class="fault" role="alert">
          {fault}
        </p>
        <button type="submit">{texts.compare.button}</button>
      </form>
    </>
  );
}

export function ComparePage({ subjects }: { readonly subjects: string }) {
  const given = subjects.split(",");
  const [first, second] = given.map(classify);
  if (!first || !second || given.length !== 2) return <CompareForm given={given} />;
  return <Compare first={first} second={second} />;
}

function Compare({ first, second }: { readonly first: Subject; readonly second: Subject }) {
  const [answer, again] = useAnswer(`${first.text} ${second.text}`, (client, signal) =>
    Promise.all([factsOf(client, first, signal), factsOf(client, second, signal)]),
  );
  return (
    <Answered answer={answer} again={again}>
      {([left, right]) => {
        const rows = rowsOf(left, right);
        const different = rows.filter(({ isDifferent }) => isDifferent).length;
        return (
          <>
            <h1>
              {first.text} and {second.text} {different === 0 ? texts.compare.same : `differ in ${different} of ${rows.length} facts.`}
            </h1>
            <div class="scroll">
              <table class="compare">
                <thead>
                  <tr>
                    <th scope="col">{texts.compare.fact}</th>
                    {[first, second].map((subject) => (
                      <th key={subject.text} scope="col">
                        <a href={pathOf(subject)}>{subject.text}</a>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ name, values, isDifferent }) => (
                    <tr key={name} class={isDifferent ? "different" : ""}>
                      <th scope="row">
                        {name}
                        {isDifferent ? <span class="detail"> ≠</span> : null}
                      </th>
                      {values.map((value, column) => (
                        <td key={column === 0 ? "first" : "second"}>
                          {value === null ? <span class="unknown">{texts.unknown}</span> : <Outside text={value} />}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <div class="cards">
              <DataBehind meta={left.meta} title={texts.compare.data(first.text)} />
              <DataBehind meta={right.meta} title={texts.compare.data(second.text)} />
            </div>
          </>
        );
      }}
    </Answered>
  );
}

async function factsOf(client: NetfactsClient, { kind, text }: Subject, signal: AbortSignal): Promise<Compared> {
  if (kind === "address") return comparedIp(await client.ip(text, { signal }));
  return kind === "prefix" ? comparedPrefix(await client.prefix(text, { signal })) : comparedAs(await client.asn(text, { signal }));
}
