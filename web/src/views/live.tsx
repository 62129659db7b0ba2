import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go } from "../address";
import { post } from "../api";
import { ceiling } from "../axis";
import { colourOf } from "../colours";
import { Empty } from "../empty";
import { counted, duration } from "../format";
import { atFirst, type Job, useLive } from "../live";
import { Problem } from "../loading";
import { plain } from "../plain";
import { Prose } from "../prose";
import { show } from "../scale";
import { SharesBar } from "../shares";
import { HIGH, Plot, WIDE } from "../stepplot";
import type { View } from "../types";
import "./live.css";

const LEAST = 30; // places for bars: a few steps do not fill the width
const LEAST_SAMPLES = 2; // of memory, for a line
const ROOM = 1.08; // above the largest of them

/** Opens what is recorded by now, and shows it. */
function Recording({ job }: { job: Job }): JSX.Element | null {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  if (error !== null) return <Problem error={error} />;
  if (job.recording === "none")
    return job.running ? null : <p role="status">It has ended, and nothing of it was recorded.</p>;
  const open = () => {
    setBusy(true);
    post("/api/reload", {}).then(
      () => {
        go("#overview");
        location.reload();
      },
      (failure: unknown) => setError(failure),
    );
  };
  const state = job.running ? "Its first steps are recorded." : "The program has ended.";
  return (
    <p role="status" class="toolbar">
      <span>{state}</span>
      {job.recording === "open" ? (
        <a href="#overview">What was recorded</a>
      ) : (
        <button type="button" class="main" disabled={busy} onClick={open}>
          Open the recording
        </button>
      )}
    </p>
  );
}

/** The last steps as bars, the newest at the right. */
function Pace({ job }: { job: Job }): JSX.Element {
  const top = ceiling(job.recent_ps) || 1;
  const places = Math.max(job.recent_ps.length, LEAST),
    wide = WIDE / places,
    begin = places - job.recent_ps.length;
  const cut = job.recent_ps.filter((ps) => ps > top).length;
  return (
    <section aria-label="The last steps">
      <h2>Steps</h2>
      <figure>
        <figcaption>{plain(job.pace, 200)}</figcaption>
        {cut > 0 && (
          <p class="quiet pale">
            <i class="swatch cut-off" /> {counted(cut, "step")} longer than the chart is high.
          </p>
        )}
        <Plot top={top} unit="ps" label={`the last ${counted(job.recent_ps.length, "step")} by duration`}>
          {job.recent_ps.map((ps, i) => {
            const high = Math.min(HIGH, Math.max(1, (HIGH * ps) / top));
            const box = { x: (begin + i) * wide, width: wide * 0.85 };
            return (
              <>
                <rect {...box} y={HIGH - high} height={high} class="kept step">
                  <title>{duration(ps)}</title>
                </rect>
                {ps > top && <rect {...box} y={0} height={5} class="cut" />}
              </>
            );
          })}
        </Plot>
      </figure>
    </section>
  );
}

/** The memory of the process as a line from zero. */
function Memory({ job }: { job: Job }): JSX.Element {
  const values = job.recent_rss_bytes;
  const top = ROOM * Math.max(...values, 1);
  const points = values.map(
    (value, i) => `${(WIDE * i) / Math.max(values.length - 1, 1)},${HIGH - (HIGH * value) / top}`,
  );
  const about = `memory in the last ${duration(job.recent_rss_ps)}`;
  const drawn = values.length >= LEAST_SAMPLES;
  return (
    <section aria-label="Process">
      <h2>Process {drawn && <span class="quiet">{about}</span>}</h2>
      <figure>
        <figcaption>{plain(job.process, 200)}</figcaption>
        {drawn && (
          <Plot top={top} unit="bytes" label={about}>
            <polyline class="memory-line" points={points.join(" ")} />
          </Plot>
        )}
      </figure>
    </section>
  );
}

/** Sentences, one below the other; nothing where there are none. */
function Sentences({
  title,
  about,
  sentences,
}: {
  title: string;
  about?: string;
  sentences: string[];
}): JSX.Element | null {
  if (!sentences.length) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} {about && <span class="quiet">{about}</span>}
      </h2>
      <ul class="sentences">
        {sentences.map((one) => (
          <li>{plain(one, 400)}</li>
        ))}
      </ul>
    </section>
  );
}

function One({ job }: { job: Job }): JSX.Element {
  const shares = job.parts
    .map((part) => ({
      title: `${part.label[0]!.toUpperCase()}${part.label.slice(1)}`,
      about: part.about,
      look: colourOf(part.label, 0),
      part: part.share,
      share: show(part.share, "ratio"),
    }))
    .sort((a, b) => b.part - a.part);
  return (
    <>
      <h1>{plain(job.now, 200)}</h1>
      {job.sentence && (
        <p class="headline">
          <Prose text={job.sentence} />
        </p>
      )}
      <Recording job={job} />
      {!job.began && <p class="quiet">It is to be recorded into {plain(job.folder, 300)}.</p>}
      {shares.length > 0 && (
        <section aria-label="Where the time goes">
          <h2>Where the time goes</h2>
          <SharesBar title="the thread that runs the steps, in the last 10 s" shares={shares} />
        </section>
      )}
      {job.recent_ps.length > 0 && <Pace job={job} />}
      {job.process && <Memory job={job} />}
      {job.lines.length > 0 && (
        <section aria-label="Lines">
          <h2>
            Lines <span class="quiet">of the last 10 s</span>
          </h2>
          <table class="lines">
            <thead>
              <tr>
                <th scope="col" class="number">
                  Share <span class="unit">%</span>
                </th>
                <th scope="col">Line</th>
              </tr>
            </thead>
            <tbody>
              {job.lines.map((line) => (
                <tr>
                  <td class="number">{line.share === null ? "–" : (100 * line.share).toFixed(1)}</td>
                  <td>{plain(line.place, 300)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Sentences title="Slow steps" sentences={job.slow} />
      <Sentences title="Hangs" sentences={job.hangs} />
      <Sentences
        title="Kept"
        about="moments in full; each of these commands reads one"
        sentences={job.kept}
      />
    </>
  );
}

/** What runs, as `stepscope top` shows it. */
function LiveView(): JSX.Element {
  const { live, error } = useLive();
  return (
    <>
      {error !== null && <Problem error={error} />}
      {!live.jobs.length && (
        <Empty title="Nothing runs any more">
          <p>
            The program has ended, and its recording is open: <a href="#overview">Overview</a>.
          </p>
        </Empty>
      )}
      {live.jobs.map((job) => (
        <One key={job.folder} job={job} />
      ))}
    </>
  );
}

export const view: View = {
  name: "live",
  title: "Live",
  order: 0,
  key: "l",
  runs: () => atFirst.value.jobs.length > 0,
  Component: LiveView,
};
