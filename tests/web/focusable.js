// How many elements the Tab key should reach.
(() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex], audio, video")];
  return all.filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }) && !(e.type === "radio" && !e.checked)
    && !(e.closest("details:not([open])") && e.tagName !== "SUMMARY")).length;
})()
