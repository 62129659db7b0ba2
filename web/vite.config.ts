import { build, defineConfig, type Plugin } from "vite";

const target = ["chrome123", "firefox128", "safari17.5"];
const oxc = { jsx: { runtime: "automatic", importSource: "preact" } } as const; // needs no plugin

/** The page of a report: the same views in one script without imports, which a file can hold. Its place follows from
 * that of the page, so that one command builds both. */
function report(): Plugin {
  let folder = "";
  return {
    name: "report",
    apply: "build",
    configResolved(config) { folder = `${config.build.outDir}/../../presenters/page`; },
    async closeBundle() {
      await build({
        configFile: false,
        logLevel: "warn",
        publicDir: false,
        oxc,
        build: {
          outDir: folder,
          emptyOutDir: true,
          target,
          modulePreload: false,
          cssCodeSplit: false,
          rollupOptions: {
            input: "src/report.tsx",
            output: { format: "iife", entryFileNames: "page.js", assetFileNames: "page[extname]" },
          },
        },
      });
    },
  };
}

// Built files are committed, so that users need no Node. Their names carry a hash of their content: the server lets
// browsers keep them for ever. modulepreload's polyfill would be an inline script.
export default defineConfig({
  base: "./",
  oxc,
  plugins: [report()],
  build: {
    outDir: "../src/stepscope/server/assets",
    emptyOutDir: true,
    assetsDir: "",
    target,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: { entryFileNames: "app-[hash].js", chunkFileNames: "part-[hash].js", assetFileNames: "app-[hash][extname]" },
    },
  },
});
