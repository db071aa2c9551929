// This file defines the TypeScript declarations: their layout around the types (SDK-13 to SDK-17).

package sdkgen

import "strings"

// typeScriptWriter is a writer of types with the names of one text.
type typeScriptWriter struct {
	tsWriter
	free  *allocator
	names *typeNames
}

func newTypeScriptWriter(o Options) *typeScriptWriter {
	free := newAllocator(takenTypeScript)
	names := newTypeNames(func(base string) string { return free.allocate(typeScriptName(base)) })
	w := &typeScriptWriter{free: free, names: names}
	w.tsWriter = tsWriter{top: "JsonValue", limit: o.MaxDescription, bare: o.Check, ref: func(n *namedType) string {
		return names.of[names.canonical(n)]
	}}
	return w
}

const (
	typeScriptJSON = "type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue };\n"
	// A value of any shape can be used like any other: a program that knows more than the schema is not wrong (GATE-7).
	typeScriptAny    = "type JsonValue = any;\n"
	typeScriptResult = `type McpResult<T = JsonValue> = {
  content: ({ type: string; text?: string } & Record<string, JsonValue>)[];
  structuredContent?: T;
};
`
	typeScriptTools = `type ToolName = string & keyof ToolArgsMap;

declare class ToolCallError extends Error {
  readonly toolName: ToolName;
  readonly name: "ToolCallError";
}

declare const tools: {
  readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]>;
};
`
	typeScriptSearch = `
declare const sdk: {
  search(query: string | { query: string; limit?: number }): Promise<{ name: string; declaration: string }[]>;
  describe(name: string): Promise<string>;
};
`
)

// typeScriptDeclarations writes the declarations of tools, which may be a sample.
func typeScriptDeclarations(tools []*tool, o Options, part *sample) string {
	w := newTypeScriptWriter(o)
	hasResult := part != nil && part.results
	for _, t := range tools {
		w.names.add(t.args)
		w.names.add(t.output)
		hasResult = hasResult || t.output.kind == resultKind
	}
	if part != nil {
		w.text(part.index + "\n")
	}
	if o.Check {
		w.text(typeScriptAny + "\n")
	} else {
		w.text(typeScriptJSON + "\n")
	}
	if hasResult {
		w.text(typeScriptResult + "\n")
	}
	w.declareNames(repetitions(tools))
	shared := w.declareShared(tools)
	w.text("interface ToolArgsMap {")
	for i, t := range tools {
		w.open(i)
		w.arguments(t, o.Check, shared[i])
		w.text(";\n")
	}
	w.text("}\n\ninterface ToolOutputMap {")
	for i, t := range tools {
		w.open(i)
		w.member(t.Name, "", false, 1)
		w.write(t.output, 1)
		w.text(";\n")
	}
	w.text("}\n\n" + typeScriptTools)
	if part != nil {
		w.text(typeScriptSearch)
	}
	return string(w.buf)
}

// open ends the line of an interface's brace before its first member.
func (w *typeScriptWriter) open(member int) {
	if member == 0 {
		w.text("\n")
	}
}

// declareNames writes the named types, as aliases: an interface could not be assigned to an open object.
func (w *typeScriptWriter) declareNames(again []*repeated) {
	widen := w.widen
	w.widen = w.bare // a named type may be an argument's
	w.alias = make(map[*shape]string, len(again))
	for _, r := range again {
		w.alias[r.shape] = w.free.allocate(typeScriptName(r.base))
	}
	for _, n := range w.names.order {
		w.text("type " + w.names.of[n] + " = ")
		w.write(n.body, 0)
		w.text(";\n\n")
	}
	for _, r := range again {
		w.text("type " + w.alias[r.shape] + " = ")
		w.object(r.shape, 0)
		w.rest()
		w.text(";\n\n")
	}
	w.widen = widen
}

