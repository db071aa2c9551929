//go:build unix

package mcptools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is the server program of the tests: the test binary itself, started again with a mode in its environment. It speaks the
// protocol by hand, because a library would not misbehave on demand.

const modeVariable = "MCPTOOLS_TEST_MODE"

func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv(modeVariable); ok {
		if mode == "renew" {
			renewOnce(os.Args[1], os.Args[2], os.Args[3])
			os.Exit(0)
		}
		testServer{modes: strings.Split(mode, "|")}.run()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type testServer struct {
	modes []string
	out   *sync.Mutex
}

// mode says whether the server is to behave in a certain way; a mode may have a value, as in file=/x.
func (s testServer) mode(name string) (value string, on bool) {
	for _, m := range s.modes {
		key, value, _ := strings.Cut(m, "=")
		if key == name {
			return value, true
		}
	}
	return "", false
}

func (s testServer) is(name string) bool { _, on := s.mode(name); return on }

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (s testServer) run() {
	s.out = &sync.Mutex{}
	if path, ok := s.mode("pidfile"); ok {
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	if s.is("ignore-term") {
		signal.Ignore(syscall.SIGTERM)
	}
	if s.is("banner") {
		s.print("My MCP server v1.0 listening on stdio\n\n{\"not\": \"a message\"}")
	}
	if s.is("noise") {
		for i := range 10_000 {
			s.print("noise " + strconv.Itoa(i))
		}
	}
	if s.is("pings") {
		for i := range 50_000 {
			s.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, i))
		}
	}
	if s.is("flood") {
		line := strings.Repeat("x", 8000) + "\n"
		for range 500 {
			_, _ = os.Stderr.WriteString(line)
		}
	}
	if text, ok := s.mode("complain"); ok {
		fmt.Fprintln(os.Stderr, text)
	}
	if s.is("exit") {
		os.Exit(3)
	}
	if how, ok := s.mode("leak"); ok {
		s.leakAtStart(how)
	}
	if path, ok := s.mode("grandchild"); ok {
		// It inherits standard output, so that the pipe stays open without it.
		grandchild := exec.Command("sleep", "300")
		grandchild.Stdout = os.Stdout
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile(path, []byte(strconv.Itoa(grandchild.Process.Pid)), 0o600)
	}
	if revision, ok := s.mode("library"); ok {
		_ = libraryServer(revision).Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	if s.is("hang") {
		_, _ = os.Stdin.Read(make([]byte, 1))
		time.Sleep(time.Hour)
	}
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		s.record(line)
		s.handle(m)
	}
	if s.is("ignore-eof") {
		time.Sleep(time.Hour)
	}
}

// record appends what arrived to a file that the test reads.
func (s testServer) record(line []byte) {
	path, ok := s.mode("record")
	if !ok {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = f.Write(line)
}

func (s testServer) print(text string) {
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = os.Stdout.WriteString(text + "\n")
}

func (s testServer) reply(m message, result string) {
	s.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (s testServer) refuse(m message, code int, text string) {
	s.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text))
}

