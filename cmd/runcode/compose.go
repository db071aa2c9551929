package main

// This file defines the composition of the command (CLI-13): one agent, its tools from the flags, the policies that the flags
// ask for, the timeout policy and the repeat reminder.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/exectools"
	"github.com/runcode-go/runcode/registry/mcptools"
	"github.com/runcode-go/runcode/registry/policy"
)

// agentName is the one agent of a command.
const agentName = "cli"

// toolbox is a registry with everything the flags put into it.
type toolbox struct {
	registry *registry.Registry
	servers  []mcptools.ServerConfig // those of the configuration files
	broken   []string                // the keys of entries that cannot be used
	closers  []func()
}

// close ends what the tools have started, the youngest first.
func (t *toolbox) close() {
	for _, f := range slices.Backward(t.closers) {
		f()
	}
	t.closers = nil
}

// openTools builds the registry with everything but the MCP servers' tools: [app.connect] and [app.front] start those. Any error is
// one of configuration, and leaves nothing running.
func (a *app) openTools(f toolFlags, o registry.Options) (_ *toolbox, err error) {
	var manifests []*exectools.Manifest
	deny, ask := slices.Clone(f.deny), slices.Clone(f.ask)
	for _, path := range f.manifests {
		m, err := exectools.LoadManifest(path)
		if err != nil {
			return nil, configuration(err)
		}
		manifests = append(manifests, m)
		deny, ask = append(deny, m.Deny...), append(ask, m.Ask...)
	}
	servers, broken, err := a.loadServers(f)
	if err != nil {
		return nil, err
	}

	o.Logger = a.logger()
	reg, err := registry.New(o)
	if err != nil {
		return nil, err
	}
	t := &toolbox{registry: reg, servers: servers, broken: broken}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if err := installPolicy(reg, names{only: f.only, deny: deny, ask: ask}); err != nil {
		return nil, err
	}
	for i, m := range manifests {
		if _, err := m.Register(reg); err != nil {
			return nil, usagef("%s: %w", f.manifests[i], err)
		}
	}
	if len(f.allowRead) > 0 {
		tools, closer, err := exectools.ReadFiles(f.allowRead...)
		if err := t.add("--allow-read", tools, closer, err); err != nil {
			return nil, err
		}
	}
	if len(f.allowWrite) > 0 {
		tools, closer, err := exectools.WriteFiles(f.allowWrite, a.protected(f))
		if err := t.add("--allow-write", tools, closer, err); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// loadServers reads the configuration files. broken are the keys of entries that are passed over, where that is allowed.
func (a *app) loadServers(f toolFlags) (servers []mcptools.ServerConfig, broken []string, err error) {
	for _, path := range f.mcp {
		configs, err := mcptools.LoadConfig(path)
		var bad *mcptools.ConfigError
		switch {
		case err == nil:
		case f.lenient && len(configs) > 0 && errors.As(err, &bad):
			for _, problem := range bad.Problems {
				a.warn("error: " + bad.File + ": " + problem)
				if key := entryKey(problem); key != "" && !slices.Contains(broken, key) {
					broken = append(broken, key)
				}
			}
		default:
			return nil, nil, configuration(err)
		}
		servers = append(servers, configs...)
	}
	return servers, broken, nil
}

// entryKey is the key of the server that a problem with a configuration is about, such as mcpServers.git.command: is missing.
func entryKey(problem string) string {
	place, _, _ := strings.Cut(problem, ": ")
	for _, container := range []string{"mcpServers.", "mcp_servers.", "servers.", "mcp."} {
		if at := strings.LastIndex(place, container); at >= 0 {
			key, _, _ := strings.Cut(place[at+len(container):], ".")
			return key
		}
	}
	return ""
}

// configuration makes a loader's error a usage error.
func configuration(err error) error { return &exitError{status: statusUsage, err: err} }

// add registers the tools that a flag gives, and keeps what closes them.
func (t *toolbox) add(flag string, tools []registry.Definition, closer io.Closer, err error) error {
	if err != nil {
		return usagef("%s: %w", flag, err)
	}
	t.closers = append(t.closers, func() { closer.Close() })
	for _, d := range tools {
		if _, err := t.registry.Register(d); err != nil {
			return usagef("%s: %w", flag, err)
		}
	}
	return nil
}

// protected is what no write may touch: the files that say what this command may do, and its own configuration (CLI-2).
func (a *app) protected(f toolFlags) []string {
	paths := slices.Concat(f.manifests, f.mcp, f.protect)
	if dir, err := a.userConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "runcode"))
	}
	return paths
}

