import type { JSX } from "preact";
import { Loaded } from "../loading";
import { Sections } from "../sections";
import type { Report, View } from "../types";

const Ops = (): JSX.Element => <Loaded<Report> from="/api/report/summary">{(report) => <Sections of={{ ...report, sections: report.sections.filter((section) => section.table) }} />}</Loaded>;

export const view: View = { name: "ops", title: "Ops", order: 3, key: "3", Component: Ops };
