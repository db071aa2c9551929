// The classes URL and URLSearchParams (RUN-42). What they hold is in tables by instance, not in properties.

const urls = weakTable(), queries = weakTable(), cursors = weakTable();
const arrayIterator = Symbol.iterator, sortList = uncurry(Array.prototype.sort);
const urlOf = self => {
  const url = urls.get(self);
  if (url === undefined) throw new TypeError_('this is not a URL');
  return url;
};
const append = (list, item) => put(list, list.length, item);
const invalidURL = input => new TypeError_('Invalid URL: ' + fault + ' (' + quoted(cutText(input, 200)) + ')');

// readURL parses the arguments of a constructor; undefined with the fault if they make no URL.
const readURL = (input, base) => {
  let against;
  if (base !== undefined) {
    against = parseURL(base, undefined);
    if (against === undefined) return failed_('the base ' + quoted(cutText(base, 200)) + ' is no absolute URL: ' + fault);
  }
  return parseURL(input, against);
};
const textOrUndefined = value => value === undefined ? undefined : usv(value);

// newURL makes an instance of what has been parsed already.
let parsed;
const newURL = url => {
  parsed = url;
  return new URL_();
};

// requery has an instance's searchParams follow its query, if they were ever asked for.
const requery = url => {
  if (url.params === undefined) return;
  queries.get(url.params).list = url.query === null ? [] : parseForm(url.query);
};

// hasPort reports whether a URL may have a user and a port.
const hasPort = url => url.host !== null && url.host !== '' && url.scheme !== 'file';

// assignHost is the setter of host, and without the port that of hostname.
const assignHost = (url, text, withPort) => {
  if (url.opaque) return;
  text = withoutBreaks(text);
  const special = isSpecial(url.scheme);
  let end = 0;
  for (; end < text.length && !isSlash(charCode(text, end), special); end++) {
    const c = charCode(text, end);
    if (c === 63 || c === 35) break;
  }
  text = slice(text, 0, end);
  const colon = url.scheme === 'file' ? -1 : portColon(text);
  if (colon >= 0 && !withPort) return;
  const name = colon < 0 ? text : slice(text, 0, colon);
  let host = '';
  if (name === '') {
    if (colon >= 0 || special && url.scheme !== 'file' || url.username !== '' || url.password !== '' || url.port !== '') return;
  } else host = parseHost(name, special);
  if (host === undefined) return;
  url.host = url.scheme === 'file' && host === 'localhost' ? '' : host;
  if (colon >= 0) assignPort(url, slice(text, colon + 1));
};
const assignPort = (url, text) => {
  const port = text === '' ? undefined : parsePort(text, url.scheme, true);
  if (port !== undefined) url.port = port;
};

const URL_ = class URL {
  constructor(input, base) {
    if (parsed !== undefined) {
      urls.set(this, parsed);
      parsed = undefined;
      return;
    }
    if (arguments.length === 0) throw new TypeError_('URL needs a text to parse');
    const text = usv(input), url = readURL(text, textOrUndefined(base));
    if (url === undefined) throw invalidURL(text);
    urls.set(this, url);
  }
  static canParse(input, base) { return readURL(usv(input), textOrUndefined(base)) !== undefined; }
  static parse(input, base) {
    const url = readURL(usv(input), textOrUndefined(base));
    return url === undefined ? null : newURL(url);
  }
  get href() { return formatURL(urlOf(this)); }
  set href(value) {
    const old = urlOf(this), text = usv(value), url = parseURL(text, undefined);
    if (url === undefined) throw invalidURL(text);
    url.params = old.params;
    if (url.params !== undefined) queries.get(url.params).url = url;
    urls.set(this, url);
    requery(url);
  }
  get origin() { return originOf(urlOf(this)); }
  get protocol() { return urlOf(this).scheme + ':'; }
  set protocol(value) {
    const url = urlOf(this), text = withoutBreaks(usv(value) + ':'), end = schemeEnd(text);
    if (end < 0) return;
    const scheme = lowerText(slice(text, 0, end));
    // A URL stays special or not, and a file has no user, no port and mostly no host.
    if (isSpecial(scheme) !== isSpecial(url.scheme)) return;
    if (scheme === 'file' && (url.username !== '' || url.password !== '' || url.port !== '') || url.scheme === 'file' && url.host === '') return;
    url.scheme = scheme;
    if (url.port === defaultPorts[scheme]) url.port = '';
  }
  get username() { return urlOf(this).username; }
  set username(value) {
    const url = urlOf(this), text = usv(value);
    if (hasPort(url)) url.username = encodeChars(text, USERINFO);
  }
  get password() { return urlOf(this).password; }
  set password(value) {
    const url = urlOf(this), text = usv(value);
    if (hasPort(url)) url.password = encodeChars(text, USERINFO);
  }
  get host() { return hostAndPort(urlOf(this)); }
  set host(value) { assignHost(urlOf(this), usv(value), true); }
  get hostname() {
    const url = urlOf(this);
    return url.host === null ? '' : url.host;
  }
  set hostname(value) { assignHost(urlOf(this), usv(value), false); }
  get port() { return urlOf(this).port; }
  set port(value) {
    const url = urlOf(this), text = usv(value);
    if (!hasPort(url)) return;
    if (text === '') url.port = '';
    else assignPort(url, withoutBreaks(text));
  }
  get pathname() { return urlOf(this).path; }
  set pathname(value) {
    const url = urlOf(this), text = withoutBreaks(usv(value)), special = isSpecial(url.scheme);
    if (url.opaque) return;
    url.path = '';
    if (text !== '' || special || url.host === null) walkPath(url, isSlash(charCode(text, 0), special) ? slice(text, 1) : text);
  }
  get search() {
    const url = urlOf(this);
    return url.query === null || url.query === '' ? '' : '?' + url.query;
  }
  set search(value) {
    const url = urlOf(this), text = usv(value);
    url.query = text === '' ? null
      : encodeChars(withoutBreaks(charCode(text, 0) === 63 ? slice(text, 1) : text), isSpecial(url.scheme) ? SPECIAL_QUERY : QUERY);
    requery(url);
  }
  get searchParams() {
    const url = urlOf(this);
    if (url.params === undefined) {
      const params = new Params_();
      queries.set(params, { list: url.query === null ? [] : parseForm(url.query), url });
      url.params = params;
    }
    return url.params;
  }
  get hash() {
    const url = urlOf(this);
    return url.fragment === null || url.fragment === '' ? '' : '#' + url.fragment;
  }
  set hash(value) {
    const url = urlOf(this), text = usv(value);
    url.fragment = text === '' ? null : encodeChars(withoutBreaks(charCode(text, 0) === 35 ? slice(text, 1) : text), FRAGMENT);
  }
  toString() { return formatURL(urlOf(this)); }
  toJSON() { return formatURL(urlOf(this)); }
};
expose('URL', URL_);

