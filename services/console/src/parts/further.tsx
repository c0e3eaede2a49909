/** Below a list with further pages: the number of shown items, and buttons that load more. */

import { count } from "../domain/format.ts";
import { texts } from "../texts.ts";
import { Failed } from "./failed.tsx";
import { itemsMax, type Pages, pageItems } from "./pages.ts";

interface FurtherProps {
  readonly pages: Pages<unknown>;
  /** Null: unknown to the API. */
  readonly total: number | null;
}

export function Further({ pages: { items, more, all, stop, isLoading, isCut, failure, restart }, total }: FurtherProps) {
  if (!isCut) return null;
  const wanted = Math.min(itemsMax, total ?? itemsMax);
  const requests = Math.ceil((wanted - items.length) / pageItems);
  return (
    <>
      <p role="status">
        {texts.further.shown(count(items.length), total === null ? null : count(total))}
        {more === null ? ` ${texts.further.full}` : ""}
      </p>
      {isLoading ? <progress aria-label={texts.further.progress} value={items.length} max={wanted} /> : null}
      {failure !== null && more !== null ? <Failed failure={failure} again={more} /> : null}
      <p class="buttons">
        {restart === null ? null : (
          <button type="button" onClick={restart}>
            {texts.further.restart}
          </button>
        )}
        {isLoading ? (
          <button type="button" onClick={stop}>
            {texts.further.stop}
          </button>
        ) : null}
        {failure !== null || more === null ? null : (
          <button type="button" onClick={more} aria-disabled={isLoading}>
            {texts.loadMore}
          </button>
        )}
        {failure !== null || all === null || requests < 2 ? null : (
          <button type="button" class="quiet" onClick={all} aria-disabled={isLoading}>
            {texts.further.all(count(wanted), count(requests))}
          </button>
        )}
      </p>
    </>
  );
}
