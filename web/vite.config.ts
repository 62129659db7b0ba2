import { build, defineConfig, type Plugin } from "vite";
import looks from "../src/stepscope/step_labels.json";

const target = ["chrome123", "firefox128", "safari17.5"];
const oxc = { jsx: { runtime: "automatic", importSource: "preact" } } as const; // needs no plugin

const ON = { dark: "#14171a", faint: "light-dark(#14171a, #fff)" };

/** Labels whose colours what is none of them has, in the order in which they are taken. */
const SERIES = ["compute", "input", "python", "copy", "compile", "communication"];

/** The colours of labels: variables, and classes for what has the colour, with a text on it that can be read. */
function colours(): string {
  const all = [...Object.entries(looks), ["other", looks.unknown] as const];
  const rules = all.map(([label, look]) => {
    const on = "on" in look ? ON[look.on as keyof typeof ON] : null;
    const text = on ? `:is(.treemap, .flame) .class-${label} ~ * { color: ${on}; }\n` : "";
    const paint = ["background", "fill", "stroke"].map((what) => `${what}: var(--${label});`);
    return `.class-${label} { ${paint.join(" ")}${on ? ` --on: ${on};` : ""} }\n${text}`;
  });
  const variables = all.map(([label, { light, dark }]) => `--${label}: light-dark(${light}, ${dark});`);
  const series = SERIES.map((label, i) => `.series-${i} { --series: var(--${label}); }\n`);
  return `:root { ${variables.join(" ")} }\n${rules.join("")}${series.join("")}`;
}

const define = { STEP_LABELS: JSON.stringify(Object.keys(looks)), SERIES: JSON.stringify(SERIES) };
/** What the time of a step goes to comes from where the command line has it. */
const labels: Plugin = {
  name: "labels",
  enforce: "pre",
  transform: (code, id) => (id.endsWith("/src/style.css") ? colours() + code : null),
};

/** The views of a notebook's frame: all but the editor, which is larger than the rest together, and what
 * runs, which a notebook does not serve. */
const withoutSome: Plugin = {
  name: "without-some",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith("/shell.tsx")
      ? code.replace('"./views/*.tsx"', '["./views/*.tsx", "!./views/sql.tsx", "!./views/live.tsx"]')
      : null,
};

/** The pages of a report and of a notebook's frame: the same views in one script without imports, which a
 * file can hold. Their place follows from that of the page, so that one command builds all. */
function alone(name: string, script: string, plugins: Plugin[] = []): Plugin {
  let folder = "";
  return {
    name,
    apply: "build",
    configResolved(config) {
      folder = `${config.build.outDir}/../../presenters/${name}`;
    },
    async closeBundle() {
      await build({
        configFile: false,
        logLevel: "warn",
        publicDir: false,
        oxc,
        define,
        plugins: [labels, ...plugins],
        build: {
          outDir: folder,
          emptyOutDir: true,
          target,
          modulePreload: false,
          cssCodeSplit: false,
          license: { fileName: "notices.md" },
          rollupOptions: {
            input: script,
            output: { format: "iife", entryFileNames: "page.js", assetFileNames: "page[extname]" },
          },
        },
      });
    },
  };
}

// Built files are committed, so that users need no Node. Their names stay, so that a change of one is a change
// and no new file; the server tells browsers which content they have. With them come the notices of what is
// bundled. modulepreload's polyfill would be an inline script.
export default defineConfig({
  base: "./",
  oxc,
  define,
  plugins: [labels, alone("page", "src/report.tsx"), alone("frame", "src/frame.tsx", [withoutSome])],
  build: {
    outDir: "../src/stepscope/server/assets",
    emptyOutDir: true,
    assetsDir: "",
    target,
    modulePreload: { polyfill: false },
    license: { fileName: "THIRD-PARTY-NOTICES.md" },
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});
