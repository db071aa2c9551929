// What programs expect beside the language, as far as it needs no host (RUN-42): performance.now, structuredClone,
// TextEncoder, TextDecoder, atob and btoa.

// origin is the clock at the start of the run. It moves as the clock does: only when the loop turns.
let origin = 0;
expose('performance', { now() { return now() - origin; }, get timeOrigin() { return origin; } });

// dataCloneError is what structuredClone throws for what it cannot copy.
const dataCloneError = what => {
  const error = new Error_(what + ' could not be cloned');
  define(error, 'name', { __proto__: null, value: 'DataCloneError', writable: true, enumerable: false, configurable: true });
  return error;
};
const put = (object, key, value) =>
  define(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const makeDate = Date, makeRegExp = RegExp, makeSet = Set, Bytes = Uint8Array;
const insert = uncurry(Map.prototype.set), include = uncurry(Set.prototype.add);
const sliceBuffer = uncurry(ArrayBuffer.prototype.slice);
const typedProto = protoOf(Uint8Array.prototype);
const bufferOf = getter(typedProto, 'buffer'), offsetOf = getter(typedProto, 'byteOffset'), bytesOf = getter(typedProto, 'byteLength');
const viewBuffer = getter(DataView.prototype, 'buffer'), viewOffset = getter(DataView.prototype, 'byteOffset'), viewLength = getter(DataView.prototype, 'byteLength');
const isView = ArrayBuffer.isView;
const typedClasses = { __proto__: null };
for (let i = 0, names = keysOf({ Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array }); i < names.length; i++) {
  typedClasses[names[i]] = world[names[i]];
}
const typedName = getter(typedProto, Symbol.toStringTag);
const errorClasses = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

// unclonable names what only looks like an ordinary object: its state is not in its properties, so that a copy would be empty.
const unclonable = value =>
  urls.get(value) !== undefined ? 'a URL (copy its href)' :
  queries.get(value) !== undefined ? 'a URLSearchParams (copy its text)' :
  decoders.get(value) !== undefined ? 'a TextDecoder' :
  cursors.get(value) !== undefined ? 'an iterator' : undefined;

// clone copies a value; seen holds the copies of the objects on the way, so that cycles and shared parts stay what they are.
const clone = (value, seen) => {
  const type = typeof value;
  if (type === 'symbol') throw dataCloneError(String_(value));
  if (type === 'function') throw dataCloneError('a function');
  if (type !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const brand = brandOf(value);
  let copy;
  switch (brand) {
    case undefined: {
      const what = unclonable(value);
      if (what !== undefined) throw dataCloneError(what);
      copy = {};
      break;
    }
    case 'Array':
      copy = [];
      define(copy, 'length', { __proto__: null, value: value.length });
      break;
    case 'Date': return remember(seen, value, new makeDate(dateTime(value)));
    case 'RegExp': return remember(seen, value, new makeRegExp(regexpSource(value), regexpFlagsOf(value)));
    case 'Number': case 'String': case 'Boolean': case 'BigInt': return remember(seen, value, Object_(unbox[brand](value)));
    case 'ArrayBuffer': return remember(seen, value, sliceBuffer(value, 0));
    case 'Map': {
      copy = remember(seen, value, new Map_());
      const entries = mapEntries(value);
      for (let next = nextOfMap(entries); !next.done; next = nextOfMap(entries)) insert(copy, clone(next.value[0], seen), clone(next.value[1], seen));
      return copy;
    }
    case 'Set': {
      copy = remember(seen, value, new makeSet());
      const values = setValues(value);
      for (let next = nextOfSet(values); !next.done; next = nextOfSet(values)) include(copy, clone(next.value, seen));
      return copy;
    }
    case 'Error': {
      const made = errorClasses[value.name] || Error_;
      copy = remember(seen, value, new made());
      const message = slotOf(value, 'message'), cause = slotOf(value, 'cause'), stack = value.stack;
      if (message !== undefined) hide(copy, 'message', String_(value.message));
      if (cause !== undefined) hide(copy, 'cause', clone(value.cause, seen));
      if (typeof stack === 'string') hide(copy, 'stack', stack);
      return copy;
    }
    default: {
      const made = isView(value) ? typedClasses[typedName(value)] : undefined;
      if (made === undefined) throw dataCloneError(kindOf(value));
      const buffer = clone(bufferOf(value), seen);
      return remember(seen, value, new made(buffer, offsetOf(value), arrayLength(value)));
    }
  }
  seen.set(value, copy);
  const names = keysOf(value);
  for (let i = 0; i < names.length; i++) put(copy, names[i], clone(value[names[i]], seen));
  return copy;
};
const remember = (seen, value, copy) => {
  seen.set(value, copy);
  return copy;
};
const hide = (object, key, value) =>
  define(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

// encodeUTF8 writes a text as bytes; unpaired surrogates become U+FFFD.
const encodeUTF8 = text => {
  let size = 0;
  for (let i = 0; i < text.length; i++) {
    const c = charCode(text, i);
    size += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    if (isPair(text, i)) {
      size++;
      i++;
    }
  }
  const bytes = new Bytes(size);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    let c = charCode(text, i);
    if (isPair(text, i)) {
      c = (c - 0xd800) * 0x400 + charCode(text, ++i) - 0xdc00 + 0x10000;
      bytes[at++] = 0xf0 | c >> 18;
      bytes[at++] = 0x80 | c >> 12 & 63;
      bytes[at++] = 0x80 | c >> 6 & 63;
      bytes[at++] = 0x80 | c & 63;
      continue;
    }
    if (c >= 0xd800 && c <= 0xdfff) c = 0xfffd;
    if (c < 0x80) bytes[at++] = c;
    else if (c < 0x800) {
      bytes[at++] = 0xc0 | c >> 6;
      bytes[at++] = 0x80 | c & 63;
    } else {
      bytes[at++] = 0xe0 | c >> 12;
      bytes[at++] = 0x80 | c >> 6 & 63;
      bytes[at++] = 0x80 | c & 63;
    }
  }
  return bytes;
};
const isPair = (text, i) => {
  const c = charCode(text, i), next = charCode(text, i + 1);
  return c >= 0xd800 && c < 0xdc00 && next >= 0xdc00 && next <= 0xdfff;
};

// decodeUTF8 reads bytes as the encoding standard says: of an ill-formed sequence, each longest part that could have begun
// a well-formed one becomes one U+FFFD; fatal has it throw instead.
const fromUnit = String.fromCharCode;
const decodeUTF8 = (bytes, fatal) => {
  let text = '', chunk = '';
  const size = arrayLength(bytes);
  for (let i = 0; i < size;) {
    const b = bytes[i];
    let need = b < 0x80 ? 0 : b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : -1;
    let c = need === 0 ? b : need === 1 ? b & 31 : need === 2 ? b & 15 : b & 7, n = 1;
    // The second byte is bounded more closely, or overlong forms, surrogates and too large numbers would pass.
    let low = b === 0xe0 ? 0xa0 : b === 0xf0 ? 0x90 : 0x80, high = b === 0xed ? 0x9f : b === 0xf4 ? 0x8f : 0xbf;
    for (; n <= need; n++) {
      const next = i + n < size ? bytes[i + n] : 0;
      if (next < low || next > high) break;
      c = c << 6 | next & 63;
      low = 0x80;
      high = 0xbf;
    }
    if (need < 0 || n <= need) {
      if (fatal) throw new TypeError_('The encoded data was not valid for encoding utf-8');
      c = 0xfffd;
    }
    i += n;
    chunk += c < 0x10000 ? fromUnit(c) : fromUnit(0xd800 + (c - 0x10000 >> 10), 0xdc00 + (c - 0x10000 & 1023));
    if (chunk.length > CHUNK) {
      text += chunk;
      chunk = '';
    }
  }
  return text + chunk;
};

// viewOf returns the bytes of a buffer or of a view of one.
const viewOf = source => {
  if (source === undefined) return new Bytes(0);
  if (isView(source)) {
    return brandOf(source) === 'DataView' ? new Bytes(viewBuffer(source), viewOffset(source), viewLength(source))
      : new Bytes(bufferOf(source), offsetOf(source), bytesOf(source));
  }
  if (brandOf(source) === 'ArrayBuffer' || brandOf(source) === 'SharedArrayBuffer') return new Bytes(source);
  throw new TypeError_('TextDecoder.decode needs a buffer or a view of one');
};

const decoders = weakTable();
const labels = { __proto__: null, 'utf-8': true, utf8: true, 'unicode-1-1-utf-8': true };
const lower = uncurry(String.prototype.toLowerCase), trim = uncurry(String.prototype.trim);

expose('TextEncoder', class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text) { return encodeUTF8(text === undefined ? '' : String_(text)); }
});
expose('TextDecoder', class TextDecoder {
  constructor(label, options) {
    const name = label === undefined ? 'utf-8' : lower(trim(String_(label)));
    if (labels[name] !== true) throw new RangeError_('TextDecoder knows the encoding utf-8 alone, not ' + cutText(name, 40));
    decoders.set(this, {
      fatal: options !== undefined && options !== null && !!options.fatal,
      ignoreBOM: options !== undefined && options !== null && !!options.ignoreBOM,
    });
  }
  get encoding() { return 'utf-8'; }
  get fatal() { return decoders.get(this).fatal; }
  get ignoreBOM() { return decoders.get(this).ignoreBOM; }
  decode(source) {
    const options = decoders.get(this), text = decodeUTF8(viewOf(source), options.fatal);
    return !options.ignoreBOM && charCode(text, 0) === 0xfeff ? slice(text, 1) : text;
  }
});

