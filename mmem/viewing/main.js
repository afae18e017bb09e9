// The page: what is selected, hovered and found; the camera; the keys.

const graph = readGraph(document.getElementById("graph").textContent);
const byId = (id) => document.getElementById(id);
const view = {
  camera: d3.zoomIdentity,
  selected: -1,
  hovered: -1,
  near: null,
  found: null,
  ready: false,
  moving: false,
};
const canvas = byId("picture");
graph.types.forEach((type) => (type.nodes = []));
graph.type.forEach((type, node) => graph.types[type].nodes.push(node));
const picture = createPicture(canvas, graph, view);

// The camera

const zoom = d3
  .zoom()
  .scaleExtent([0.02, 8])
  .on("start", () => (view.moving = true))
  .on("end", () => {
    view.moving = false;
    picture.ask();
  })
  .on("zoom", ({ transform }) => {
    view.camera = transform;
    picture.ask();
  });
const surface = d3.select(canvas).call(zoom);
const quiet = matchMedia("(prefers-reduced-motion: reduce)");

function fly(camera, milliseconds = 450) {
  if (quiet.matches || !milliseconds) surface.call(zoom.transform, camera);
  else surface.transition().duration(milliseconds).call(zoom.transform, camera);
}

/** Return the part of the screen that no panel covers. */
function free() {
  const narrow = innerWidth <= 760;
  const panel = byId("panel");
  const open = !panel.hidden;
  return {
    left: narrow ? 40 : 350,
    right: innerWidth - (open && !narrow ? 430 : narrow ? 40 : 60),
    top: narrow ? 130 : 40,
    bottom: innerHeight - (open && narrow ? 0.55 * innerHeight + 20 : 70),
  };
}

function fit(milliseconds) {
  fly(picture.fitting(free()), milliseconds);
}

function centre(node, milliseconds) {
  const { left, right, top, bottom } = free();
  const far = (place) =>
    Array.from(view.near, (near, other) => (near ? Math.abs(place[other] - place[node]) : 0)).reduce(
      (a, b) => Math.max(a, b),
      1,
    );
  const whole = Math.min((right - left) / 2 / far(graph.x), (bottom - top) / 2 / far(graph.y)); // shows the neighbours
  const k = Math.max(0.55, Math.min(Math.max(view.camera.k, 0.9), whole));
  fly(
    d3.zoomIdentity
      .translate((left + right) / 2, (top + bottom) / 2)
      .scale(k)
      .translate(-graph.x[node], -graph.y[node]),
    milliseconds,
  );
}

function scale(factor) {
  if (quiet.matches) surface.call(zoom.scaleBy, factor);
  else surface.transition().duration(180).call(zoom.scaleBy, factor);
}

// The selection; it lives in the address, so that Back leads to the entity before

const panel = createPanel(graph, { chosen: (node) => go(node), closed: () => go(-1) });

function go(node) {
  const hash = node < 0 ? "" : `#id:${graph.ids[node]}`;
  select(node);
  if (location.hash !== hash) location.hash = hash || "#";
}

function select(node, milliseconds) {
  const moves = node >= 0 && node !== view.selected;
  view.selected = node;
  view.near = node < 0 ? null : neighbours(node);
  panel.show(node);
  document.title = node < 0 ? `${graph.title} · mmem` : `${graph.names[node]} · ${graph.title}`;
  if (node >= 0) legend.reveal(graph.types[graph.type[node]]);
  if (moves && view.ready) centre(node, milliseconds);
  picture.ask();
}

function neighbours(node) {
  const near = new Uint8Array(graph.count);
  near[node] = 1;
  for (const index of graph.around[node]) near[graph.edges[index].from] = near[graph.edges[index].to] = 1;
  return near;
}

