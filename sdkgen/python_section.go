// This file defines the Python stubs: their layout around the annotations (PY-1 to PY-5, PY-22, PY-23).

package sdkgen

import "strings"

func newPythonWriter(o Options) *pyWriter {
	free := newAllocator(takenPython)
	return &pyWriter{
		limit: o.MaxDescription,
		free:  free,
		names: newTypeNames(func(base string) string { return free.allocate(className("", camel(base))) }),
		state: map[*namedType]declared{},
	}
}

const (
	pythonError  = "class ToolCallError(Exception):\n    toolName: str\n"
	pythonResult = "class McpResult(TypedDict):\n    content: list[dict[str, Any]]\n    structuredContent: NotRequired[Any]\n"
	pythonSearch = `
class Sdk(Protocol):
    async def search(self, query: str | dict[str, Any]) -> list[dict[str, str]]: ...
    async def describe(self, name: str) -> str: ...

sdk: Sdk
`
)

// pythonDeclarations writes the stubs of tools, which may be a sample.
func pythonDeclarations(tools []*tool, o Options, part *sample) string {
	w := newPythonWriter(o)
	for _, t := range tools {
		w.names.add(t.args)
		w.names.add(t.output)
	}
	var members strings.Builder
	methods := 0
	for _, t := range tools {
		if isPythonMethod(t.Name) {
			methods++
		}
		w.tool(&members, t, "    ")
	}
	var b strings.Builder
	if part != nil {
		w.usesAny = true
		if part.results {
			w.useResult()
		}
		b.WriteString(part.index + "\n")
	}
	b.WriteString("from typing import " + strings.Join(w.imports(), ", ") + "\n\n")
	b.WriteString(pythonError + "\n")
	if w.usesResult {
		b.WriteString(pythonResult + "\n")
	}
	b.Write(w.classes)
	b.WriteString("class Tools(Protocol):\n")
	if methods == 0 {
		b.WriteString("    pass\n")
	}
	b.WriteString(members.String())
	b.WriteString("\ntools: Tools\n")
	if part != nil {
		b.WriteString(pythonSearch)
	}
	return b.String()
}

// imports returns the symbols that the text uses, in their fixed order (PY-2).
func (w *pyWriter) imports() []string {
	var names []string
	for _, symbol := range []struct {
		name string
		used bool
	}{
		{"Any", w.usesAny}, {"Literal", w.usesLiteral}, {"NotRequired", w.usesNotRequired}, {"Protocol", true}, {"TypedDict", w.usesTypedDict},
	} {
		if symbol.used {
			names = append(names, symbol.name)
		}
	}
	return names
}

// tool writes a tool's member of the class Tools: a method, or a comment for a name that no method can have (PY-4).
func (w *pyWriter) tool(b *strings.Builder, t *tool, margin string) {
	base := className("", camel(t.Name))
	args, output := w.annotation(t.args, className(base, "Args")), w.annotation(t.output, className(base, "Output"))
	description := oneLine(t.Description, w.limit)
	if isPythonMethod(t.Name) {
		b.WriteString(margin + "async def " + t.Name + "(self, args: " + args + ") -> " + output + ":")
		if description == "" {
			b.WriteString(" ...\n")
			return
		}
		b.WriteString("\n" + margin + `    """` + docstring(description) + `"""` + "\n")
		return
	}
	b.WriteString(margin + "# tools[" + string(appendQuoted(nil, t.Name, pythonQuotes)) + "](args: " + args + ") -> " + output + "\n")
	if description != "" {
		b.WriteString(margin + "#   " + description + "\n")
	}
}

func (w *pyWriter) annotation(s *shape, name string) string {
	w.buf = nil
	w.annotate(s, name, 0)
	return string(w.buf)
}

// docstring escapes a line for a docstring: no quote in it can end it, no backslash can take its quote away (PY-23).
func docstring(line string) string {
	return strings.ReplaceAll(strings.ReplaceAll(line, `\`, `\\`), `"`, `\"`)
}

// pythonEntry writes one tool as it is called, behind the classes that it needs. What McpResult is stands in the section.
func pythonEntry(t *tool, o Options) string {
	w := newPythonWriter(o)
	w.names.add(t.args)
	w.names.add(t.output)
	base := className("", camel(t.Name))
	args, output := w.annotation(t.args, className(base, "Args")), w.annotation(t.output, className(base, "Output"))
	var b strings.Builder
	b.Write(w.classes)
	if description := oneLine(t.Description, w.limit); description != "" {
		b.WriteString("# " + description + "\n")
	}
	callee := "tools[" + string(appendQuoted(nil, t.Name, pythonQuotes)) + "]"
	if isPythonMethod(t.Name) {
		callee = "tools." + t.Name
	}
	b.WriteString("# await " + callee + "(args: " + args + ") -> " + output)
	return b.String()
}