// Base64 of strings whose characters are bytes.
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const values64 = { __proto__: null };
for (let i = 0; i < 64; i++) values64[base64[i]] = i;
const badCharacter = what => {
  const error = new Error_(what);
  define(error, 'name', { __proto__: null, value: 'InvalidCharacterError', writable: true, enumerable: false, configurable: true });
  return error;
};
const webFunctions = {
  structuredClone(value) {
    if (arguments.length === 0) throw new TypeError_('structuredClone needs a value');
    return clone(value, table());
  },
  btoa(text) {
    text = String_(text);
    let out = '';
    for (let i = 0; i < text.length; i += 3) {
      const a = charCode(text, i), b = charCode(text, i + 1), c = charCode(text, i + 2); // NaN past the end
      if (a > 255 || b > 255 || c > 255) throw badCharacter('btoa takes characters up to U+00FF');
      out += base64[a >> 2] + base64[(a & 3) << 4 | b >> 4] + (b === b ? base64[(b & 15) << 2 | c >> 6] : '=') + (c === c ? base64[c & 63] : '=');
    }
    return out;
  },
  atob(text) {
    text = String_(text);
    let out = '', bits = 0, count = 0, digits = 0, padding = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (c === ' ' || c === '\t' || c === '\n' || c === '\f' || c === '\r') continue;
      if (c === '=') {
        padding++;
        continue;
      }
      const v = values64[c];
      if (v === undefined || padding > 0) throw badCharacter('atob takes base64');
      digits++;
      bits = (bits << 6 | v) & 0xffff;
      count += 6;
      if (count >= 8) {
        count -= 8;
        out += fromUnit(bits >> count & 255);
      }
    }
    if (digits % 4 === 1 || padding > 2 || padding > 0 && (digits + padding) % 4 !== 0) throw badCharacter('atob takes base64');
    return out;
  },
};
for (let i = 0, names = keysOf(webFunctions); i < names.length; i++) expose(names[i], webFunctions[names[i]]);
