// Errors: stacks in the model's terms, and the text of whatever a program throws (RUN-38, RUN-39).

// An engine with an accessor Error.prototype.stack keeps the recorded frames in a slot of the error, without a header;
// one without makes an own property of header and frames.
const recordedStack = getter(errorProto, 'stack');

// captured holds what captureStackTrace put into objects, so that it still counts as recorded by the engine.
const captured = weakTable();

// isError reports whether value has the slots of an error, whatever its prototype.
const isError = value => typeof value === 'object' && value !== null && brandOf(value) === 'Error';

// mapped returns the frames of a recorded stack in the model's terms as {text, line, column}; undefined if the text was
// not recorded by the engine. text is empty when no frame is the program's. error is the one whose stack it is, if that is
// known: its class and message help to tell where it was made.
const mapped = (stack, error) => {
  let what = '';
  if (error !== undefined) {
    const message = dataOf(error, 'message');
    what = classNameOf(error) + '\n' + (typeof message === 'string' ? slice(message, 0, 100) : '');
  }
  const reply = host(OP_MAP_STACK, 0, 0, stack, toWellFormed(what));
  if (reply === undefined) return undefined;
  const end = indexOf(reply, '\n'), head = end < 0 ? reply : slice(reply, 0, end), colon = indexOf(head, ':');
  return { text: end < 0 ? '' : slice(reply, end), line: +slice(head, 0, colon), column: +slice(head, colon + 1) };
};

// framesOf returns the mapped frames that the engine recorded for an error, or undefined.
const framesOf = error => {
  if (recordedStack !== undefined) {
    const stack = recordedStack(error);
    return typeof stack === 'string' ? mapped(stack, error) : undefined;
  }
  const slot = slotOf(error, 'stack');
  return slot !== undefined && typeof slot.value === 'string' ? mapped(slot.value) : undefined;
};

// headerOf is Error.prototype.toString by captured means: it reads name and message as they are, getters included.
const headerOf = error => {
  let name = error.name, message = error.message;
  name = name === undefined ? 'Error' : String_(name);
  message = message === undefined ? '' : String_(message);
  return name === '' ? message : message === '' ? name : name + ': ' + message;
};

// Programs read stacks with positions in their own text.
if (recordedStack !== undefined) {
  const assign = uncurry(slotOf(errorProto, 'stack').set);
  define(errorProto, 'stack', {
    __proto__: null,
    get() {
      if (!isError(this)) return undefined;
      const frames = framesOf(this);
      return frames === undefined ? recordedStack(this) : headerOf(this) + frames.text;
    },
    set(value) {
      // The engine's own setter takes nothing but strings; elsewhere a stack is a property like any other.
      if (typeof value === 'string' || !isError(this)) assign(this, value);
      else define(this, 'stack', { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    },
    enumerable: false,
    configurable: true,
  });
}
// More frames than the ten that a message shows, for those of the prelude and of built-ins are left out.
Error_.stackTraceLimit = 20;
delete Error_.stackTraceLimit;
delete Error_.prepareStackTrace;

define(Error_, 'captureStackTrace', {
  __proto__: null,
  value: {
    captureStackTrace(target) {
      if (typeof target !== 'object' && typeof target !== 'function' || target === null) throw new TypeError_('captureStackTrace needs an object');
      const frames = framesOf(new Error_());
      const stack = headerOf(target) + (frames === undefined ? '' : frames.text);
      define(target, 'stack', { __proto__: null, value: stack, writable: true, enumerable: false, configurable: true });
      captured.set(target, { stack, frames });
    },
  }.captureStackTrace,
  writable: true,
  enumerable: false,
  configurable: true,
});

// thrown returns {text, line, column} for a thrown value. It runs the program's own conversions, and never throws.
const thrown = value => {
  try {
    if (!isError(value) && !(typeof value === 'object' && value !== null && isInChain(errorProto, value))) {
      return { text: String_(value), line: 0, column: 0 };
    }
    const stack = value.stack;
    if (stack === undefined || stack === null) return { text: String_(value.message), line: 0, column: 0 };
    if (typeof stack !== 'string') return { text: String_(stack), line: 0, column: 0 };
    const seen = captured.get(value);
    if (seen !== undefined && seen.stack === stack) return position(stack, seen.frames);
    if (recordedStack !== undefined) {
      // Recorded, unless the program put a property of its own before the accessor or replaced that.
      if (isError(value) && slotOf(value, 'stack') === undefined) {
        const frames = framesOf(value);
        if (frames !== undefined) {
          const text = headerOf(value) + frames.text;
          if (text === stack) return position(text, frames);
        }
      }
    } else if (!isError(value)) {
      // A proxy of an error answers with the text that the engine recorded; elsewhere it has no stack.
      if (mapped(stack) !== undefined) return { text: String_(value.message), line: 0, column: 0 };
    } else {
      const frames = stack === '' ? undefined : mapped(stack);
      if (frames !== undefined) return position(headerOf(value) + frames.text, frames);
      const header = headerOf(value);
      if (stack === header + '\n') return position(header, undefined); // recorded where no frame was
    }
    return { text: stack, line: 0, column: 0 };
  } catch (_) {
    return { text: 'thrown value cannot be shown', line: 0, column: 0 };
  }
};

const position = (text, frames) =>
  frames === undefined ? { text, line: 0, column: 0 } : { text, line: frames.line, column: frames.column };

// uncaughtText is the text of an exception or rejection that nothing handled: an Error's message, the string form of
// anything else (RUN-46).
const uncaughtText = value => {
  try {
    return String_(isError(value) ? value.message : value);
  } catch (_) {
    return 'thrown value cannot be shown';
  }
};

// uncaught ends the run because of an error that escaped a callback or a promise without a handler.
const uncaught = value => {
  const at = thrown(value), text = uncaughtText(value);
  if (text.length > limit) host(OP_LIMIT);
  else host(OP_UNCAUGHT, at.line, at.column, toWellFormed(text));
};
