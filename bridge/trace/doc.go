// Package trace is the room of the session log: it writes a run's events as they happen, reads a log back, executes it again
// without touching a tool, and draws it.
package trace
