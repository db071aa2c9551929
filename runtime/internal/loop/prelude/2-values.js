// Values: the lossless serialiser for completions and arguments (VALUE-1..10), and the way back.

// TOO_LARGE is what serialise returns when the text would pass its limit.
const TOO_LARGE = 0;

// violation says what made the last serialise return undefined: "<what> at <path>".
let violation = '';

// serialise returns the JSON text of root; undefined when root is not lossless JSON; TOO_LARGE as soon as the text is
// longer than limit. It walks by a loop of its own, so depth costs memory and no stack (VALUE-5); reads each slot once
// (VALUE-4); and never calls toJSON.
//
// A frame is one open container: up is the container around it, source the object itself, names its keys (undefined for
// an array), size the number of its slots, next the slot that comes after the current one.
const serialise = (root, limit) => {
  // The text so far is the texts of chunks, then text: one engine copies a string whenever it appends to it.
  let text = '', chunks = null, done = 0;
  let frame = null, depth = 0, value = root, open = null;
  try {
    for (;;) {
      const type = typeof value;
      if (type === 'string') text += stringify(value);
      else if (type === 'number') {
        if (value - value !== 0) return lossy(value === value ? 'an infinite number' : 'NaN', frame);
        if (value === 0 && 1 / value < 0) return lossy('negative zero', frame);
        text += value;
      } else if (value === null) text += 'null';
      else if (type === 'boolean') text += value ? 'true' : 'false';
      else if (type !== 'object') return lossy(type === 'undefined' ? 'undefined' : 'a ' + type, frame);
      else {
        // A container that is open already is a cycle. A few are looked through one by one, many are kept in a table.
        if (open === null) {
          for (let f = frame; f !== null; f = f.up) if (f.source === value) return lossy('a cyclic structure', frame);
        } else if (open.has(value)) return lossy('a cyclic structure', frame);
        frame = isArray(value) ? openArray(value, frame) : openObject(value, frame);
        if (frame === undefined) return undefined;
        if (++depth === NEAR && open === null) {
          open = table();
          for (let f = frame; f !== null; f = f.up) open.set(f.source, true);
        } else if (open !== null) open.set(value, true);
        text += frame.names === undefined ? '[' : '{';
      }
      // The next slot of the innermost container that has one.
      for (;;) {
        if (text.length > CHUNK) {
          chunks = { up: chunks, text };
          done += text.length;
          text = '';
        }
        if (frame === null || frame.next < frame.size) break;
        text += frame.names === undefined ? ']' : '}';
        if (open !== null) open.delete(frame.source);
        frame = frame.up;
        depth--;
      }
      if (done + text.length > limit) return TOO_LARGE;
      if (frame === null) break;
      const i = frame.next++;
      if (i > 0) text += ',';
      if (frame.names === undefined) value = frame.source[i];
      else {
        const name = frame.names[i];
        text += stringify(name) + ':';
        value = frame.source[name];
      }
    }
  } catch (_) {
    return lossy('a getter or trap that throws', frame);
  }
  if (chunks !== null) text = joinChunks(chunks, text);
  if (text.length > limit) return TOO_LARGE;
  if (indexOf(text, '\\ud') >= 0) {
    // stringify escapes a surrogate only when it is unpaired; the host tells that from a text that says so (VALUE-9).
    const found = host(OP_CHECK, 0, 0, text);
    if (found) {
      violation = found;
      return undefined;
    }
  }
  return text;
};
const NEAR = 16, CHUNK = 512;

// joinChunks joins the texts of a list that ends with text, by halves, so that nothing is copied often.
const joinChunks = (chunks, text) => {
  let list = { up: chunks, text };
  while (list.up !== null) {
    let halved = null, order = null;
    for (let c = list; c !== null; c = c.up === null ? null : c.up.up) {
      halved = { up: halved, text: c.up === null ? c.text : c.up.text + c.text };
    }
    for (let c = halved; c !== null; c = c.up) order = { up: order, text: c.text }; // the last chunk first again
    list = order;
  }
  return list.text;
};

const openArray = (value, up) => {
  if (protoOf(value) !== arrayProto) return lossy('an array with another prototype', up);
  const size = value.length, all = allKeysOf(value);
  // Own keys come as the indices in ascending order, then "length", then the rest: a dense array has no others (VALUE-4).
  if (all.length !== size + 1 || all[size] !== 'length' || size > 0 && all[size - 1] !== '' + (size - 1)) {
    return lossy(all.length > size ? 'an array with extra properties' : 'an array with a hole', up);
  }
  if (keysOf(value).length !== size) return lossy('an array with hidden elements', up);
  return { up, source: value, names: undefined, size, next: 0 };
};

