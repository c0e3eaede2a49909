/** Content instead of an answer: that it is loading, or the failure and its remedy. */

import type { ReadonlySignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Answer, Failure } from "../asked.ts";
import { endOfWait } from "../domain/format.ts";
import { detailOf, faultOf } from "../domain/problem-text.ts";
import { serverNowMs } from "../server-clock.ts";
import { texts } from "../texts.ts";
import { Outside } from "./basics.tsx";
import { Boundary } from "./boundary.tsx";

/** The key in use; null: these pages use no key. */
export const KeyInUse = createContext<{ readonly hasKey: ReadonlySignal<boolean>; readonly forget: () => void } | null>(null);

/** After this time the page says that the API is slow. */
const slowMs = 3_000;

interface AnsweredProps<T> {
  readonly answer: Answer<T>;
  readonly again: () => void;
  /** Whether it is a part of a page with its own answer. */
  readonly isPart?: boolean;
  readonly children: (record: T) => ComponentChildren;
}

/** Shows the answer when it is ready. */
export function Answered<T>({ answer, again, isPart = false, children }: AnsweredProps<T>) {
  if (answer.state === "answered")
    return (
      <Boundary again={again} isPart={isPart}>
        <ShownRecord record={answer.record} shown={children} />
      </Boundary>
    );
  return answer.state === "loading" ? <Loading isPart={isPart} /> : <Failed failure={answer.failure} again={again} isPart={isPart} />;
}

/** A separate component, because a boundary does not catch failures of its parent. */
function ShownRecord<T>({ record, shown }: { readonly record: T; readonly shown: (record: T) => ComponentChildren }) {
  return <>{shown(record)}</>;
}

function Loading({ isPart }: { readonly isPart: boolean }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), slowMs);
    return () => clearTimeout(timer);
  }, []);
  const text = isSlow ? texts.slow : texts.loading;
  return <div role="status">{isPart ? <p class="loading">{text}</p> : <h1 class="loading">{text}</h1>}</div>;
}

interface FailedProps {
  readonly failure: Failure;
  readonly again: () => void;
  readonly isPart?: boolean;
}

export function Failed({ failure, again, isPart = true }: FailedProps) {
  const Title = isPart ? "h2" : "h1";
  const seconds = useCountdown(failure);
  const inUse = useContext(KeyInUse);
  if (failure.kind === "unreachable")
    return (
      <div class="failed" role="alert">
        <Title>{texts.failed.unreachable}</Title>
        <p>{navigator.onLine ? texts.failed.unreachableDo : texts.failed.offline}</p>
        <p class="detail">
          <Outside text={failure.detail} />
        </p>
        <button type="button" onClick={again}>
          {texts.retry}
        </button>
      </div>
    );
  const { problem, retryAfter } = failure;
  const detail = detailOf(problem);
  return (
    <div class="failed" role="alert">
      <Title>
        <Outside text={problem.title} />
      </Title>
      <p>
        <Outside text={detail} />
      </p>
      {problem.errors?.map(({ message, suggestion, location }, _, { length }) => (
        <p key={location}>
          {length === 1 || detail.includes(message) ? null : <Outside text={faultOf({ location, message })} />}
          {suggestion ? (
            <>
              {" "}
              {texts.failed.suggestion} <Outside text={suggestion} />?
            </>
          ) : null}
        </p>
      ))}
      {retryAfter === null ? null : (
        // Screen readers say the end of the wait, and not each second of it.
        <p class="countdown" aria-live={seconds > 0 ? "off" : "assertive"}>
          {waitText(seconds)}
        </p>
      )}
      <p>
        <a href={`/docs/errors/${encodeURIComponent(problem.code)}`}>{texts.failed.meaning}</a>
      </p>
      <p class="detail">
        {texts.failed.requestId}: <code>{problem.request_id}</code>
      </p>
      <div class="buttons">
        {mayPass(problem.status) || retryAfter !== null ? (
          <button type="button" onClick={again} disabled={seconds > 0}>
            {texts.retry}
          </button>
        ) : null}
        {(problem.status === 401 || problem.status === 403) && inUse?.hasKey.value ? (
          <button type="button" onClick={inUse.forget}>
            {texts.failed.anotherKey}
          </button>
        ) : null}
      </div>
    </div>
  );
}

/** Waits longer than this are shown as the time at which they end. */
const countedSecondsMax = 600;

function waitText(seconds: number): string {
  if (seconds === 0) return texts.failed.ready;
  if (seconds <= countedSecondsMax) return texts.failed.wait(seconds);
  return texts.failed.waitUntil(endOfWait(seconds, serverNowMs()));
}

/** Whether the same request may get another answer later. */
function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** Seconds until the server accepts the request again; 0 if it named none. */
function useCountdown(failure: Failure): number {
  const wait = failure.kind === "problem" ? (failure.retryAfter ?? 0) : 0;
  const [seconds, setSeconds] = useState(wait);
  useEffect(() => {
    const end = Date.now() + wait * 1_000;
    const show = () => {
      const left = Math.max(0, Math.ceil((end - Date.now()) / 1_000));
      setSeconds(left);
      if (left === 0) clearInterval(timer);
    };
    const timer = setInterval(show, 250);
    show();
    return () => clearInterval(timer);
  }, [wait, failure]);
  return seconds;
}