// parseForm reads application/x-www-form-urlencoded as a list of {name, value}.
const parseForm = text => {
  const list = [];
  for (let from = 0; from < text.length;) {
    let to = indexOf(text, '&', from);
    if (to < 0) to = text.length;
    const part = slice(text, from, to), equals = indexOf(part, '=');
    if (part !== '') append(list, { name: decodeChars(equals < 0 ? part : slice(part, 0, equals), true), value: equals < 0 ? '' : decodeChars(slice(part, equals + 1), true) });
    from = to + 1;
  }
  return list;
};
const formatForm = list => {
  let text = '', chunk = '';
  for (let i = 0; i < list.length; i++) {
    chunk += (i > 0 ? '&' : '') + encodeChars(list[i].name, FORM) + '=' + encodeChars(list[i].value, FORM);
    if (chunk.length > CHUNK) {
      text += chunk;
      chunk = '';
    }
  }
  return text + chunk;
};

const eachOfMap = uncurry(Map.prototype.forEach);

// each calls back with the members of a list: an array's and a Map's by captured means, whatever has become of their
// iterators; else by protocol. (One engine sets the fields of an iterator's results, so that a setter could see them.)
const each = (source, callback) => {
  if (isArray(source)) {
    for (let i = 0; i < source.length; i++) callback(source[i]);
    return;
  }
  if (brandOf(source) === 'Map') {
    eachOfMap(source, (value, key) => callback([key, value]));
    return;
  }
  const iterator = apply(source[arrayIterator], source, []), next = iterator.next;
  for (let step = apply(next, iterator, []); !step.done; step = apply(next, iterator, [])) callback(step.value);
};
const isIterable = value => isArray(value) || brandOf(value) === 'Map' || typeof value[arrayIterator] === 'function';
const isObject = value => typeof value === 'object' && value !== null || typeof value === 'function';
const pairFault = 'each entry for URLSearchParams must be a pair [name, value]';

// readPairs is the list of what URLSearchParams is made of: a text, pairs, a record.
const readPairs = init => {
  if (init === undefined || init === null) return [];
  if (!isObject(init)) {
    const text = usv(init);
    return parseForm(charCode(text, 0) === 63 ? slice(text, 1) : text);
  }
  const other = queries.get(init), list = [];
  if (other !== undefined) {
    for (let i = 0; i < other.list.length; i++) append(list, { name: other.list[i].name, value: other.list[i].value });
  } else if (isIterable(init)) {
    each(init, entry => {
      if (!isObject(entry) || !isIterable(entry)) throw new TypeError_(pairFault);
      const pair = [];
      each(entry, part => {
        if (pair.length === 2) throw new TypeError_(pairFault);
        append(pair, part);
      });
      if (pair.length !== 2) throw new TypeError_(pairFault);
      append(list, { name: usv(pair[0]), value: usv(pair[1]) });
    });
  } else {
    const names = keysOf(init);
    for (let i = 0; i < names.length; i++) append(list, { name: usv(names[i]), value: usv(init[names[i]]) });
  }
  return list;
};

