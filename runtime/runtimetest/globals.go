package runtimetest

// RUN-42..44: the program's world.

import (
	"testing"
)

func testGlobals(t *testing.T, s *suite) {
	s.checks(t, []check{
		{name: "RUN-42 process is minimal", program: "return [JSON.stringify(process.env), Object.keys(process).sort(), process.stdout.write('x')]; declare const process: any",
			want: `["{}",["env","exit","stderr","stdout"],true]`, logs: []string{"x"}},
		{name: "RUN-42 timers and microtasks exist", program: "return [setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask].map(f => typeof f)",
			want: `["function","function","function","function","function"]`},
		{name: "RUN-42 globalThis is the global object", program: "return globalThis.console === console && typeof globalThis.Array === 'function'", want: "true"},
		{name: "RUN-43 no ambient authority", program: `
			const g: any = globalThis;
			return ['fetch', 'require', 'module', 'Deno', 'Bun', 'WebAssembly', 'Worker', 'XMLHttpRequest', 'std', 'os', 'host', 'scriptArgs', 'print', 'load', 'gc', 'navigator', '__filename'].filter(k => typeof g[k] !== 'undefined')`,
			want: `[]`},
		{name: "RUN-43 the time zone is UTC", program: `
			const d = new Date(2024, 6, 1, 12, 30);
			return [d.getTimezoneOffset(), d.toISOString(), new Date('2024-07-01T12:30:00').toISOString(), new Date(0).getHours(), new Date(0).toString().slice(0, 33)]`,
			want: `[0,"2024-07-01T12:30:00.000Z","2024-07-01T12:30:00.000Z",0,"Thu Jan 01 1970 00:00:00 GMT+0000"]`},
		{name: "RUN-43 texts of dates do not depend on the machine", program: `
			const d = new Date(1e12);
			return [String(d), d.toDateString(), d.toTimeString(), d.toLocaleString('en-US'), d.toLocaleDateString(), d.toLocaleTimeString(), Date().slice(-9), (1234.5).toLocaleString('en-US')]`,
			want: `["Sun Sep 09 2001 01:46:40 GMT+0000","Sun Sep 09 2001","01:46:40 GMT+0000","09/09/2001, 01:46:40 AM","09/09/2001","01:46:40 AM"," GMT+0000","1234.5"]`},
		{name: "RUN-43 nothing waits on shared memory", program: `
			try { return typeof Atomics === 'undefined' ? 'absent' : Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50) } catch { return 'absent' }`, want: `"absent"`},

		{name: "RUN-44 callbacks come after pending microtasks", program: `
			const order: string[] = [];
			setTimeout(() => { order.push('timer'); Promise.resolve().then(() => order.push('after')) }, 0);
			setTimeout(() => order.push('second'), 0);
			queueMicrotask(() => order.push('micro'));
			order.push('sync');
			await new Promise(r => setTimeout(r, 20));
			return order`, want: `["sync","micro","timer","after","second"]`},
		{name: "RUN-44 odd delays are the minimum, and arguments pass", program: `
			const got: any[] = [];
			for (const d of [-5, NaN, undefined, 'x']) setTimeout((...a: any[]) => got.push(a.length), d as any, 1, 2);
			await new Promise(r => setTimeout(r, 20));
			return got`, want: "[2,2,2,2]"},
		{name: "RUN-44 a handle can be cleared from anywhere", program: `
			let n = 0;
			const a = setTimeout(() => n++, 5), b = setInterval(() => n++, 5);
			setTimeout(() => { clearTimeout(a); clearInterval(b) }, 1);
			clearTimeout(undefined as any); clearTimeout({} as any); clearInterval(12345);
			await new Promise(r => setTimeout(r, 40));
			return n`, want: "0"},
		{name: "RUN-44 an interval repeats until it is cleared", program: `
			let n = 0;
			await new Promise<void>(r => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r() } }, 1) });
			await new Promise(r => setTimeout(r, 10));
			return n`, want: "3"},
		{name: "RUN-44 shorter delays fire first", program: `
			const order: number[] = [];
			for (const d of [30, 10, 20]) setTimeout(() => order.push(d), d);
			await new Promise(r => setTimeout(r, 60));
			return order`, want: "[10,20,30]"},
		{name: "RUN-44 timers set by a timer keep their order on a machine that is late", program: `
			const order: string[] = [];
			setTimeout(() => { order.push('a'); setTimeout(() => order.push('c'), 0) }, 0);
			setTimeout(() => order.push('b'), 0);
			let n = 0;
			const every = setInterval(() => { if (++n === 5) clearInterval(every) }, 1);
			const end = new Promise(r => setTimeout(r, 20));
			for (let i = 0; i < 2e6; i++) Math.sqrt(i); // longer than that, on most machines
			await end;
			return [...order, n]`, want: `["a","b","c",5]`},
		{name: "RUN-44 microtasks queued before completion run before it is taken", program: "Promise.resolve().then(() => console.log('micro')); return 1", want: "1", logs: []string{"micro"}},
		{name: "RUN-44 timers that are pending at completion are discarded", program: "setTimeout(() => console.log('never'), 1); setInterval(() => console.log('never'), 1); return 1", want: "1", logs: []string{}},
		{name: "RUN-44 a callback must be a function", program: "try { setTimeout('code' as any, 1) } catch (e) { return e.name }", want: `"TypeError"`},
	})
}