const openObject = (value, up) => {
  const proto = protoOf(value);
  if (proto !== objectProto && proto !== null) return lossy(kindOf(value), up);
  let brand = brandOf(value);
  for (let target = value; brand === 'Proxy'; brand = brandOf(target)) {
    target = targetOf(target);
    if (target === undefined) return lossy('a revoked proxy', up);
  }
  if (brand !== undefined) return lossy(kindOf(value), up);
  const names = keysOf(value);
  if (names.length !== allKeysOf(value).length) return lossy('an object with a symbol key or a hidden property', up);
  return { up, source: value, names, size: names.length, next: 0 };
};

// kindOf names what is not a plain object, for a violation's text.
const kindOf = value => {
  const brand = brandOf(value);
  if (brand === undefined || brand === 'Proxy') {
    const name = classNameOf(value);
    return name === '' ? 'an object with another prototype' : 'an instance of ' + cutText(name, 40);
  }
  const vowel = indexOf('AEIOU', slice(brand, 0, 1)) >= 0;
  return (vowel ? 'an ' : 'a ') + brand;
};

// lossy notes the violation: what was found in the current slot of the innermost open container.
const lossy = (what, frame) => {
  let path = '';
  for (let f = frame; f !== null; f = f.up) {
    const name = f.names === undefined ? f.next - 1 : f.names[f.next - 1];
    const step = f.names === undefined ? '[' + name + ']'
      : match(identifier, name) ? '.' + cutText(name, 30) : '[' + cutText(stringify(toWellFormed(name)), 30) + ']';
    // A long path keeps its end, which says most; the addition stays under 200 bytes (VALUE-1).
    if (path.length + step.length > 110) {
      path = '…' + path;
      break;
    }
    path = step + path;
  }
  violation = what + ' at $' + path;
  return undefined;
};

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

// cutText returns at most n code units of text, and marks a cut. What is not ASCII counts three times, for its bytes.
const cutText = (text, n) => {
  for (let i = 0, cost = 0; i < text.length; i++) {
    cost += charCode(text, i) < 128 ? 1 : 3;
    if (cost > n) return slice(text, 0, i) + '…';
  }
  return text;
};

// lossless adds the last violation to one of the fixed messages.
const lossless = message => toWellFormed(message + ': ' + violation);

// parse returns the value of a JSON text that the host made. A text that nests deeper than the engine's own parser can
// follow is read by a loop.
const parse = (text, deep) => {
  if (!deep) {
    try {
      return parseNative(text);
    } catch (_) {}
  }
  return parseDeep(text);
};

// parseDeep reads compact JSON without recursion. It trusts the text: the host's codec wrote it.
const parseDeep = text => {
  let at = 0, frame = null;
  for (;;) {
    let value;
    const c = charCode(text, at);
    if (c === 91 || c === 123) { // [ {
      at++;
      frame = { up: frame, value: c === 91 ? [] : {}, size: 0, name: '' };
      const close = charCode(text, at);
      if (close !== 93 && close !== 125) {
        if (c === 123) at = readName(text, at, frame);
        continue;
      }
      at++;
      value = frame.value;
      frame = frame.up;
    } else {
      const end = c === 34 ? endOfString(text, at) : endOfWord(text, at);
      value = parseNative(slice(text, at, end));
      at = end;
    }
    // The value is complete: put it into its container, and close what ends here.
    for (;;) {
      if (frame === null) return value;
      const list = isArray(frame.value);
      define(frame.value, list ? frame.size++ : frame.name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
      if (charCode(text, at++) === 44) { // ,
        if (!list) at = readName(text, at, frame);
        break;
      }
      value = frame.value;
      frame = frame.up;
    }
  }
};

const readName = (text, at, frame) => {
  const end = endOfString(text, at);
  frame.name = parseNative(slice(text, at, end));
  return end + 1; // the colon
};

const endOfString = (text, at) => {
  for (;;) {
    at = indexOf(text, '"', at + 1);
    let from = at;
    while (charCode(text, from - 1) === 92) from--; // a quote behind an odd number of backslashes is escaped
    if ((at - from) % 2 === 0) return at + 1;
  }
};

const endOfWord = (text, at) => {
  for (; at < text.length; at++) {
    const c = charCode(text, at);
    if (c === 44 || c === 93 || c === 125) break; // , ] }
  }
  return at;
};

// freezeDeep freezes a parsed value and everything in it.
const freezeDeep = root => {
  let list = { value: root, next: null };
  while (list !== null) {
    const value = list.value;
    list = list.next;
    if (typeof value !== 'object' || value === null) continue;
    const names = keysOf(value);
    for (let i = 0; i < names.length; i++) list = { value: value[names[i]], next: list };
    freeze(value);
  }
  return root;
};
