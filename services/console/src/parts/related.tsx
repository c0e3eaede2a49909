/** Prefixes related to another one, each with its origins, visibility and RPKI state. */

import type { RelatedPrefix } from "@netfacts/client";
import { share } from "../domain/format.ts";
import { originWords } from "../domain/sentences.ts";
import { PrefixLink } from "./basics.tsx";
import { RpkiBadge } from "./rpki.tsx";
import { VirtualList } from "./virtual-list.tsx";

export function Related({ label, items }: { readonly label: string; readonly items: readonly RelatedPrefix[] }) {
  return (
    <VirtualList
      label={label}
      items={items}
      row={({ prefix, origins, as_set_origins, rpki_state, visibility_ratio }) => (
        <span class="row">
          <PrefixLink prefix={prefix} />
          <span class="fill">{originWords({ origins, as_set_origins })}</span>
          <span class="detail">{visibility_ratio === null ? "" : share(visibility_ratio)}</span>
          <RpkiBadge state={rpki_state} />
        </span>
      )}
    />
  );
}
