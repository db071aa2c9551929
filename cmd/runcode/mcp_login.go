package main

// This file defines `runcode mcp login`: logging in at an HTTP server with a browser, once for all later commands.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/registry/mcptools"
)

func (a *app) mcpLoginCommand() *cobra.Command {
	var f toolFlags
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login NAME --mcp FILE",
		Short: "Log in at an MCP server with a browser",
		// The flags are in the line above.
		DisableFlagsInUseLine: true,
		Long: `Log in at the server NAME of an MCP configuration file, which must be reached over HTTP and want OAuth. The address to visit is printed
and opened in the browser; when you have agreed there, the login is kept in your configuration folder, readable by you alone, and every
later command that uses the server finds it there.`,
		Example: `  runcode mcp login issues --mcp .mcp.json`,
		Args:    exactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.mcp) == 0 {
				return usagef("%s needs --mcp FILE, the configuration that %q is in", cmd.CommandPath(), args[0])
			}
			f.lenient = true
			servers, _, err := a.loadServers(f)
			if err != nil {
				return err
			}
			server, err := findServer(servers, args[0])
			if err != nil {
				return err
			}
			return a.login(cmd.Context(), server, !noBrowser)
		},
	}
	cmd.Flags().StringArrayVar(&f.mcp, "mcp", nil, "the MCP configuration `FILE` that the server is in; may be repeated")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address only")
	return cmd
}

// findServer finds a server by its name or by the key that the name was made of (CLI-14).
func findServer(servers []mcptools.ServerConfig, name string) (mcptools.ServerConfig, error) {
	var known []string
	for _, s := range servers {
		if s.Name == name || s.Name == mcptools.ServerName(name) {
			if s.Transport != mcptools.StreamableHTTP {
				return s, usagef("MCP server %q is a command that is started here: there is nothing to log in at; give it what it needs in its env", s.Name)
			}
			return s, nil
		}
		known = append(known, s.Name)
	}
	if len(known) == 0 {
		return mcptools.ServerConfig{}, usagef("no MCP server %q: the configuration has no servers that can be used", name)
	}
	slices.Sort(known)
	return mcptools.ServerConfig{}, usagef("no MCP server %q; there are %s", name, strings.Join(known, ", "))
}

func (a *app) login(ctx context.Context, server mcptools.ServerConfig, browser bool) error {
	dir := a.loginDir()
	if dir == "" {
		return usagef("there is no configuration folder to keep a login in: set HOME")
	}
	version, _ := buildVersion()
	err := mcptools.Login(ctx, server, mcptools.LoginOptions{
		TokenDir: dir,
		Version:  version,
		Show: func(_ context.Context, address string) error {
			a.warn("to log in at " + server.Name + ", visit this address:")
			fmt.Fprintln(a.stdout, a.forStdout(address))
			if browser {
				if err := openBrowser(address); err != nil {
					a.warn(fmt.Sprintf("the browser could not be opened: %v", err))
				}
			}
			return nil
		},
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &exitError{status: statusFailed, err: err}
	}
	a.warn("logged in at " + server.Name)
	return nil
}

// openBrowser opens the address of a web page. The address comes from a server: anything else it names, such as a file or a flag for
// the opener, is not opened.
func openBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("the address is no web page")
	}
	opener := []string{"xdg-open"}
	switch goruntime.GOOS {
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		opener = []string{"open"}
	}
	cmd := exec.Command(opener[0], append(opener[1:], u.String())...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // some openers stay as long as the browser does
	return nil
}