const queryOf = (self, given, needed) => {
  const query = queries.get(self);
  if (query === undefined) throw new TypeError_('this is no URLSearchParams');
  if (given < needed) throw new TypeError_('URLSearchParams needs ' + (needed === 1 ? 'a name' : 'a name and a value'));
  return query;
};

// changed writes a list back into the query of its URL.
const changed = query => {
  if (query.url === undefined) return;
  const text = formatForm(query.list);
  query.url.query = text === '' ? null : text;
};

// A cursor walks a list that may change meanwhile. Its prototype is the language's for iterators.
const cursorProto = create(protoOf(protoOf([][Symbol.iterator]())));
const cursorOver = (query, kind) => {
  const cursor = create(cursorProto);
  cursors.set(cursor, { query, kind, at: 0 });
  return cursor;
};
const cursorMethods = {
  next() {
    const cursor = cursors.get(this);
    if (cursor === undefined) throw new TypeError_('this is no iterator of a URLSearchParams');
    if (cursor.at >= cursor.query.list.length) return { value: undefined, done: true };
    const { name, value } = cursor.query.list[cursor.at++];
    return { value: cursor.kind === 0 ? name : cursor.kind === 1 ? value : [name, value], done: false };
  },
  [Symbol.iterator]() { return this; },
};
put(cursorProto, 'next', cursorMethods.next);
hide(cursorProto, Symbol.iterator, cursorMethods[Symbol.iterator]);

const Params_ = class URLSearchParams {
  constructor(init) { queries.set(this, { list: readPairs(init), url: undefined }); }
  get size() { return queryOf(this, 0, 0).list.length; }
  append(name, value) {
    const query = queryOf(this, arguments.length, 2);
    append(query.list, { name: usv(name), value: usv(value) });
    changed(query);
  }
  delete(name, value) {
    const query = queryOf(this, arguments.length, 1), rest = [];
    name = usv(name);
    value = textOrUndefined(value);
    for (let i = 0, list = query.list; i < list.length; i++) {
      if (list[i].name !== name || value !== undefined && list[i].value !== value) append(rest, list[i]);
    }
    query.list = rest;
    changed(query);
  }
  get(name) {
    const list = queryOf(this, arguments.length, 1).list;
    name = usv(name);
    for (let i = 0; i < list.length; i++) if (list[i].name === name) return list[i].value;
    return null;
  }
  getAll(name) {
    const list = queryOf(this, arguments.length, 1).list, all = [];
    name = usv(name);
    for (let i = 0; i < list.length; i++) if (list[i].name === name) append(all, list[i].value);
    return all;
  }
  has(name, value) {
    const list = queryOf(this, arguments.length, 1).list;
    name = usv(name);
    value = textOrUndefined(value);
    for (let i = 0; i < list.length; i++) if (list[i].name === name && (value === undefined || list[i].value === value)) return true;
    return false;
  }
  set(name, value) {
    const query = queryOf(this, arguments.length, 2), rest = [];
    let item;
    name = usv(name);
    value = usv(value);
    for (let i = 0, list = query.list; i < list.length; i++) {
      if (list[i].name !== name) append(rest, list[i]);
      else if (item === undefined) append(rest, item = { name, value });
    }
    if (item === undefined) append(rest, { name, value });
    query.list = rest;
    changed(query);
  }
  sort() {
    const query = queryOf(this, 0, 0);
    sortList(query.list, (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
    changed(query);
  }
  forEach(callback, self) {
    const query = queryOf(this, 0, 0);
    if (typeof callback !== 'function') throw new TypeError_('the callback of forEach must be a function');
    for (let i = 0; i < query.list.length; i++) apply(callback, self, [query.list[i].value, query.list[i].name, this]);
  }
  keys() { return cursorOver(queryOf(this, 0, 0), 0); }
  values() { return cursorOver(queryOf(this, 0, 0), 1); }
  entries() { return cursorOver(queryOf(this, 0, 0), 2); }
  toString() { return formatForm(queryOf(this, 0, 0).list); }
};
hide(Params_.prototype, Symbol.iterator, Params_.prototype.entries);
expose('URLSearchParams', Params_);

const tag = (proto, name) => define(proto, Symbol.toStringTag, { __proto__: null, value: name, writable: false, enumerable: false, configurable: true });
tag(URL_.prototype, 'URL');
tag(Params_.prototype, 'URLSearchParams');
tag(cursorProto, 'URLSearchParams Iterator');

// hrefOf and pairsOf let inspection see what an instance holds: undefined for any other value.
const hrefOf = value => {
  const url = urls.get(value);
  return url === undefined ? undefined : formatURL(url);
};
const pairsOf = value => {
  const query = queries.get(value);
  return query === undefined ? undefined : query.list;
};
