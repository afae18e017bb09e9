// The picture: nodes on a canvas. Edges are `lines.js`'s, labels `labels.js`'s.

const SLOW = 34; // milliseconds between frames
const MANY = 1500; // nodes and edges; fewer are never slow to draw

/** Make what draws a graph. `view` is what is selected, hovered and found; its camera is `view.camera`. */
function createPicture(canvas, graph, view) {
  const context = canvas.getContext("2d", { alpha: false });
  const [px, py, pr] = [0, 0, 0].map(() => new Float32Array(graph.count)); // on the screen
  const lines = createLines(context, view, { px, py, pr });
  const labels = createLabels(context, graph, view);
  let colors = null;
  let asked = false;
  let still = null; // while the camera moves: what was drawn before, and the camera that saw it
  let slow = false; // where drawing takes longer than a few frames, a moving picture is the still one, moved
  let drawn = view.camera;
  let before = { time: 0, moving: false };
  let size = { width: 0, height: 0 };

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame((time) => {
      asked = false;
      if (view.moving && before.moving && !still && time - before.time > SLOW)
        slow = graph.count + graph.edges.length > MANY;
      before = { time, moving: view.moving };
      if (view.moving && slow) drawStill();
      else draw();
    });
  }

  /** Draw what was drawn before, where the camera sees it now; the rest comes when it stands. */
  function drawStill() {
    still ??= { image: copied(canvas), camera: drawn };
    const { k, x, y } = view.camera;
    const scale = k / still.camera.k;
    if (
      scale < 0.5 ||
      scale > 2.5 ||
      Math.hypot(x - still.camera.x * scale, y - still.camera.y * scale) > 4 * size.width
    )
      return draw();
    context.globalAlpha = 1;
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, size.width, size.height);
    context.drawImage(
      still.image,
      x - still.camera.x * scale,
      y - still.camera.y * scale,
      size.width * scale,
      size.height * scale,
    );
  }

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const named = (name) => style.getPropertyValue(`--${name}`).trim();
    colors = { types: graph.types.map(({ color }) => named(`type-${color}`)) };
    for (const name of ["paper", "ink", "muted", "edge", "accent"]) colors[name] = named(name);
    ask();
  }

  function resize() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    size = { width: canvas.clientWidth, height: canvas.clientHeight };
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    ask();
  }

  /** Put every node where the camera sees it. Nodes shrink less than distances, and hardly grow. */
  function project() {
    const { k, x, y } = view.camera;
    const scale = Math.pow(Math.min(k, 1.7), 0.72);
    for (let node = 0; node < graph.count; node++) {
      px[node] = graph.x[node] * k + x;
      py[node] = graph.y[node] * k + y;
      pr[node] = Math.max(1.8, graph.radius[node] * scale);
    }
  }

  function shown(node) {
    return !graph.types[graph.type[node]].hidden;
  }

  function inSight(node, margin) {
    return (
      px[node] > -margin && py[node] > -margin && px[node] < size.width + margin && py[node] < size.height + margin
    );
  }

  /** Tell whether a line between two nodes may cross the screen. */
  function crosses({ from, to }) {
    const margin = 60;
    return !(
      Math.max(px[from], px[to]) < -margin ||
      Math.max(py[from], py[to]) < -margin ||
      Math.min(px[from], px[to]) > size.width + margin ||
      Math.min(py[from], py[to]) > size.height + margin
    );
  }

  /** Return which nodes are meant: the selected one and its neighbours, or those found; null where all are. */
  function meant() {
    if (view.selected >= 0) return view.near;
    return view.found;
  }

  function draw() {
    if (!colors || !size.width) return;
    still = null;
    drawn = view.camera;
    project();
    context.globalAlpha = 1;
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, size.width, size.height);
    if (!view.ready) return;
    const chosen = meant();
    const edges = graph.edges.filter((edge) => shown(edge.from) && shown(edge.to) && crosses(edge));
    const strong = edges.filter(isStrong);
    lines.draw(chosen ? edges.filter((edge) => !isStrong(edge)) : edges, chosen !== null, colors);
    lines.drawStrong(strong, colors);
    const nodes = drawNodes(chosen);
    drawRings();
    labels.draw({ px, py, pr, colors, size, nodes, edges, strong, chosen, point: lines.point });
  }

  function isStrong({ from, to }) {
    return from === view.selected || to === view.selected || from === view.hovered || to === view.hovered;
  }

  /** Draw the nodes in sight, the faint ones first; return the numbers of the others. */
  function drawNodes(chosen) {
    const drawn = [];
    const layers = chosen ? [false, true] : [true];
    for (const strong of layers) {
      context.globalAlpha = strong ? 1 : FAINT * 1.6;
      for (let type = 0; type < graph.types.length; type++) {
        if (graph.types[type].hidden) continue;
        const nodes = graph.types[type].nodes.filter(
          (node) => (!chosen || Boolean(chosen[node]) === strong) && inSight(node, 40),
        );
        fillNodes(nodes, colors.types[type], strong);
        if (strong) drawn.push(...nodes);
      }
    }
    context.globalAlpha = 1;
    return drawn;
  }

  function fillNodes(nodes, color, ringed) {
    context.fillStyle = color;
    context.strokeStyle = colors.paper;
    context.lineWidth = 1.5;
    for (let start = 0; start < nodes.length; start += BATCH) {
      context.beginPath();
      for (const node of nodes.slice(start, start + BATCH)) {
        context.moveTo(px[node] + pr[node], py[node]);
        context.arc(px[node], py[node], pr[node], 0, 2 * Math.PI);
      }
      if (ringed && nodes.length < 1200 && view.camera.k > 0.3) context.stroke();
      context.fill();
    }
  }

  function drawRings() {
    for (const [node, color] of [
      [view.hovered, colors.muted],
      [view.selected, colors.accent],
    ]) {
      if (node < 0 || !shown(node)) continue;
      context.beginPath();
      context.arc(px[node], py[node], pr[node] + 3.5, 0, 2 * Math.PI);
      context.strokeStyle = color;
      context.lineWidth = 2;
      context.stroke();
    }
  }

  /** Return the node at a point of the canvas, or -1. */
  function nodeAt(x, y) {
    let best = -1;
    let nearest = Infinity;
    project();
    for (let node = 0; node < graph.count; node++) {
      const distance = Math.hypot(px[node] - x, py[node] - y) - pr[node];
      if (distance < Math.min(6, nearest) && shown(node)) [best, nearest] = [node, distance];
    }
    return best;
  }

  /** Return the camera that shows all that isn't hidden, in the free space of the screen. */
  function fitting(free) {
    const nodes = Array.from({ length: graph.count }, (_, node) => node).filter(shown);
    if (!nodes.length) return d3.zoomIdentity;
    const [left, right] = extent(nodes.map((node) => graph.x[node]));
    const [top, bottom] = extent(nodes.map((node) => graph.y[node]));
    const [width, height] = [free.right - free.left, free.bottom - free.top];
    const k = Math.min(1.6, width / (right - left + 1), height / (bottom - top + 1));
    return d3.zoomIdentity
      .translate((free.left + free.right) / 2, (free.top + free.bottom) / 2)
      .scale(k)
      .translate(-(left + right) / 2, -(top + bottom) / 2);
  }

  return { ask, readColors, resize, nodeAt, fitting };
}

function copied(canvas) {
  const copy = element("canvas", { width: canvas.width, height: canvas.height });
  copy.getContext("2d", { alpha: false }).drawImage(canvas, 0, 0);
  return copy;
}

function extent(numbers) {
  return numbers.reduce(
    ([low, high], number) => [Math.min(low, number), Math.max(high, number)],
    [Infinity, -Infinity],
  );
}
