// URLs as records, by the rules of the URL standard (RUN-42): parsing against a base, hosts, percent-encoding, serialising.
// The classes are in 8-weburlclasses.js.
//
// A record is {scheme, username, password, host, port, path, opaque, query, fragment}: host, query and fragment are null if
// absent, port is '' if absent or the scheme's own, path is the text of the path: '/' before each segment, or opaque.
// Strings are read by charCode where an index may lie outside: a missing index is looked up in the prototypes.
//
// The standard has one machine of states that reads character by character. Here the fragment and then the query are cut
// off first, which no state before them would see otherwise, and the rest is taken apart by where its slashes are.

// fault says why the last parse returned undefined.
let fault = '';
const failed_ = why => {
  fault = why;
  return undefined;
};

const defaultPorts = { __proto__: null, http: '80', https: '443', ws: '80', wss: '443', ftp: '21', file: '' };
const isSpecial = scheme => defaultPorts[scheme] !== undefined;

// The sets of characters: a bit of classes[c] for each. Beyond ASCII everything is percent-encoded.
const CONTROL = 1, FRAGMENT = 2, QUERY = 4, SPECIAL_QUERY = 8, PATH = 16, USERINFO = 32, FORM = 64, NO_HOST = 128;
const classes = new Uint8Array(128);
const mark = (set, characters) => {
  for (let i = 0; i < characters.length; i++) classes[charCode(characters, i)] |= set;
};
for (let c = 0; c < 128; c++) {
  if (c < 32 || c === 127) classes[c] = CONTROL | FRAGMENT | QUERY | SPECIAL_QUERY | PATH | USERINFO | FORM;
}
mark(FRAGMENT, ' "<>`');
mark(QUERY | SPECIAL_QUERY | PATH | USERINFO, ' "#<>');
mark(SPECIAL_QUERY, "'");
mark(PATH | USERINFO, '?^`{}');
mark(USERINFO, '/:;=@[\\]|');
mark(FORM, ' !"#$%&\'()+,/:;<=>?@[\\]^`{|}~');
mark(NO_HOST, '\0\t\n\r #/:<>?@[\\]^|');

const lowerText = uncurry(String.prototype.toLowerCase), normalize = uncurry(String.prototype.normalize), lastIndexOf = uncurry(String.prototype.lastIndexOf);
const hexDigits = '0123456789ABCDEF';
const isDigit = c => c >= 48 && c <= 57;
const isAlpha = c => c >= 65 && c <= 90 || c >= 97 && c <= 122;
const hexOf = c => isDigit(c) ? c - 48 : c >= 65 && c <= 70 ? c - 55 : c >= 97 && c <= 102 ? c - 87 : -1;
const isSlash = (c, special) => c === 47 || special && c === 92;

// usv is a value's string without unpaired surrogates.
const usv = value => {
  const text = String_(value);
  for (let i = 0; i < text.length; i++) {
    const c = charCode(text, i);
    if (c >= 0xd800 && c <= 0xdfff) return decodeUTF8(encodeUTF8(text), false);
  }
  return text;
};

// encodeChars percent-encodes what is in a set, and has the spaces of a form become '+'.
const encodeChars = (text, set) => {
  let i = 0;
  for (; i < text.length; i++) {
    const c = charCode(text, i);
    if (c > 127 || (classes[c] & set) !== 0) break;
  }
  if (i === text.length) return text;
  const bytes = encodeUTF8(slice(text, i)), size = arrayLength(bytes);
  let out = slice(text, 0, i), chunk = '';
  for (i = 0; i < size; i++) {
    const b = bytes[i];
    if (b < 128 && (classes[b] & set) === 0) chunk += fromUnit(b);
    else if (b === 32 && set === FORM) chunk += '+';
    else chunk += '%' + hexDigits[b >> 4] + hexDigits[b & 15];
    if (chunk.length > CHUNK) {
      out += chunk;
      chunk = '';
    }
  }
  return out + chunk;
};

