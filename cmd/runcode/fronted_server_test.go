package main

// This file is an MCP server that replays what a real one listed: the command "replayserver" of the tests that front many at once.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// replayServer answers from the file that is its first argument, which has what a server answered to initialize and to tools/list, as it
// was sent. A call is answered with its name and arguments. Its second argument is a file to write when the list has been answered, so that
// a test can see from its time when that was.
func replayServer() {
	if err := replay(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "replayserver:", err)
		os.Exit(1)
	}
}

func replay(path, listed string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file struct{ Initialize, Tools json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the client has gone
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if m.ID == nil {
			continue
		}
		result := []byte(`{}`)
		switch m.Method {
		case "initialize":
			result = file.Initialize
		case "tools/list":
			result = fmt.Appendf(nil, `{"tools":%s}`, file.Tools)
		case "tools/call":
			said, err := json.Marshal(string(m.Params))
			if err != nil {
				return err
			}
			result = fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, said)
		}
		var answer bytes.Buffer
		if err := json.Compact(&answer, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)); err != nil {
			return err
		}
		answer.WriteByte('\n')
		if _, err := os.Stdout.Write(answer.Bytes()); err != nil {
			return err
		}
		if m.Method == "tools/list" {
			if err := os.WriteFile(listed, nil, 0o600); err != nil {
				return err
			}
		}
	}
}
