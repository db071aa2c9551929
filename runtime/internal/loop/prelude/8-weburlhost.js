// The hosts of URLs: domains, IPv4 in its many spellings, IPv6, and the opaque hosts of schemes that are not special.

// parseHost returns the normal form of a host, or undefined with the fault.
const parseHost = (text, special) => {
  if (charCode(text, 0) === 91) {
    if (charCode(text, text.length - 1) !== 93) return failed_('the IPv6 address has no closing ]');
    const parts = parseIPv6(slice(text, 1, text.length - 1));
    return parts === undefined ? failed_('the IPv6 address is not valid') : '[' + formatIPv6(parts) + ']';
  }
  if (!special) return hasForbidden(text, false) ? undefined : encodeChars(text, CONTROL);
  const domain = asciiDomain(decodeChars(text, false));
  if (domain === '') return failed_('the host is missing');
  if (domain === undefined || hasForbidden(domain, true)) return undefined;
  return endsInNumber(domain) ? parseIPv4(domain) : domain;
};

// hasForbidden reports, with the fault, whether a host has a character that none may have.
const hasForbidden = (text, domain) => {
  for (let i = 0; i < text.length; i++) {
    const c = charCode(text, i);
    if (c > 127 || (classes[c] & NO_HOST) === 0 && !(domain && (c === 37 || (classes[c] & CONTROL) !== 0))) continue;
    failed_('the host must not contain ' + quoted(text[i]));
    return true;
  }
  return false;
};

// asciiDomain maps a domain to what is looked up. Beyond ASCII that is a part of the mapping of IDNA (UTS 46): lower case,
// compatibility composition, the ideographic full stop, and what it ignores. Left out are its tables of the code points that
// it refuses, its rules for joiners and for the direction of text, and decoding labels that are Punycode already.
const asciiDomain = text => {
  let plain = true;
  for (let i = 0; plain && i < text.length; i++) plain = charCode(text, i) < 128;
  text = lowerText(text);
  if (plain && indexOf(text, 'xn--') < 0) return text;
  text = lowerText(normalize(text, 'NFKC'));
  text = normalize(text, 'NFC');
  let domain = '', label = '';
  for (let i = 0; i <= text.length; i++) {
    const c = i < text.length ? charCode(text, i) : 46;
    if (c === 46 || c === 0x3002) {
      if (!isPuny(label)) return failed_('the host has a label that begins with xn-- and is no Punycode');
      domain += asciiLabel(label) + (i < text.length ? '.' : '');
      label = '';
    } else if (c === 0xfffd) return failed_('the host must not contain U+FFFD');
    else if (c !== 0xad && c !== 0x200b && c !== 0x2060 && c !== 0xfeff && (c < 0xfe00 || c > 0xfe0f)) label += text[i];
  }
  return domain;
};

// isPuny reports whether a label that claims to be Punycode can be: it has letters, digits and hyphens behind xn--.
const isPuny = label => {
  if (slice(label, 0, 4) !== 'xn--') return true;
  for (let i = 4; i < label.length; i++) {
    const c = charCode(label, i);
    if (!isAlpha(c) && !isDigit(c) && c !== 45) return false;
  }
  return label.length > 4 && charCode(label, label.length - 1) !== 45;
};

// asciiLabel is a label as it is, or in Punycode (RFC 3492): the ASCII characters, then for each other one in ascending order
// how many steps of (code point, position) lie between it and the one before, as a number of variable length.
const asciiLabel = label => {
  let basic = '', rest = 0;
  const points = []; // the code points of the label
  for (let i = 0; i < label.length; i++) {
    const c = charCode(label, i);
    if (c < 128) basic += label[i];
    else rest++;
    put(points, points.length, isPair(label, i) ? (c - 0xd800) * 0x400 + charCode(label, ++i) - 0xdc00 + 0x10000 : c);
  }
  if (rest === 0) return label;
  let out = 'xn--' + (basic === '' ? '' : basic + '-'), done = basic.length, point = 128, delta = 0, bias = 72, first = true;
  while (done < points.length) {
    let next = 0x110000;
    for (let i = 0; i < points.length; i++) if (points[i] >= point && points[i] < next) next = points[i];
    delta += (next - point) * (done + 1);
    point = next;
    for (let i = 0; i < points.length; i++) {
      if (points[i] < point) delta++;
      if (points[i] !== point) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (q < t) break;
        out += punyDigits[t + (q - t) % (36 - t)];
        q = floor((q - t) / (36 - t));
      }
      out += punyDigits[q];
      done++;
      delta = first ? floor(delta / 700) : floor(delta / 2);
      first = false;
      delta += floor(delta / done);
      let k = 0;
      for (; delta > 455; k += 36) delta = floor(delta / 35);
      bias = k + floor(36 * delta / (delta + 38));
      delta = 0;
    }
    delta++;
    point++;
  }
  return out;
};
const punyDigits = 'abcdefghijklmnopqrstuvwxyz0123456789';

