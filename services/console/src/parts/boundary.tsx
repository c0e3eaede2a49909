/** Keeps an answer that cannot be shown from leaving its page empty, or at what it showed before. */

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { texts } from "../texts.ts";

interface BoundaryProps {
  /** Asks again; null: only a reload helps. */
  readonly again: (() => void) | null;
  readonly isPart?: boolean;
  readonly children: ComponentChildren;
}

/** A failure of its children is shown in their place, with what to do. */
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
