// The run: what the host calls.

// configure prepares this instance for one run: {limit, seed: [high, low], namespaces: [...], globals: [[name, value]...]}.
const configure = text => {
  const config = parse(text, false);
  limit = config.limit;
  seed(config.seed[0], config.seed[1]);
  origin = now();
  for (let i = 0; i < config.namespaces.length; i++) bind(config.namespaces[i], i);
  for (let i = 0; i < config.globals.length; i++) expose(config.globals[i][0], freezeDeep(config.globals[i][1]));
};

// start runs the program: an async function that waits once before its first statement, so that its promise is ours
// before the program can have touched anything.
const start = program => {
  then(program(), completed, failed);
};

const completed = value => {
  if (value === undefined) host(OP_DONE_VOID);
  else {
    const text = serialise(value, limit);
    if (text === TOO_LARGE) host(OP_LIMIT);
    else if (text === undefined) host(OP_FAIL, 0, 0, 'invalid-output', lossless('result is not lossless JSON'));
    else host(OP_DONE, 0, 0, text);
  }
};

const failed = error => {
  const found = thrown(error);
  if (found.text.length > limit) host(OP_LIMIT);
  else host(OP_FAIL, found.line, found.column, 'exception', toWellFormed(found.text));
};

return { configure, start, settle, fire, unhandled: uncaught };
