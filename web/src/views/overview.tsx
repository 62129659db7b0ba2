import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { once, Stopped } from "../api";
import { counted } from "../format";
import { Loaded, Problem, useAnswer } from "../loading";
import { Summary } from "../overview";
import type { Catalog, Report, View } from "../types";
import { Waiting } from "../waiting";

// Slices above which what reads each of them, some seconds for ten million, is asked for by a click.
const MANY = 12_000_000;
const FIRST = "/api/report/first",
  WHOLE = "/api/report/summary",
  CATALOG = "/api/catalog";

function Overview(): JSX.Element {
  useEffect(() => {
    for (const path of [FIRST, CATALOG]) once(path).catch(() => undefined);
  }, []); // at the same time; Loaded says what fails
  return (
    <Loaded<Catalog> from={CATALOG}>
      {(catalog) => (
        <Loaded<Report> from={FIRST}>{(first) => <Growing catalog={catalog} first={first} />}</Loaded>
      )}
    </Loaded>
  );
}

/** The answer at once, and the sections that take a look at every slice when they have come. */
function Growing({ catalog, first }: { catalog: Catalog; first: Report }): JSX.Element {
  const slices = catalog.tracks.reduce((sum, track) => sum + track.slices, 0);
  const [asked, setAsked] = useState(slices <= MANY);
  const { value: whole, error, again } = useAnswer(() => (asked ? once<Report>(WHOLE) : null), [asked]);
  const stopped = error instanceof Stopped;
  const coming = asked && !whole && error === null;
  const ask = () => {
    setAsked(true);
    again();
  };
  const more = whole ? null : error !== null && !stopped ? (
    <Problem error={error} />
  ) : coming ? (
    <Waiting of={WHOLE} words="Asking the other questions …" />
  ) : (
    <p class="quiet">
      The other questions read all {counted(slices, "slice")}, which takes a while.{" "}
      <button type="button" onClick={ask}>
        Ask them
      </button>
    </p>
  );
  return <Summary report={whole ?? first} steps={catalog.steps} linked coming={coming} below={more} />;
}

export const view: View = { name: "overview", title: "Overview", order: 1, key: "1", Component: Overview };
