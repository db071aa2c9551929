package runtimetest

// RUN-42: URL and URLSearchParams, by the rules of the URL standard.

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// urlForms are inputs, the base if any, and the href; or the message's reason behind "Invalid URL: ".
var urlForms = [][3]string{
	// Schemes, white space and slashes.
	{"http://example.com", "", "http://example.com/"},
	{"HTTP://EXAMPLE.com/A", "", "http://example.com/A"},
	{"  https://a.b/c \n", "", "https://a.b/c"},
	{"ht\ntps://a\t.b/c\r/d", "", "https://a.b/c/d"},
	{"https:a.b/c", "", "https://a.b/c"},
	{"https:////a.b//c", "", "https://a.b//c"},
	{`https:\\a.b\c\d`, "", "https://a.b/c/d"},
	{"foo://A.b/c", "", "foo://A.b/c"},
	{`foo://h/a\b`, "", `foo://h/a\b`},
	{"foo:/a/../b", "", "foo:/b"},
	{"foo:/a/..//b", "", "foo:/.//b"},
	{"foo://", "", "foo://"},
	{"mailto:A.b@c.d?subject=x y", "", "mailto:A.b@c.d?subject=x%20y"},
	{"data:text/plain,a b<é>", "", "data:text/plain,a b<%C3%A9>"},
	{"data:a #b", "", "data:a%20#b"},
	{"javascript:a('b')", "", "javascript:a('b')"},
	{"wss://h/?", "", "wss://h/?"},
	{"ftp://h#", "", "ftp://h/#"},
	// User, password, port.
	{"http://u@h", "", "http://u@h/"},
	{"http://u:@h", "", "http://u@h/"},
	{"http://:p@h", "", "http://:p@h/"},
	{"http://:@h", "", "http://h/"},
	{"http://a@b:c@h/", "", "http://a%40b:c@h/"},
	{"http://a:b:c|d@h/", "", "http://a:b%3Ac%7Cd@h/"},
	{"http://h:80/", "", "http://h/"},
	{"https://h:443/", "", "https://h/"},
	{"ws://h:80/", "", "ws://h/"},
	{"wss://h:443/", "", "wss://h/"},
	{"ftp://h:21/", "", "ftp://h/"},
	{"https://h:80/", "", "https://h:80/"},
	{"http://h:/", "", "http://h/"},
	{"http://h:00081/", "", "http://h:81/"},
	{"foo://h:80/", "", "foo://h:80/"},
	// Hosts.
	{"http://ex%41mple.com/", "", "http://example.com/"},
	{"http://bücher.example/", "", "http://xn--bcher-kva.example/"},
	{"http://BU\u0308CHER.example/", "", "http://xn--bcher-kva.example/"},
	{"http://日本語。jp/", "", "http://xn--wgv71a119e.jp/"},
	{"http://b%C3%BCcher.example/", "", "http://xn--bcher-kva.example/"},
	{"http://😀.example/", "", "http://xn--e28h.example/"},
	{"foo://bücher/", "", "foo://b%C3%BCcher/"},
	{"http://1.2.3.4/", "", "http://1.2.3.4/"},
	{"http://127.1/", "", "http://127.0.0.1/"},
	{"http://0x7f.0.0.01/", "", "http://127.0.0.1/"},
	{"http://2130706433/", "", "http://127.0.0.1/"},
	{"http://0xffffffff/", "", "http://255.255.255.255/"},
	{"http://1.2.3.4./", "", "http://1.2.3.4/"},
	{"http://0x/", "", "http://0.0.0.0/"},
	{"http://1.2.3.x/", "", "http://1.2.3.x/"},
	{"foo://127.1/", "", "foo://127.1/"},
	{"http://[::1]:8080/", "", "http://[::1]:8080/"},
	{"http://[0:0:0:0:0:0:0:0]/", "", "http://[::]/"},
	{"http://[2001:DB8:0:0:1:0:0:1]/", "", "http://[2001:db8::1:0:0:1]/"},
	{"http://[1:0:0:2:0:0:0:3]/", "", "http://[1:0:0:2::3]/"},
	{"http://[1:0:2:3:4:5:6:7]/", "", "http://[1:0:2:3:4:5:6:7]/"},
	{"http://[::2:3:4:5:6:7:8]/", "", "http://[0:2:3:4:5:6:7:8]/"},
	{"http://[::ffff:1.2.3.4]/", "", "http://[::ffff:102:304]/"},
	// Paths and what is percent-encoded where.
	{"http://h/a/./b/../c", "", "http://h/a/c"},
	{"http://h/a/%2e/b/.%2E/c", "", "http://h/a/c"},
	{"http://h/../../a/..", "", "http://h/"},
	{"http://h/a/b/.", "", "http://h/a/b/"},
	{"http://h/...", "", "http://h/..."},
	{"http://h//a//..//b", "", "http://h//a//b"},
	{"http://h/ \"<>`{}^|'%zz%41é", "", "http://h/%20%22%3C%3E%60%7B%7D%5E|'%zz%41%C3%A9"},
	{"http://h/? \"<>`{}|'é#x", "", "http://h/?%20%22%3C%3E`{}|%27%C3%A9#x"},
	{"foo://h/?'", "", "foo://h/?'"},
	{"http://h/# \"<>`{}|'é#?", "", "http://h/#%20%22%3C%3E%60{}|'%C3%A9#?"},
	// Files.
	{"file:///a/b", "", "file:///a/b"},
	{"file:a", "", "file:///a"},
	{"file://localhost/a", "", "file:///a"},
	{"file://host/a", "", "file://host/a"},
	{"file:///C|/a/../..", "", "file:///C:/"},
	{"file://C:/a", "", "file:///C:/a"},
	{"..", "file:///C:/a", "file:///C:/"},
	{"/b", "file:///C:/a", "file:///C:/b"},
	{"D:/b", "file:///C:/a", "d:/b"},
	{"D|/b", "file:///C:/a", "file:///D:/b"},
	{"//h/b", "file:///a", "file://h/b"},
	// References.
	{"", "http://u:p@h:81/a/b?q#f", "http://u:p@h:81/a/b?q"},
	{"#g", "http://u:p@h:81/a/b?q#f", "http://u:p@h:81/a/b?q#g"},
	{"?r", "http://h/a/b?q#f", "http://h/a/b?r"},
	{"?", "http://h/a/b?q#f", "http://h/a/b?"},
	{"c", "http://h/a/b?q#f", "http://h/a/c"},
	{"./c/", "http://h/a/b/", "http://h/a/b/c/"},
	{"../c", "http://h/a/b/d", "http://h/a/c"},
	{"../../../c", "http://h/a/b", "http://h/c"},
	{"/c", "http://u@h:81/a/b", "http://u@h:81/c"},
	{`\c`, "http://h/a/b", "http://h/c"},
	{"//i/c", "http://h/a", "http://i/c"},
	{`\\i\c`, "https://h/a", "https://i/c"},
	{"///i/c", "http://h/a", "http://i/c"},
	{"///i/c", "foo://h/a", "foo:///i/c"},
	{"http:c", "http://h/a/b", "http://h/a/c"},
	{"http:c", "https://h/a/b", "http://c/"},
	{"b:c", "http://h/a", "b:c"},
	{"a?b:c", "http://h/", "http://h/a?b:c"},
	{"1:c", "http://h/", "http://h/1:c"},
	{"#f", "mailto:a@b", "mailto:a@b#f"},
	{"x", "foo:/a/b", "foo:/a/x"},
	{"x", "foo://h", "foo://h/x"},
	// Refused.
	{"", "", "!it needs a scheme such as https:, or a base ('')"},
	{"/a/b", "", "!it needs a scheme such as https:, or a base ('/a/b')"},
	{"a", "b", "!the base 'b' is no absolute URL: it needs a scheme such as https:, or a base ('a')"},
	{"x", "mailto:a@b", "!nothing but a #fragment can be resolved against the base mailto: ('x')"},
	{"http://", "", "!the host is missing ('http://')"},
	{"https://u@/x", "", "!the host is missing ('https://u@/x')"},
	{"http://:80/", "", "!the host is missing ('http://:80/')"},
	{"foo://:80/", "", "!the host is missing ('foo://:80/')"},
	{"http://h:65536/", "", "!the port must be at most 65535 ('http://h:65536/')"},
	{"http://h:8a/", "", "!the port must be a number ('http://h:8a/')"},
	{"http://a b/", "", "!the host must not contain ' ' ('http://a b/')"},
	{"http://a%2fb/", "", "!the host must not contain '/' ('http://a%2fb/')"},
	{"http://a%zz/", "", "!the host must not contain '%' ('http://a%zz/')"},
	{"http://a%00/", "", "!the host must not contain '\\x00' ('http://a%00/')"},
	{"foo://a^b/", "", "!the host must not contain '^' ('foo://a^b/')"},
	{"http://\u2100/", "", "!the host must not contain '/' ('http://\u2100/')"},
	{"http://%ff/", "", "!the host must not contain U+FFFD ('http://%ff/')"},
	{"http://xn--/", "", "!the host has a label that begins with xn-- and is no Punycode ('http://xn--/')"},
	{"http://\u00ad/", "", "!the host is missing ('http://\u00ad/')"},
	{"http://256.0.0.1/", "", "!the IPv4 address is not valid ('http://256.0.0.1/')"},
	{"http://1.2.3.4.5/", "", "!the IPv4 address is not valid ('http://1.2.3.4.5/')"},
	{"http://4294967296/", "", "!the IPv4 address is not valid ('http://4294967296/')"},
	{"http://a.09/", "", "!the IPv4 address is not valid ('http://a.09/')"},
	{"http://[::1/", "", "!the IPv6 address has no closing ] ('http://[::1/')"},
	{"http://[1::2::3]/", "", "!the IPv6 address is not valid ('http://[1::2::3]/')"},
	{"http://[1:2:3:4:5:6:7]/", "", "!the IPv6 address is not valid ('http://[1:2:3:4:5:6:7]/')"},
	{"http://[1:2:3:4:5:6:7:8:9]/", "", "!the IPv6 address is not valid ('http://[1:2:3:4:5:6:7:8:9]/')"},
	{"http://[::1:2:3:4:5:6:7:8]/", "", "!the IPv6 address is not valid ('http://[::1:2:3:4:5:6:7:8]/')"},
	{"http://[1:2:3:4:5:6:7:8::]/", "", "!the IPv6 address is not valid ('http://[1:2:3:4:5:6:7:8::]/')"},
	{"http://[::1.2.3.256]/", "", "!the IPv6 address is not valid ('http://[::1.2.3.256]/')"},
	{"http://[12345::]/", "", "!the IPv6 address is not valid ('http://[12345::]/')"},
}

