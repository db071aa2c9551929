package mcptools

// Telling an entry that is the gateway itself: fronted by itself, a gateway would start gateways without end (GATE-2).

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// StartsItself says whether the entry is the gateway that reads it: a command that comes to `runcode mcp`, also through a runner such
// as npx or go run or a shell, or one of the addresses that it serves itself. executable is the path of the running program; an
// address is a URL or host:port.
func (c ServerConfig) StartsItself(executable string, addresses ...string) bool {
	if c.Transport == StreamableHTTP {
		return slices.ContainsFunc(addresses, func(own string) bool { return samePlace(c.URL, own) })
	}
	words := append([]string{c.Command}, c.Args...)
	if isProgram(words[0], executable) {
		return subcommand(words[1:]) == "mcp"
	}
	if !slices.Contains(runners, programName(words[0])) {
		return false // a name among the arguments of any other program is an argument
	}
	words = scriptWords(words)
	for i, word := range words {
		if i > 0 && isProgram(word, executable) && subcommand(words[i+1:]) == "mcp" {
			return true
		}
	}
	return false
}

// runners are programs that start another one which their arguments name.
var runners = []string{
	"npx", "npm", "pnpm", "yarn", "bunx", "bun", "node", "go", "uvx", "pipx", "mise", "asdf",
	"sh", "bash", "dash", "zsh", "fish", "ksh", "cmd", "powershell", "pwsh",
	"env", "nice", "nohup", "exec", "sudo", "doas", "setsid", "stdbuf", "timeout", "xargs", "direnv", "wsl",
}

// scriptWords takes the words of a shell's script apart, roughly: enough to see which program it names.
func scriptWords(args []string) []string {
	var words []string
	for _, arg := range args {
		words = append(words, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()\"'`", r) })...)
	}
	return words
}

// subcommand is the first word that is no flag. A flag's value in a word of its own cannot be told from one; the gateway's own flags
// stand behind its subcommand.
func subcommand(words []string) string {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

const ownName = "runcode"

// isProgram says whether a word names the running program: by its name, as a package of that name, or as the very file.
func isProgram(word, executable string) bool {
	if programName(word) == ownName {
		return true
	}
	path, err := exec.LookPath(word)
	if err != nil {
		return false
	}
	own, err := os.Stat(executable)
	if err != nil {
		return false
	}
	other, err := os.Stat(path)
	return err == nil && os.SameFile(own, other)
}

// programName is the last element of a path or package, without a version and without what Windows appends.
func programName(word string) string {
	name := filepath.ToSlash(word)
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = name[strings.LastIndexByte(name, '\\')+1:] // also of a Windows path in a file that is read elsewhere
	if at := strings.IndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	lower := strings.ToLower(name)
	for _, extension := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		lower = strings.TrimSuffix(lower, extension)
	}
	return lower
}

// samePlace compares the hosts and ports of two addresses. All names of this machine's own loopback are one host.
func samePlace(a, b string) bool {
	hostA, portA := placeOf(a)
	hostB, portB := placeOf(b)
	return hostA != "" && hostA == hostB && portA == portB
}

func placeOf(address string) (host, port string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, port = u.Hostname(), u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
	} else if host, port, err = net.SplitHostPort(address); err != nil {
		return "", ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(host); host == "" || host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "localhost"
	}
	return host, port
}
