// Inspection: the readable form of values in logs (LOG-6). It reads own data by property descriptors and brands by the
// engine's word, so that it triggers no getter and no proxy trap, and it stops when the text is longer than any log may be.

const MAX_LEVEL = 4, MAX_ITEMS = 100, MAX_STRING = 10000;

const captureGetters = (proto, names) => {
  const all = { __proto__: null };
  for (let i = 0; i < names.length; i++) all[names[i]] = getter(proto, names[i]);
  return all;
};
const mapSize = getter(Map.prototype, 'size'), setSize = getter(Set.prototype, 'size');
const mapEntries = uncurry(Map.prototype.entries), setValues = uncurry(Set.prototype.values);
const nextOfMap = uncurry(protoOf(new Map().entries()).next), nextOfSet = uncurry(protoOf(new Set().values()).next);
const dateTime = uncurry(Date.prototype.getTime), dateText = uncurry(Date.prototype.toISOString);
const regexpSource = getter(RegExp.prototype, 'source');
const regexpFlagNames = ['hasIndices', 'global', 'ignoreCase', 'multiline', 'dotAll', 'unicode', 'unicodeSets', 'sticky'];
const regexpFlagLetters = 'dgimsuvy';
const regexpFlags = captureGetters(RegExp.prototype, regexpFlagNames);
const arrayLength = getter(protoOf(Uint8Array.prototype), 'length'), bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const unbox = {
  __proto__: null,
  Number: uncurry(Number.prototype.valueOf),
  String: uncurry(String.prototype.valueOf),
  Boolean: uncurry(Boolean.prototype.valueOf),
  Symbol: uncurry(Symbol.prototype.valueOf),
  BigInt: uncurry(BigInt.prototype.valueOf),
};
const isTypedArray = name => name.length >= 9 && slice(name, name.length - 5) === 'Array';

// room is how many characters the current entry may still grow by.
let room = 0;

// inspect returns the text of value. level counts the containers around it; up is a list of them, for cycles.
const inspect = (value, level, up) => {
  if (room < 0) return '…';
  let text;
  switch (typeof value) {
    case 'string': text = quoted(value); break;
    case 'number': text = value === 0 && 1 / value < 0 ? '-0' : '' + value; break;
    case 'bigint': text = String_(value) + 'n'; break;
    case 'object':
      if (value !== null) return inspectObject(value, level, up);
      text = 'null';
      break;
    case 'function': return inspectFunction(value, level, up);
    default: text = String_(value);
  }
  room -= text.length;
  return text;
};

const inspectObject = (value, level, up) => {
  for (let f = up; f !== null; f = f.up) if (f.value === value) return '[Circular]';
  const brand = brandOf(value);
  if (brand === 'Proxy') {
    const target = targetOf(value);
    return target === undefined ? '<revoked proxy>' : inspect(target, level, { value, up });
  }
  if (brand === 'Error') return inspectError(value, level, up);
  if (brand === 'Date') {
    const time = dateTime(value);
    return time === time ? dateText(value) : 'Invalid Date';
  }
  if (brand === 'RegExp') return regexpText(value);
  const name = classNameOf(value);
  if (brand !== undefined && unbox[brand] !== undefined) return '[' + brand + ': ' + inspect(unbox[brand](value), level, up) + ']';
  if (level > MAX_LEVEL) return brand === 'Array' ? '[Array]' : '[' + (name === '' ? brand || 'Object' : name) + ']';

  const frame = { value, up }, list = { text: '', count: 0 };
  let open = '{', close = '}', prefix = '';
  if (brand === undefined) {
    prefix = name === 'Object' ? '' : name === '' ? '[Object: null prototype] ' : name + ' ';
    webItems(list, value, level, frame);
  } else if (brand === 'Array') {
    open = '[', close = ']';
    if (name !== 'Array') prefix = (name === '' ? '[Array: null prototype]' : name) + '(' + value.length + ') ';
    arrayItems(list, value, level, frame);
  } else if (brand === 'Map') {
    prefix = sized(name, brand, mapSize(value));
    mapItems(list, value, level, frame);
  } else if (brand === 'Set') {
    prefix = sized(name, brand, setSize(value));
    setItems(list, value, level, frame);
  } else if (brand === 'Arguments') {
    open = '[', close = ']', prefix = '[Arguments] ';
    arrayItems(list, value, level, frame);
  } else if (isTypedArray(brand)) {
    open = '[', close = ']', prefix = sized(name, brand, arrayLength(value));
    typedItems(list, value, arrayLength(value));
  } else {
    prefix = name === 'Object' ? 'Object [' + brand + '] ' : (name || brand) + ' ';
    if (brand === 'ArrayBuffer') add(list, 'byteLength: ' + bufferLength(value));
    else if (brand === 'WeakMap' || brand === 'WeakSet') add(list, '<items unknown>');
  }
  properties(list, value, brand, level, frame);
  room -= prefix.length + 4;
  return prefix + (list.count === 0 ? open + close : open + ' ' + list.text + ' ' + close);
};

