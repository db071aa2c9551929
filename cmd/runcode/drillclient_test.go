//go:build unix

package main

// This file is an MCP client for the drills: raw messages over the standard streams of the real `runcode mcp`.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// drillClient is a client and the gateway that it has started.
type drillClient struct {
	t      testing.TB
	d      *drill
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Closer
	stderr drillOutput
	waited chan struct{} // the gateway has ended

	mu      sync.Mutex
	last    int
	waiting map[int]chan drillReply
	notices map[string]int // how often which notice came
	foreign []string       // lines on standard output that are no protocol
}

// drillReply is the answer to one request.
type drillReply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// drillOutput is a stream that a test can read while it is written.
type drillOutput struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *drillOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.b.Len() > 1<<20 { // a test that fails shows it
		return len(p), nil
	}
	return o.b.Write(p)
}

func (o *drillOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// connect starts the gateway over the drill's servers and shakes hands. When the test ends the gateway must end with status 0 within a
// few seconds of the end of its input, and must have written nothing but protocol.
func (d *drill) connect(flags ...string) *drillClient {
	d.t.Helper()
	c := d.launch(flags...)
	c.handshake()
	d.t.Cleanup(c.leave)
	return c
}

// launch starts the gateway and says nothing to it.
func (d *drill) launch(flags ...string) *drillClient {
	d.t.Helper()
	c := &drillClient{t: d.t, d: d, waited: make(chan struct{}), waiting: map[int]chan drillReply{}, notices: map[string]int{}}
	c.cmd = d.command(append([]string{"mcp", "--mcp", "servers.json"}, flags...)...)
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = 10 * time.Second
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	c.out = out
	if err := c.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		c.read(out)
		_ = c.cmd.Wait()
		close(c.waited)
	}()
	return c
}

// handshake is what every client says first.
func (c *drillClient) handshake() {
	c.t.Helper()
	c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "drill", "version": "1"},
	})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

func (c *drillClient) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, waiting := range c.waiting {
		close(waiting)
		delete(c.waiting, id)
	}
}

func (c *drillClient) line(line []byte) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		drillReply
	}
	err := json.Unmarshal(line, &m)
	c.mu.Lock()
	defer c.mu.Unlock()
	var id int
	switch {
	case err != nil || m.JSONRPC != "2.0":
		c.foreign = append(c.foreign, string(line))
	case m.Method != "":
		c.notices[m.Method]++
	case json.Unmarshal(m.ID, &id) == nil && c.waiting[id] != nil:
		c.waiting[id] <- m.drillReply
		delete(c.waiting, id)
	default:
		c.foreign = append(c.foreign, string(line))
	}
}

func (c *drillClient) send(message any) {
	c.t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		c.t.Errorf("the gateway takes no more input: %v", err)
	}
}

// begin sends a request and returns its number and where its answer comes; the channel is closed if none will.
func (c *drillClient) begin(method string, params any) (int, <-chan drillReply) {
	c.t.Helper()
	answer := make(chan drillReply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, answer
}

// await waits for the answer to a request, which must not be an error.
func (c *drillClient) await(method string, answer <-chan drillReply) json.RawMessage {
	c.t.Helper()
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			c.t.Fatalf("%s: the gateway ended; standard error %s", method, &c.stderr)
		case r.Error != nil:
			c.t.Fatalf("%s: error %d %s", method, r.Error.Code, r.Error.Message)
		}
		return r.Result
	case <-time.After(drillPatience):
		c.t.Fatalf("%s: no answer; standard error %s", method, &c.stderr)
	}
	return nil
}

func (c *drillClient) request(method string, params any) json.RawMessage {
	c.t.Helper()
	_, answer := c.begin(method, params)
	return c.await(method, answer)
}

// drillResult is the result of a call.
type drillResult struct {
	Content           []struct{ Type, Text, URI string }
	StructuredContent json.RawMessage
	IsError           bool
}

func (r drillResult) text() string {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

func (c *drillClient) result(raw json.RawMessage) drillResult {
	c.t.Helper()
	var r drillResult
	if err := json.Unmarshal(raw, &r); err != nil {
		c.t.Fatalf("%v in %.300s", err, raw)
	}
	return r
}

// call calls a tool of the gateway.
func (c *drillClient) call(tool string, arguments any) drillResult {
	c.t.Helper()
	return c.result(c.request("tools/call", map[string]any{"name": tool, "arguments": arguments}))
}

// programCall is the parameters of a call of run_code.
func programCall(program string) map[string]any {
	return map[string]any{"name": "run_code", "arguments": map[string]any{"code": program, "description": "Drills."}}
}

// run runs a program and returns the JSON of what it returned.
func (c *drillClient) run(program string) string {
	c.t.Helper()
	r := c.result(c.request("tools/call", programCall(program)))
	var value struct{ Result json.RawMessage }
	if r.IsError || json.Unmarshal(r.StructuredContent, &value) != nil {
		c.t.Errorf("the program failed: %s\n%s", r.text(), &c.stderr)
	}
	return string(value.Result)
}

// tools lists the tools that the gateway shows, and the bytes of the list.
func (c *drillClient) tools() (names []string, size int) {
	c.t.Helper()
	raw := c.request("tools/list", map[string]any{})
	var list struct {
		Tools      []struct{ Name string }
		NextCursor string
	}
	if err := json.Unmarshal(raw, &list); err != nil || list.NextCursor != "" {
		c.t.Fatalf("the list of tools: %v, cursor %q", err, list.NextCursor)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, len(raw)
}

// leave closes the gateway's input, as a client that is done does, and checks how the gateway ends.
func (c *drillClient) leave() {
	c.t.Helper()
	_ = c.in.Close()
	c.over()
	if status := c.cmd.ProcessState.ExitCode(); status != 0 {
		c.t.Errorf("GATE-5 status %d after the end of the input; standard error %s", status, &c.stderr)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.foreign {
		c.t.Errorf("GATE-6 on standard output: %.300s", line)
	}
}

// over waits for the end of the gateway.
func (c *drillClient) over() {
	c.t.Helper()
	select {
	case <-c.waited:
	case <-time.After(drillPatience):
		_ = c.cmd.Process.Kill()
		<-c.waited
		c.t.Errorf("GATE-5 the gateway did not end; standard error %s", &c.stderr)
	}
}

func (c *drillClient) noticed(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notices[method]
}

// logged waits for a text on standard error.
func (c *drillClient) logged(text string) {
	c.t.Helper()
	c.d.eventually(fmt.Sprintf("%q on standard error, which is\n%s", text, &c.stderr), func() bool { return strings.Contains(c.stderr.String(), text) })
}
