/** RPKI: a state, its reason in words, and the ROAs that decide it. */

import type { OriginValidation, VrpItem } from "@netfacts/contracts";
import { judged } from "../domain/sentences.ts";
import { texts } from "../texts.ts";
import { AsLink, Outside, PrefixLink, Unknown } from "./basics.tsx";

export function RpkiBadge({ state }: { readonly state: string | null }) {
  return <span class={`badge ${state ?? "unknown"}`}>{state ?? texts.unknown}</span>;
}

/** RPKI of each origin of an announcement, with the names of the origins if there are several. */
export function RpkiOfOrigins({ record }: { readonly record: Parameters<typeof judged>[0] }) {
  const all = judged(record);
  if (all.length === 0) return <p>{texts.rpki.noOrigin}</p>;
  return (
    <>
      {all.map(({ name, validation }) => (
        <div key={name}>
          {all.length > 1 ? <h3>{name}</h3> : null}
          <RpkiDetails validation={validation} />
        </div>
      ))}
    </>
  );
}

export function RpkiDetails({ validation }: { readonly validation: OriginValidation }) {
  const { state, reason, vrps, notes } = validation;
  if (state === null || vrps === null) return <Unknown why={texts.reasons.noVrps} />;
  const lists = [
    [texts.rpki.matched, vrps.matched],
    [texts.rpki.unmatchedAs, vrps.unmatched_as],
    [texts.rpki.unmatchedLength, vrps.unmatched_length],
  ] as const;
  const words = reason !== null ? texts.rpki.reason[reason] : state === "valid" ? texts.rpki.valid : texts.rpki.noVrps;
  return (
    <>
      <p>
        <RpkiBadge state={state} /> {words} {notes.includes("as_set") && reason !== null ? texts.rpki.asSet : ""}
      </p>
      {lists.map(([title, items]) => (items.length === 0 ? null : <Vrps key={title} title={title} items={items} />))}
    </>
  );
}

/** Most ROAs that a card shows; the JSON has all. */
const shownMax = 20;

function Vrps({ title, items }: { readonly title: string; readonly items: readonly VrpItem[] }) {
  return (
    <>
      <h3>
        {title} ({items.length})
      </h3>
      <ul class="plain">
        {items.slice(0, shownMax).map((vrp) => (
          <li key={`${vrp.asn} ${vrp.prefix} ${vrp.max_length} ${vrp.ta}`}>
            {vrp.asn === 0 ? texts.rpki.as0 : <AsLink asn={vrp.asn} />} · <PrefixLink prefix={vrp.prefix} /> · {texts.rpki.maxLength}{" "}
            {vrp.max_length}
            {vrp.ta === null ? null : (
              <>
                {" "}
                · <Outside text={vrp.ta} />
              </>
            )}
          </li>
        ))}
      </ul>
      {items.length > shownMax ? <p class="detail">… {items.length - shownMax} more</p> : null}
    </>
  );
}
