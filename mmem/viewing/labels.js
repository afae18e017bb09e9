// Labels: the most important first, and none over another.

const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const CELL = 64; // of the grid that finds what a label would cover
const ROOM = 9000; // square pixels of the screen for one label

/** Make what writes the labels of a picture's nodes and edges. */
function createLabels(context, graph, view) {
  const order = Array.from({ length: graph.count }, (_, node) => node).sort(
    (a, b) => graph.degree[b] - graph.degree[a] || a - b,
  );
  const rank = new Uint32Array(graph.count);
  order.forEach((node, index) => (rank[node] = index));
  const short = new Map();
  const widths = new Map();
  let taken = new Map();
  let dress = null;

  function draw(scene) {
    dress = scene;
    taken = new Map();
    context.globalAlpha = 1;
    context.lineJoin = "round";
    context.textAlign = "center";
    context.strokeStyle = scene.colors.paper;
    const first = [view.selected, view.hovered].filter((node) => node >= 0 && !graph.types[graph.type[node]].hidden);
    for (const node of first) write(node, true);
    obstruct(scene.nodes);
    nameEdges(scene.strong, 120);
    const room = ROOM * Math.max(1, Math.min(3, 0.9 / view.camera.k));
    const most = Math.min(260, Math.round((scene.size.width * scene.size.height) / room));
    let written = 0;
    for (const node of [...scene.nodes].sort((a, b) => rank[a] - rank[b])) {
      if (written >= most) break;
      if (first.includes(node) || (scene.pr[node] < 2.4 && !scene.chosen && graph.count > 300)) continue;
      if (write(node, false)) written++;
    }
    if (view.camera.k > 1.25 && !scene.chosen) nameEdges(scene.edges, 200);
  }

  /** Keep labels off the larger nodes. */
  function obstruct(nodes) {
    for (const node of nodes) {
      const r = dress.pr[node] * 0.8;
      if (r > 4)
        take({
          left: dress.px[node] - r,
          right: dress.px[node] + r,
          top: dress.py[node] - r,
          bottom: dress.py[node] + r,
        });
    }
  }

  /** Write a node's name below it, if there is room; tell whether there was. */
  function write(node, always) {
    const large = always || dress.pr[node] > 13;
    const [size, weight] = large ? [13, 600] : [12, 400];
    const text = shortName(node, always ? 60 : dress.nodes.length > 40 ? 24 : 36);
    context.font = `${weight} ${size}px ${FONT}`;
    const x = dress.px[node];
    const y = dress.py[node] + dress.pr[node] + size + 1;
    return put(text, x, y, size, dress.colors.ink, always);
  }

  function shortName(node, columns) {
    const key = columns * graph.count + node;
    if (!short.has(key)) short.set(key, shortened(graph.names[node], columns) || "(blank)");
    return short.get(key);
  }

  function nameEdges(edges, most) {
    context.font = `11px ${FONT}`;
    for (const edge of edges.slice(0, most)) {
      const { x, y } = dress.point(edge);
      const length = Math.hypot(dress.px[edge.to] - dress.px[edge.from], dress.py[edge.to] - dress.py[edge.from]);
      const room = length - dress.pr[edge.from] - dress.pr[edge.to];
      const text = shortened(edge.type, 24);
      if (edge.loop || room > 0.6 * width(text)) put(text, x, y + 4, 11, dress.colors.muted, false);
    }
  }

  function put(text, x, y, size, color, always) {
    const half = width(text) / 2;
    const box = { left: x - half - 3, right: x + half + 3, top: y - size, bottom: y + 3 };
    if (box.right < 0 || box.bottom < 0 || box.left > dress.size.width || box.top > dress.size.height) return false;
    if (!always && isTaken(box)) return false;
    take(box);
    context.lineWidth = 3.5;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
    return true;
  }

  function width(text) {
    const key = `${context.font} ${text}`;
    if (!widths.has(key)) widths.set(key, context.measureText(text).width);
    return widths.get(key);
  }

  function* cells({ left, right, top, bottom }) {
    for (let column = Math.floor(left / CELL); column <= right / CELL; column++) {
      for (let row = Math.floor(top / CELL); row <= bottom / CELL; row++) yield column * 10007 + row;
    }
  }

  function isTaken(box) {
    for (const cell of cells(box)) {
      for (const other of taken.get(cell) ?? []) {
        if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
          return true;
      }
    }
    return false;
  }

  function take(box) {
    for (const cell of cells(box)) {
      if (!taken.has(cell)) taken.set(cell, []);
      taken.get(cell).push(box);
    }
  }

  return { draw };
}
