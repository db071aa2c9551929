// What goja lacks, and what it had better not have. It runs before the prelude, which captures what this leaves.
//
// nestsDeeply says whether a JSON text would take goja's recursive parser deep; utc whether the process's zone is UTC.
(function (nestsDeeply, utc) {
  'use strict';
  const define = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });

  // Lowered code asks for the symbols of async iteration and of disposal, and for the error of the latter (RUN-35).
  const symbols = ['asyncIterator', 'dispose', 'asyncDispose'];
  for (let i = 0; i < symbols.length; i++) {
    if (Symbol[symbols[i]] !== undefined) continue;
    Object.defineProperty(Symbol, symbols[i], { value: Symbol('Symbol.' + symbols[i]), writable: false, enumerable: false, configurable: false });
  }
  if (typeof SuppressedError === 'undefined') {
    const made = class SuppressedError extends Error {
      constructor(error, suppressed, message) {
        if (message === undefined) super();
        else super(message);
        define(this, 'error', error);
        define(this, 'suppressed', suppressed);
      }
    };
    define(made.prototype, 'name', 'SuppressedError');
    define(made.prototype, 'message', '');
    define(globalThis, 'SuppressedError', made);
  }

  // Code from strings is absent (RUN-48): goja's parser recurses, and the text has not passed the host's guard.
  delete globalThis.eval;
  const refuse = name => {
    return { [name]: function () { throw new EvalError('code from strings is not available in this engine'); } }[name];
  };
  const forbid = (sample, name) => {
    const proto = Object.getPrototypeOf(sample), made = refuse(name);
    Object.defineProperty(made, 'prototype', { value: proto, writable: false, enumerable: false, configurable: false });
    define(proto, 'constructor', made);
    return made;
  };
  define(globalThis, 'Function', forbid(function () {}, 'Function'));
  forbid(async () => {}, 'AsyncFunction');
  forbid(function* () {}, 'GeneratorFunction');

  // Built-ins that recurse or allocate as far as they are told to.
  const apply = Reflect.apply, String_ = String, Number_ = Number;
  const parse = JSON.parse;
  define(JSON, 'parse', {
    parse(text, reviver) {
      text = String_(text);
      if (nestsDeeply(text)) throw new SyntaxError('JSON text is nested too deeply for this engine');
      return reviver === undefined ? parse(text) : parse(text, reviver);
    },
  }.parse);
  const MAX_LENGTH = 536870888;
  const tooLong = () => { throw new RangeError('Invalid string length'); };
  const { repeat, padStart, padEnd } = String.prototype;
  const methods = {
    repeat(count) {
      count = Number_(count);
      if (this !== undefined && this !== null && String_(this).length * count > MAX_LENGTH) tooLong();
      return apply(repeat, this, [count]);
    },
    padStart(length, fill) {
      length = Number_(length);
      if (length > MAX_LENGTH) tooLong();
      return apply(padStart, this, [length, fill]);
    },
    padEnd(length, fill) {
      length = Number_(length);
      if (length > MAX_LENGTH) tooLong();
      return apply(padEnd, this, [length, fill]);
    },
  };
  define(String.prototype, 'repeat', methods.repeat);
  define(String.prototype, 'padStart', methods.padStart);
  define(String.prototype, 'padEnd', methods.padEnd);

  // A list that holds itself would be flattened until the process dies.
  const MAX_FLAT = 2000, { flat } = Array.prototype;
  define(Array.prototype, 'flat', {
    flat(depth) {
      depth = depth === undefined ? 1 : Number_(depth);
      return apply(flat, this, [depth > MAX_FLAT ? MAX_FLAT : depth]);
    },
  }.flat);

  // Texts of dates are those of the other engine; goja's depend on the process's zone, and its own take no locale.
  const proto = Date.prototype;
  const { getUTCFullYear, getUTCMonth, getUTCDate, getUTCDay, getUTCHours, getUTCMinutes, getUTCSeconds, getTime } = proto;
  const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const two = n => (n < 10 ? '0' : '') + n;
  const four = n => (n < 0 ? '-' : '') + apply(padStart, String_(n < 0 ? -n : n), [4, '0']);
  const at = (date, get) => apply(get, date, []);
  const dateText = d => days[at(d, getUTCDay)] + ' ' + months[at(d, getUTCMonth)] + ' ' + two(at(d, getUTCDate)) + ' ' + four(at(d, getUTCFullYear));
  const clockText = d => two(at(d, getUTCHours)) + ':' + two(at(d, getUTCMinutes)) + ':' + two(at(d, getUTCSeconds));
  const zoned = ' GMT+0000';
  const valid = d => at(d, getTime) === at(d, getTime);
  const text = (name, make) => define(proto, name, { [name]() { return valid(this) ? make(this) : 'Invalid Date'; } }[name]);
  text('toString', d => dateText(d) + ' ' + clockText(d) + zoned);
  text('toDateString', dateText);
  text('toTimeString', d => clockText(d) + zoned);
  const usDate = d => two(at(d, getUTCMonth) + 1) + '/' + two(at(d, getUTCDate)) + '/' + four(at(d, getUTCFullYear));
  const usClock = d => {
    const h = at(d, getUTCHours);
    return two(h % 12 === 0 ? 12 : h % 12) + ':' + two(at(d, getUTCMinutes)) + ':' + two(at(d, getUTCSeconds)) + (h < 12 ? ' AM' : ' PM');
  };
  text('toLocaleString', d => usDate(d) + ', ' + usClock(d));
  text('toLocaleDateString', usDate);
  text('toLocaleTimeString', usClock);

  // goja takes a locale for a radix.
  const numberText = Number.prototype.toString;
  define(Number.prototype, 'toLocaleString', { toLocaleString() { return apply(numberText, this, []); } }.toLocaleString);

  // The time zone is UTC (RUN-43), but goja's local time is the process's: local methods become those of UTC.
  const Native = Date, utcTime = Date.UTC, nativeParse = Date.parse, construct = Reflect.construct;
  const names = ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds'];
  for (let i = 0; i < names.length && !utc; i++) {
    const name = names[i], get = proto['getUTC' + name], set = proto['setUTC' + name];
    define(proto, 'get' + name, { ['get' + name]() { return apply(get, this, []); } }['get' + name]);
    if (set) define(proto, 'set' + name, { ['set' + name](...values) { return apply(set, this, values); } }['set' + name]);
  }
  define(proto, 'getTimezoneOffset', { getTimezoneOffset() { return at(this, getTime) === at(this, getTime) ? 0 : NaN; } }.getTimezoneOffset);

  // A text without a zone is in local time, unless it is a date alone: with a zone added it is in ours.
  const hasZone = /(Z|[+-]\d\d:?\d\d|GMT|UTC|UT|[ECMP][SD]T)\s*(\(.*\))?\s*$/i, dateOnly = /^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$/, iso = /^\s*[+-]?\d{4,6}-\d\d(-\d\d)?T/;
  const test = RegExp.prototype.exec;
  const parseDate = utc ? nativeParse : value => {
    value = String_(value);
    const native = nativeParse(value);
    if (native !== native) return native;
    if (apply(test, hasZone, [value]) || apply(test, dateOnly, [value])) return native;
    return nativeParse(value + (apply(test, iso, [value]) ? 'Z' : ' GMT+0000'));
  };
  const Date_ = function Date(...values) {
    if (new.target === undefined) return apply(proto.toString, new Native(), []);
    if (values.length > 1) values = [apply(utcTime, undefined, values)];
    else if (values.length === 1 && typeof values[0] === 'string') values = [parseDate(values[0])];
    return construct(Native, values, new.target);
  };
  Object.defineProperty(Date_, 'length', { value: 7, configurable: true });
  Object.defineProperty(Date_, 'prototype', { value: proto, writable: false, enumerable: false, configurable: false });
  define(Date_, 'now', Native.now);
  define(Date_, 'UTC', Native.UTC);
  define(Date_, 'parse', { parse(value) { return parseDate(value); } }.parse);
  define(proto, 'constructor', Date_);
  define(globalThis, 'Date', Date_);
});
