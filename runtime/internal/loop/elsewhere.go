package loop

// This file is the table of names that models know from other worlds (Node, browsers, Python, other agents), and of what a
// program uses instead (CODE-34).

// foreign is one such name.
type foreign struct {
	advice string
	tools  bool // a tool may do it: list them
	member bool // the advice also holds for a member of a namespace
}

var elsewhere = func() map[string]foreign {
	table := map[string]foreign{}
	add := func(f foreign, names ...string) {
		for _, name := range names {
			table[name] = f
		}
	}
	note := func(advice string, names ...string) { add(foreign{advice: advice}, names...) }

	add(foreign{advice: "a program has no network, a tool must do it", tools: true},
		"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Request", "Response", "Headers", "axios", "got", "http", "https", "requests", "urllib")
	add(foreign{advice: "a program has no files and no processes, a tool must do it", tools: true},
		"fs", "Deno", "Bun", "os", "open", "readFile", "readFileSync", "writeFile", "writeFileSync", "child_process", "exec", "execSync", "spawn", "subprocess")
	add(foreign{advice: "tools are called as tools.name({…})", tools: true},
		"functions", "tool", "Tools", "mcp", "client", "mcpClient", "session", "server", "call_tool", "callTool", "callMCPTool", "invoke", "default_api", "multi_tool_use", "agent", "api")
	add(foreign{advice: "a program cannot start another one: put its statements here", member: true}, "run_code")
	note("what there is to call is declared in the prompt", "sdk")

	note("there are no modules: everything that a program may use is in scope, and return gives its result", "require", "module", "exports")
	note("there are no libraries: write it in plain TypeScript", "_", "lodash", "moment", "dayjs", "z", "zod", "$", "jQuery", "util", "events", "pd", "np")
	note("a program is no file and has no folder: write the path out", "__dirname", "__filename", "__file__", "path")
	note("use TextEncoder, TextDecoder, btoa and atob", "Buffer")
	note("there is no cryptography; Math.random() is enough for an id that only has to differ", "crypto", "uuid", "uuidv4", "randomUUID")
	note("a program has one thread: run calls side by side with await Promise.all([…])", "Atomics", "SharedArrayBuffer", "Worker", "asyncio", "threading", "Thread")
	note("format numbers with toFixed and dates with toISOString", "Intl")
	note("to give up on a call, use Promise.race with a timer", "AbortController", "AbortSignal")
	note("to wait, write await new Promise(r => setTimeout(r, ms))", "sleep", "delay", "wait", "time")

	note("there is no browser: global names are members of globalThis", "window", "self", "global", "navigator", "location", "history")
	note("there is no page: a tool that reads one returns its text", "document", "DOMParser", "BeautifulSoup")
	note("nothing is kept between programs: return what is needed later", "localStorage", "sessionStorage", "indexedDB")
	note("print with console.log", "alert", "print", "println", "puts", "printf", "echo", "logger")
	note("nobody can be asked while a program runs: return the question", "prompt", "confirm", "input", "readline")

	note("programs are TypeScript: write null", "None", "nil", "NULL")
	note("programs are TypeScript: write true", "True")
	note("programs are TypeScript: write false", "False")
	note("programs are TypeScript: write x.length", "len")
	note("programs are TypeScript: write String(x)", "str")
	note("programs are TypeScript: write Number(x)", "int", "float")
	note("programs are TypeScript: write JSON.parse and JSON.stringify", "json")
	note("programs are TypeScript: write a for loop", "range", "enumerate")
	note("programs are TypeScript: write [...list].sort(…)", "sorted")
	note("programs are TypeScript: write { } and [ ]", "dict", "list")
	note("programs are TypeScript: write typeof x", "isinstance", "type")
	return table
}()
