package gateway

// This file defines what run_code's description says of the tools: everything, where clients show that much, else where to find
// the rest (GATE-3).

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// calling is what every description begins with: how a program is written. It is short, because it stands in for the whole
// instructions where clients cut descriptions.
const calling = "Runs a TypeScript program that calls tools. Both arguments are required: `code`, the body of an async function with top-level " +
	"`await` and `return`, and `description`, one line that says what it does. A tool takes one object: `await tools.name(args)`, or " +
	"`await tools[\"some-name\"](args)`. It yields the declared value, already parsed; a value of type `McpResult` has its text in " +
	"`r.content[0].text`. A failed call throws a `ToolCallError`. Start independent calls that only read together, with `Promise.all`. " +
	"Only what is returned or printed with `console.log` comes back: loop, filter and join in one program, and return just what matters.\n"

const fenced = "\n```typescript\n"

const fenceEnd = "```\n"

// elsewhere is said where declarations are left out; inPrograms beside it, where programs have the same search.
const (
	elsewhere  = "\nThe tools are declared elsewhere; do not guess their names or arguments. Find them with the tool `search_tools`"
	inPrograms = ", or in a program with `await sdk.search(\"what it should do\")` and `await sdk.describe(\"its_name\")`"
)

// SDKOptions returns o with the limit from which on declarations are left to searches set so that programs have sdk.search and
// sdk.describe exactly where a run_code description of at most maxDescription bytes (0: DefaultMaxDescription) does not have
// all declarations, and a gateway therefore lists search_tools. Give the same to [bridge.Options.SDK] and [Options.SDK].
func SDKOptions(o sdkgen.Options, maxDescription int) sdkgen.Options {
	if maxDescription == 0 {
		maxDescription = DefaultMaxDescription
	}
	declarations := maxDescription - len(whole(""))
	section, err := sdkgen.Section(runtime.LanguageTypeScript, nil, sdkgen.Options{})
	if err != nil {
		panic(err) // the language is always there
	}
	none, err := sdkgen.Declarations(runtime.LanguageTypeScript, nil, sdkgen.Options{})
	if err != nil {
		panic(err)
	}
	// A section takes this much around the same declarations.
	o.MaxTokens = max(1, (declarations+len(section)-len(none))/4)
	return o
}

// whole is the description with all declarations.
func whole(declarations string) string { return calling + fenced + declarations + fenceEnd }

// describe returns the description of run_code, and whether it leaves declarations to searches.
func (g *Gateway) describe(l *listing) (text string, discovery bool) {
	missing := unavailable(l.missing)
	if all := whole(l.sdk.Declarations()); len(all) <= g.o.MaxDescription && !l.sdk.Discovery() {
		if len(all)+len(missing) <= g.o.MaxDescription {
			all += missing
		}
		return all, false
	}
	var b strings.Builder
	b.WriteString(calling + elsewhere)
	if l.sdk.Discovery() {
		b.WriteString(inPrograms)
	}
	b.WriteString(". All declarations are the resource " + sdkURI + ".\n\n")
	space := g.o.MaxDescription - b.Len() - len(missing)
	b.WriteString(index(l.tools, g.o.Origin, space))
	b.WriteString(missing)
	return b.String(), true
}

// maxUnavailable is how many servers that are not there are named.
const maxUnavailable = 10

// unavailable says which servers' tools are not there, "" if all are.
func unavailable(servers []string) string {
	if len(servers) == 0 {
		return ""
	}
	var names []string
	for _, s := range servers[:min(len(servers), maxUnavailable)] {
		names = append(names, visibleName(s))
	}
	more := ""
	if n := len(servers) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "Not available now: the tools of " + strings.Join(names, ", ") + more + ".\n"
}
