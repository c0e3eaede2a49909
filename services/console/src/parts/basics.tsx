/** Small parts of all pages: cards, facts, links to other pages, text from outside. */

import type { ComponentChildren } from "preact";
import { plainText } from "../domain/plain-text.ts";
import { unroutedWhy } from "../domain/sentences.ts";
import { texts } from "../texts.ts";

/** Text from outside. */
export function Outside({ text, charactersMax }: { readonly text: string; readonly charactersMax?: number }) {
  return <bdi>{plainText(text, charactersMax)}</bdi>;
}

/** Why something failed, in full: a reason begins with a path or a URL, and ends with what to do. */
export function Reason({ text }: { readonly text: string }) {
  return <Outside text={text} charactersMax={10_000} />;
}

export function Card({
  title,
  wide = false,
  children,
}: {
  readonly title: string;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={wide ? "card wide" : "card"}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** Shows facts; a null value is shown as unknown. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <span class="unknown">{texts.unknown}</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows why a fact is unknown. */
export function Unknown({ why }: { readonly why: string }) {
  return <p class="unknown">{why}</p>;
}

/** Shows why announcements are unknown. */
export function UnknownRouting({ record }: { readonly record: Parameters<typeof unroutedWhy>[0] }) {
  return <Unknown why={`${texts.unknown}: ${unroutedWhy(record)}`} />;
}

export function AsLink({ asn, name }: { readonly asn: number | null; readonly name?: string | null }) {
  if (asn === null) return <span class="unknown">unknown AS</span>;
  return (
    <span>
      <a href={`/as/AS${asn}`}>AS{asn}</a>
      {name ? (
        <>
          {" "}
          <Outside text={name} />
        </>
      ) : null}
    </span>
  );
}

/** @param inTree  the Tab key does not stop at the link. */
export function PrefixLink({ prefix, inTree = false }: { readonly prefix: string; readonly inTree?: boolean }) {
  return (
    <a href={`/prefix/${prefix}`} tabIndex={inTree ? -1 : undefined}>
      {prefix}
    </a>
  );
}
