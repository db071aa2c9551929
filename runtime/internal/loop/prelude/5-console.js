// The console and the minimal process (LOG-1..3, RUN-42, RUN-45).

// limit is the output cap in bytes: no text that may leave the guest is longer than that.
let limit = Infinity;

// log hands one entry to the host. What is longer than the cap cannot fit; its beginning is all that the host can use.
const log = text => {
  if (text.length > limit) text = slice(text, 0, limit);
  host(OP_LOG, 0, 0, toWellFormed(text));
};

// show is one value on its own: inspection form, but strings verbatim.
const show = value => {
  if (typeof value === 'string') return value;
  room = limit;
  try {
    return inspect(value, 0, null);
  } catch (_) {
    return '[value cannot be shown]'; // out of stack: the program stands at its own end
  }
};

const line = (values, from) => {
  let text = '';
  for (let i = from; i < values.length && text.length <= limit; i++) text += i > from ? ' ' + show(values[i]) : show(values[i]);
  return text;
};

// labelOf is the string form of a label; the console never throws.
const labelOf = value => {
  try {
    return value === undefined ? 'default' : String_(value);
  } catch (_) {
    return '[label cannot be shown]';
  }
};

const counts = table(), clocks = table();

const elapsed = label => {
  const start = clocks.get(label);
  return start === undefined ? undefined : label + ': ' + (now() - start) + 'ms';
};
const noTimer = label => log("Timer '" + label + "' does not exist");

// The methods are made by an object literal so that none is a constructor and each has its name.
const methods = {
  log(...values) { log(line(values, 0)); },
  info(...values) { log(line(values, 0)); },
  warn(...values) { log(line(values, 0)); },
  error(...values) { log(line(values, 0)); },
  debug(...values) { log(line(values, 0)); },
  dir(value) {
    room = limit;
    log(typeof value === 'string' ? quoted(value) : show(value));
  },
  trace(...values) {
    const frames = framesOf(new Error_());
    log('Trace' + (values.length > 0 ? ': ' + line(values, 0) : '') + (frames === undefined ? '' : frames.text));
  },
  assert(condition, ...values) {
    if (!condition) log('Assertion failed' + (values.length > 0 ? ': ' + line(values, 0) : ''));
  },
  table(data, columns) {
    let text;
    try {
      text = tableText(data, columns);
    } catch (_) {}
    log(text === undefined ? show(data) : text);
  },
  group(...values) { if (values.length > 0) log(line(values, 0)); },
  groupCollapsed(...values) { if (values.length > 0) log(line(values, 0)); },
  groupEnd() {},
  count(label) {
    label = labelOf(label);
    const n = (counts.get(label) || 0) + 1;
    counts.set(label, n);
    log(label + ': ' + n);
  },
  countReset(label) { counts.delete(labelOf(label)); },
  time(label) {
    label = labelOf(label);
    if (!clocks.has(label)) clocks.set(label, now());
  },
  timeLog(label, ...values) {
    label = labelOf(label);
    const text = elapsed(label);
    if (text === undefined) noTimer(label);
    else log(values.length > 0 ? text + ' ' + line(values, 0) : text);
  },
  timeEnd(label) {
    label = labelOf(label);
    const text = elapsed(label);
    clocks.delete(label);
    if (text === undefined) noTimer(label);
    else log(text);
  },
};

// tableText draws rows and columns of own data; undefined when the data has no rows.
const tableText = (data, columns) => {
  if (typeof data !== 'object' || data === null || brandOf(data) !== undefined && brandOf(data) !== 'Array') return undefined;
  const rowKeys = keysOf(data), wanted = isArray(columns) && brandOf(columns) === 'Array' ? columns : undefined;
  const rows = [], names = [], seen = table();
  let plain = false;
  const push = (list, value) => put(list, list.length, value);
  const column = name => {
    if (!seen.has(name)) seen.set(name, names.length), push(names, name);
  };
  if (wanted !== undefined) for (let i = 0; i < wanted.length; i++) column(labelOf(dataOf(wanted, i)));
  for (let i = 0; i < rowKeys.length && i < 1000; i++) {
    const slot = slotOf(data, rowKeys[i]), row = { key: rowKeys[i], cells: table(), value: undefined };
    const value = slot.value;
    if (typeof value === 'object' && value !== null && (brandOf(value) === undefined || brandOf(value) === 'Array')) {
      const keys = keysOf(value);
      for (let k = 0; k < keys.length; k++) {
        if (wanted === undefined) column(keys[k]);
        row.cells.set(keys[k], cell(slotOf(value, keys[k])));
      }
    } else {
      row.value = cell(slot);
      plain = true;
    }
    push(rows, row);
  }
  const widths = [], head = [], lines = [];
  push(head, '(index)');
  for (let k = 0; k < names.length; k++) push(head, names[k]);
  if (plain) push(head, 'Values');
  for (let i = 0; i < rows.length; i++) {
    const row = [];
    push(row, rows[i].key);
    for (let k = 0; k < names.length; k++) push(row, rows[i].cells.get(names[k]) || '');
    if (plain) push(row, rows[i].value === undefined ? '' : rows[i].value);
    push(lines, row);
  }
  for (let k = 0; k < head.length; k++) {
    let width = head[k].length;
    for (let i = 0; i < lines.length; i++) if (lines[i][k].length > width) width = lines[i][k].length;
    push(widths, width);
  }
  const draw = row => {
    let text = '│';
    for (let k = 0; k < row.length; k++) text += ' ' + padEnd(row[k], widths[k]) + ' │';
    return text;
  };
  const rule = (left, middle, right) => {
    let text = left;
    for (let k = 0; k < widths.length; k++) text += repeat('─', widths[k] + 2) + (k + 1 < widths.length ? middle : right);
    return text;
  };
  let text = rule('┌', '┬', '┐') + '\n' + draw(head) + '\n' + rule('├', '┼', '┤');
  for (let i = 0; i < lines.length && text.length <= limit; i++) text += '\n' + draw(lines[i]);
  text += '\n' + rule('└', '┴', '┘');
  return rowKeys.length > rows.length ? text + '\n' + more(rowKeys.length - rows.length) : text;
};

const cell = slot => {
  room = limit;
  return inspectSlot(slot, MAX_LEVEL - 1, null);
};

expose('console', methods);

// A stream's write: an entry with the chunk's string form, and the callback afterwards, whatever became of the text.
const stream = () => ({
  write(chunk, encoding, callback) {
    log(String_(chunk));
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') microtask(() => done(null));
    return true;
  },
});

expose('process', {
  env: {},
  stdout: stream(),
  stderr: stream(),
  exit(code) {
    let text = '0';
    try {
      if (code !== undefined) text = String_(code);
    } catch (_) {}
    host(OP_EXIT, 0, 0, cutText(toWellFormed(text), 100));
    for (;;); // the host stops us here; nothing of the program runs any more (HOSTILE-11)
  },
});
