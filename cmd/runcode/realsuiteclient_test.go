package main

// This file is the client that the conformance suite starts, the command "suiteclient" of the tests' PATH: it runs the command with a
// program over the suite's server, as a person would after adding the server's address to a configuration.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// suiteClientProgram calls every tool of the server: with the arguments that the scenario wants, or with numbers to add.
const suiteClientProgram = `const wanted: { name: string; arguments: any }[] = JSON.parse(args[0]).toolCalls ?? [];
const failed: string[] = [];
// A suite that wants to see a broken stream taken up again counts the streams of a client, the one for notifications included.
if ("mcp__suite__test_reconnection" in tools) await new Promise((resolve) => setTimeout(resolve, 2000));
for (const tool of Object.keys(tools)) {
  const calls = wanted.filter((call) => tool.endsWith("__" + call.name)).map((call) => call.arguments);
  for (const input of calls.length > 0 ? calls : [{ a: 5, b: 3 }]) {
    try {
      await (tools as any)[tool](input);
    } catch (e) {
      if (!(e instanceof ToolCallError)) throw e;
      failed.push(e.toolName + ": " + e.message);
    }
  }
}
return failed;`

// suiteClient is started with the address of the suite's server as its last argument.
func suiteClient() {
	// The suite starts the clients of all scenarios at once. More than a few at a time would make some that measure time fail on a
	// machine of two processors.
	leave := occupy(os.Getenv("HOME"))
	err := runSuiteClient(os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	leave()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// occupy waits for one of four places, which are folders, and takes it until leave is called.
func occupy(folder string) (leave func()) {
	for ; ; time.Sleep(20 * time.Millisecond) {
		for i := range 4 {
			place := filepath.Join(folder, fmt.Sprint("place-", i))
			if os.Mkdir(place, 0o700) == nil {
				return func() { _ = os.Remove(place) }
			}
		}
	}
}

// runSuiteClient writes a configuration and a program, and runs the program, after a login where the command says that it needs one.
func runSuiteClient(address, wants string) error {
	folder, err := os.MkdirTemp(os.Getenv("HOME"), "suite-")
	if err != nil {
		return err
	}
	entry := map[string]any{"type": "http", "url": address}
	if wants == "" {
		wants = "{}"
	}
	var registered struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(wants), &registered); err != nil {
		return err
	}
	if registered.ID != "" {
		entry["oauth"] = map[string]string{"clientId": registered.ID, "clientSecret": registered.Secret}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"suite": entry}})
	if err != nil {
		return err
	}
	config, program := filepath.Join(folder, "suite.mcp.json"), filepath.Join(folder, "suite.ts")
	for path, text := range map[string]string{config: string(text), program: suiteClientProgram} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	// Scenarios run side by side: each has the logins of its own server.
	surroundings := append(os.Environ(), "XDG_CONFIG_HOME="+folder)
	for logins := 0; ; logins++ {
		run := exec.Command("runcode", "run", "--json", "--mcp", config, program, "--", wants)
		run.Env = surroundings
		said, err := run.CombinedOutput()
		os.Stdout.Write(said)
		if logins == maxLogins || !strings.Contains(string(said), "run: runcode mcp login suite") {
			return err
		}
		if err := logInByHand(config, surroundings); err != nil {
			return err
		}
	}
}

// maxLogins is how often a person would do what the command says before asking somebody.
const maxLogins = 3

// logInByHand runs `runcode mcp login` and visits the address that it prints, as a browser would: the suite's authorization server
// consents without asking.
func logInByHand(config string, surroundings []string) error {
	login := exec.Command("runcode", "mcp", "login", "suite", "--no-browser", "--mcp", config)
	login.Env, login.Stderr = surroundings, os.Stderr
	out, err := login.StdoutPipe()
	if err != nil {
		return err
	}
	if err := login.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		page, err := http.Get(lines.Text()) // follows the way back to the waiting command
		if err != nil {
			fmt.Fprintln(os.Stderr, "the browser:", err)
			continue
		}
		page.Body.Close()
	}
	return login.Wait()
}
