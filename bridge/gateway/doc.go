// Package gateway is the room of the MCP server: it serves run_code and the tools of a registry to MCP clients.
package gateway
