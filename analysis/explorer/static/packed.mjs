// A document whose tables of numbers came packed, as analysis/explorer/page.py writes them; one that
// did not is the same again.

export function unpacked(value) {
  if (!value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(unpacked);
  if (!("doubles" in value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unpacked(inner)]));
  const numbers = doubles(value.doubles);
  const { lengths, from } = value;
  if (lengths === undefined) return numbers;
  if (from) {
    // column by column; what comes from 0 is 0, and from -k the k-th one with its sign turned
    const at = (source, row) => (source ? numbers[(Math.abs(source) - 1) * lengths + row] : 0);
    const signed = (source, row) => (source < 0 ? 0 - at(source, row) : at(source, row));
    return Array.from({ length: lengths }, (_, row) => from.map((source) => signed(source, row)));
  }
  let end = 0;
  return lengths.map((length) => numbers.slice(end, (end += length)));
}

// Bytes stand by their place in a double, the sign's first.
function doubles(text) {
  const bytes = atob(text);
  const count = bytes.length / 8;
  const view = new DataView(new ArrayBuffer(8));
  return Array.from({ length: count }, (_, k) => {
    for (let place = 0; place < 8; place++) view.setUint8(place, bytes.charCodeAt(place * count + k));
    return view.getFloat64(0);
  });
}
