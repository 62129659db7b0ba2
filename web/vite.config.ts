import { defineConfig } from "vite";

// Built files are committed, so that users need no Node. Their names carry a hash of their content: the server lets
// browsers keep them for ever. Preact's JSX needs no plugin; modulepreload's polyfill would be an inline script.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/stepscope/server/assets",
    emptyOutDir: true,
    assetsDir: "",
    target: ["chrome123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: { entryFileNames: "app-[hash].js", chunkFileNames: "part-[hash].js", assetFileNames: "app-[hash][extname]" },
    },
  },
});