// decodeChars reads percent-encoded bytes as UTF-8; for a form '+' is a space.
const decodeChars = (text, form) => {
  if (indexOf(text, '%') < 0 && (!form || indexOf(text, '+') < 0)) return text;
  const bytes = encodeUTF8(text), size = arrayLength(bytes);
  let to = 0;
  for (let i = 0; i < size; i++, to++) {
    let b = bytes[i];
    if (b === 43 && form) b = 32;
    else if (b === 37 && i + 2 < size) {
      const high = hexOf(bytes[i + 1]), low = hexOf(bytes[i + 2]);
      if (high >= 0 && low >= 0) {
        b = high << 4 | low;
        i += 2;
      }
    }
    bytes[to] = b;
  }
  return decodeUTF8(new Bytes(bufferOf(bytes), 0, to), false);
};

// withoutBreaks removes tabs and newlines, which the standard ignores anywhere.
const withoutBreaks = text => {
  let out = '', from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = charCode(text, i);
    if (c !== 9 && c !== 10 && c !== 13) continue;
    out += slice(text, from, i);
    from = i + 1;
  }
  return from === 0 ? text : out + slice(text, from);
};
const trimControls = text => {
  let from = 0, to = text.length;
  while (from < to && charCode(text, from) <= 32) from++;
  while (to > from && charCode(text, to - 1) <= 32) to--;
  return slice(text, from, to);
};

// schemeEnd returns the index of the colon after a scheme, or -1 if the text begins with none.
const schemeEnd = text => {
  if (!isAlpha(charCode(text, 0))) return -1;
  for (let i = 1; i < text.length; i++) {
    const c = charCode(text, i);
    if (c === 58) return i;
    if (!isAlpha(c) && !isDigit(c) && c !== 43 && c !== 45 && c !== 46) return -1;
  }
  return -1;
};

// parseURL returns the record of a text, read against the record base or undefined; or undefined, with the fault.
const parseURL = (text, base) => {
  text = withoutBreaks(trimControls(text));
  const url = { scheme: '', username: '', password: '', host: null, port: '', path: '', opaque: false, query: null, fragment: null, params: undefined };
  const hash = indexOf(text, '#');
  if (hash >= 0) {
    url.fragment = encodeChars(slice(text, hash + 1), FRAGMENT);
    text = slice(text, 0, hash);
  }
  // A scheme has no '?', so that what follows one is never taken for a scheme.
  const ask = indexOf(text, '?');
  let query = null;
  if (ask >= 0) {
    query = slice(text, ask + 1);
    text = slice(text, 0, ask);
  }
  const colon = schemeEnd(text);
  let found;
  if (colon < 0) {
    if (base === undefined) return failed_('it needs a scheme such as https:, or a base');
    if (base.opaque && (hash < 0 || text !== '' || ask >= 0)) return failed_('nothing but a #fragment can be resolved against the base ' + base.scheme + ':');
    url.scheme = base.scheme;
    if (base.opaque) {
      url.path = base.path;
      url.opaque = true;
      url.query = base.query;
      return url;
    }
    found = url.scheme === 'file' ? parseFile(url, text, base, ask >= 0) : parseRelative(url, text, base, ask >= 0);
  } else {
    url.scheme = lowerText(slice(text, 0, colon));
    text = slice(text, colon + 1);
    const first = charCode(text, 0), second = charCode(text, 1);
    if (url.scheme === 'file') found = parseFile(url, text, base !== undefined && base.scheme === 'file' ? base : undefined, ask >= 0);
    else if (isSpecial(url.scheme)) {
      // The same scheme as the base's, without two slashes: relative, as in the days before.
      if (base !== undefined && base.scheme === url.scheme && !(first === 47 && second === 47)) found = parseRelative(url, text, base, ask >= 0);
      else found = parseAuthority(url, afterSlashes(text));
    } else if (first === 47 && second === 47) found = parseAuthority(url, slice(text, 2));
    else if (first === 47) {
      walkPath(url, slice(text, 1));
      found = true;
    } else {
      url.opaque = true;
      url.path = encodeChars(text, CONTROL);
      // A space at the end would be lost when the parts behind it are removed.
      if ((hash >= 0 || ask >= 0) && charCode(text, text.length - 1) === 32) url.path = slice(url.path, 0, url.path.length - 1) + '%20';
      found = true;
    }
  }
  if (found === undefined) return undefined;
  if (query !== null) url.query = encodeChars(query, isSpecial(url.scheme) ? SPECIAL_QUERY : QUERY);
  return url;
};
const afterSlashes = text => {
  let i = 0;
  while (isSlash(charCode(text, i), true)) i++;
  return slice(text, i);
};

