// Package mcptools makes the tools of MCP servers tools of a registry, so that they pass the same pipeline as any other tool.
//
// One configured server is one [Bridge]: it starts or reaches the server, asks for its tools, registers each under
// mcp__<server>__<tool>, follows the server's changes of its list, and restores a lost connection. [LoadConfig] reads the
// configuration files that people already have for their MCP clients. [Servers] holds the bridges of one registry.
//
//	servers := mcptools.NewServers(reg)
//	configs, err := mcptools.LoadConfig(".mcp.json")
//	for _, c := range configs {
//		_, err := servers.Connect(ctx, c, mcptools.Options{Logger: logger})
//	}
//	defer servers.Close(ctx)
//
// The MCP library carries the transport and the handshake and nothing else: it loses key order, rounds numbers and refuses what it
// does not know. What tools/list and tools/call answer is taken as bytes from the wire and read by the project's own codec (tap.go).
// A server is not trusted: its lines are length-capped, its requests are refused, its process leaves nothing behind, its list is
// checked before anything of it is registered.
//
// What the configuration and a login keep secret is in no log, error or event, also where a server repeats it (redact.go). Two things
// of a server are handed on as they came, secrets or not: its list of tools, and what a tool answers with success. They are the
// server's own words to whoever asked.
//
// A server behind an address may want a login: [Login] makes one in the user's browser, Options.TokenDir is where it is kept, and a
// [LoginNeededError] says that one is missing. Models see the images of results where Options.Images and Options.Route admit them.
package mcptools