// declareShared writes the types of the members that many tools share, and returns for each tool those that it has.
func (w *typeScriptWriter) declareShared(tools []*tool) [][]*sharedMembers {
	widen := w.widen
	w.widen = w.bare
	defer func() { w.widen = widen }()
	of := make([][]*sharedMembers, len(tools))
	for _, g := range share(tools, w.fieldSize) {
		g.name = w.free.allocate(typeScriptName(g.base()))
		w.text("type " + g.name + " = ")
		w.write(&shape{kind: objectKind, fields: g.fields, open: closed}, 0)
		w.text(";\n\n")
		for _, i := range g.tools {
			of[i] = append(of[i], g)
		}
	}
	return of
}

// fieldSize returns how many bytes a member of an argument root takes.
func (w *typeScriptWriter) fieldSize(f field) int {
	start := len(w.buf)
	w.member(f.name, f.description, f.optional, 2)
	w.write(f.shape, 2)
	size := len(w.buf) - start + len(";\n")
	w.buf = w.buf[:start]
	return size
}

// arguments writes a tool's member of ToolArgsMap.
func (w *typeScriptWriter) arguments(t *tool, check bool, shared []*sharedMembers) {
	w.member(t.Name, t.Description, false, 1)
	args := t.args
	if check {
		args = sealed(args)
		w.widen = true
		defer func() { w.widen = false }()
	}
	if len(shared) == 0 {
		w.write(args, 1)
		return
	}
	elsewhere := map[field]bool{}
	for _, g := range shared {
		for _, f := range g.fields {
			elsewhere[f] = true
		}
	}
	own := &shape{kind: objectKind, open: closed}
	for _, f := range args.fields {
		if !elsewhere[f] {
			own.fields = append(own.fields, f)
		}
	}
	and := ""
	if len(own.fields) > 0 {
		w.write(own, 1)
		and = " & "
	}
	for _, g := range shared {
		w.text(and + g.name)
		and = " & "
	}
	if args.open != closed {
		w.text(" & Record<string, " + w.top + ">")
	}
}

// sealed returns an argument root that has members and does not say whether more are allowed as a closed one, so that a misspelt
// optional member does not pass a check (GATE-7).
func sealed(s *shape) *shape {
	if s.kind == unionKind {
		c := *s
		c.alts = make([]*shape, len(s.alts))
		for i, a := range s.alts {
			c.alts[i] = sealedObject(a)
		}
		return &c
	}
	return sealedObject(s)
}

func sealedObject(s *shape) *shape {
	if o := opened(s); o.kind == objectKind && o.open == openUnsaid && len(o.fields) > 0 {
		c := *o
		c.open = closed
		return &c
	}
	return s
}

// result writes the type of an MCP tool's value (MCP-76).
func (w *tsWriter) result(s *shape, level int) {
	open, end := "McpResult", ""
	if s.item != nil {
		open, end = "McpResult<", ">"
	}
	if !s.optional {
		open, end = "Required<"+open, end+">"
	}
	w.text(open)
	w.later(tsPart{text: end})
	if s.item != nil {
		w.later(tsPart{shape: s.item, level: level})
	}
}

// typeScriptEntry writes one tool as it is called, behind the named types that it needs: an answer to a question, not a part of a
// program. What JsonValue and McpResult are stands in the section.
func typeScriptEntry(t *tool, o Options) string {
	w := newTypeScriptWriter(o)
	w.names.add(t.args)
	w.names.add(t.output)
	w.declareNames(nil)
	w.comment(t.Description, 0)
	if isTypeScriptName(t.Name) {
		w.text("tools." + t.Name)
	} else {
		w.text("tools[")
		w.buf = appendQuoted(w.buf, t.Name, jsonQuotes)
		w.text("]")
	}
	w.text("(args: ")
	w.write(t.args, 0)
	w.text("): Promise<")
	w.write(t.output, 0)
	w.text(">;")
	return strings.TrimSpace(string(w.buf))
}