// urlParts are inputs and origin, protocol, username, password, host, hostname, port, pathname, search and hash.
var urlParts = [][2]string{
	{"https://us%20er:pa:ss@Host.example:8443/a b?c=d#e", "https://host.example:8443 https: us%20er pa%3Ass host.example:8443 host.example 8443 /a%20b ?c=d #e"},
	{"http://h:80?#", "http://h http:   h h  /  "},
	{"file:///a", "null file:      /a  "},
	{"data:x,y?z", "null data:      x,y ?z "},
	{"foo://h:1/p", "null foo:   h:1 h 1 /p  "},
	{"blob:https://h:1/p", "https://h:1 blob:      https://h:1/p  "},
	{"blob:foo", "null blob:      foo  "},
	{"ws://[::1]:9/", "ws://[::1]:9 ws:   [::1]:9 [::1] 9 /  "},
}

// urlSetters are URLs, a property, what is assigned to it, and the href afterwards.
var urlSetters = [][4]string{
	{"http://h/", "href", " foo:bar", "foo:bar"},
	{"http://h:443/", "protocol", "https", "https://h/"},
	{"http://h/", "protocol", "wss:x", "wss://h/"},
	{"http://h/", "protocol", "foo", "http://h/"},
	{"http://h/", "protocol", "1x", "http://h/"},
	{"http://u@h/", "protocol", "file", "http://u@h/"},
	{"file:///a", "protocol", "http", "file:///a"},
	{"http://h/", "username", "a@b:c", "http://a%40b%3Ac@h/"},
	{"http://u:p@h/", "username", "", "http://:p@h/"},
	{"http://u:p@h/", "password", "", "http://u@h/"},
	{"file:///a", "username", "u", "file:///a"},
	{"mailto:a", "password", "p", "mailto:a"},
	{"http://h/a", "host", "I:8080/x", "http://i:8080/a"},
	{"http://h:81/a", "host", "i", "http://i:81/a"},
	{"http://h:81/a", "host", "i:80", "http://i/a"},
	{"http://h/", "host", "", "http://h/"},
	{"http://h/", "host", "a b", "http://h/"},
	{"mailto:a", "host", "h", "mailto:a"},
	{"foo://h/a", "host", "", "foo:///a"},
	{"file:///a", "host", "localhost", "file:///a"},
	{"http://h:81/", "hostname", "[::1]", "http://[::1]:81/"},
	{"http://h:81/", "hostname", "i:82", "http://h:81/"},
	{"http://h/", "hostname", "127.1?x", "http://127.0.0.1/"},
	{"http://h/", "port", "8080x", "http://h:8080/"},
	{"http://h:81/", "port", "", "http://h/"},
	{"http://h:81/", "port", "80", "http://h/"},
	{"http://h:81/", "port", "99999", "http://h:81/"},
	{"http://h:81/", "port", "x", "http://h:81/"},
	{"file:///", "port", "1", "file:///"},
	{"http://h/a", "pathname", "b/../c?d#e", "http://h/c%3Fd%23e"},
	{"http://h/a", "pathname", "", "http://h/"},
	{"http://h/a", "pathname", `\x\y`, "http://h/x/y"},
	{"foo://h/a", "pathname", "", "foo://h"},
	{"foo:/a", "pathname", "//b", "foo:/.//b"},
	{"data:a", "pathname", "b", "data:a"},
	{"http://h/?a#f", "search", "b c'#", "http://h/?b%20c%27%23#f"},
	{"http://h/?a", "search", "??b", "http://h/??b"},
	{"http://h/?a", "search", "", "http://h/"},
	{"http://h/?a", "search", "?", "http://h/?"},
	{"http://h/?a#f", "hash", "#g h", "http://h/?a#g%20h"},
	{"http://h/#f", "hash", "", "http://h/"},
	{"mailto:a", "hash", "x", "mailto:a#x"},
}