// sized is what stands before a list: the class, the length and, where the class is the program's, what it is made of.
const sized = (name, brand, size) => (name || brand) + '(' + size + ') ' + (name === '' || name === brand ? '' : '[' + brand + '] ');

const add = (list, text) => {
  list.text += list.count++ === 0 ? text : ', ' + text;
  room -= 2;
};
const more = count => '... ' + count + ' more item' + (count === 1 ? '' : 's');

const arrayItems = (list, value, level, frame) => {
  const size = dataOf(value, 'length');
  if (typeof size !== 'number') return;
  let i = 0, keys, k = 0;
  while (i < size && list.count < MAX_ITEMS && room >= 0) {
    const slot = slotOf(value, i);
    if (slot !== undefined) {
      add(list, inspectSlot(slot, level, frame));
      i++;
      continue;
    }
    // A hole: the own keys, indices first, tell where it ends, however wide it is.
    if (keys === undefined) keys = allKeysOf(value);
    while (k < keys.length && +keys[k] < i) k++;
    const index = k < keys.length && typeof keys[k] === 'string' ? +keys[k] : NaN;
    const end = index > i && index < size ? index : size;
    add(list, '<' + (end - i) + ' empty item' + (end - i === 1 ? '' : 's') + '>');
    i = end;
  }
  if (i < size) add(list, more(size - i));
};

const typedItems = (list, value, size) => {
  let i = 0;
  for (; i < size && i < MAX_ITEMS; i++) add(list, inspect(value[i], 0, null));
  if (i < size) add(list, more(size - i));
};

const mapItems = (list, value, level, frame) => {
  const entries = mapEntries(value), size = mapSize(value);
  for (let i = 0; i < size && room >= 0; i++) {
    if (i === MAX_ITEMS) return add(list, more(size - i));
    const entry = nextOfMap(entries).value;
    add(list, inspect(entry[0], level + 1, frame) + ' => ' + inspect(entry[1], level + 1, frame));
  }
};

const setItems = (list, value, level, frame) => {
  const values = setValues(value), size = setSize(value);
  for (let i = 0; i < size && room >= 0; i++) {
    if (i === MAX_ITEMS) return add(list, more(size - i));
    add(list, inspect(nextOfSet(values).value, level + 1, frame));
  }
};

// webItems shows the address of a URL and the pairs of a URLSearchParams, which are no properties.
const webItems = (list, value, level, frame) => {
  const href = hrefOf(value), pairs = pairsOf(value);
  if (href !== undefined) add(list, 'href: ' + inspect(href, level + 1, frame));
  if (pairs === undefined) return;
  for (let i = 0; i < pairs.length && room >= 0; i++) {
    if (i === MAX_ITEMS) return add(list, more(pairs.length - i));
    add(list, inspect(pairs[i].name, level + 1, frame) + ' => ' + inspect(pairs[i].value, level + 1, frame));
  }
};

