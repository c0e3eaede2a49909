/** An answer of ingest, which may not be configured at the gateway. */

import type { ComponentChildren } from "preact";
import type { Answer } from "../../asked.ts";
import { Outside } from "../../parts/basics.tsx";
import { Answered } from "../../parts/failed.tsx";
import { texts } from "../texts.ts";

interface IngestAnsweredProps<T> {
  readonly answer: Answer<T>;
  readonly again: () => void;
  readonly isPart?: boolean;
  readonly children: (record: T) => ComponentChildren;
}

export function IngestAnswered<T>({ answer, again, isPart = false, children }: IngestAnsweredProps<T>) {
  if (answer.state === "failed" && answer.failure.kind === "problem" && answer.failure.problem.code === "route_not_found")
    return (
      <>
        {isPart ? <h2>{texts.noIngest}</h2> : <h1>{texts.noIngest}</h1>}
        <p class="note">
          <Outside text={answer.failure.problem.detail} />
        </p>
        <p class="detail">
          {texts.requestId}: <code>{answer.failure.problem.request_id}</code>
        </p>
      </>
    );
  return (
    <Answered answer={answer} again={again} isPart={isPart}>
      {children}
    </Answered>
  );
}
