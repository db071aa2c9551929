package main

// This file is a raw MCP client for the scripts: the command "mcpclient" of their PATH.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// mcpClient starts the command of its arguments, plays a script with it and prints each line that it gets. Its exit status is the
// command's. The script has a line for each step:
//
//	{…}              sends a message, and waits for the answer if it is a request
//	& {…}            sends a request without waiting
//	await TEXT       waits until a line has come in which TEXT stands
//	exist FILE       waits until there is that file
//	touch FILE       makes it
//	signal NAME      sends the command the signal of that name
//	reply METHOD {…} answers requests of that method with that result from now on
//	# …              a remark
//
// At the end it closes the command's standard input.
func mcpClient() {
	status, err := playMCP(os.Args[1], os.Args[2], os.Args[3:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpclient:", err)
		os.Exit(99)
	}
	os.Exit(status)
}

// mcpPatience is the net under everything that a script waits for.
const mcpPatience = 3 * time.Minute

type mcpPlay struct {
	process *os.Process
	in      io.Writer
	lines   <-chan string
	seen    []string
	replies map[string]json.RawMessage
}

func playMCP(script, name string, args ...string) (status int, err error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	// Who runs the tests may have this signal ignored, as nohup has, and what is ignored is so in children too. What is caught is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	p := &mcpPlay{process: cmd.Process, in: in, lines: lines, replies: map[string]json.RawMessage{}}
	for step := range strings.Lines(string(text)) {
		if err := p.step(strings.TrimSpace(step)); err != nil {
			_ = cmd.Process.Kill()
			return 0, fmt.Errorf("%s: %w", strings.TrimSpace(step), err)
		}
	}
	in.Close()
	for p.next() == nil {
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

func (p *mcpPlay) step(step string) error {
	word, rest, _ := strings.Cut(step, " ")
	switch {
	case step == "" || word == "#":
		return nil
	case word == "await":
		return p.await(rest)
	case word == "exist":
		return awaitFile(rest)
	case word == "touch":
		return os.WriteFile(rest, nil, 0o600)
	case word == "signal":
		return p.process.Signal(map[string]os.Signal{"interrupt": os.Interrupt, "terminated": syscall.SIGTERM, "hangup": syscall.SIGHUP}[rest])
	case word == "reply":
		method, result, _ := strings.Cut(rest, " ")
		p.replies[method] = json.RawMessage(result)
		return nil
	case word == "&":
		return p.send(rest)
	}
	if err := p.send(step); err != nil {
		return err
	}
	var message struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(step), &message); err != nil || message.ID == nil {
		return err
	}
	return p.await(`"id":` + string(message.ID) + `,`)
}

func awaitFile(path string) error {
	for end := time.Now().Add(mcpPatience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no %s", path)
}

func (p *mcpPlay) send(line string) error {
	_, err := fmt.Fprintln(p.in, line)
	return err
}

// await wants a line that holds text, be it one that has come already.
func (p *mcpPlay) await(text string) error {
	for {
		for _, line := range p.seen {
			if strings.Contains(line, text) {
				return nil
			}
		}
		if err := p.next(); err != nil {
			return err
		}
	}
}

// next takes one line, prints it, and answers it if it is a request.
func (p *mcpPlay) next() error {
	select {
	case line, ok := <-p.lines:
		if !ok {
			return io.EOF
		}
		fmt.Println(line)
		p.seen = append(p.seen, line)
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			return fmt.Errorf("standard output has a line that is no JSON: %w", err)
		}
		if request.Method != "" && request.ID != nil {
			result, ok := p.replies[request.Method]
			if !ok {
				return p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, request.ID))
			}
			return p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result))
		}
		return nil
	case <-time.After(mcpPatience):
		return fmt.Errorf("nothing came")
	}
}