// properties adds the enumerable own properties; of what has indices, those that are none.
const properties = (list, value, brand, level, frame) => {
  const indexed = brand === 'Array' || brand === 'Arguments' || brand === 'String' || brand !== undefined && isTypedArray(brand);
  if (indexed && slotOf(value, 10000) !== undefined) return; // too many keys to look for the few that are not indices
  const keys = allKeysOf(value);
  for (let i = 0; i < keys.length && room >= 0; i++) {
    const key = keys[i];
    if (indexed && typeof key === 'string' && match(index, key)) continue;
    const slot = slotOf(value, key);
    if (slot === undefined || !slot.enumerable) continue;
    const name = typeof key === 'symbol' ? '[' + String_(key) + ']' : match(identifier, key) ? key : quoted(key);
    room -= name.length + 2;
    add(list, name + ': ' + inspectSlot(slot, level, frame));
  }
};
const index = /^(0|[1-9][0-9]*)$/;

const inspectSlot = (slot, level, frame) => {
  if (hasOwn(slot, 'value')) return inspect(slot.value, level + 1, frame);
  return slot.get === undefined ? '[Setter]' : slot.set === undefined ? '[Getter]' : '[Getter/Setter]'; // own, both
};

const generator = /^(?:async\s*)?(?:function\s*)?\*/;

const inspectFunction = (value, level, up) => {
  if (brandOf(value) === 'Proxy') return '[Function (proxy)]';
  const text = functionText(value), name = dataOf(value, 'name');
  let kind = indexOf(text, 'class') === 0 ? 'class' : indexOf(text, 'async') === 0 ? 'AsyncFunction' : 'Function';
  if (kind !== 'class' && match(generator, text)) kind = kind === 'Function' ? 'GeneratorFunction' : 'AsyncGeneratorFunction';
  const own = typeof name === 'string' && name !== '' ? name : '';
  let head;
  if (kind === 'class') {
    const parent = protoOf(value);
    const base = parent !== null && parent !== functionProto && brandOf(parent) !== 'Proxy' ? dataOf(parent, 'name') : undefined;
    head = '[class ' + (own || '(anonymous)') + (typeof base === 'string' && base !== '' ? ' extends ' + base : '') + ']';
  } else head = '[' + kind + (own === '' ? ' (anonymous)' : ': ' + own) + ']';
  room -= head.length;
  for (let f = up; f !== null; f = f.up) if (f.value === value) return head;
  const list = { text: '', count: 0 };
  if (level <= MAX_LEVEL) properties(list, value, 'Function', level, { value, up });
  return list.count === 0 ? head : head + ' { ' + list.text + ' }';
};

// inspectError shows an error as an uncaught one would read, without running anything of the program's.
const inspectError = (value, level, up) => {
  let name = inheritedData(value, 'name'), message = inheritedData(value, 'message'), text;
  // An engine that makes the stack when it is first read puts name and message into it: not if that runs accessors.
  const readable = recordedStack !== undefined || name !== HIDDEN && message !== HIDDEN;
  const own = readable ? dataOf(value, 'stack') : undefined;
  if (typeof own === 'string' && (recordedStack !== undefined || mapped(own) === undefined)) text = own; // the program's
  else {
    name = typeof name === 'string' ? name : classNameOf(value) || 'Error';
    message = typeof message === 'string' ? message : '';
    const frames = readable ? framesOf(value) : undefined;
    text = (name === '' ? message : message === '' ? name : name + ': ' + message) + (frames === undefined ? '' : frames.text);
  }
  room -= text.length;
  if (level > 0) text = '[' + text + ']';
  const list = { text: '', count: 0 }, frame = { value, up };
  const cause = slotOf(value, 'cause'), errors = slotOf(value, 'errors');
  if (level <= MAX_LEVEL) {
    if (cause !== undefined && !cause.enumerable) add(list, '[cause]: ' + inspectSlot(cause, level, frame));
    if (errors !== undefined && !errors.enumerable) add(list, '[errors]: ' + inspectSlot(errors, level, frame));
    const keys = allKeysOf(value);
    for (let i = 0; i < keys.length && room >= 0; i++) {
      const key = keys[i];
      if (key === 'name' || key === 'message' || key === 'stack') continue; // stack may not be looked at: see above
      const slot = slotOf(value, key);
      if (slot === undefined || !slot.enumerable) continue;
      add(list, (typeof key === 'symbol' ? '[' + String_(key) + ']' : match(identifier, key) ? key : quoted(key)) + ': ' + inspectSlot(slot, level, frame));
    }
  }
  return list.count === 0 ? text : text + ' { ' + list.text + ' }';
};