// endsInNumber reports whether a domain is to be read as IPv4: its last label is a number.
const endsInNumber = domain => {
  let end = domain.length;
  if (domain[end - 1] === '.') end--;
  const label = slice(domain, lastIndexOf(domain, '.', end - 1) + 1, end);
  if (label === '') return false;
  let digits = true;
  for (let i = 0; i < label.length; i++) digits = digits && isDigit(charCode(label, i));
  return digits || ipv4Number(label) >= 0;
};

// ipv4Number reads a number in decimal, octal (0…) or hexadecimal (0x…); -1 if it is none.
const ipv4Number = text => {
  let radix = 10, i = 0, n = 0;
  if (text === '') return -1;
  if (text[0] === '0' && text.length > 1) {
    radix = text[1] === 'x' || text[1] === 'X' ? 16 : 8;
    i = radix === 16 ? 2 : 1;
  }
  for (; i < text.length; i++) {
    const digit = hexOf(charCode(text, i));
    if (digit < 0 || digit >= radix) return -1;
    n = n * radix + digit;
  }
  return n;
};
const parseIPv4 = domain => {
  const invalid = 'the IPv4 address is not valid';
  const end = domain[domain.length - 1] === '.' ? domain.length - 1 : domain.length;
  let address = 0, count = 0;
  for (let from = 0; from <= end; count++) {
    let to = indexOf(domain, '.', from);
    if (to < 0 || to > end) to = end;
    const n = ipv4Number(slice(domain, from, to));
    if (n < 0 || count > 3) return failed_(invalid);
    if (to < end) {
      if (n > 255) return failed_(invalid);
      address = address * 256 + n;
    } else {
      const room = 256 ** (4 - count); // the last number fills what is left
      if (n >= room) return failed_(invalid);
      address = address * room + n;
    }
    from = to + 1;
  }
  return (address >>> 24) + '.' + (address >>> 16 & 255) + '.' + (address >>> 8 & 255) + '.' + (address & 255);
};

// parseIPv6 returns the eight parts of an address, or undefined.
const parseIPv6 = text => {
  const parts = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0, gap = -1, i = 0;
  if (charCode(text, 0) === 58) {
    if (charCode(text, 1) !== 58) return undefined;
    i = 2;
    gap = count = 1;
  }
  while (i < text.length) {
    if (count === 8) return undefined;
    if (charCode(text, i) === 58) {
      if (gap >= 0) return undefined;
      i++;
      gap = ++count; // the gap is a part itself
      continue;
    }
    let value = 0, size = 0;
    for (; size < 4 && hexOf(charCode(text, i + size)) >= 0; size++) value = value * 16 + hexOf(charCode(text, i + size));
    if (charCode(text, i + size) === 46) {
      if (size === 0 || count > 6) return undefined;
      for (let seen = 0; seen < 4; seen++) {
        if (seen > 0 && charCode(text, i++) !== 46) return undefined;
        if (!isDigit(charCode(text, i)) || charCode(text, i) === 48 && isDigit(charCode(text, i + 1))) return undefined;
        let n = 0;
        for (; isDigit(charCode(text, i)); i++) {
          n = n * 10 + charCode(text, i) - 48;
          if (n > 255) return undefined;
        }
        parts[count] = parts[count] * 256 + n;
        if (seen === 1 || seen === 3) count++;
      }
      if (i < text.length) return undefined;
      break;
    }
    i += size;
    if (i < text.length && (charCode(text, i++) !== 58 || i === text.length)) return undefined;
    parts[count++] = value;
  }
  if (gap < 0) return count === 8 ? parts : undefined;
  // What stands behind the gap belongs to the end.
  for (let from = count - 1, to = 7; from >= gap && from !== to; from--, to--) {
    parts[to] = parts[from];
    parts[from] = 0;
  }
  return parts;
};

// formatIPv6 leaves out the first of the longest runs of zeros.
const formatIPv6 = parts => {
  let gap = -1, length = 1;
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && parts[i + n] === 0) n++;
    if (n > length) {
      gap = i;
      length = n;
    }
    if (n > 0) i += n - 1;
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === gap) {
      text += i === 0 ? '::' : ':';
      i += length - 1;
    } else text += numberText(parts[i], 16) + (i < 7 ? ':' : '');
  }
  return text;
};