// parseRelative reads what comes without a scheme of its own, against a base that is no file.
const parseRelative = (url, text, base, hasQuery) => {
  const special = isSpecial(url.scheme), first = charCode(text, 0);
  const rooted = isSlash(first, special);
  if (rooted && isSlash(charCode(text, 1), special)) return parseAuthority(url, special ? afterSlashes(text) : slice(text, 2));
  url.username = base.username;
  url.password = base.password;
  url.host = base.host;
  url.port = base.port;
  if (rooted) walkPath(url, slice(text, 1));
  else {
    url.path = base.path;
    if (text === '') {
      if (!hasQuery) url.query = base.query;
    } else {
      shorten(url);
      walkPath(url, text);
    }
  }
  return true;
};

// parseFile reads what follows file:, or comes without a scheme against a base that is a file.
const parseFile = (url, text, base, hasQuery) => {
  url.host = '';
  if (isSlash(charCode(text, 0), true)) {
    if (isSlash(charCode(text, 1), true)) {
      const end = authorityEnd(text, 2, true), name = slice(text, 2, end);
      if (isDrive(name)) walkPath(url, slice(text, 2));
      else {
        if (name !== '') {
          const host = parseHost(name, true);
          if (host === undefined) return undefined;
          url.host = host === 'localhost' ? '' : host;
        }
        walkPath(url, slice(text, end + 1));
      }
      return true;
    }
    text = slice(text, 1);
    if (base !== undefined) {
      url.host = base.host;
      if (!startsWithDrive(text) && isDrive(slice(base.path, 1, 3)) && (base.path.length === 3 || base.path[3] === '/')) url.path = slice(base.path, 0, 3);
    }
    walkPath(url, text);
    return true;
  }
  if (base === undefined) {
    walkPath(url, text);
    return true;
  }
  url.host = base.host;
  url.path = base.path;
  if (text === '') {
    if (!hasQuery) url.query = base.query;
  } else {
    if (startsWithDrive(text)) url.path = '';
    else shorten(url);
    walkPath(url, text);
  }
  return true;
};
const isDrive = text => text.length === 2 && isAlpha(charCode(text, 0)) && (text[1] === ':' || text[1] === '|');
const startsWithDrive = text => isDrive(slice(text, 0, 2)) && (text.length === 2 || isSlash(charCode(text, 2), true));

// authorityEnd is where the path begins.
const authorityEnd = (text, from, special) => {
  while (from < text.length && !isSlash(charCode(text, from), special)) from++;
  return from;
};

// parseAuthority reads user:password@host:port and the path behind it.
const parseAuthority = (url, text) => {
  const special = isSpecial(url.scheme), end = authorityEnd(text, 0, special);
  let authority = slice(text, 0, end);
  const at = lastIndexOf(authority, '@');
  if (at >= 0) {
    const user = slice(authority, 0, at), colon = indexOf(user, ':');
    url.username = encodeChars(colon < 0 ? user : slice(user, 0, colon), USERINFO);
    if (colon >= 0) url.password = encodeChars(slice(user, colon + 1), USERINFO);
    authority = slice(authority, at + 1);
  }
  const colon = portColon(authority), name = colon < 0 ? authority : slice(authority, 0, colon);
  if (name === '' && (special || at >= 0 || colon >= 0)) return failed_('the host is missing');
  url.host = parseHost(name, special);
  if (url.host === undefined) return undefined;
  if (colon >= 0) {
    const port = parsePort(slice(authority, colon + 1), url.scheme, false);
    if (port === undefined) return undefined;
    url.port = port;
  }
  if (special || end < text.length) walkPath(url, slice(text, end + 1));
  return true;
};

