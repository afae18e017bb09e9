// Text from the graph: it only ever becomes text, through `textContent`.

/** Make an element with properties of its own and with children, which may be texts. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Make an element that holds a text in its own direction. */
function textIn(tag, className, text) {
  return element(tag, { className, textContent: text, dir: "auto" });
}

/** Return a text that fits on a label: at most so many columns, of which a CJK character takes two. */
function shortened(text, columns) {
  const line = text
    .slice(0, 4 * columns)
    .replace(/\s+/g, " ")
    .trim();
  let taken = 0;
  let end = 0;
  for (const { segment } of graphemes(line)) {
    taken +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        segment,
      )
        ? 2
        : 1;
    if (taken > columns) return `${line.slice(0, end).trimEnd()}…`;
    end += segment.length;
  }
  return line;
}

const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;

function graphemes(text) {
  return segmenter ? segmenter.segment(text) : Array.from(text, (segment) => ({ segment }));
}

/** Return a text as a search compares it: without case, accents and forms. */
function folded(text) {
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Return a folded text and, for each of its units, where it stands in the text as it was. */
function foldedWithPlaces(text) {
  let result = "";
  const places = [];
  let at = 0;
  for (const character of text) {
    const plain = folded(character);
    for (let unit = 0; unit < plain.length; unit++) places.push(at);
    result += plain;
    at += character.length;
  }
  places.push(at);
  return { result, places };
}

/** Return a timestamp as mmem shows it on a terminal: without `T` and seconds, in the zone in which it is stored. */
function moment(timestamp) {
  const parts = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$/.exec(timestamp);
  if (!parts) return timestamp;
  const [, day, time, zone = ""] = parts;
  return `${day} ${time} ${/z/i.test(zone) ? "UTC" : zone}`.trimEnd();
}

/** Return `1 entity` or `5,000 entities`. */
function plural(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
