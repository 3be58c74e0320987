"use strict";
// Figures fit their window, show the value under the pointer, and zoom. All data are read from the
// drawings; without this script the drawings stand as they are, with the browser's own hints.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (name, attributes, parent) => {
    const one = document.createElementNS(SVG, name);
    for (const key in attributes) one.setAttribute(key, attributes[key]);
    if (parent) parent.append(one);
    return one;
  };
  const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

  // Numbers as in the drawings.
  const raised = (n) => String(n).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  const grouped = (text) => {
    const [whole, part] = text.replace("-", "−").split(".");
    const apart = whole.length < 5 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return part === undefined ? apart : apart + "." + part;
  };
  const scientific = (value, digits) => {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
    return short.replace("-", "−") + "×10" + raised(Number(power));
  };

  // Ticks: [[value, label or null], …].
  const linearTicks = (low, high, wanted) => {
    const rough = (high - low) / wanted;
    let power = Math.floor(Math.log10(rough));
    const share = rough / 10 ** power;
    let factor = share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10;
    if (factor === 10) { factor = 1; power += 1; }
    const at = (k) => (power < 0 ? (k * factor) / 10 ** -power : k * factor * 10 ** power);
    const most = Math.max(Math.abs(low), Math.abs(high));
    const label = (v) => {
      if (v === 0) return "0";
      if (most >= 1e6 || most < 1e-4) {
        return scientific(v, clamp(Math.floor(Math.log10(most)) - power + 1, 1, 15));
      }
      return grouped(v.toFixed(clamp(-power, 0, 15)));
    };
    const ticks = [];
    const last = Math.floor(high / at(1) + 1e-9);
    for (let k = Math.ceil(low / at(1) - 1e-9); k <= last && ticks.length < 50; k++) {
      ticks.push([at(k), label(at(k))]);
    }
    return ticks;
  };
  const logTicks = (low, high, wanted) => {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const all = [];
    for (let k = first; k <= last; k++) {
      for (let m = 1; m < 10; m++) {
        const v = k < 0 ? m / 10 ** -k : m * 10 ** k;
        if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) all.push([v, m, k]);
      }
    }
    const decades = all.filter(([, m]) => m === 1);
    const short = (v) => (v >= 1e-4 && v < 1e6 ? grouped(String(Number(v.toPrecision(6)))) : scientific(v, 1));
    if (decades.length < 2) {
      const choices = [[1, 2, 5], [1, 2, 3, 5, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9]];
      const few = choices.find((of) => all.filter(([, m]) => of.includes(m)).length >= 3);
      if (!few) return linearTicks(low, high, wanted).filter(([v]) => v > 0);
      return all.map(([v, m]) => [v, few.includes(m) ? short(v) : null]);
    }
    const every = Math.ceil(decades.length / Math.max(2, wanted));
    const plain = decades.every(([, , k]) => k >= -3 && k <= 4);
    const few = decades.length === 2 && plain;
    const label = (v, m, k) => {
      if (m === 1 && k % every === 0) return plain ? short(v) : "10" + raised(k);
      return few && (m === 2 || m === 5) ? short(v) : null;
    };
    return all.filter(([, m]) => m === 1 || every === 1).map(([v, m, k]) => [v, label(v, m, k)]);
  };

  // An axis: from values to shares of its length and back.
  const axis = (text) => {
    const [scale, a, b] = text.split(" ");
    const log = scale === "log";
    const to = (v) => (log ? Math.log10(v) : v), from = (t) => (log ? 10 ** t : t);
    const low = to(Number(a)), high = to(Number(b));
    return {
      value: (share) => from(low + share * (high - low)),
      share: (value) => (to(value) - low) / (high - low),
      ticks: (a, b, wanted) => (log ? logTicks : linearTicks)(a, b, wanted),
    };
  };

  // The box with a hint, and the marks that it tells about.
  const hints = (holder, marks) => {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("role", "status");
    holder.append(tip);
    const texts = new Map();
    for (const mark of marks) {
      const title = mark.querySelector("title");
      texts.set(mark, title.textContent);
      title.remove();
    }
    let chosen = null;
    const hide = () => {
      if (chosen) chosen.classList.remove("chosen");
      chosen = null;
      tip.hidden = true;
    };
    const show = (mark) => {
      if (mark === chosen) return;
      hide();
      chosen = mark;
      mark.classList.add("chosen");
      tip.textContent = texts.get(mark);
      tip.hidden = false;
      const home = holder.getBoundingClientRect(), box = mark.getBoundingClientRect();
      const x = box.left + box.width / 2 - home.left, y = box.top + box.height / 2 - home.top;
      const w = tip.offsetWidth, h = tip.offsetHeight;
      tip.style.left = clamp(x + 14 + w > home.width ? x - w - 14 : x + 14, 0, Math.max(0, home.width - w)) + "px";
      tip.style.top = (y - h - 10 < 0 ? y + 14 : y - h - 10) + "px";
    };
    return { show, hide, text: (mark) => texts.get(mark), chosen: () => chosen };
  };

  const plot = (holder) => {
    const svg = holder.querySelector("svg");
    const part = (name) => svg.querySelector(name);
    const marks = [...svg.querySelectorAll(".mark")];
    const hint = hints(holder, marks);
    const [left0, top0, width0, height0] = svg.dataset.box.split(" ").map(Number);
    const axes = [axis(svg.dataset.x), axis(svg.dataset.y)];
    const home = marks.map((mark) => {
      const [x, y] = mark.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
      return [(x - left0) / width0, 1 - (y - top0) / height0];
    });
    const FULL = [0, 1, 0, 1];
    let view = FULL; // shares of the axes that are shown: x from, x to, y from, y to
    const places = []; // of the marks, now
    let box; // left, top, width, height of the area of data
    const halo = make("circle", { class: "halo", r: 7 });
    halo.setAttribute("visibility", "hidden");
    svg.append(halo);

    const layout = () => {
      const width = Math.max(240, Math.round(holder.clientWidth)) || 720;
      const height = Math.round(clamp(0.52 * width, 230, 400));
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      return [width, height];
    };
    const draw = () => {
      hint.hide();
      halo.setAttribute("visibility", "hidden");
      const [width, height] = layout();
      const top = 10, bottom = 46;
      const [a, b, c, d] = view;
      const ys = axes[1].ticks(axes[1].value(c), axes[1].value(d), clamp(Math.round(height / 60), 3, 7));
      const ticks = part(".ticks");
      ticks.replaceChildren();
      const widest = ys.reduce((most, [, label]) => {
        if (label === null) return most;
        const text = make("text", {}, ticks);
        text.textContent = label;
        return Math.max(most, text.getComputedTextLength());
      }, 16);
      const left = Math.ceil(widest) + 32, right = 14;
      box = [left, top, width - left - right, height - top - bottom];
      const [, , w, h] = box;
      const xs = axes[0].ticks(axes[0].value(a), axes[0].value(b), clamp(Math.round(w / 85), 3, 8));
      const px = (share) => left + (w * (share - a)) / (b - a);
      const py = (share) => top + h * (1 - (share - c) / (d - c));
      let grid = "", strokes = "";
      ticks.replaceChildren();
      let free = -Infinity; // labels must not touch
      for (const [v, label] of xs) {
        const x = px(axes[0].share(v));
        strokes += `M${x} ${top + h}v-${label === null ? 3 : 6}`;
        if (label === null) continue;
        grid += `M${x} ${top}v${h}`;
        const text = make("text", { x, y: top + h + 18, "text-anchor": "middle" }, ticks);
        text.textContent = label;
        const half = text.getComputedTextLength() / 2;
        if (x - half < free) text.remove();
        else free = x + half + 6;
      }
      for (const [v, label] of ys) {
        const y = py(axes[1].share(v));
        strokes += `M${left} ${y}h${label === null ? 3 : 6}`;
        if (label === null) continue;
        grid += `M${left} ${y}h${w}`;
        make("text", { x: left - 7, y: y + 4.5, "text-anchor": "end" }, ticks).textContent = label;
      }
      make("path", { d: strokes, fill: "none" }, ticks);
      part(".grid").setAttribute("d", grid);
      for (const frame of [part(".frame"), part("clipPath rect")]) {
        const sides = { x: left, y: top, width: w, height: h };
        for (const key in sides) frame.setAttribute(key, sides[key]);
      }
      const below = part(".label-x"), beside = part(".label-y");
      below.setAttribute("x", left + w / 2);
      below.setAttribute("y", height - 8);
      beside.setAttribute("transform", `translate(13 ${top + h / 2}) rotate(-90)`);
      for (const [label, room] of [[below, width - 8], [beside, height - 4]]) {
        label.removeAttribute("textLength");
        label.removeAttribute("lengthAdjust");
        if (label.getComputedTextLength() > room) {
          label.setAttribute("textLength", room);
          label.setAttribute("lengthAdjust", "spacingAndGlyphs");
        }
      }
      if (below.getComputedTextLength() > 0) {
        const half = below.getComputedTextLength() / 2;
        below.setAttribute("x", clamp(left + w / 2, half + 4, width - half - 4));
      }
      // From the drawing's own coordinates to these: one affine map.
      const sx = w / (b - a) / width0, sy = h / (d - c) / height0;
      const dx = px(0) - sx * left0, dy = py(1) - sy * top0;
      part(".lines").setAttribute("transform", `matrix(${sx} 0 0 ${sy} ${dx} ${dy})`);
      marks.forEach((mark, i) => {
        const [x, y] = home[i], slack = 1e-6;
        const inside = x >= a - slack && x <= b + slack && y >= c - slack && y <= d + slack;
        places[i] = [px(x), py(y)];
        mark.setAttribute("transform", `translate(${places[i].join(" ")})`);
        mark.setAttribute("visibility", inside ? "visible" : "hidden");
      });
    };
    const zoom = (next) => {
      let [a, b, c, d] = next;
      if (b - a < 1e-6 || d - c < 1e-6) return;
      view = b - a >= 1 && d - c >= 1 ? FULL : [a, b, c, d].map((v) => clamp(v, 0, 1));
      holder.dataset.zoomed = view !== FULL;
      draw();
    };
    const around = (x, y, factor) => {
      const [a, b, c, d] = view;
      zoom([x - (x - a) * factor, x + (b - x) * factor, y - (y - c) * factor, y + (d - y) * factor]);
    };
    const step = (factor) => around((view[0] + view[1]) / 2, (view[2] + view[3]) / 2, factor);
    const point = (event) => {
      const at = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / at.width;
      return [(event.clientX - at.left) * scale, (event.clientY - at.top) * scale];
    };
    const shares = ([x, y]) => [
      view[0] + ((view[1] - view[0]) * (x - box[0])) / box[2],
      view[2] + (view[3] - view[2]) * (1 - (y - box[1]) / box[3]),
    ];
    const tell = (mark) => {
      const [x, y] = places[marks.indexOf(mark)];
      halo.setAttribute("cx", x);
      halo.setAttribute("cy", y);
      halo.setAttribute("visibility", "visible");
      hint.show(mark);
    };
    const quiet = () => {
      hint.hide();
      halo.setAttribute("visibility", "hidden");
    };
    const nearest = ([x, y], reach) => {
      let best = null, least = reach * reach;
      for (const [i, mark] of marks.entries()) {
        if (mark.getAttribute("visibility") === "hidden") continue;
        const [u, v] = places[i];
        const far = (u - x) ** 2 + (v - y) ** 2;
        if (far < least) [best, least] = [mark, far];
      }
      return best;
    };

    let drag = null, selection = null;
    const drop = () => {
      if (selection) selection.remove();
      drag = selection = null;
    };
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      drag = point(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const at = point(event);
      if (drag && Math.hypot(at[0] - drag[0], at[1] - drag[1]) > 6) {
        quiet();
        selection ??= make("rect", { class: "selection" }, svg);
        const [l, t, w, h] = box;
        const xs = [drag[0], at[0]].map((x) => clamp(x, l, l + w)).sort((p, q) => p - q);
        const ys = [drag[1], at[1]].map((y) => clamp(y, t, t + h)).sort((p, q) => p - q);
        const sides = { x: xs[0], y: ys[0], width: xs[1] - xs[0], height: ys[1] - ys[0] };
        for (const key in sides) selection.setAttribute(key, sides[key]);
        return;
      }
      const mark = nearest(at, 36);
      if (mark) tell(mark);
      else quiet();
    });
    svg.addEventListener("pointerup", (event) => {
      if (selection) {
        const side = (name) => Number(selection.getAttribute(name));
        const [a, d] = shares([side("x"), side("y")]);
        const [b, c] = shares([side("x") + side("width"), side("y") + side("height")]);
        const wide = side("width") > 8 && side("height") > 8;
        drop();
        if (wide) zoom([a, b, c, d]);
      } else {
        drop();
        const mark = nearest(point(event), 44); // a tap
        if (mark) tell(mark);
        else quiet();
      }
    });
    svg.addEventListener("pointercancel", drop);
    // A finger leaves as soon as it is lifted; what it asked for stays.
    svg.addEventListener("pointerleave", (event) => {
      if (!drag && event.pointerType !== "touch") quiet();
    });
    svg.addEventListener("dblclick", (event) => { event.preventDefault(); zoom(FULL); });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      around(...shares(point(event)), Math.exp(clamp(event.deltaY, -100, 100) / 400));
    }, { passive: false });
    holder.addEventListener("keydown", (event) => {
      const shown = marks.filter((mark) => mark.getAttribute("visibility") !== "hidden");
      const now = shown.indexOf(hint.chosen());
      const go = (by) => { if (shown.length) tell(shown[(now + by + shown.length) % shown.length]); };
      const keys = {
        ArrowRight: () => go(1), ArrowLeft: () => go(now < 0 ? 0 : -1),
        "+": () => step(0.6), "=": () => step(0.6), "-": () => step(1 / 0.6),
        0: () => zoom(FULL), Escape: quiet,
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    holder.addEventListener("blur", quiet);
    const buttons = holder.parentElement.querySelectorAll(".tools button");
    const acts = [() => step(0.6), () => step(1 / 0.6), () => zoom(FULL)];
    buttons.forEach((button, i) => button.addEventListener("click", acts[i]));
    new ResizeObserver(() => {
      if (Math.abs(holder.clientWidth - svg.viewBox.baseVal.width) > 1) draw();
    }).observe(holder);
    draw();
  };

  const heat = (holder) => {
    const cells = [...holder.querySelectorAll(".cell")];
    const hint = hints(holder, cells);
    const over = (event) => {
      const cell = event.target.closest(".cell");
      if (cell) hint.show(cell);
      else hint.hide();
    };
    holder.addEventListener("pointermove", over);
    holder.addEventListener("pointerdown", over);
    holder.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") hint.hide();
    });
    holder.addEventListener("blur", hint.hide);
    holder.addEventListener("keydown", (event) => {
      const rows = new Map();
      for (const cell of cells) {
        const y = cell.getAttribute("transform").split(" ")[1];
        rows.set(y, (rows.get(y) || 0) + 1);
      }
      const columns = Math.max(1, ...rows.values());
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (event.key === "Escape") return hint.hide();
      if (by === undefined || !cells.length) return;
      event.preventDefault();
      const now = cells.indexOf(hint.chosen());
      hint.show(cells[now < 0 ? 0 : clamp(now + by, 0, cells.length - 1)]);
    });
  };

  const copied = (button) => {
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  const copy = (button) => {
    const code = button.previousElementSibling;
    const select = () => {
      getSelection().selectAllChildren(code);
      if (document.execCommand("copy")) copied(button);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => copied(button), select);
    else select();
  };

  // A link leads to what is in a folded group, or to the group itself, and opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  addEventListener("hashchange", unfold);
  document.querySelector("nav")?.addEventListener("click", (event) => {
    if (event.target.hash === location.hash) unfold();
  });

  document.documentElement.classList.add("ready");
  document.querySelectorAll(".drawing.of-plot").forEach(plot);
  document.querySelectorAll(".drawing.of-heat").forEach(heat);
  for (const button of document.querySelectorAll(".command button")) {
    button.addEventListener("click", () => copy(button));
  }
  unfold();
})();
