package tscheck

// This file defines the compiler that is kept running: a session of its JSON-RPC mode over a file system that exists only in messages.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxChecks is after how many checks a compiler is replaced by a new one, whatever it may have piled up.
const maxChecks = 1000

// stopPatience is how long a compiler may take to leave when its input has ended.
const stopPatience = 500 * time.Millisecond

// virtual is the folder that holds the project. No disk has it.
const virtual = "/runcode-check"

// server is one compiler that runs. It serves one check at a time and is not safe for concurrent use.
type server struct {
	cmd    *exec.Cmd
	end    context.CancelFunc // kills it
	in     io.WriteCloser
	out    *bufio.Reader
	said   *beginning
	lib    string // the compiler's own folder, with the declarations of the language
	last   int    // number of the last request
	files  map[string]string
	opened bool
	checks int
	ended  sync.Once
}

// startServer starts a compiler and greets it.
func startServer(ctx context.Context, compiler *Compiler) (*server, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the check that starts it
	s := &server{
		end: end, said: &beginning{}, lib: filepath.ToSlash(filepath.Dir(compiler.Path)),
		files: map[string]string{virtual + "/" + globalsFile: globals, virtual + "/" + configFile: config},
	}
	s.cmd = command(life, compiler.Path, "--api", "--async", "--cwd", virtual,
		"--callbacks=readFile,fileExists,directoryExists,getAccessibleEntries,realpath")
	s.cmd.Stderr = s.said
	in, err := s.cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		if out, err = s.cmd.StdoutPipe(); err == nil {
			s.in, s.out = in, bufio.NewReaderSize(out, 1<<16)
			err = s.cmd.Start()
		}
	}
	if err != nil {
		end()
		return nil, fmt.Errorf("the TypeScript compiler %s cannot be started: %w", compiler.Path, err)
	}
	limitMemory(s.cmd, compiler)
	defer context.AfterFunc(ctx, end)()
	if err := s.call("initialize", nil, nil); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// stop ends the compiler: it closes its input, and kills it if that is not enough. It returns when the compiler is gone.
func (s *server) stop() {
	s.ended.Do(func() {
		s.in.Close()
		kill := time.AfterFunc(stopPatience, s.end)
		io.Copy(io.Discard, s.out) // what it still says, up to its end
		s.cmd.Wait()               // its status says nothing that matters any more
		kill.Stop()
		s.end()
	})
}

// check has the compiler read a program and returns what it found. When ctx ends the compiler is killed. After an error the server must
// be stopped.
func (s *server) check(ctx context.Context, p *program) ([]diagnostic, error) {
	defer context.AfterFunc(ctx, s.end)()
	s.checks++
	changed := make([]string, 0, 2)
	for name, text := range map[string]string{sdkFile: p.sdk, programFile: p.file} {
		file := virtual + "/" + name
		if old, ok := s.files[file]; !ok || old != text {
			s.files[file] = text
			changed = append(changed, file)
		}
	}
	var params any = map[string]any{"fileChanges": map[string]any{"changed": changed}}
	if !s.opened {
		params = map[string]any{"openProjects": []string{virtual + "/" + configFile}}
	}
	var state struct {
		Snapshot json.RawMessage
		Projects []struct{ ID json.RawMessage }
	}
	if err := s.call("updateSnapshot", params, &state); err != nil {
		return nil, err
	}
	s.opened = true
	if len(state.Projects) != 1 {
		return nil, fmt.Errorf("the TypeScript compiler has %d projects, expected 1", len(state.Projects))
	}
	var answer []answered
	err := s.call("getSemanticDiagnostics", map[string]any{
		"snapshot": state.Snapshot, "project": state.Projects[0].ID, "file": virtual + "/" + programFile,
	}, &answer)
	if err != nil {
		return nil, err
	}
	// One that it does not want to forget costs memory, until maxChecks.
	if err := s.call("release", map[string]any{"snapshot": state.Snapshot}, nil); err != nil && !errors.Is(err, errRefused) {
		return nil, err
	}
	var found []diagnostic
	for _, d := range answer {
		if at, inside := p.offsetOfUnit(d.Pos); inside && d.Category == errorCategory {
			found = append(found, diagnostic{code: d.Code, at: at, text: d.whole(0)})
		}
	}
	return found, nil
}

// answered is a diagnostic as the compiler sends it.
type answered struct {
	Pos, Code, Category int
	Text                string
	MessageChain        []answered
}

// errorCategory is the category of what is an error.
const errorCategory = 1

// whole is the text with what explains it, one line each.
func (d answered) whole(depth int) string {
	text := d.Text
	for _, next := range d.MessageChain {
		if depth < 20 {
			text += "\n" + next.whole(depth+1)
		}
	}
	return text
}

// errRefused is the error of a request that the compiler answers with one.
var errRefused = errors.New("the TypeScript compiler refused")

// message is what goes over the wire, either way.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// call sends a request, answers what the compiler asks meanwhile, and reads the answer into result, unless that is nil.
func (s *server) call(method string, params, result any) error {
	s.last++
	id := fmt.Sprint(s.last)
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": s.last, "method": method, "params": params}); err != nil {
		return s.broken(method, err)
	}
	for {
		m, err := s.receive()
		switch {
		case err != nil:
			return s.broken(method, err)
		case m.Method != "" && len(m.ID) > 0:
			if err := s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": s.answer(m)}); err != nil {
				return s.broken(method, err)
			}
		case m.Method != "" || strings.Trim(string(m.ID), `"`) != id: // a notification, or nothing of ours
		case len(m.Error) > 0 && string(m.Error) != "null":
			return fmt.Errorf("%w %s: %s", errRefused, method, oneMessage(string(m.Error)))
		case result == nil:
			return nil
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("the TypeScript compiler's answer to %s is not understood: %w", method, err)
			}
			return nil
		}
	}
}

// broken says that the connection failed, with what the compiler said when it did.
func (s *server) broken(method string, err error) error {
	s.stop() // then it has said everything
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		err = errors.New("it ended")
	}
	text := ""
	if said := s.said.String(); said != "" {
		text = ": " + oneMessage(said)
	}
	return fmt.Errorf("the TypeScript compiler failed at %s: %w%s", method, err, text)
}

// answer says what the file system holds: the project's texts, and on the disk the compiler's own folder, which null stands for.
func (s *server) answer(m message) any {
	var name string
	if json.Unmarshal(m.Params, &name) != nil {
		return nil
	}
	own := name == s.lib || strings.HasPrefix(name, s.lib+"/")
	text, exists := s.files[name]
	switch m.Method {
	case "readFile":
		switch {
		case exists:
			return map[string]any{"content": text}
		case own:
			return nil
		}
		return map[string]any{"content": nil}
	case "fileExists":
		if own {
			return nil
		}
		return exists
	case "directoryExists":
		if own {
			return nil
		}
		return name == virtual
	case "getAccessibleEntries":
		if own {
			return nil
		}
		files := []string{}
		for file := range s.files {
			if path.Dir(file) == name {
				files = append(files, path.Base(file))
			}
		}
		return map[string]any{"files": files, "directories": []string{}}
	case "realpath":
		return name
	}
	return nil
}
