/** Routing: visibility and origins of a prefix. */

import type { AsSetOrigin, Origin, OriginSummary, Visibility } from "@netfacts/contracts";
import { count, moment, share } from "../domain/format.ts";
import { texts } from "../texts.ts";
import { AsLink, Unknown } from "./basics.tsx";
import { RpkiBadge } from "./rpki.tsx";

/** A bar with its numbers. */
export function VisibilityBar({ visibility }: { readonly visibility: Visibility }) {
  const { peers_seeing, peers_total, ratio } = visibility;
  if (ratio === null) return <Unknown why={texts.reasons.noPeers} />;
  return (
    <span class="visibility">
      <meter aria-label="Visibility" min={0} max={1} value={ratio} />
      <span>
        {share(ratio)} · {count(peers_seeing)} of {count(peers_total)} peers
      </span>
    </span>
  );
}

interface OriginsProps {
  readonly origins: readonly (Origin | OriginSummary)[];
  readonly asSets: readonly AsSetOrigin[];
}

export function Origins({ origins, asSets }: OriginsProps) {
  return (
    <ul class="plain origins">
      {origins.map((origin) => (
        <li key={origin.asn}>
          <p>
            <AsLink asn={origin.asn} name={origin.name} />{" "}
            <RpkiBadge state={"rpki_state" in origin ? origin.rpki_state : origin.rpki.state} />
          </p>
          <VisibilityBar visibility={origin.visibility} />
          {"first_seen_at" in origin && origin.first_seen_at !== null ? (
            <p class="detail">first seen {moment(origin.first_seen_at)}</p>
          ) : null}
          {origin.same_holder_as_allocation === false ? (
            <p class="detail">The registry names another holder for the address space.</p>
          ) : null}
        </li>
      ))}
      {asSets.map((set) => (
        <li key={set.as_set.join(" ")}>
          <p>
            AS_SET {"{"}
            {set.as_set.join(", ")}
            {"}"} <RpkiBadge state={set.rpki.state} />
          </p>
          <VisibilityBar visibility={set.visibility} />
        </li>
      ))}
    </ul>
  );
}