// rows makes a check of a table: the body, which sees a row as r, returns what ought to be the row's last member. The
// program returns the number of rows and what differs.
func rows[T any](name string, table []T, body string) check {
	text, err := json.Marshal(table)
	if err != nil {
		panic(err)
	}
	return check{name: name, program: `
		const { URL, URLSearchParams }: any = globalThis, rows: any[] = ` + string(text) + `, out: any[] = [rows.length];
		const run = (r: any) => {` + body + `};
		for (const r of rows) { const got = run(r), want = r[r.length - 1]; if (got !== want) out.push([...r, got]) }
		return out`, want: "[" + strconv.Itoa(len(table)) + "]"}
}

func testURL(t *testing.T, s *suite) {
	s.checks(t, []check{
		rows("RUN-42 URL parses", urlForms, `
			try { return (r[1] === '' ? new URL(r[0]) : new URL(r[0], r[1])).href } catch (e) { return e instanceof TypeError ? e.message.replace('Invalid URL: ', '!') : String(e) }`),
		rows("RUN-42 URL.canParse and URL.parse agree with the constructor", urlForms, `
			const args = r[1] === '' ? [r[0]] : [r[0], new URL(r[1] === 'b' ? 'foo:b' : r[1])], ok = URL.canParse(...args), u = URL.parse(...args);
			if (u !== null && !(u instanceof URL)) return 'no URL';
			return ok === (u !== null) && ok === (r[2][0] !== '!') && (u === null || new URL(u).href === r[2]) ? r[2] : [ok, String(u)]`),
		rows("RUN-42 URL has its parts", urlParts, `
			const u = new URL(r[0]); return ['origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'].map(k => u[k]).join(' ')`),
		rows("RUN-42 URL setters", urlSetters, "const u = new URL(r[0]); u[r[1]] = r[2]; return u.href"),
		{name: "RUN-42 URL is a class of the ordinary kind", program: `
			const g: any = globalThis, { URL } = g, u = new URL('/a?b', new URL('https://h'));
			class Mine extends URL { get last() { return this.pathname.slice(1) } }
			const names: any[] = [];
			for (const f of [() => URL('a:b'), () => new URL(), () => { u.href = 'x' }, () => { u.origin = 'x' }, () => URL.prototype.toString.call({}), () => new URL('a:b', '')])
				try { f(); names.push('done') } catch (e) { names.push(e.name) }
			return [Object.keys(g).filter(k => k.startsWith('URL')), Object.keys(u), String(u), JSON.stringify({ u }), new Mine('https://h/x').last, Object.prototype.toString.call(u), names, u.href]`,
			want: `[[],[],"https://h/a?b","{\"u\":\"https://h/a?b\"}","x","[object URL]",["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"],"https://h/a?b"]`},
		{name: "RUN-42 URL and its searchParams follow each other", program: `
			const u: any = new (globalThis as any).URL('https://h/p?a=1&b=%20x#f'), p = u.searchParams, seen: any[] = [];
			const note = () => seen.push(u.href.slice(11) + ' ' + p);
			p.append('c', 'é&='); note(); p.delete('a'); note(); p.set('b', '+'); note();
			u.search = '?z=1&y=2'; note(); p.sort(); note(); u.href = 'https://h/q?n'; note(); p.set('m', "~'"); note(); p.delete('n'); p.delete('m'); note();
			return [seen, u.searchParams === p, p.size]`,
			want: `[["?a=1&b=+x&c=%C3%A9%26%3D#f a=1&b=+x&c=%C3%A9%26%3D","?b=+x&c=%C3%A9%26%3D#f b=+x&c=%C3%A9%26%3D","?b=%2B&c=%C3%A9%26%3D#f b=%2B&c=%C3%A9%26%3D",` +
				`"?z=1&y=2#f z=1&y=2","?y=2&z=1#f y=2&z=1","?n n=","?n=&m=%7E%27 n=&m=%7E%27"," "],true,0]`},
		{name: "RUN-42 URLSearchParams reads texts, pairs, records and its like", program: `
			const P: any = (globalThis as any).URLSearchParams, first = new P('?a=1&&b=%zz+%C3%A9&=x&c&a=2=3&%ff'), copy = new P(first);
			copy.append('more', 1);
			const made = [first, copy, new P(), new P('??a'), new P([['a', 1], new Set(['b', null])]), new P({ x: 'y z', n: 5 }), new P(new Map([['k', 'v']])), new P((function* () { yield ['g', 'h'] })()), new P('\ud800')];
			const bad = [[['a']], [['a', 'b', 'c']], ['ab'], [1], new Set([['a']])].map(x => { try { new P(x); return 'done' } catch (e) { return e.message } });
			return [made.map(String), bad.every(m => m === 'each entry for URLSearchParams must be a pair [name, value]')]`,
			want: `[["a=1&b=%25zz+%C3%A9&=x&c=&a=2%3D3&%EF%BF%BD=","a=1&b=%25zz+%C3%A9&=x&c=&a=2%3D3&%EF%BF%BD=&more=1","","%3Fa=","a=1&b=null","x=y+z&n=5","k=v","g=h","%EF%BF%BD="],true]`},
		{name: "RUN-42 URLSearchParams changes and answers", program: `
			const P: any = (globalThis as any).URLSearchParams, p = new P('a=1&b=2&a=3&c=4&a=1');
			const out: any[] = [p.size, p.get('a'), p.get('x'), p.getAll('a'), p.getAll('x'), p.has('a'), p.has('a', '3'), p.has('a', 9), p.has('a', undefined)];
			p.delete('a', '1'); out.push(String(p)); p.append('b', 5); p.set('b', 6); out.push(String(p)); p.set('new', ''); out.push(String(p)); p.delete('b'); out.push(String(p));
			const names: any[] = [];
			for (const f of [() => p.append('a'), () => p.get(), () => P.prototype.get.call({}, 'a'), () => P(), () => p.forEach(1)]) try { f(); names.push('done') } catch (e) { names.push(e.name) }
			return [...out, names]`,
			want: `[5,"1",null,["1","3","1"],[],true,true,false,true,"b=2&a=3&c=4","b=6&a=3&c=4","b=6&a=3&c=4&new=","a=3&c=4&new=",["TypeError","TypeError","TypeError","TypeError","TypeError"]]`},
		{name: "RUN-42 URLSearchParams sorts by UTF-16 units and keeps the order of equals", program: `
			const p: any = new (globalThis as any).URLSearchParams([['z', 1], ['\uffe6', 1], ['\u{1F600}', 1], ['a', 2], ['z', 0], ['a', 1], ['', 1], ['aa', 1]]); p.sort();
			return [...p].map(e => e.join('='))`, want: `["=1","a=2","a=1","aa=1","z=1","z=0","😀=1","￦=1"]`},
		{name: "RUN-42 URLSearchParams iterates, also while it changes", program: `
			const P: any = (globalThis as any).URLSearchParams, p = new P('a=1&b=2'), seen: any[] = [], self = {};
			p.forEach(function (this: any, v: any, k: any, all: any) { seen.push([v, k, all === p, this === self]) }, self);
			const grown: any[] = []; for (const [k] of p) { grown.push(k); if (grown.length === 1) { p.append('c', '3') } if (grown.length === 2) p.delete('a') }
			const it = p.keys();
			return [[...p.keys()], [...p.values()], [...p.entries()], seen, grown, it[Symbol.iterator]() === it, P.prototype[Symbol.iterator] === P.prototype.entries, Object.fromEntries(p), Object.prototype.toString.call(it), Object.prototype.toString.call(p)]`,
			want: `[["b","c"],["2","3"],[["b","2"],["c","3"]],[["1","a",true,true],["2","b",true,true]],["a","b"],true,true,{"b":"2","c":"3"},"[object URLSearchParams Iterator]","[object URLSearchParams]"]`},
		{name: "RUN-42 URL shows what it holds in a log", program: `
			const g: any = globalThis; console.log(new g.URL('https://h/a?b'), { p: new g.URLSearchParams("a=1&b='") }, new g.URLSearchParams()); return 1`,
			want: "1", logs: []string{`URL { href: 'https://h/a?b' } { p: URLSearchParams { 'a' => '1', 'b' => "'" } } URLSearchParams {}`}},
		{name: "RUN-26 URL survives wrecked built-ins", program: "const { URL, URLSearchParams }: any = globalThis, bytes = Object.getPrototypeOf(Uint8Array.prototype), maps = new Map([['k', 'v']]), Real = TypeError;" + wreck + `
			wreckProto(bytes, []);` + pollute + `
			const u = new URL('../x/%2e%2e/y?a=%41&b=é#f g', 'HTTPS://us:pw@BÜcher.example:444/p/q/r');
			const p = u.searchParams; p.append('c', 'd e'); p.set('a', '\ud800'); p.sort(); u.port = ''; u.host = '[::1.2.3.4]:5'; u.hash = '';
			let why = ''; try { new URL('http://a b') } catch (e) { if (e instanceof Real) why = e.message }
			const it = p.entries(); it.next();
			return [u.href, new URLSearchParams([['a', 'b']]).toString(), new URLSearchParams(maps).get('k'), new URLSearchParams({ x: 'y' }).toString(), it.next().value[1], why, new URL('foo://').hostname, new URL('http://0x7f.1').host, u.origin]`,
			want: `["https://us:pw@[::102:304]:5/p/y?a=%EF%BF%BD&b=%C3%A9&c=d+e","a=b","v","x=y","é","Invalid URL: the host must not contain ' ' ('http://a b')","","127.0.0.1","https://[::102:304]:5"]`},
		{name: "BUDGET-3 URL is metered", program: "const { URL }: any = globalThis; const s = 'http://' + 'é'.repeat(1e4); for (;;) new URL(s)", limits: quick, kind: runtime.Timeout},
	})
}
