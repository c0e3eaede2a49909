/** Parts of a search result that the suggestions and the page of results share. */

import type { SearchResult, SearchType } from "@netfacts/contracts";
import { titleParts } from "../domain/search.ts";

/** Words for the types of results. */
export const typeNames: Readonly<Record<SearchType, string>> = {
  address: "address",
  prefix: "prefix",
  asn: "AS",
  reverse_dns: "reverse DNS",
  country: "country",
  organisation: "organisation",
};

/** The title as text from outside, with matching parts marked. */
export function MarkedTitle({ result: { title, highlights } }: { readonly result: SearchResult }) {
  let place = 0;
  return (
    <bdi>
      {titleParts(title, highlights).map(({ text, isMarked }) => {
        place += text.length;
        return isMarked ? <mark key={place}>{text}</mark> : text;
      })}
    </bdi>
  );
}