// regexpFlagsOf reads the flags from the expression's slots.
const regexpFlagsOf = value => {
  let flags = '';
  for (let i = 0; i < regexpFlagNames.length; i++) {
    const get = regexpFlags[regexpFlagNames[i]];
    if (get !== undefined && get(value)) flags += regexpFlagLetters[i];
  }
  return flags;
};
const regexpText = value => {
  const text = '/' + regexpSource(value) + '/' + regexpFlagsOf(value);
  room -= text.length;
  return text;
};

// dataOf reads an own data property of what is no proxy.
const dataOf = (value, key) => {
  const slot = slotOf(value, key);
  return slot !== undefined && hasOwn(slot, 'value') ? slot.value : undefined;
};

// inheritedData reads a data property along the prototypes; it ends at an accessor or a proxy, with HIDDEN.
const inheritedData = (value, key) => {
  for (let o = value, n = 0; o !== null && n < 100; o = protoOf(o), n++) {
    if (brandOf(o) === 'Proxy') return HIDDEN;
    const slot = slotOf(o, key);
    if (slot !== undefined) return hasOwn(slot, 'value') ? slot.value : HIDDEN;
  }
  return undefined;
};
const HIDDEN = { __proto__: null };

// classNameOf returns the name of an object's class, from its prototypes' constructors; empty if it has none.
const classNameOf = value => {
  const proto = brandOf(value) === 'Proxy' ? null : protoOf(value);
  if (proto === null) return '';
  if (proto === objectProto) return 'Object';
  if (proto === arrayProto) return 'Array';
  // The nearest class that has a name: that of an object of a class without one is its parent's.
  for (let o = proto, n = 0; o !== null && n < 100; o = protoOf(o), n++) {
    if (brandOf(o) === 'Proxy') return '';
    const made = dataOf(o, 'constructor');
    if (typeof made !== 'function' || brandOf(made) === 'Proxy' || dataOf(made, 'prototype') !== o) continue;
    const name = dataOf(made, 'name');
    if (typeof name === 'string' && name !== '') return name;
  }
  return '';
};

// quoted shows a string inside of a value.
const quoted = text => {
  const rest = text.length - MAX_STRING;
  if (rest > 0) text = slice(text, 0, MAX_STRING);
  const mark = indexOf(text, "'") < 0 ? "'" : indexOf(text, '"') < 0 ? '"' : indexOf(text, '`') < 0 && indexOf(text, '${') < 0 ? '`' : "'";
  let out = '', from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = charCode(text, i);
    if (c >= 32 && c < 127 && c !== 92 && c !== 39 || c > 159 && (c < 0xd800 || c > 0xdfff)) continue;
    let escape;
    if (c === 39) {
      if (mark !== "'") continue;
      escape = "\\'";
    } else if (c === 92) escape = '\\\\';
    else if (c >= 0xd800) {
      const next = charCode(text, i + 1);
      if (c < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        i++;
        continue;
      }
      escape = '\\u' + upper(numberText(c, 16));
    } else escape = controls[c] || '\\x' + (c < 16 ? '0' : '') + upper(numberText(c, 16));
    out += slice(text, from, i) + escape;
    from = i + 1;
  }
  out = mark + out + slice(text, from) + mark;
  return rest > 0 ? out + '... ' + rest + ' more character' + (rest === 1 ? '' : 's') : out;
};
const controls = { __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r' };
