/** The answer as JSON, the request as curl and TypeScript, and the age of the data used. */

import type { Meta } from "@netfacts/contracts";
import { useRef, useState } from "preact/hooks";
import { duration, moment, words } from "../domain/format.ts";
import { curl, type Lookup, typescript } from "../domain/snippets.ts";
import { texts } from "../texts.ts";
import { Card, Outside } from "./basics.tsx";
import { CopyButton } from "./copy-button.tsx";

export function Snippets({ lookup, record }: { readonly lookup: Lookup; readonly record: object }) {
  const forms = [
    [texts.shown.json, () => JSON.stringify(record, null, 2)],
    [texts.shown.curl, () => curl(location.origin, lookup)],
    [texts.shown.typescript, () => typescript(location.origin, lookup)],
  ] as const;
  return (
    <section class="snippets">
      <h2>{texts.shown.title}</h2>
      {forms.map(([name, text]) => (
        <Snippet key={name} name={name} text={text} />
      ))}
    </section>
  );
}

function Snippet({ name, text }: { readonly name: string; readonly text: () => string }) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLPreElement>(null);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen ? (
        <>
          <CopyButton text={text} place={place} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable with the keyboard */}
          <pre ref={place} tabIndex={0}>
            {text()}
          </pre>
        </>
      ) : null}
    </details>
  );
}

/** Ages of the sections that the answer used, and its warnings. */
export function DataBehind({ meta, title = texts.cards.data }: { readonly meta: Meta; readonly title?: string }) {
  const sections = Object.entries(meta.data);
  return (
    <Card title={title} wide>
      {meta.warnings.map(({ code, detail }) => (
        <p key={code} class="note">
          <Outside text={detail} />
        </p>
      ))}
      {sections.length === 0 ? null : (
        <ul class="ages">
          {sections.map(([name, section]) => (
            <li key={name} class={section.stale ? "stale" : ""}>
              <strong>{words(name)}</strong> {duration(section.age_seconds)} old{section.stale ? ", stale" : ""}
              <span class="detail"> {moment(section.as_of)}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="detail">
        {texts.failed.requestId}: <code>{meta.request_id}</code>
      </p>
    </Card>
  );
}