// names are the patterns of --only, --deny and --ask and of the manifests' policy.
type names struct{ only, deny, ask []string }

// visible reports whether a tool of this name is offered and may be called. The transport is no tool: what the person at the
// command line has started herself needs no leave.
func (n names) visible(tool string) bool {
	if tool == registry.RunCode {
		return true
	}
	return (len(n.only) == 0 || matchAny(n.only, tool)) && !matchAny(n.deny, tool)
}

func matchAny(patterns []string, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return policy.MatchName(p, tool) })
}

// installPolicy puts the policies on the registry. Names are matched at each call, so tools that appear later are covered.
func installPolicy(reg *registry.Registry, n names) error {
	scope, err := reg.Scope(agentName, nil)
	if err != nil {
		return err
	}
	if len(n.only) > 0 || len(n.deny) > 0 {
		if _, err := scope.Restrict(registry.Restriction{Match: n.visible}); err != nil {
			return err
		}
		reg.Guard(func(x registry.Execution) (string, bool) {
			return fmt.Sprintf("tool %q is denied on the command line", x.Name()), !n.visible(x.Name())
		})
	}
	if len(n.ask) > 0 {
		reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			d, err := next()
			if err != nil || d.Kind() != registry.PreAllow || x.Name() == registry.RunCode || !matchAny(n.ask, x.Name()) {
				return d, err
			}
			if _, known := reg.Get(x.Name(), agentName); known { // nobody is pestered with names that a model made up
				d = registry.Ask("")
			}
			return d, nil
		})
	}
	policy.Timeout(reg)
	_, err = policy.RepeatReminder(reg, policy.RepeatOptions{})
	return err
}

// connect starts the MCP servers, all at once. For one program there is no later: a server that does not come up ends the
// command.
func (a *app) connect(ctx context.Context, t *toolbox, f toolFlags) error {
	configs := t.servers
	if len(configs) == 0 || f.noServers {
		return nil
	}
	servers := mcptools.NewServers(t.registry)
	t.closers = append(t.closers, func() { servers.Close(context.WithoutCancel(ctx)) })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var starting atomic.Bool
	starting.Store(true)
	defer starting.Store(false)
	logger := slog.New(&lineHandler{app: a, returned: &starting})
	o := a.serverOptions(logger)
	failures := make(chan error, len(configs))
	for _, c := range configs {
		c.FailOnStartupError = true
		go func() {
			_, err := servers.Connect(ctx, c, o)
			if err != nil {
				err = configuration(err) // it names the server
				cancel()
			}
			failures <- err
		}()
	}
	var first error
	for range configs {
		if err := <-failures; err != nil && first == nil {
			first = err
		}
	}
	if first != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return errInterrupted
	}
	return first
}

// serverOptions are those of every connection to an MCP server.
func (a *app) serverOptions(logger *slog.Logger) mcptools.Options {
	version, _ := buildVersion()
	return mcptools.Options{Logger: logger, Version: version, TokenDir: a.loginDir()}
}

// loginDir is where the logins at MCP servers are kept; "" if there is no place.
func (a *app) loginDir() string {
	dir, err := a.userConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "runcode", "logins")
}

// warn prints one line that does not end the command, beside the status line if there is one.
func (a *app) warn(text string) {
	line := "runcode: " + oneLine(text)
	if show := a.show.Load(); show != nil {
		show.log(line)
		return
	}
	fmt.Fprintln(a.stderr, a.forStderr(line))
}

// logger carries the warnings of the packages below to standard error, one line each.
func (a *app) logger() *slog.Logger { return slog.New(&lineHandler{app: a}) }
