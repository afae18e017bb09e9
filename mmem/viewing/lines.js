// Edges: lines, bows and loops, with arrows.

const BATCH = 250; // segments a stroke: a path of thousands is slow to fill
const FAINT = 0.13; // what isn't meant when something is

/** Make what draws edges between nodes whose places and radii on the screen are given. */
function createLines(context, view, { px, py, pr }) {
  function draw(edges, faint, colors) {
    const { k } = view.camera;
    context.strokeStyle = colors.edge;
    context.lineWidth = Math.max(0.5, Math.min(1.1, 0.7 + k / 4));
    const dense = Math.max(0.2, Math.min(0.6, 900 / (edges.length + 1)));
    context.globalAlpha = faint ? FAINT : Math.min(0.75, dense * Math.max(1, k));
    stroke(edges, k > 0.35);
    if (k > 0.75 && !faint) {
      context.fillStyle = colors.edge;
      arrows(edges, 5);
    }
  }

  function drawStrong(edges, colors) {
    context.strokeStyle = context.fillStyle = view.selected >= 0 ? colors.accent : colors.muted;
    context.lineWidth = 1.3;
    context.globalAlpha = edges.length > 200 ? 0.45 : 0.85;
    stroke(edges, true);
    arrows(edges, 6);
  }

  function stroke(edges, curved) {
    for (let start = 0; start < edges.length; start += BATCH) {
      context.beginPath();
      for (const edge of edges.slice(start, start + BATCH)) trace(edge, curved);
      context.stroke();
    }
  }

  function trace(edge, curved) {
    const { from, to } = edge;
    if (edge.loop) {
      const r = pr[from] * (0.9 + 0.35 * edge.loop);
      context.moveTo(px[from] + r, py[from] - pr[from]);
      context.arc(px[from], py[from] - pr[from], r, 0, 2 * Math.PI);
      return;
    }
    context.moveTo(px[from], py[from]);
    if (curved && edge.bend) {
      const { x, y } = control(edge);
      context.quadraticCurveTo(x, y, px[to], py[to]);
    } else {
      context.lineTo(px[to], py[to]);
    }
  }

  function control({ from, to, bend }) {
    const [a, b] = from < to ? [from, to] : [to, from]; // one side for both directions
    const turn = from < to ? bend : -bend;
    return {
      x: (px[a] + px[b]) / 2 - (py[b] - py[a]) * turn,
      y: (py[a] + py[b]) / 2 + (px[b] - px[a]) * turn,
    };
  }

  /** Return the point in the middle of an edge. */
  function point(edge) {
    const { from, to } = edge;
    if (edge.loop) return { x: px[from], y: py[from] - pr[from] * (1.9 + 0.7 * edge.loop) };
    const bow = control(edge);
    return { x: (px[from] + px[to]) / 4 + bow.x / 2, y: (py[from] + py[to]) / 4 + bow.y / 2 };
  }

  function arrows(edges, length) {
    context.beginPath();
    for (const edge of edges) {
      const { from, to } = edge;
      if (edge.loop) continue;
      const bow = edge.bend ? control(edge) : { x: px[from], y: py[from] };
      const angle = Math.atan2(py[to] - bow.y, px[to] - bow.x);
      const distance = Math.hypot(px[to] - px[from], py[to] - py[from]);
      if (distance < pr[from] + pr[to] + 2 * length) continue;
      const off = pr[to] + (to === view.selected || to === view.hovered ? 5.5 : 1.5);
      const tip = { x: px[to] - off * Math.cos(angle), y: py[to] - off * Math.sin(angle) };
      context.moveTo(tip.x, tip.y);
      for (const side of [0.42, -0.42]) {
        context.lineTo(tip.x - length * Math.cos(angle + side) * 1.3, tip.y - length * Math.sin(angle + side) * 1.3);
      }
    }
    context.fill();
  }

  return { draw, drawStrong, point };
}
