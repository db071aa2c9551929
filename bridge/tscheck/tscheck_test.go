package tscheck

// This file holds what the tests share: a compiler, some tools, and how a program is checked against them.

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

// realCompiler returns the native compiler that the tests of the real thing need, or skips them.
func realCompiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := Find(t.Context(), Search{Getenv: osGetenv, Folder: "../../testdata/servers"})
	if err != nil {
		t.Fatal(err)
	}
	if c == nil || !c.Native {
		const what = "no native TypeScript compiler: npm ci --prefix testdata/servers, or set RUNCODE_TSC (npm package typescript 7)"
		if _, err := exec.LookPath("npm"); err == nil && os.Getenv("CI") == "true" { // which installs it
			t.Fatal(what)
		}
		t.Skip(what)
	}
	return c
}

func value(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// someTools are a typed tool, one with options, one that says nothing of itself, one
// with many options, one with a member in a member, one with an odd name.
func someTools(t testing.TB) []sdkgen.Tool {
	var options strings.Builder
	for i := range 30 {
		fmt.Fprintf(&options, `%s"option_%d":{"type":"string"}`, strings.Repeat(",", min(i, 1)), i)
	}
	return []sdkgen.Tool{
		{
			Name:       "note",
			Parameters: value(t, `{"type":"object","properties":{"text":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"kind":{"type":"string","enum":["a","b"]}},"required":["text"]}`),
			Output:     value(t, `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`),
		},
		{
			Name:       "list_notes",
			Parameters: value(t, `{"type":"object","properties":{"limit":{"type":"integer"},"sort":{"type":"string","enum":["up","down"]}}}`),
			Output:     value(t, `{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"size":{"type":"integer"}},"required":["id","size"]}}`),
		},
		{Name: "anything"},
		{Name: "many", Parameters: value(t, `{"type":"object","properties":{`+options.String()+`}}`)},
		{Name: "nested", Parameters: value(t, `{"type":"object","properties":{"at":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}}}`)},
		{Name: "my-tool", Parameters: value(t, `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`)},
	}
}

// request is how a bridge asks about a program.
func request(program string, tools []sdkgen.Tool, more ...string) runtime.Request {
	functions := make([]runtime.Function, len(tools))
	for i, tool := range tools {
		functions[i].Name = tool.Name
	}
	req := runtime.Request{
		Program: program, Unwrap: true,
		Namespaces: []runtime.Namespace{{Global: "tools", Functions: functions, ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"}}},
	}
	for _, name := range more {
		if name == "sdk" {
			req.Namespaces = append(req.Namespaces, runtime.Namespace{Global: name})
			continue
		}
		req.Globals = append(req.Globals, runtime.Global{Name: name, Value: jsonval.Array()})
	}
	return req
}

func newChecker(t testing.TB, o Options) *Checker {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Minute // a loaded machine is no reason to fail
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// logged is a logger that tests read.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// try checks a program, which must be possible.
func try(t testing.TB, ctx context.Context, c *Checker, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure {
	t.Helper()
	failure, err := c.Try(ctx, req, tools)
	if err != nil {
		t.Fatal(err)
	}
	return failure
}
