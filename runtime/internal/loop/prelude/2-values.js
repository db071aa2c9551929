// Values: the lossless serialiser for completions and arguments (VALUE-1..10), and the way back.

// TOO_LARGE is what serialise returns when the text would pass its limit.
const TOO_LARGE = 0;

// violation says what made the last serialise return undefined: "<what> at <path>".
let violation = '';

// serialise returns the JSON text of root; undefined when root is not lossless JSON; TOO_LARGE as soon as the text is
// certain to be longer than limit. It walks by a loop of its own, so depth costs memory and no stack (VALUE-5); reads each
// slot once (VALUE-4); and never calls toJSON.
//
// The container that is being written is in the locals source, names (its keys; undefined for an array), size (how many
// slots it has) and next (the slot to come): an interpreter reads locals fast. The containers around it are frames with
// the same fields; up is the container around a frame, down a frame that was used inside of it and may be used again.
const serialise = (root, limit) => {
  // The text so far is the texts of chunks, then text: one engine copies a string whenever it appends to it.
  let text = '', chunks = null, done = 0;
  let source, names, size = 0, next = 0, up = null;
  let depth = 0, open = null, value = root;
  try {
    for (;;) {
      const type = typeof value;
      if (type === 'string') text += stringify(value);
      else if (type === 'number') {
        if (value === 0 ? 1 / value < 0 : value - value !== 0) return lossyNumber(value, source, names, next, up);
        text += value;
      } else if (type === 'boolean') text += value ? 'true' : 'false';
      else if (value === null) text += 'null';
      else if (type !== 'object') return lossy(type === 'undefined' ? type : 'a ' + type, source, names, next, up);
      else {
        // A container that is open already is a cycle. A few are looked through one by one, many are kept in a table.
        let cyclic = value === source;
        if (open === null) for (let f = up; f !== null; f = f.up) cyclic = cyclic || f.source === value;
        else cyclic = cyclic || open.has(value);
        if (cyclic) return lossy('a cyclic structure', source, names, next, up);
        const list = isArray(value), keys = list ? undefined : plainKeys(value), what = list ? arrayFault(value) : keys;
        if (typeof what === 'string') return lossy(what, source, names, next, up);
        if (source !== undefined) {
          let frame = up === null ? null : up.down;
          if (frame === null) {
            frame = { source, names, size, next, up, down: null };
            if (up !== null) up.down = frame;
          } else {
            frame.source = source;
            frame.names = names;
            frame.size = size;
            frame.next = next;
          }
          up = frame;
          if (open !== null) open.set(source, true);
          else if (++depth === NEAR) {
            open = table();
            for (let f = up; f !== null; f = f.up) open.set(f.source, true);
          }
        }
        source = value;
        names = keys;
        size = list ? value.length : keys.length;
        next = 0;
        text += list ? '[' : '{';
      }
      // Close what is complete.
      while (next === size) {
        if (source !== undefined) text += names === undefined ? ']' : '}';
        if (up === null) {
          if (chunks !== null) text = joinChunks(chunks, text);
          return text.length > limit ? TOO_LARGE : wellFormed(text);
        }
        source = up.source;
        names = up.names;
        size = up.size;
        next = up.next;
        up = up.up;
        if (open === null) depth--;
        else open.delete(source);
        if (text.length > CHUNK) {
          chunks = { up: chunks, text };
          done += text.length;
          text = '';
          if (done > limit) return TOO_LARGE;
        }
      }
      if (text.length > CHUNK) {
        chunks = { up: chunks, text };
        done += text.length;
        text = '';
        if (done > limit) return TOO_LARGE;
      }
      if (next > 0) text += ',';
      if (names === undefined) value = source[next++];
      else {
        const name = names[next++], quote = quotedNames.get(name);
        text += quote === undefined ? quotedName(name) : quote;
        value = source[name];
      }
    }
  } catch (_) {
    return lossy('a getter or trap that throws', source, names, next, up);
  }
};
const NEAR = 16, CHUNK = 512;

// wellFormed returns the text if its strings are: stringify escapes a surrogate only when it is unpaired, and the host
// tells that from a string that spells such an escape (VALUE-9).
const wellFormed = text => {
  if (indexOf(text, '\\ud') >= 0) {
    const found = host(OP_CHECK, 0, 0, text);
    if (found) {
      violation = found;
      return undefined;
    }
  }
  return text;
};

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

// arrayFault says what an array has that a plain and dense one has not; undefined if nothing.
const arrayFault = value => {
  if (protoOf(value) !== arrayProto) return 'an array with another prototype';
  const size = value.length, all = allKeysOf(value);
  // Own keys come as the indices in ascending order, then "length", then the rest: a dense array has no others (VALUE-4).
  if (all.length !== size + 1 || all[size] !== 'length' || size > 0 && all[size - 1] !== '' + (size - 1)) {
    return all.length > size ? 'an array with extra properties' : 'an array with a hole';
  }
  return keysOf(value).length === size ? undefined : 'an array with hidden elements';
};

// plainKeys returns the keys of a plain object, or what it is instead.
const plainKeys = value => {
  const proto = protoOf(value);
  if (proto !== objectProto && proto !== null) return kindOf(value);
  let brand = brandOf(value);
  for (let target = value; brand === 'Proxy'; brand = brandOf(target)) {
    target = targetOf(target);
    if (target === undefined) return 'a revoked proxy';
  }
  if (brand !== undefined) return kindOf(value);
  const names = keysOf(value);
  return names.length === allKeysOf(value).length ? names : 'an object with a symbol key or a hidden property';
};

// quotedName returns a key as JSON with its colon. Keys repeat, so that the texts of some are kept.
const quotedNames = table();
let quotedCount = 0;
const quotedName = name => {
  let text = quotedNames.get(name);
  if (text === undefined) {
    text = stringify(name) + ':';
    if (quotedCount < 1000 && name.length <= 64) {
      quotedNames.set(name, text);
      quotedCount++;
    }
  }
  return text;
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

// lossy notes the violation: what was found in the slot before next of the innermost open container.
const lossy = (what, source, names, next, up) => {
  let path = '';
  for (let f = { source, names, next, up }; f !== null && f.source !== undefined; f = f.up) {
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
  violation = what + (source === undefined && what === 'undefined' ? '' : remedyOf(what)) + ' at $' + path;
  return undefined;
};

// remedyOf says what to hand over instead, for a model to read (CODE-34). No text is longer than 50 bytes (VALUE-1).
const remedyOf = what => {
  const text = slice(what, 0, 15) === 'an instance of ' ? 'use a plain object' : remedies[what];
  return text === undefined ? '' : ' (' + text + ')';
};
const remedies = {
  __proto__: null,
  undefined: 'leave it out or use null',
  NaN: 'use null',
  'an infinite number': 'use null',
  'negative zero': 'use 0',
  'a bigint': 'use String(x) or Number(x)',
  'a symbol': 'use a string',
  'a function': 'call it',
  'a Promise': 'await it, several with Promise.all',
  'a Date': 'use toISOString()',
  'a Map': 'use Object.fromEntries(map)',
  'a Set': 'use [...set]',
  'an Error': 'use its message',
  'a RegExp': 'use its source',
  'an array with a hole': 'use null',
  'an array with extra properties': 'copy it: [...list]',
  'a cyclic structure': 'leave one link out',
};
const lossyNumber = (value, source, names, next, up) =>
  lossy(value === 0 ? 'negative zero' : value === value ? 'an infinite number' : 'NaN', source, names, next, up);

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
