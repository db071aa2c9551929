// Intrinsics: everything that the prelude uses is captured here, before any program has run, so that a program which
// replaces or deletes built-ins changes nothing for us (RUN-26). The rules for all files of the prelude:
//
//   - no method call on a value by its prototype (no s.slice(), a.push(), p.then()): use the captured functions;
//   - no iteration protocol (for-of, spread, array patterns), no await: they look up replaceable properties;
//   - arrays and objects are made by literals and read by own keys; nothing is assigned to an index or name that is not
//     there yet (an inherited setter would see it);
//   - property descriptors have no prototype, or a polluted Object.prototype would add fields to them.

// The numbers of Op in guest.go.
const OP_CALL = 1, OP_LOG = 2, OP_TIMER = 3, OP_CLEAR = 4, OP_DONE = 5, OP_DONE_VOID = 6, OP_FAIL = 7, OP_EXIT = 8,
  OP_UNCAUGHT = 9, OP_LIMIT = 10, OP_MAP_STACK = 11, OP_CHECK = 12, OP_BRAND = 64, OP_TARGET = 65;

const world = globalThis;
const Error_ = Error, TypeError_ = TypeError, RangeError_ = RangeError, Promise_ = Promise, Map_ = Map, WeakMap_ = WeakMap, String_ = String,
  Number_ = Number, Object_ = Object, Array_ = Array;

// uncurry turns a method into a function of its receiver and arguments.
const uncurry = (bind => method => bind(method))(Function.prototype.bind.bind(Function.prototype.call));

const define = Object.defineProperty, create = Object.create, keysOf = Object.keys, freeze = Object.freeze,
  protoOf = Object.getPrototypeOf, setProto = Object.setPrototypeOf, slotOf = Object.getOwnPropertyDescriptor,
  allKeysOf = Reflect.ownKeys, apply = Reflect.apply, isArray = Array.isArray;
const objectProto = Object.prototype, arrayProto = Array.prototype, errorProto = Error.prototype,
  functionProto = Function.prototype;

const isInChain = uncurry(Object.prototype.isPrototypeOf), hasOwn = uncurry(Object.prototype.hasOwnProperty);
const functionText = uncurry(Function.prototype.toString);
const stringify = JSON.stringify, parseNative = JSON.parse;
const indexOf = uncurry(String.prototype.indexOf), slice = uncurry(String.prototype.slice),
  charCode = uncurry(String.prototype.charCodeAt), repeat = uncurry(String.prototype.repeat),
  split = uncurry(String.prototype.split), padEnd = uncurry(String.prototype.padEnd);
// toWellFormed is missing in an engine whose strings become well-formed when they leave it (VALUE-9).
const toWellFormed = String.prototype.toWellFormed ? uncurry(String.prototype.toWellFormed) : text => text;
const match = uncurry(RegExp.prototype.exec);
const then = uncurry(Promise.prototype.then);
const now = Date.now, floor = Math.floor, imul = Math.imul;
const numberText = uncurry(Number.prototype.toString);
const upper = uncurry(String.prototype.toUpperCase);

// getter returns the uncurried getter of an accessor, or undefined if there is none.
const getter = (object, name) => {
  const slot = slotOf(object, name);
  return slot && slot.get ? uncurry(slot.get) : undefined;
};

// table returns a Map whose methods are its own properties: calling them asks no prototype.
const mapGet = Map.prototype.get, mapSet = Map.prototype.set, mapHas = Map.prototype.has, mapDelete = Map.prototype.delete;
const table = () => {
  const map = new Map_();
  define(map, 'get', { __proto__: null, value: mapGet });
  define(map, 'set', { __proto__: null, value: mapSet });
  define(map, 'has', { __proto__: null, value: mapHas });
  define(map, 'delete', { __proto__: null, value: mapDelete });
  return map;
};

// weakTable is the same of a WeakMap.
const weakGet = WeakMap.prototype.get, weakSet = WeakMap.prototype.set;
const weakTable = () => {
  const map = new WeakMap_();
  define(map, 'get', { __proto__: null, value: weakGet });
  define(map, 'set', { __proto__: null, value: weakSet });
  return map;
};

// brandOf returns undefined for an ordinary object and otherwise the name of the built-in that the value really is,
// whatever its prototype or its symbols claim. It triggers nothing.
const brandOf = value => host(OP_BRAND, 0, 0, value);
const targetOf = proxy => host(OP_TARGET, 0, 0, proxy);

// expose puts a built-in into the program's world: writable, configurable, not enumerable, as the language's own are.
const expose = (name, value) => define(world, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
