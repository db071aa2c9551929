package loop

// This file assembles the prelude from its parts: one concept a file, one scope for all.

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed prelude/*.js
var preludeFiles embed.FS

// Prelude is one JavaScript expression: a function that is called with the one native function host(op, n, m, a, b) and
// returns an object of the functions configure(json), start(fn), settle(id, ok, payload, deep), fire(id) and
// unhandled(reason). It keeps no state of a run before configure, so that an engine may evaluate it once and copy the
// instance. deep, which may be left out, says that payload nests too deeply for the engine's own JSON parser.
//
// The native function hands op, n and m as numbers and a and b as strings to Run.Receive (a missing one is zero), and
// returns the reply as a string, or undefined when there is none. OpBrand and OpTarget are answered by the engine itself.
// A call whose op, n or m is not a number, or whose a or b is neither missing nor a string, is dropped (HOSTILE-1);
// of OpCall, b may also be an object, which the engine may write as JSON.
var Prelude = assemble()

// assemble joins the parts in the order of their names.
func assemble() string {
	names, err := fs.Glob(preludeFiles, "prelude/*.js")
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteString("(function (host) {\n'use strict';\n")
	for _, name := range names {
		text, err := preludeFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		b.WriteString("// " + name + "\n")
		b.Write(text)
	}
	b.WriteString("})")
	return b.String()
}