function selectFromAddress() {
  const node = graph.byId.get(location.hash.replace(/^#id:/, "")) ?? -1;
  if (node !== view.selected) select(node);
}

// Search and legend

const search = connectSearch(graph, {
  chosen: (node) => {
    legend.reveal(graph.types[graph.type[node]]);
    go(node);
    panel.focus();
  },
  found: (nodes) => {
    view.found = null;
    if (nodes) {
      view.found = new Uint8Array(graph.count);
      for (const node of nodes) view.found[node] = 1;
    }
    picture.ask();
  },
});
const legend = connectLegend(graph, () => {
  if (view.selected >= 0 && graph.types[graph.type[view.selected]].hidden) go(-1);
  search.refresh();
  picture.ask();
});

// Pointer and keys

let down = null;
canvas.addEventListener("pointermove", ({ offsetX, offsetY, buttons }) => {
  if (buttons || !view.ready) return;
  const node = picture.nodeAt(offsetX, offsetY);
  if (node === view.hovered) return;
  view.hovered = node;
  canvas.classList.toggle("over-node", node >= 0);
  picture.ask();
});
canvas.addEventListener("pointerleave", () => {
  view.hovered = -1;
  picture.ask();
});
canvas.addEventListener("pointerdown", ({ offsetX, offsetY }) => (down = [offsetX, offsetY]), { capture: true });
canvas.addEventListener("click", ({ offsetX, offsetY }) => {
  if (!view.ready || (down && Math.hypot(down[0] - offsetX, down[1] - offsetY) > 4)) return;
  go(picture.nodeAt(offsetX, offsetY));
});

const move = (x, y) => () => surface.call(zoom.translateBy, x / view.camera.k, y / view.camera.k);
const keys = {
  "/": () => search.focus(),
  Escape: () => (view.selected < 0 ? search.clear() : go(-1)),
  "+": () => scale(1.5),
  "=": () => scale(1.5),
  "-": () => scale(1 / 1.5),
  f: () => fit(),
  t: () => toggleTheme(),
  "?": () => byId("shortcuts").showModal(),
};
const arrows = { ArrowLeft: move(60, 0), ArrowRight: move(-60, 0), ArrowUp: move(0, 60), ArrowDown: move(0, -60) };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("shortcuts").open) return;
  const act =
    keys[event.key.length === 1 ? event.key.toLowerCase() : event.key] ??
    (event.target === canvas || event.target === document.body ? arrows[event.key] : null);
  if (!act) return;
  event.preventDefault();
  act();
});

byId("zoom-in").addEventListener("click", () => scale(1.5));
byId("zoom-out").addEventListener("click", () => scale(1 / 1.5));
byId("fit").addEventListener("click", () => fit());
byId("theme").addEventListener("click", () => toggleTheme());
byId("help").addEventListener("click", () => byId("shortcuts").showModal());

// Dark and light

const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = null; // null: as the system has it

function showTheme() {
  document.documentElement.dataset.theme = theme ?? (dark.matches ? "dark" : "light");
  picture.readColors();
}

function toggleTheme() {
  theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  showTheme();
}

dark.addEventListener("change", showTheme);

// The beginning

function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = text === "";
}

function begin() {
  const observations = graph.observations.reduce((sum, list) => sum + list.length, 0);
  const counts = [
    plural(graph.count, "entity", "entities"),
    plural(observations, "observation"),
    plural(graph.edges.length, "relation"),
  ]
    .map((one) => one.replace(" ", "\u00a0"))
    .join("\u00a0· ");
  byId("title").textContent = graph.title;
  byId("counts").textContent = counts;
  canvas.setAttribute("aria-label", `Picture of ${graph.title}: ${counts}`);
  document.title = `${graph.title} · mmem`;
  showTheme();
  picture.resize();
  addEventListener("resize", () => picture.resize());
  addEventListener("hashchange", selectFromAddress);
  if (!graph.count) {
    say("This graph is empty.\nOnce something is remembered, it shows here.");
    document.documentElement.dataset.state = "ready";
    return;
  }
  const slow = setTimeout(() => say("Arranging the graph …"), 150);
  layOut(
    graph,
    (share) => share < 1 && !byId("message").hidden && say(`Arranging the graph … ${Math.round(100 * share)} %`),
    () => {
      clearTimeout(slow);
      say("");
      view.ready = true;
      fit(0);
      if (view.selected < 0) selectFromAddress();
      else centre(view.selected, 0); // chosen before there was a picture
      document.documentElement.dataset.state = "ready";
    },
  );
}

begin();
