/** A page whose code the browser loads when the page is first shown. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";

/** @param load  imports the page; called once, and again after a failure. */
export function lazyPage<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function LazyPage(props: P) {
    const [state, setState] = useState<"loading" | "loaded" | "failed">(loaded === null ? "loading" : "loaded");
    useEffect(() => {
      if (loaded !== null) return;
      let isLeft = false;
      load().then(
        (page) => {
          loaded = page;
          if (!isLeft) setState("loaded");
        },
        () => {
          if (!isLeft) setState("failed");
        },
      );
      return () => {
        isLeft = true;
      };
    }, []);
    const Page = loaded;
    if (Page !== null) return <Page {...props} />;
    return state === "failed" ? <NotLoaded /> : <p role="status">{texts.page.loading}</p>;
  };
}

/** Offers a reload. It helps because browsers remember a failed script, and because names of scripts change with a new version. */
function NotLoaded() {
  return (
    <div class="failed" role="alert">
      <h1>{texts.page.failed}</h1>
      <p>{texts.page.failedDo}</p>
      <button type="button" onClick={() => location.reload()}>
        {texts.page.reload}
      </button>
    </div>
  );
}
