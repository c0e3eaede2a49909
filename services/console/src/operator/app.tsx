/** The frame of every page for operators, and the page for each path. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Boundary } from "../parts/boundary.tsx";
import { ThemeChoice } from "../parts/theme-choice.tsx";
import { useFocusAfter } from "../parts/use-focus-after.ts";
import { linkFollower, path } from "../router.ts";
import { texts as shared } from "../texts.ts";
import { AdminKeyForm } from "./pages/admin-key.tsx";
import { AuditPage } from "./pages/audit.tsx";
import { HomePage } from "./pages/home.tsx";
import { KeyPage } from "./pages/key.tsx";
import { KeysPage } from "./pages/keys.tsx";
import { ObservationsPage } from "./pages/observations.tsx";
import { PlansPage } from "./pages/plans.tsx";
import { RunPage } from "./pages/run.tsx";
import { SnapshotsPage } from "./pages/snapshots.tsx";
import { SourcesPage } from "./pages/sources.tsx";
import { UsagePage } from "./pages/usage.tsx";
import { NewSecrets } from "./parts/secret.tsx";
import { forgetKey, hasKey, isKept } from "./session.ts";
import { texts } from "./texts.ts";

interface Shown {
  readonly title: string;
  readonly page: ComponentChildren;
}

const pages: Readonly<Record<string, () => Shown>> = {
  "": () => ({ title: texts.home.title, page: <HomePage /> }),
  keys: () => ({ title: texts.nav.keys, page: <KeysPage /> }),
  sources: () => ({ title: texts.nav.sources, page: <SourcesPage /> }),
  snapshots: () => ({ title: texts.nav.snapshots, page: <SnapshotsPage /> }),
  usage: () => ({ title: texts.nav.usage, page: <UsagePage /> }),
  audit: () => ({ title: texts.nav.audit, page: <AuditPage /> }),
  plans: () => ({ title: texts.nav.plans, page: <PlansPage /> }),
  observations: () => ({ title: texts.nav.observations, page: <ObservationsPage /> }),
};

/** The page for a path; null: there is none. */
function shownAt(path: string): Shown | null {
  const match = /^\/([a-z]*)(?:\/([A-Za-z0-9._-]{1,100}))?\/?$/.exec(path);
  if (match === null) return null;
  const [, word = "", id] = match;
  if (id === undefined) return pages[word]?.() ?? null;
  if (word === "keys") return { title: texts.key.title(id), page: <KeyPage id={id} /> };
  return word === "runs" ? { title: `${texts.run.title} ${id}`, page: <RunPage id={id} /> } : null;
}

const followLinks = linkFollower((path) => shownAt(path) !== null);

/** Whether a path is that of the page `to` in the header, or of a page below it. */
function isWithin(path: string, to: string): boolean {
  return path === to || path.startsWith(`${to}/`) || (to === "/sources" && path.startsWith("/runs/"));
}

export function OperatorApp() {
  const shown = shownAt(path.value);
  const title = shown?.title ?? shared.notFound.title;
  useFocusAfter(hasKey.value);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  useEffect(() => {
    document.addEventListener("click", followLinks);
    return () => document.removeEventListener("click", followLinks);
  }, []);
  return (
    <>
      <a class="skip" href="#answer">
        {texts.skip}
      </a>
      <header>
        <a class="brand" href="/">
          {texts.product}
        </a>
        <nav aria-label={shared.nav.label}>
          {texts.pages.map(([to, name]) => (
            <a key={to} href={to} aria-current={isWithin(path.value, to) ? "page" : undefined}>
              {name}
            </a>
          ))}
          <a href="/docs">{shared.nav.docs}</a>
          <ThemeChoice />
          {hasKey.value ? (
            <button type="button" class="quiet" title={isKept.value ? texts.admin.kept : texts.admin.memory} onClick={forgetKey}>
              {texts.admin.forget}
            </button>
          ) : null}
        </nav>
      </header>
      <main id="answer" tabIndex={-1}>
        {shown === null ? (
          <>
            <h1>{shared.notFound.title}</h1>
            <p>{texts.notFound}</p>
          </>
        ) : hasKey.value ? (
          <>
            <NewSecrets />
            <div key={path.value}>
              <Boundary again={null}>{shown.page}</Boundary>
            </div>
          </>
        ) : (
          <AdminKeyForm title={shown.title} />
        )}
      </main>
    </>
  );
}