func (s testServer) handle(m message) {
	switch m.Method {
	case "initialize":
		if how, _ := s.mode("leak"); how == "handshake" {
			s.refuse(m, -32000, padded(maxFaultText, os.Getenv("API_KEY")))
			return
		}
		if s.is("mute") {
			return
		}
		if s.is("modern-only") {
			s.refuse(m, -32601, "initialize is gone")
			return
		}
		version := "2025-11-25"
		if v, ok := s.mode("protocol"); ok {
			version = v
		}
		capabilities := `{"tools":{"listChanged":true}}`
		if s.is("toolless") {
			capabilities = `{}`
		}
		if s.is("early-notice") {
			s.notice()
		}
		s.reply(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"},"instructions":"be nice"}`, version, capabilities))
		if s.is("ask") {
			for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "made/up"} {
				s.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":{}}`, i, method))
			}
		}
		if s.is("long-line") {
			go func() {
				time.Sleep(300 * time.Millisecond)
				piece := strings.Repeat("x", 1<<20)
				s.out.Lock()
				for range 70 {
					_, _ = os.Stdout.WriteString(piece)
				}
				s.out.Unlock()
			}()
		}
		if s.is("burst") {
			for range 50 {
				s.notice()
			}
		}
	case "server/discover":
		if how, _ := s.mode("leak"); how == "handshake" {
			s.refuse(m, -32000, os.Getenv("API_KEY"))
			return
		}
		s.reply(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
	case "tools/list":
		s.list(m)
	case "tools/call":
		s.call(m)
	case "ping":
		s.reply(m, `{}`)
	}
}

func (s testServer) notice() {
	s.print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

// schemas has keywords outside of the enforced subset, an unusual order and a limit that no double holds.
const oddSchema = `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","properties":{"z":{"type":"integer","maximum":9223372036854775807},"a":{"anyOf":[{"type":"string"},{"type":"null"}],"x-own":[1,2]}},"required":["z"]}`

func tool(name, schema, more string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":%s%s}`, name, "does "+name, schema, more)
}

const plainSchema = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}`

func (s testServer) list(m message) {
	var params struct{ Cursor string }
	_ = json.Unmarshal(m.Params, &params)
	if path, ok := s.mode("listfile"); ok { // the test writes what is to be answered
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		s.reply(m, strings.TrimSpace(string(text)))
		return
	}
	if how, _ := s.mode("leak"); s.leakInList(m, how) {
		return
	}
	if s.is("long-list") {
		s.print(strings.Repeat("x", maxLine+1))
		return
	}
	if s.is("list-hangs") {
		return
	}
	if s.is("list-fails") {
		s.refuse(m, -32000, "no list\n today")
		return
	}
	if params.Cursor == "" {
		s.reply(m, `{"tools":[`+strings.Join([]string{
			tool("add", plainSchema, ""), tool("fail", `{"type":"object"}`, ""), tool("crash", `{"type":"object"}`, ""),
			tool("slow", `{"type":"object"}`, ""), tool("deaf", `{"type":"object"}`, ""), tool("admin.reset", oddSchema, `,"annotations":{"readOnlyHint":true}`),
		}, ",")+`],"nextCursor":"2"}`)
		return
	}
	if params.Cursor == "3" {
		s.reply(m, `{"tools":[`+strings.Join([]string{
			tool("raw", `{"type":"object"}`, ""), tool("bytes", `{"type":"object"}`, ""), tool("big", `{"type":"object"}`, ""), tool("progress", `{"type":"object"}`, ""),
		}, ",")+`]}`)
		return
	}
	more := ""
	if s.is("oddities") {
		more = "3"
	}
	s.reply(m, `{"tools":[`+strings.Join([]string{
		tool("structured", `{"type":"object"}`, `,"outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`),
		tool("loose", `{"type":"object"}`, `,"outputSchema":{"type":"object","patternProperties":{"x":{}}}`),
		tool("task", `{"type":"object"}`, `,"execution":{"taskSupport":"required"}`),
		tool("echo", `{"type":"object"}`, ""), tool("crash-after-reply", `{"type":"object"}`, ""), tool("garbage", `{"type":"object"}`, ""),
		tool("environment", `{"type":"object"}`, ""), tool("leave", `{"type":"object"}`, ""),
	}, ",")+`],"nextCursor":"`+more+`"}`)
}

func (s testServer) call(m message) {
	var params struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		panic(err)
	}
	text := func(t string) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, mustJSON(t))
	}
	switch params.Name {
	case "add":
		var in struct{ A, B float64 }
		_ = json.Unmarshal(params.Arguments, &in)
		s.reply(m, text(strconv.FormatFloat(in.A+in.B, 'f', -1, 64)))
	case "fail":
		s.reply(m, `{"content":[{"type":"text","text":"it went wrong"}],"isError":true}`)
	case "crash":
		os.Exit(7)
	case "crash-after-reply":
		s.reply(m, text("bye"))
		os.Exit(0)
	case "slow":
		go func() {
			time.Sleep(300 * time.Millisecond)
			s.reply(m, text("late"))
		}()
	case "leak":
		s.leak(m, params.Arguments)
	case "deaf": // never answers
	case "echo": // answers with what it is told to
		var in struct{ Answer json.RawMessage }
		_ = json.Unmarshal(params.Arguments, &in)
		s.reply(m, string(in.Answer))
	case "garbage":
		s.print("this is no JSON\n[1,2\n{\"jsonrpc\":\"2.0\",\"id\":\"unheard\",\"result\":{}}\nnull")
		s.reply(m, text("fine"))
	case "environment":
		dir, _ := os.Getwd()
		s.reply(m, text(strings.Join(append(os.Environ(), "cwd="+dir, "args="+mustJSON(os.Args[1:])), "\n")))
	case "raw": // prints what it is told to, with the request's id in place of ID, and only that
		var in struct{ Lines []string }
		_ = json.Unmarshal(params.Arguments, &in)
		for _, line := range in.Lines {
			s.print(strings.ReplaceAll(line, "ID", string(m.ID)))
		}
	case "bytes": // the same for bytes that are no text
		s.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"a` + "\xff\xfe" + `b"}]}}` + "\r")
	case "big":
		s.reply(m, text(strings.Repeat("x", 8<<20)))
	case "progress": // goes on for ever
		go func() {
			for i := 0; ; i++ {
				s.print(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.ID, i))
				time.Sleep(5 * time.Millisecond)
			}
		}()
	case "structured":
		s.reply(m, `{"content":[],"structuredContent":{"n":1}}`)
	case "loose":
		s.reply(m, `{"content":[{"type":"text","text":"x"}],"structuredContent":{"anything":[1]}}`)
	default:
		s.refuse(m, -32602, "unknown tool "+params.Name)
	}
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
