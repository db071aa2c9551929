package main

// This file is an MCP server that misbehaves on demand: the command "drillserver" of the drills. It speaks the protocol by hand, because
// a library would not misbehave. Its arguments say how it behaves from the start; its tools, what happens during a call.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// drillServer runs the server. Arguments, in any number:
//
//	banner        prints lines on standard output that are no messages
//	hang          reads nothing and answers nothing
//	flood         writes to standard error as fast as it is read, as long as it lives
//	many=N        has N more tools, tool_0000 and so on
//	manual=KIB    has a description of so many KiB at each of these
//	churn         changes its list of tools every 10 ms
//	grandchild    starts a process that keeps standard output open
//	ignore-eof    stays when its input ends
//	ignore-term   stays when it is asked to terminate
//	exit          says why on standard error and leaves at once
//	note=FILE     writes its number into FILE when it has started, for tests that wait for that
func drillServer() {
	s := &drilled{modes: map[string]string{}}
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		s.modes[name] = value
	}
	s.start()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m drillMessage
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "drillserver: the client sent a line that is no message:", err)
			os.Exit(9)
		}
		s.handle(m)
	}
	if s.is("ignore-eof") {
		time.Sleep(time.Hour)
	}
}

type drilled struct {
	modes map[string]string
	out   sync.Mutex
	lists int // that were answered
}

type drillMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		RequestID       json.RawMessage `json:"requestId"`
	} `json:"params"`
}

func (s *drilled) is(mode string) bool {
	_, ok := s.modes[mode]
	return ok
}

func (s *drilled) start() {
	if s.is("ignore-term") {
		signal.Ignore(syscall.SIGTERM)
	}
	if s.is("grandchild") {
		// It reads no input and ignores the end of everything, like a helper that a server forgot.
		path, err := os.Executable()
		if err != nil {
			panic(err)
		}
		helper := &exec.Cmd{Path: path, Args: []string{"drillserver", "hang"}, Stdout: os.Stdout, Stderr: os.Stderr}
		if err := helper.Start(); err != nil {
			panic(err)
		}
	}
	if path, ok := s.modes["note"]; ok {
		if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			panic(err)
		}
	}
	if s.is("exit") {
		fmt.Fprintln(os.Stderr, "drillserver: the database is not there")
		os.Exit(3)
	}
	if s.is("hang") {
		time.Sleep(time.Hour)
	}
	if s.is("banner") {
		s.print("Drill server 1.0\n\n{\"not\": \"a message\"}\nlistening on stdio")
	}
	if s.is("flood") {
		go func() {
			line := []byte(strings.Repeat("x", 8000) + "\n")
			for {
				if _, err := os.Stderr.Write(line); err != nil {
					return
				}
			}
		}()
	}
	if s.is("churn") {
		go func() {
			for range time.Tick(10 * time.Millisecond) {
				s.print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
		}()
	}
}

func (s *drilled) print(text string) {
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = os.Stdout.WriteString(text + "\n")
}

func (s *drilled) reply(m drillMessage, result string) {
	s.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (s *drilled) replyText(m drillMessage, text string) {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	s.reply(m, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

func (s *drilled) handle(m drillMessage) {
	switch m.Method {
	case "initialize":
		s.reply(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"drill","version":"1"}}`, m.Params.ProtocolVersion))
	case "tools/list":
		s.list(m)
	case "tools/call":
		s.call(m)
	case "notifications/cancelled":
		// The work goes on and is answered as if nothing had been said.
		m.ID = m.Params.RequestID
		s.replyText(m, "done all the same")
	case "ping":
		s.reply(m, `{}`)
	}
}

func (s *drilled) list(m drillMessage) {
	var tools []string
	add := func(name, properties string) {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"Does %s.","inputSchema":{"type":"object","properties":{%s}}}`, name, name, properties))
	}
	add("add", `"a":{"type":"number"},"b":{"type":"number"}`)
	add("pid", "")
	add("crash", "")
	add("garbage", "")
	add("odd", "")
	add("huge", `"mib":{"type":"number"}`)
	add("deaf", `"note":{"type":"string"}`)
	if n, err := strconv.Atoi(s.modes["many"]); err == nil {
		kib, _ := strconv.Atoi(s.modes["manual"])
		manual := "What to say." + strings.Repeat(" Read on.", kib<<10/9)
		for i := range n {
			add(fmt.Sprintf("tool_%04d", i), `"text":{"type":"string","description":"`+manual+`"}`)
		}
	}
	if s.is("churn") {
		s.lists++
		add(fmt.Sprintf("extra_%d", s.lists), "")
	}
	s.reply(m, `{"tools":[`+strings.Join(tools, ",")+`]}`)
}

func (s *drilled) call(m drillMessage) {
	var in struct {
		A, B, MiB float64
		Note      string
	}
	_ = json.Unmarshal(m.Params.Arguments, &in)
	switch m.Params.Name {
	case "add":
		s.replyText(m, strconv.FormatFloat(in.A+in.B, 'f', -1, 64))
	case "pid":
		s.replyText(m, strconv.Itoa(os.Getpid()))
	case "crash":
		s.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"resu`)
		os.Exit(7)
	case "garbage": // an answer that is no JSON, and never another one
		s.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"unfinished]}`)
	case "odd": // JSON that has not the shape of an answer
		s.reply(m, `[1,{"content":null}]`)
	case "huge":
		s.out.Lock()
		defer s.out.Unlock()
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		piece := strings.Repeat("x", 1<<20)
		for range int(in.MiB) {
			_, _ = out.WriteString(piece)
		}
		_, _ = out.WriteString("\"}]}}\n")
		_ = out.Flush()
	case "deaf": // not answered until it is cancelled, and then too late
		if in.Note != "" {
			if err := os.WriteFile(in.Note, nil, 0o600); err != nil {
				panic(err)
			}
		}
	default:
		if strings.HasPrefix(m.Params.Name, "tool_") || strings.HasPrefix(m.Params.Name, "extra_") {
			s.replyText(m, m.Params.Name)
			return
		}
		s.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID))
	}
}
