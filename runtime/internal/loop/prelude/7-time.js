// Timers, microtasks and randomness (RUN-42, RUN-44).

const timers = table();
let lastTimer = 0;

const MAX_DELAY = 2147483647;
const start_ = (callback, delay, repeat, args) => {
  if (typeof callback !== 'function') throw new TypeError_('the callback of a timer must be a function; to wait, write await new Promise(r => setTimeout(r, ms))');
  const id = ++lastTimer;
  timers.set(id, { callback, delay, repeat, args });
  host(OP_TIMER, id, delay);
  return id;
};
// delayOf is a delay as a program gives it: what is no number of milliseconds is the minimum.
const delayOf = delay => {
  delay = +delay;
  return delay >= 1 ? delay > MAX_DELAY ? MAX_DELAY : floor(delay) : 1;
};
const stop = id => {
  if (typeof id === 'number' && timers.has(id)) {
    timers.delete(id);
    host(OP_CLEAR, id);
  }
};

// fire runs the callback of a timer that is due.
const fire = id => {
  const timer = timers.get(id);
  if (timer === undefined) return;
  if (timer.repeat) host(OP_TIMER, id, timer.delay);
  else timers.delete(id);
  try {
    apply(timer.callback, undefined, timer.args);
  } catch (error) {
    uncaught(error);
  }
};

// ready is a resolved promise; without a constructor of its own its then would look one up.
const ready = Promise_.resolve();
define(ready, 'constructor', { __proto__: null, value: undefined });
const microtask = callback => {
  then(ready, () => {
    try {
      callback();
    } catch (error) {
      uncaught(error);
    }
  });
};

const timerFunctions = {
  setTimeout(callback, delay, ...args) { return start_(callback, delayOf(delay), false, args); },
  setInterval(callback, delay, ...args) { return start_(callback, delayOf(delay), true, args); },
  setImmediate(callback, ...args) { return start_(callback, 0, false, args); },
  clearTimeout(id) { stop(id); },
  clearInterval(id) { stop(id); },
  clearImmediate(id) { stop(id); },
  queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError_('the callback of queueMicrotask must be a function');
    microtask(callback);
  },
};
for (let i = 0, names = keysOf(timerFunctions); i < names.length; i++) expose(names[i], timerFunctions[names[i]]);

// Math.random is xoshiro128** over a state that the run's seed fills.
let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
const rotate = (x, n) => x << n | x >>> 32 - n;
const next32 = () => {
  const result = imul(rotate(imul(s1, 5), 7), 9), t = s1 << 9;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= t;
  s3 = rotate(s3, 11);
  return result >>> 0;
};
// seed spreads 64 bits over the state by a mixing counter, so that near seeds give unrelated sequences.
const seed = (high, low) => {
  let x = low | 0;
  const mix = () => {
    x = x + 0x9e3779b9 | 0;
    let z = imul(x ^ x >>> 16, 0x85ebca6b);
    z = imul(z ^ z >>> 13, 0xc2b2ae35);
    return z ^ z >>> 16;
  };
  s0 = mix();
  s1 = mix();
  x ^= high;
  s2 = mix();
  s3 = mix() | 1; // never all zero
};
define(Math, 'random', {
  __proto__: null,
  value: { random() { return ((next32() >>> 5) * 67108864 + (next32() >>> 6)) / 9007199254740992; } }.random,
  writable: true,
  enumerable: false,
  configurable: true,
});
