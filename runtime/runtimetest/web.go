package runtimetest

// RUN-42's list of what SHOULD be there beside the language.

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func testWeb(t *testing.T, s *suite) {
	s.checks(t, []check{
		{name: "RUN-42 setImmediate comes before a timer and after microtasks", program: `
			const order: any[] = [], g: any = globalThis;
			setTimeout(() => order.push('timer'), 1); g.setImmediate((...a: any[]) => order.push(a), 1, 2); g.clearImmediate(g.setImmediate(() => order.push('never')));
			queueMicrotask(() => order.push('micro'));
			await new Promise(r => setTimeout(r, 20)); return order`, want: `["micro",[1,2],"timer"]`},
		{name: "RUN-42 performance.now counts from the start and moves only with the loop", program: `
			const p: any = (globalThis as any).performance, a = p.now(); let n = 0; for (let i = 0; i < 1e5; i++) n += i; const b = p.now();
			await tools.wait({ ms: 20 }); const c = p.now();
			return [a, b - a, c >= 15 && c < 5000, p.timeOrigin === Date.now() - c]` + decl, want: "[0,0,true,true]"},
		{name: "RUN-42 structuredClone", program: `
			const clone: any = (globalThis as any).structuredClone;
			const a: any = { n: 1, d: new Date(5), r: /x/gi, m: new Map([[{ k: 1 }, new Set([1])]]), l: [1, , 3], u: undefined, e: new RangeError('bad', { cause: 1 }), b: new Uint8Array([1, 2, 3]).subarray(1), big: 5n, own: JSON.parse('{"__proto__":1}') };
			a.self = a; a.again = a.l;
			const c = clone(a);
			a.l.push(9); a.b[0] = 7;
			return [c !== a, c.self === c, c.again === c.l, c.n, c.d.getTime(), String(c.r), [...c.m.keys()][0].k, c.m.size, [...[...c.m.values()][0]], c.l.length, 1 in c.l, 'u' in c,
				c.e instanceof RangeError, c.e.message, c.e.cause, c.b instanceof Uint8Array, [...c.b], c.b.buffer.byteLength, c.big === 5n, Object.keys(c.own)]`,
			want: `[true,true,true,1,5,"/x/gi",1,1,[1],3,false,true,true,"bad",1,true,[2,3],3,true,["__proto__"]]`},
		{name: "RUN-42 structuredClone refuses what cannot be copied", program: `
			const clone: any = (globalThis as any).structuredClone, names: any[] = [];
			for (const x of [() => 1, Symbol('s'), { a: [() => 1] }, Promise.resolve(1), new WeakMap()]) try { clone(x); names.push('copied') } catch (e) { names.push(e.name) }
			return names`, want: `["DataCloneError","DataCloneError","DataCloneError","DataCloneError","DataCloneError"]`},
		{name: "RUN-42 structuredClone refuses what keeps its state elsewhere than in properties", program: `
			const { structuredClone: clone, URL, URLSearchParams, TextDecoder }: any = globalThis, told: any[] = [];
			for (const x of [new URL('http://a/'), { deep: [new URLSearchParams('a=1')] }, new TextDecoder(), new URLSearchParams('a=1').keys()]) try { clone(x); told.push('copied') } catch (e) { told.push(e.name + ': ' + e.message) }
			return told`, want: `["DataCloneError: a URL (copy its href) could not be cloned","DataCloneError: a URLSearchParams (copy its text) could not be cloned","DataCloneError: a TextDecoder could not be cloned","DataCloneError: an iterator could not be cloned"]`},
		{name: "RUN-42 TextEncoder", program: `
			const { TextEncoder }: any = globalThis;
			return [[...new TextEncoder().encode('aé€\u{1F600}\ud800x')], new TextEncoder().encode().length, new TextEncoder().encoding]`,
			want: `[[97,195,169,226,130,172,240,159,152,128,239,191,189,120],0,"utf-8"]`},
		{name: "RUN-42 TextDecoder", program: `
			const { TextDecoder }: any = globalThis, d = new TextDecoder(), bytes = (...b: number[]) => new Uint8Array(b);
			return [d.decode(bytes(97, 195, 169, 226, 130, 172, 240, 159, 152, 128)), d.decode(bytes(0xef, 0xbb, 0xbf, 97)), new TextDecoder('utf8', { ignoreBOM: true }).decode(bytes(0xef, 0xbb, 0xbf, 97)).length,
				d.decode(bytes(0x61, 0xff, 0xc0, 0x80, 0xe2, 0x82, 0x61, 0xed, 0xa0, 0x80, 0xf5, 0xf4, 0x90)), d.decode(), d.decode(bytes(97, 98, 99).buffer), d.decode(new DataView(bytes(97, 98, 99).buffer, 1, 1)), d.fatal]`,
			want: `["aé€😀","a",2,"a\ufffd\ufffd\ufffd\ufffda\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd","","abc","b",false]`},
		{name: "RUN-42 TextDecoder refuses", program: `
			const { TextDecoder }: any = globalThis, names: any[] = [];
			for (const f of [() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])), () => new TextDecoder('latin1'), () => new TextDecoder().decode('text'), () => TextDecoder.prototype.decode.call({})])
				try { f(); names.push('done') } catch (e) { names.push(e.name) }
			return names`, want: `["TypeError","RangeError","TypeError","TypeError"]`},
		{name: "RUN-42 atob and btoa", program: `
			const g: any = globalThis, texts = ['', 'f', 'fo', 'foo', 'foob', '\u00ff\u0000\u0080'];
			const bad = ['a', '====', 'ab=c', 'a?bc', 'YQ='].map(x => { try { g.atob(x); return 'done' } catch (e) { return e.name } });
			return [texts.map(x => g.btoa(x)), texts.every(x => g.atob(g.btoa(x)) === x), g.atob(' Zm9v\n'), g.atob('Zg'), bad, (() => { try { g.btoa('€') } catch (e) { return e.name } })()]`,
			want: `[["","Zg==","Zm8=","Zm9v","Zm9vYg==","/wCA"],true,"foo","f",["InvalidCharacterError","InvalidCharacterError","InvalidCharacterError","InvalidCharacterError","InvalidCharacterError"],"InvalidCharacterError"]`},
		{name: "RUN-26 what is beside the language survives too", program: "const { structuredClone, TextEncoder, TextDecoder, atob, btoa }: any = globalThis, e = new TextEncoder(), d = new TextDecoder(), f = e.encode, h = d.decode, m = new Map([[1, [2]]]);" + wreck + `
			let ok = structuredClone({ a: [1, { b: m }] }).a[1].b !== m;
			const bytes = e.encode('é'); ok = ok && bytes[0] === 195 && d.decode(bytes) === 'é' && atob(btoa('abc')) === 'abc';
			return ok`, want: "true"},
		{name: "BUDGET-3 what is beside the language is metered", program: "const { btoa }: any = globalThis; let s = 'x'.repeat(1e4); for (;;) btoa(s)", limits: quick, kind: runtime.Timeout},
	})
	testURL(t, s)
}
