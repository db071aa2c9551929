package main

// This file defines what `runcode mcp --print-config` prints: the entry that makes a client start this command with these flags.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// entryName is the name under which clients know the gateway.
const entryName = "runcode"

// client is an MCP client that people configure by a file.
type client struct {
	name  string
	file  string // where the entry belongs
	entry func(command []string) string
	also  func(command []string) string // a command that does the same; nil: there is none
}

var clients = []client{
	{name: "claude-code", file: ".mcp.json in the project", entry: inMember("mcpServers", true), also: func(command []string) string {
		return "claude mcp add --scope project " + entryName + " -- " + shellWords(command)
	}},
	{name: "claude-desktop", file: "claude_desktop_config.json (Settings, Developer, Edit Config)", entry: inMember("mcpServers", false)},
	{name: "cursor", file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json", entry: inMember("mcpServers", true)},
	{name: "vscode", file: ".vscode/mcp.json in the project", entry: inMember("servers", true), also: func(command []string) string {
		entry := append([]jsonval.Member{{Name: "name", Value: jsonval.Text(entryName)}}, stdioEntry(command, true)...)
		return "code --add-mcp " + shellWords([]string{jsonval.Object(entry...).String()})
	}},
	{name: "windsurf", file: "~/.codeium/windsurf/mcp_config.json", entry: inMember("mcpServers", false)},
	{name: "gemini", file: ".gemini/settings.json in the project, or ~/.gemini/settings.json", entry: inMember("mcpServers", false)},
	{name: "codex", file: "~/.codex/config.toml", entry: codexEntry, also: func(command []string) string {
		return "codex mcp add " + entryName + " -- " + shellWords(command)
	}},
	{name: "opencode", file: "opencode.json in the project, or ~/.config/opencode/opencode.json", entry: opencodeEntry},
}

func clientList() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

func clientNames() string { return strings.Join(clientList(), ", ") }

// printClientConfig prints the entry on standard output, and on standard error where it belongs. What the flags name is looked at as
// for serving, so that a client is not told to start what cannot start.
func (a *app) printClientConfig(flags *pflag.FlagSet, f mcpFlags) error {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == f.printConfig })
	switch {
	case i < 0:
		return usagef("--print-config %q: expected one of %s", f.printConfig, clientNames())
	case f.http.address != "":
		return usagef("--print-config prints an entry for a client that starts this command itself: leave out --http")
	}
	f.tools.lenient = true
	box, err := a.openTools(f.tools, registry.Options{Approver: a.approver(false, nil)})
	if err != nil {
		return err
	}
	box.close()
	executable, err := stableExecutable()
	if err != nil {
		return usagef("cannot tell where this program lies: %w", err)
	}
	args, err := carriedFlags(flags)
	if err != nil {
		return err
	}
	command := append([]string{executable, "mcp"}, args...)
	if strings.HasPrefix(executable, os.TempDir()) && strings.Contains(executable, "go-build") {
		a.warn("warning: this program was built for one go run and will be gone: install it first, with go install ./cmd/runcode")
	}
	c := clients[i]
	if _, err := fmt.Fprintln(a.stdout, a.forStdout(c.entry(command))); err != nil {
		return &exitError{status: statusFailed, err: fmt.Errorf("cannot write the entry: %w", err)}
	}
	a.warn("this belongs in " + c.file)
	if c.also != nil {
		a.warn("or: " + c.also(command))
	}
	return nil
}

// pathFlags are the flags whose values are paths. A client starts its servers in a folder of its own choice.
var pathFlags = []string{"tools", "mcp", "allow-read", "allow-write", "tsc"}

// carriedFlags returns the flags of this command line but --print-config, with absolute paths.
func carriedFlags(flags *pflag.FlagSet) (args []string, err error) {
	flags.Visit(func(f *pflag.Flag) { // in the order of their names
		if f.Name == "print-config" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if slices.Contains(pathFlags, f.Name) {
				absolute, abs := filepath.Abs(value)
				if abs != nil && err == nil {
					err = usagef("--%s: %w", f.Name, abs)
				}
				value = absolute
			}
			switch {
			case f.Value.Type() == "bool" && value == "true":
				args = append(args, "--"+f.Name)
			case f.NoOptDefVal != "":
				args = append(args, "--"+f.Name+"="+value) // apart they would be a flag and an argument
			default:
				args = append(args, "--"+f.Name, value)
			}
		}
	})
	return args, err
}

// stableExecutable is the absolute path of this program, because graphical clients do not have the PATH of a shell. A link on the PATH
// that leads here comes first: package managers move what is behind it with each version.
func stableExecutable() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath(entryName); err == nil {
		there, err1 := os.Stat(found)
		here, err2 := os.Stat(own)
		if err1 == nil && err2 == nil && os.SameFile(there, here) {
			return filepath.Abs(found)
		}
	}
	return own, nil
}

// stdioEntry is a server entry as most clients have it. Some want its type said.
func stdioEntry(command []string, typed bool) []jsonval.Member {
	args := make([]jsonval.Value, len(command)-1)
	for i, arg := range command[1:] {
		args[i] = jsonval.Text(arg)
	}
	var members []jsonval.Member
	if typed {
		members = append(members, jsonval.Member{Name: "type", Value: jsonval.Text("stdio")})
	}
	return append(members,
		jsonval.Member{Name: "command", Value: jsonval.Text(command[0])},
		jsonval.Member{Name: "args", Value: jsonval.Array(args...)},
	)
}

// inMember makes files whose servers are under one member, by name.
func inMember(member string, typed bool) func(command []string) string {
	return func(command []string) string {
		return indented(one(member, one(entryName, jsonval.Object(stdioEntry(command, typed)...))))
	}
}

func opencodeEntry(command []string) string {
	words := make([]jsonval.Value, len(command))
	for i, word := range command {
		words[i] = jsonval.Text(word)
	}
	var entry object
	entry.add("type", jsonval.Text("local"))
	entry.add("command", jsonval.Array(words...))
	entry.add("enabled", jsonval.Bool(true))
	var file object
	file.add("$schema", jsonval.Text("https://opencode.ai/config.json"))
	file.add("mcp", one(entryName, entry.value()))
	return indented(file.value())
}

// codexEntry gives the servers behind the gateway more time to start than the ten seconds that Codex waits by default.
func codexEntry(command []string) string {
	text, err := toml.Marshal(struct {
		Command string   `toml:"command"`
		Args    []string `toml:"args"`
		Timeout int      `toml:"startup_timeout_sec"`
	}{command[0], command[1:], 30})
	if err != nil {
		panic(err) // strings and a number
	}
	return "[mcp_servers." + entryName + "]\n" + strings.TrimSuffix(string(text), "\n")
}

func one(name string, v jsonval.Value) jsonval.Value {
	return jsonval.Object(jsonval.Member{Name: name, Value: v})
}

func indented(v jsonval.Value) string { return string(v.AppendIndentJSON(nil, "  ", -1)) }

// shellWords writes words so that a POSIX shell reads them as they are.
func shellWords(words []string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.TrimFunc(word, plain) != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
