package tscheck

// This file defines the three texts that a compiler reads: the globals that every program has, what this program's tools and globals
// are, and the program itself in the shape in which it runs.

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// globals declares what RUN-42 gives to every program, and nothing else.
//
//go:embed globals.d.ts
var globals string

// The names of the texts.
const (
	globalsFile = "globals.d.ts"
	sdkFile     = "sdk.d.ts"
	programFile = "program.ts"
	configFile  = "tsconfig.json"
)

// config is the project: of the language all there is, of strictness nothing, and no file that the program names (noResolve).
const config = `{
  "compilerOptions": {
    "target": "esnext", "lib": ["esnext"], "module": "esnext", "moduleDetection": "force", "types": [],
    "strict": false, "noEmit": true, "skipLibCheck": true, "noResolve": true, "allowJs": false
  },
  "files": ["` + globalsFile + `", "` + sdkFile + `", "` + programFile + `"]
}
`

// The namespaces and the error class that the SDK declares.
const (
	toolsGlobal = "tools"
	sdkGlobal   = "sdk"
)

const declareSDK = `declare const sdk: {
  search(query: any): Promise<{ name: string; declaration: string }[]>;
  describe(name: any): Promise<string>;
};
`

// The program stands in a line of its own inside of the function that it is the body of: its columns are the model's, its lines one on.
const (
	head     = "(async () => {\n"
	foot     = "\n});\n"
	callHead = "(async () => { return (\n"
	callFoot = "\n)(); });\n"
)

// program is one program on its way to a compiler, and what its answer is read against.
type program struct {
	code  *runtime.Code
	text  string                     // of the model
	head  string                     // what stands in front of it
	file  string                     // the whole of programFile
	sdk   string                     // the whole of sdkFile
	tools []string                   // names of what can be called
	takes func(tool string) []string // names of its arguments
	world []string                   // names of everything that is there beside the language's own
	calls []runtime.Call
}

func (c *Checker) newProgram(code *runtime.Code, req runtime.Request, tools []sdkgen.Tool) (*program, error) {
	declared, err := c.sdk.New(runtime.LanguageTypeScript, tools, sdkgen.Options{Check: true})
	if err != nil {
		return nil, err
	}
	p := &program{code: code, calls: code.Calls(), takes: func(name string) []string { return membersOf(tools, name) }}
	text, called := code.Source()
	p.text, p.head = text, head
	p.file = head + text + foot
	if called {
		p.head = callHead
		p.file = callHead + text + callFoot
	}
	var more strings.Builder
	for _, n := range req.Namespaces {
		p.world = append(p.world, n.Global)
		switch n.Global {
		case toolsGlobal:
			for _, f := range n.Functions {
				p.tools = append(p.tools, f.Name)
			}
		case sdkGlobal:
			more.WriteString(declareSDK)
		default:
			more.WriteString("declare const " + n.Global + ": any;\n")
		}
	}
	for _, g := range req.Globals {
		p.world = append(p.world, g.Name)
		more.WriteString("declare const " + g.Name + ": any;\n")
	}
	p.sdk = declared.Declarations() + more.String()
	return p, nil
}

// membersOf returns the names of a tool's arguments, as far as its schema says them at its root.
func membersOf(tools []sdkgen.Tool, name string) []string {
	var names []string
	for _, t := range tools {
		if t.Name != name {
			continue
		}
		if properties, ok := t.Parameters.Get("properties"); ok && properties.IsObject() {
			for member := range properties.Members() {
				names = append(names, member)
			}
		}
	}
	return names
}

// offset maps a position of programFile, lines and UTF-16 columns from 1, to an offset in the model's text; false for a position in
// what stands round it.
func (p *program) offset(line, column int) (int, bool) {
	if line < 2 || column < 1 {
		return 0, false
	}
	at := p.code.OffsetOf(line-1, column)
	return at, at < len(p.text)
}

// offsetOfUnit does it for a count of UTF-16 units from the start of programFile.
func (p *program) offsetOfUnit(unit int) (int, bool) {
	unit -= len(p.head)
	if unit < 0 {
		return 0, false
	}
	for at, r := range p.text {
		if unit <= 0 {
			return at, true
		}
		unit--
		if r > 0xffff {
			unit--
		}
	}
	return 0, false
}

// word returns the name that begins at an offset of the model's text.
func (p *program) word(at int) string {
	end := at
	for end < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[end:])
		if !isNamePart(r) {
			break
		}
		end += size
	}
	return p.text[at:end]
}
