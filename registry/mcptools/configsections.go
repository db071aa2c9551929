package mcptools

// Finding the servers in a configuration file: where each client keeps them, and what switches one off.

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// configReader turns a document into servers and keeps what is wrong with it.
type configReader struct {
	expander
	bad   problems
	keys  map[string]bool   // of the sections that have been read
	names map[string]string // server name: the place that took it
	off   map[string]bool   // keys that the file switches off elsewhere than in the entry
	only  map[string]bool   // keys that alone are switched on; nil: all
}

// section is a place of a document that holds servers.
type section struct {
	where   string
	entries jsonval.Value
}

func (r *configReader) read(document jsonval.Value) []ServerConfig {
	project := r.projectSection(document)
	sections := slices.Concat(project, findServers(document))
	if len(sections) == 0 {
		places := "mcpServers, servers, mcp or mcp_servers"
		if _, ok := document.Get("projects"); ok {
			places += ", or under projects." + r.workspace + ".mcpServers"
		}
		r.bad.add("file", "has no servers: expected an object under %s", places)
		return nil
	}
	r.readInputs(document)
	r.readSwitches(document)
	r.keys, r.names = map[string]bool{}, map[string]string{}
	var servers []ServerConfig
	for _, s := range sections {
		servers = append(servers, r.readSection(s)...)
	}
	return servers
}

func (r *configReader) readSection(s section) []ServerConfig {
	if !s.entries.IsObject() {
		r.bad.add(s.where, "expected an object of servers by name, got %s", s.entries.Kind())
		return nil
	}
	r.braces = s.where == "mcp" || s.where == "mcp.servers"
	var servers []ServerConfig
	var keys []string
	for key, entry := range s.entries.Members() {
		keys = append(keys, key)
		path := s.where + "." + key
		if r.keys[key] || r.off[key] || r.only != nil && !r.only[key] {
			continue
		}
		if !entry.IsObject() {
			r.bad.add(path, "expected an object, got %s", entry.Kind())
			continue
		}
		before := len(r.bad)
		server, enabled := r.server(path, key, entry)
		if !enabled {
			continue // what a disabled entry lacks is nobody's problem
		}
		if len(r.bad) > before {
			continue
		}
		if other, taken := r.names[server.Name]; taken {
			r.bad.add(path, "has the same server name %q as %s", server.Name, other)
			continue
		}
		r.names[server.Name] = path
		servers = append(servers, server)
	}
	for _, key := range keys {
		r.keys[key] = true
	}
	return servers
}

// findServers looks for the servers where the clients in use keep them.
func findServers(document jsonval.Value) []section {
	for _, path := range [][]string{{"mcpServers"}, {"servers"}, {"mcp_servers"}, {"mcp", "servers"}, {"mcp"}} {
		if at, ok := dig(document, path...); ok {
			return []section{{strings.Join(path, "."), at}}
		}
	}
	return nil
}

func dig(v jsonval.Value, path ...string) (at jsonval.Value, ok bool) {
	at, ok = v, true
	for _, name := range path {
		if at, ok = at.Get(name); !ok {
			break
		}
	}
	return at, ok
}

// project is the entry for the workspace, or for the nearest folder above it, in a file that has one for each project.
func (r *configReader) project(document jsonval.Value) (where string, entry jsonval.Value) {
	projects, _ := document.Get("projects")
	for dir := r.workspace; projects.IsObject(); {
		for _, key := range []string{dir, filepath.ToSlash(dir)} {
			if entry, ok := projects.Get(key); ok {
				return "projects." + key, entry
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", jsonval.Value{}
}

func (r *configReader) projectSection(document jsonval.Value) []section {
	where, entry := r.project(document)
	if servers, ok := entry.Get("mcpServers"); ok {
		return []section{{where + ".mcpServers", servers}}
	}
	return nil
}

// readSwitches reads which servers a file switches off beside its entries.
func (r *configReader) readSwitches(document jsonval.Value) {
	names := func(v jsonval.Value, path ...string) map[string]bool {
		list, ok := dig(v, path...)
		if !ok || !list.IsArray() {
			return nil
		}
		set := map[string]bool{}
		for _, item := range list.Items() {
			set[item.Str()] = true
		}
		return set
	}
	_, project := r.project(document)
	r.off = names(project, "disabledMcpServers")
	if _, ok := document.Get("mcpServers"); !ok {
		return // elsewhere, mcp holds the servers themselves
	}
	if off := names(document, "mcp", "excluded"); off != nil {
		r.off = off
	}
	r.only = names(document, "mcp", "allowed")
}

// readInputs takes the defaults of inputs that a file declares; what the caller gave wins.
func (r *configReader) readInputs(document jsonval.Value) {
	inputs, ok := document.Get("inputs")
	if !ok || !inputs.IsArray() {
		return
	}
	known := map[string]string{}
	for _, input := range inputs.Items() {
		id, _ := input.Get("id")
		if fallback, ok := input.Get("default"); ok && id.IsString() && fallback.IsString() {
			known[id.Str()] = fallback.Str()
		}
	}
	for id, value := range r.inputs {
		known[id] = value
	}
	r.inputs = known
}
