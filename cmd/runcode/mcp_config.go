package main

// This file defines what `runcode mcp --print-config` prints: the entry that makes a client start this command with these flags.

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/mcptools"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// entryName is the name under which clients know the gateway.
const entryName = "runcode"

// start is what an entry makes a client do: start this command, in an environment with these variables of its own.
type start struct {
	command   []string
	variables []string
}

// client is an MCP client that people configure by a file.
type client struct {
	name  string
	file  string // where the entry belongs
	entry func(start) string
	also  func(start) string // a command that does the same; "" or nil: there is none
	// passes says whether an entry can pass on variables of the client's environment.
	passes bool
}

// The places by which clients refer to a variable.
const (
	dollarPlace = "${%s}"
	envPlace    = "${env:%s}"
	bracePlace  = "{env:%s}"
)

var clients = []client{
	{name: "claude-code", file: ".mcp.json in the project", passes: true, entry: inMember("mcpServers", typed, dollarPlace), also: func(s start) string {
		words := []string{"claude", "mcp", "add"}
		for _, name := range s.variables {
			words = append(words, "--env", name+"="+fmt.Sprintf(dollarPlace, name))
		}
		return shellWords(slices.Concat(words, []string{"--scope", "project", entryName, "--"}, s.command))
	}},
	{name: "claude-desktop", file: "claude_desktop_config.json (Settings, Developer, Edit Config)", entry: inMember("mcpServers", untyped, "")},
	{name: "cursor", file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json", passes: true, entry: inMember("mcpServers", typed, envPlace)},
	{name: "vscode", file: ".vscode/mcp.json in the project", passes: true, entry: inMember("servers", typed, envPlace), also: func(s start) string {
		entry := append([]jsonval.Member{{Name: "name", Value: jsonval.Text(entryName)}}, stdioEntry(s, typed, envPlace)...)
		return shellWords([]string{"code", "--add-mcp", jsonval.Object(entry...).String()})
	}},
	{name: "windsurf", file: "~/.codeium/windsurf/mcp_config.json", passes: true, entry: inMember("mcpServers", untyped, envPlace)},
	{name: "gemini", file: ".gemini/settings.json in the project, or ~/.gemini/settings.json", passes: true, entry: inMember("mcpServers", untyped, dollarPlace)},
	{name: "codex", file: "~/.codex/config.toml", passes: true, entry: codexEntry, also: func(s start) string {
		if len(s.variables) > 0 {
			return "" // it would want their values
		}
		return shellWords(append([]string{"codex", "mcp", "add", entryName, "--"}, s.command...))
	}},
	{name: "opencode", file: "opencode.json in the project, or ~/.config/opencode/opencode.json", passes: true, entry: opencodeEntry},
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
	if strings.HasPrefix(executable, os.TempDir()) && strings.Contains(executable, "go-build") {
		a.warn("warning: this program was built for one go run and will be gone: install it first, with go install ./cmd/runcode")
	}
	c, s := clients[i], start{command: append([]string{executable, "mcp"}, args...), variables: usedVariables(f.tools.mcp)}
	if _, err := fmt.Fprintln(a.stdout, a.forStdout(c.entry(s))); err != nil {
		return &exitError{status: statusFailed, err: fmt.Errorf("cannot write the entry: %w", err)}
	}
	a.warn("this belongs in " + c.file)
	if c.also != nil {
		if line := c.also(s); line != "" {
			fmt.Fprintln(a.stderr, a.forStderr("runcode: or: "+line)) // whatever white space is in it
		}
	}
	if len(s.variables) > 0 && !c.passes {
		a.warn("warning: this client passes on no variables of your environment: add those that are used, with their values, under env: " + strings.Join(s.variables, ", "))
	}
	return nil
}

// usedVariables are the environment variables that the configuration files use and that are set, sorted. Clients pass few variables on
// to the servers that they start.
func usedVariables(files []string) []string {
	passed := []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} // by all of them
	used := map[string]bool{}
	for _, path := range files {
		// What is wrong with a file has been said.
		_, _ = mcptools.LoadConfigWith(path, mcptools.LoadOptions{LookupEnv: func(name string) (string, bool) {
			value, ok := os.LookupEnv(name)
			if ok && !slices.Contains(passed, name) {
				used[name] = true
			}
			return value, ok
		}})
	}
	return slices.Sorted(maps.Keys(used))
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

// Some clients want the type of an entry said.
const (
	typed   = true
	untyped = false
)

// stdioEntry is a server entry as most clients have it. place is how the client refers to a variable; "": it cannot.
func stdioEntry(s start, typed bool, place string) []jsonval.Member {
	var entry object
	if typed {
		entry.add("type", jsonval.Text("stdio"))
	}
	entry.add("command", jsonval.Text(s.command[0]))
	entry.add("args", texts(s.command[1:]))
	if len(s.variables) > 0 && place != "" {
		entry.add("env", references(s.variables, place))
	}
	return entry
}

// inMember makes files whose servers are under one member, by name.
func inMember(member string, typed bool, place string) func(start) string {
	return func(s start) string {
		return indented(one(member, one(entryName, jsonval.Object(stdioEntry(s, typed, place)...))))
	}
}

func opencodeEntry(s start) string {
	var entry object
	entry.add("type", jsonval.Text("local"))
	entry.add("command", texts(s.command))
	entry.add("enabled", jsonval.Bool(true))
	if len(s.variables) > 0 {
		entry.add("environment", references(s.variables, bracePlace))
	}
	var file object
	file.add("$schema", jsonval.Text("https://opencode.ai/config.json"))
	file.add("mcp", one(entryName, entry.value()))
	return indented(file.value())
}

// codexEntry gives the servers behind the gateway more time to start than the ten seconds that Codex waits by default.
func codexEntry(s start) string {
	text, err := toml.Marshal(struct {
		Command   string   `toml:"command"`
		Args      []string `toml:"args"`
		Variables []string `toml:"env_vars,omitempty"`
		Timeout   int      `toml:"startup_timeout_sec"`
	}{s.command[0], s.command[1:], s.variables, 30})
	if err != nil {
		panic(err) // texts and a number
	}
	return "[mcp_servers." + entryName + "]\n" + strings.TrimSuffix(string(text), "\n")
}

func texts(list []string) jsonval.Value {
	values := make([]jsonval.Value, len(list))
	for i, text := range list {
		values[i] = jsonval.Text(text)
	}
	return jsonval.Array(values...)
}

// references is an object with a place for each variable, never its value.
func references(variables []string, place string) jsonval.Value {
	var o object
	for _, name := range variables {
		o.add(name, jsonval.Text(fmt.Sprintf(place, name)))
	}
	return o.value()
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