// portColon is the index of the colon before a port, outside of brackets; or -1.
const portColon = text => {
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '[') inside = true;
    else if (c === ']') inside = false;
    else if (c === ':' && !inside) return i;
  }
  return -1;
};

// parsePort returns a port as digits, '' for none or the scheme's own. A setter stops at what is no digit.
const parsePort = (text, scheme, lenient) => {
  let port = 0, i = 0;
  for (; i < text.length && isDigit(charCode(text, i)); i++) {
    port = port * 10 + charCode(text, i) - 48;
    if (port > 65535) return failed_('the port must be at most 65535');
  }
  if (i < text.length && (!lenient || i === 0)) return failed_('the port must be a number');
  return i === 0 || '' + port === defaultPorts[scheme] ? '' : '' + port;
};

// walkPath appends the segments of a text, which has no leading slash, to a record's path.
const walkPath = (url, text) => {
  const special = isSpecial(url.scheme);
  // Segments come in a list, last first, so that going up is cheap however long the path is.
  let list = null;
  for (let from = 0, rest = url.path; from < rest.length;) {
    let to = indexOf(rest, '/', from + 1);
    if (to < 0) to = rest.length;
    list = { text: slice(rest, from, to), up: list };
    from = to;
  }
  for (let from = 0; from <= text.length;) {
    const to = authorityEnd(text, from, special), last = to === text.length;
    let segment = slice(text, from, to);
    const dots = dotsOf(segment);
    if (dots === 2 && list !== null && !(url.scheme === 'file' && list.up === null && isDriveSegment(list.text))) list = list.up;
    if (dots === 0) {
      if (url.scheme === 'file' && list === null && isDrive(segment)) segment = segment[0] + ':';
      list = { text: '/' + encodeChars(segment, PATH), up: list };
    } else if (last) list = { text: '/', up: list };
    from = to + 1;
  }
  let order = null;
  for (; list !== null; list = list.up) order = { text: list.text, up: order };
  let path = '', chunk = '';
  for (; order !== null; order = order.up) {
    chunk += order.text;
    if (chunk.length > CHUNK) {
      path += chunk;
      chunk = '';
    }
  }
  url.path = path + chunk;
};
const isDriveSegment = text => text.length === 3 && isAlpha(charCode(text, 1)) && text[2] === ':';

// dotsOf is 1 for a segment that stays, 2 for one that goes up, 0 for any other.
const dotsOf = segment => {
  if (segment.length > 6) return 0;
  let dots = 0;
  for (let i = 0; i < segment.length; dots++) {
    if (segment[i] === '.') i++;
    else if (lowerText(slice(segment, i, i + 3)) === '%2e') i += 3;
    else return 0;
  }
  return dots > 2 ? 0 : dots;
};

// shorten removes a path's last segment, but not a file's drive.
const shorten = url => {
  if (url.scheme === 'file' && isDriveSegment(url.path)) return;
  const at = lastIndexOf(url.path, '/');
  url.path = at < 0 ? '' : slice(url.path, 0, at);
};

// formatURL is the href.
const formatURL = url => {
  let text = url.scheme + ':';
  if (url.host !== null) {
    text += '//';
    if (url.username !== '' || url.password !== '') text += url.username + (url.password === '' ? '' : ':' + url.password) + '@';
    text += hostAndPort(url);
  } else if (!url.opaque && slice(url.path, 0, 2) === '//') text += '/.'; // or the path would read as a host
  text += url.path;
  if (url.query !== null) text += '?' + url.query;
  return url.fragment === null ? text : text + '#' + url.fragment;
};
const hostAndPort = url => url.host === null ? '' : url.port === '' ? url.host : url.host + ':' + url.port;

// originOf is what a browser would compare; 'null' if only equal to itself.
const originOf = url => {
  if (url.scheme === 'blob') {
    const inner = parseURL(url.path, undefined);
    return inner !== undefined && (inner.scheme === 'http' || inner.scheme === 'https') ? originOf(inner) : 'null';
  }
  return isSpecial(url.scheme) && url.scheme !== 'file' ? url.scheme + '://' + hostAndPort(url) : 'null';
};
