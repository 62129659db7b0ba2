// What is written too faintly: each kind of text whose contrast is below 4.5 (3 for large text), in words.
(() => {
  const area = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (css) => {
    if (!known.has(css)) {
      area.clearRect(0, 0, 1, 1); area.fillStyle = "#000"; area.fillStyle = css; area.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = area.getImageData(0, 0, 1, 1).data;
      known.set(css, [r, g, b, a / 255]);
    }
    return known.get(css);
  };
  const over = (top, below) => { const a = top[3]; return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)).concat(1); };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const root = rgba("white");
  const behind = (element) => {
    const layers = [];
    for (let at = element; at instanceof Element; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (at instanceof SVGElement && at.tagName !== "svg") {
        // In a drawing, what is painted before a text lies behind it.
        const box = element.getBoundingClientRect();
        for (let before = at.previousElementSibling; before; before = before.previousElementSibling) {
          const place = before.getBoundingClientRect();
          if (before.tagName === "rect" && place.left <= box.left + 1 && place.right > box.left && place.top <= box.top + 2 && place.bottom >= box.bottom - 2) {
            layers.push(rgba(getComputedStyle(before).fill)); break;
          }
        }
      } else layers.push(rgba(style.backgroundColor));
      if (layers.length && layers[layers.length - 1][3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), root);
  };
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const found = new Map();
  const walk = (node) => {
    if (node.shadowRoot) walk(node.shadowRoot);
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) { if (child.tagName !== "STYLE" && child.tagName !== "TITLE") walk(child); continue; }
      const element = child.parentElement;
      if (child.nodeType !== Node.TEXT_NODE || !child.data.trim() || !element || !seen(element)) continue;
      if (element.closest("[aria-hidden=true], :disabled, option:disabled")) continue;
      const style = getComputedStyle(element), drawn = element instanceof SVGElement;
      let opacity = 1;
      for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      const back = behind(element), ink = [...rgba(drawn ? style.fill : style.color)];
      ink[3] *= opacity * (drawn ? Number(style.fillOpacity) : 1);
      const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const value = ratio(over(ink, back), back);
      if (value >= (large ? 3 : 4.5)) continue;
      const key = `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} in ${element.parentElement?.getAttribute("class") ?? ""}`;
      if (!found.has(key)) found.set(key, `${value.toFixed(2)} ${key}: ${child.data.trim().slice(0, 40)} (${drawn ? style.fill : style.color} on ${back.map(Math.round)})`);
    }
  };
  walk(document.body);
  return [...found.values()];
})()
