// The element that has the focus: its number in the order of keys, and whether it looks focused.
(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return null;
  window.order ??= new Map();
  if (!window.order.has(at)) window.order.set(at, window.order.size);
  const look = (element) => {
    const s = getComputedStyle(element), rect = element.querySelector?.(":scope > rect:last-of-type");
    const r = rect && getComputedStyle(rect);
    return [s.outlineStyle === "none" || s.outlineWidth === "0px" ? "" : s.outline, s.boxShadow, r ? `${r.stroke} ${r.strokeWidth}` : ""].join("|");
  };
  const focused = look(at);
  // The editor and its frame show together that keys go into the text.
  let host = at;
  while (host && !host.matches(".editor")) host = host.parentElement ?? host.getRootNode().host;
  const around = host ? look(host) : "";
  at.blur();
  const plain = look(at), bare = host ? look(host) : "";
  at.focus({ preventScroll: true });
  return { number: window.order.get(at), shows: focused !== plain || around !== bare,
    what: `${at.tagName.toLowerCase()}.${at.getAttribute("class") ?? ""} ${at.getAttribute("aria-label") ?? at.textContent.trim().slice(0, 30)}` };
})()
