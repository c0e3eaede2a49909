/** Shows a failure if an answer cannot be rendered, so that the page is not empty or outdated. */

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { texts } from "../texts.ts";

interface BoundaryProps {
  /** Asks again; null: only a reload helps. */
  readonly again: (() => void) | null;
  readonly isPart?: boolean;
  readonly children: ComponentChildren;
}

/** Shows a failure of its children in their place, with the remedy. */
export function Boundary({ again, isPart = false, children }: BoundaryProps) {
  const [error] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  const Title = isPart ? "h2" : "h1";
  return (
    <div class="failed" role="alert">
      <Title>{texts.unshowable.title}</Title>
      <p>{texts.unshowable.text}</p>
      <button type="button" onClick={again ?? (() => location.reload())}>
        {again === null ? texts.page.reload : texts.retry}
      </button>
    </div>
  );
}
