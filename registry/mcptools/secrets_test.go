//go:build unix

package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/sdkgen"
)

// Servers that tell whatever they were told, in every way that fails. Each four characters of a secret hold the trace, so that a secret
// which was cut is found too.

const trace = "QXZ"

func secretOf(seed byte) string {
	var out strings.Builder
	for i := range 9 {
		out.WriteString(trace)
		out.WriteByte(seed + byte(i))
	}
	return out.String()
}

// padded places a secret so that a cut at n bytes goes through it.
func padded(n int, secret string) string {
	return strings.Repeat("x", n-len(secret)/2) + secret + strings.Repeat("y", 100)
}

// leakAtStart is what a server does that tells its secrets before it says anything.
func (s testServer) leakAtStart(how string) {
	secret := os.Getenv("API_KEY")
	switch how {
	case "exit":
		fmt.Fprintln(os.Stderr, padded(stderrTail, secret))
		fmt.Fprintln(os.Stderr, padded(shownComplaint, secret))
		os.Exit(3)
	case "panic":
		panic("cannot log in with " + secret + " and " + os.Getenv("PEM"))
	case "noise":
		s.print(padded(shownBadLine, secret))
		fmt.Fprintln(os.Stderr, padded(maxStderrLine, secret)+padded(maxStderrLine, secret)+secret)
		fmt.Fprintln(os.Stderr, strings.Join(os.Environ(), "\n"))
		fmt.Fprintf(os.Stderr, "%q %s %s\n", os.Getenv("ODD"), mustJSON(os.Getenv("ODD")), url.QueryEscape(os.Getenv("ODD")))
	}
}

// leakInList does it in the list of tools, and says whether it has answered.
func (s testServer) leakInList(m message, how string) bool {
	secret := os.Getenv("API_KEY")
	switch how {
	case "list":
		s.refuse(m, -1, secret+strings.Repeat("x", 16<<10)+secret)
	case "twice":
		s.reply(m, `{"tools":[`+tool(secret, plainSchema, "")+`,`+tool(secret, plainSchema, "")+`]}`)
	case "cursor":
		s.reply(m, `{"tools":[],"nextCursor":`+mustJSON(secret)+`}`)
	case "shape":
		s.reply(m, `{"tools":[{"name":`+mustJSON(secret)+`}]}`)
	case "noise":
		name := "leak"
		s.reply(m, `{"tools":[`+tool(name, plainSchema, "")+`]}`)
	default:
		return false
	}
	return true
}

// leak answers a call in the way that its arguments say.
func (s testServer) leak(m message, arguments json.RawMessage) {
	var in struct{ How string }
	_ = json.Unmarshal(arguments, &in)
	secret := os.Getenv("API_KEY")
	switch in.How {
	case "fault":
		s.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":%s,"data":%s}}`, m.ID, mustJSON(padded(maxFaultText, secret)), mustJSON(secret)))
	case "flagged":
		s.reply(m, fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":%s}]}`, mustJSON("no such user: "+secret)))
	case "panic":
		panic("token " + secret)
	case "lossy":
		s.reply(m, fmt.Sprintf(`{"content":[{"type":"text","text":%s,"n":9007199254740993}]}`, mustJSON(secret)))
	case "result":
		s.reply(m, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, mustJSON(secret)))
	}
}

// witness collects everything that anybody can read.
type witness struct {
	*testing.T
	log  *journal
	mu   sync.Mutex
	seen []string
}

func (w *witness) hear(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, text)
}

// swear fails the test for every text with a trace of a secret, and is sure to have heard something.
func (w *witness) swear(least int) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) < least {
		w.Errorf("%d texts were heard", len(w.seen))
	}
	for _, text := range append(w.seen, w.log.String()) {
		if at := strings.Index(text, trace); at >= 0 {
			w.Errorf("MCP-5 a secret: …%s", text[max(0, at-80):min(len(text), at+80)])
		}
	}
}

// watch listens to the results of a registry, and reads what models read of its tools.
func (w *witness) watch(reg *registry.Registry) (read func()) {
	reg.OnResult(func(_ registry.Execution, r registry.Result) {
		if r.IsError() {
			w.hear(r.JSON().String())
		}
	})
	return func() {
		var tools []sdkgen.Tool
		for _, d := range reg.Visible(nil) {
			w.hear(d.Name + d.Description + d.Parameters.String() + d.Output.Schema.String())
			tools = append(tools, sdkgen.Tool{Name: d.Name, Description: d.Description, Parameters: d.Parameters, Output: d.Output.Schema, SDKOutput: d.SDKOutput})
		}
		for _, language := range sdkgen.Languages() {
			text, err := sdkgen.Section(language, tools, sdkgen.Options{})
			if err != nil {
				w.Fatal(err)
			}
			w.hear(text)
		}
	}
}

func TestSecretsNowhere(t *testing.T) {
	secretEnv := func() map[string]string {
		return map[string]string{
			"API_KEY": secretOf('0'),
			"ODD":     `a"b\c<d>&é ` + secretOf('a'),
			"PEM":     "-----BEGIN KEY-----\n" + secretOf('A') + "\n" + secretOf('K') + "\n-----END KEY-----",
		}
	}
	stdio := func(t *testing.T, how string) (*witness, *rig) {
		r := newRig(t, "leak="+how)
		for name, value := range secretEnv() {
			r.config.Env[name] = value
		}
		w := &witness{T: t, log: r.log}
		r.options.Stderr = func(_, line string) { w.hear(line) }
		return w, r
	}
	for _, how := range []string{"exit", "panic", "handshake", "list", "twice", "cursor", "shape"} {
		t.Run("MCP-5 a start that fails by "+how, func(t *testing.T) {
			w, r := stdio(t, how)
			r.config.FailOnStartupError = true
			_, err := r.servers.Connect(t.Context(), r.config, r.options)
			if err == nil {
				t.Fatal("it started")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if _, isOurs := e.(redacted); isOurs {
					break // what it wraps is there for errors.Is, and nobody prints it
				}
				w.hear(e.Error())
			}
			w.swear(1)
		})
		t.Run("MCP-5 reconnection after "+how, func(t *testing.T) {
			w, r := stdio(t, how)
			r.config.Reconnect = Reconnect{InitialDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxAttempts: 2}
			r.connect()
			eventually(t, "the giving up", func() bool { return strings.Contains(r.log.String(), "giving up") })
			w.swear(0)
		})
	}
	t.Run("MCP-5 commands that are none", func(t *testing.T) {
		for _, command := range []string{"no-such-program", "/dev/null"} {
			w, r := stdio(t, "exit")
			r.config.Command, r.config.FailOnStartupError = command, true
			_, err := r.servers.Connect(t.Context(), r.config, r.options)
			w.hear(fmt.Sprint(err))
			w.swear(1)
		}
	})
	t.Run("MCP-5 calls that fail, lines, and what models read", func(t *testing.T) {
		w, r := stdio(t, "noise")
		read := w.watch(r.reg)
		r.options.Stderr = nil // the log gets it
		r.connect()
		read()
		for _, how := range []string{"fault", "flagged", "lossy", "panic"} {
			if res := r.call("mcp__srv__leak", `{"how":"`+how+`"}`); !res.IsError() {
				t.Errorf("%s succeeded", how)
			}
		}
		eventually(t, "the reconnection", func() bool { return strings.Contains(r.log.String(), "connected again") })
		// What a tool answers is for whoever called it.
		if res := r.call("mcp__srv__leak", `{"how":"result"}`); res.Text() != secretOf('0') {
			t.Errorf("MCP-26 %s", res.Text())
		}
		w.swear(6)
		if log := r.log.String(); strings.Count(log, hidden) < 8 {
			t.Errorf("the server's own lines are not in the log: %s", log)
		}
	})
	t.Run("MCP-5 MCP-77 descriptions that change", func(t *testing.T) {
		inBubble(t, "", func(b *bench) {
			b.config.Env = secretEnv()
			list := func(description string) string {
				return `{"tools":[{"name":"a","description":` + mustJSON(description) + `,"inputSchema":{"type":"object"}}]}`
			}
			b.script.lists = []string{list("before"), list(padded(shownBadLine, secretOf('0')))}
			b.connect()
			b.script.last().notices <- struct{}{}
			time.Sleep(time.Second)
			if !strings.Contains(b.log.String(), "changed the description") {
				b.Error("not logged")
			}
			(&witness{T: b.T, log: b.log}).swear(0)
		})
	})

	web := func(t *testing.T, s *webServer) (*witness, *rig) {
		r := newRig(t)
		address, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		address.User = url.UserPassword("user-"+secretOf('0'), "pass-"+secretOf('a'))
		address.Path, address.RawQuery = "/s/"+secretOf('K')+"/mcp", "key="+secretOf('A')+"&odd="+url.QueryEscape(`"`+secretOf('p'))
		r.config = ServerConfig{
			Name: "srv", Transport: StreamableHTTP, URL: address.String(), FailOnStartupError: true, Reconnect: Reconnect{InitialDelay: time.Millisecond},
			Headers: map[string]string{"X-Key": secretOf('5'), "X-Token": "Token " + secretOf('E'), "X-Odd": `a"b\` + secretOf('g')},
		}
		return &witness{T: t, log: r.log}, r
	}
	// told is all that the server was told.
	told := func(r *http.Request) string {
		return fmt.Sprintf("%v %q %s %s", r.Header, r.Header, r.URL, r.RequestURI)
	}
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	answers := map[string]func(w http.ResponseWriter, r *http.Request, m message){
		"a page": func(w http.ResponseWriter, r *http.Request, _ message) { _, _ = io.WriteString(w, told(r)) },
		"a refusal": func(w http.ResponseWriter, r *http.Request, _ message) {
			http.Error(w, padded(shownComplaint, r.Header.Get("X-Key"))+told(r), http.StatusForbidden)
		},
		"a demand": func(w http.ResponseWriter, r *http.Request, _ message) {
			w.Header().Set("WWW-Authenticate", "Bearer realm="+told(r))
			http.Error(w, told(r), http.StatusUnauthorized)
		},
		"a fault": func(w http.ResponseWriter, r *http.Request, m message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":%s,"data":%s}}`, m.ID, mustJSON(padded(maxFaultText, r.Header.Get("X-Key"))), mustJSON(told(r)))
		},
		"a fault in a stream": func(w http.ResponseWriter, r *http.Request, m message) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-1,\"message\":%s}}\n\n", m.ID, mustJSON(told(r)))
		},
		"half an answer": func(w http.ResponseWriter, r *http.Request, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"message":`+mustJSON(told(r)))
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request, _ message) {
			to := "http://" + secretOf('0') + ":x@" + strings.TrimPrefix(elsewhere.URL, "http://") + "/" + secretOf('9') + "?x=" + r.Header.Get("X-Key")
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		},
		"an odd type": func(w http.ResponseWriter, r *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/"+r.Header.Get("X-Key"))
			_, _ = io.WriteString(w, told(r))
		},
		"an odd status": func(w http.ResponseWriter, r *http.Request, _ message) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 500 "+r.Header.Get("X-Key")+"\r\nContent-Length: 0\r\n\r\n")
				_ = conn.Close()
			}
		},
		"no HTTP": func(w http.ResponseWriter, r *http.Request, _ message) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, r.Header.Get("X-Key")+" "+told(r)+"\r\n\r\n")
				_ = conn.Close()
			}
		},
	}
	for name, answer := range answers {
		for _, stage := range []string{methodInitialize, methodListTools, methodCallTool} {
			t.Run("MCP-5 over HTTP "+name+" to "+stage, func(t *testing.T) {
				s := newWebServer(t)
				w, r := web(t, s)
				s.answer = func(w http.ResponseWriter, r *http.Request, m message) bool {
					if m.Method == stage || m.Method == methodDiscover && stage == methodInitialize {
						answer(w, r, m)
						return true
					}
					return false
				}
				read := w.watch(r.reg)
				_, err := r.servers.Connect(t.Context(), r.config, r.options)
				if (err == nil) != (stage == methodCallTool) {
					t.Fatalf("error %v", err)
				}
				w.hear(fmt.Sprint(err))
				if stage == methodCallTool {
					read()
					if res := r.call("mcp__srv__echo", `{"answer":{}}`); !res.IsError() {
						t.Errorf("succeeded with %s", res.Text())
					}
				}
				_ = r.servers.Close(t.Context())
				w.swear(1)
			})
		}
	}
	t.Run("MCP-5 nobody listens, and a name that is none", func(t *testing.T) {
		s := newWebServer(t)
		s.Close()
		w, r := web(t, s)
		_, err := r.servers.Connect(t.Context(), r.config, r.options)
		w.hear(fmt.Sprint(err))
		r.config.URL = "http://" + secretOf('0') + "@no-such-host.invalid/x?key=" + secretOf('0')
		_, err = r.servers.Connect(t.Context(), r.config, r.options)
		w.hear(fmt.Sprint(err))
		r.config.Headers["Bad\nName"] = secretOf('0')
		_, err = r.servers.Connect(t.Context(), r.config, r.options)
		w.hear(fmt.Sprint(err))
		w.swear(3)
	})
}

func TestRedactor(t *testing.T) {
	r := newRedactor(ServerConfig{Env: map[string]string{"A": "secret-one", "B": "one-secret-one-two", "SHORT": "no", "EMPTY": ""}})
	for text, want := range map[string]string{
		"": "", "nothing": "nothing", "a secret-one b": "a [redacted] b", "one-secret-one-two": "[redacted]", "secret-onesecret-one": "[redacted][redacted]", "no": "no",
	} {
		if got := r.clean(text); got != want {
			t.Errorf("MCP-5 %q became %q", text, got)
		}
	}
	t.Run("MCP-5 an excerpt is clean wherever it is cut", func(t *testing.T) {
		for n := range 40 {
			for lead := range 30 {
				text := strings.Repeat("é", lead) + "one-secret-one-two" + strings.Repeat("x", 60)
				got := r.excerpt(text, n)
				if strings.Contains(got, "secret") || strings.Contains(got, "one") || len(got) > n+len("…") {
					t.Fatalf("the excerpt of %d bytes behind %d is %q", n, lead, got)
				}
			}
		}
	})
	t.Run("MCP-5 lines in pieces are clean wherever the piece ends", func(t *testing.T) {
		for lead := maxStderrLine - 20; lead <= maxStderrLine+2; lead++ {
			var got strings.Builder
			line := strings.Repeat("x", lead) + "one-secret-one-two" + strings.Repeat("y", 2*maxStderrLine)
			readLines(strings.NewReader(line+"\nlast"), r, func(line string) { got.WriteString(line + "|") })
			if text := got.String(); strings.Contains(strings.ReplaceAll(text, "|", ""), "one") || strings.Count(text, hidden) != 1 || !strings.HasSuffix(text, "y|last|") {
				t.Fatalf("behind %d bytes: %q", lead, text[maxStderrLine-50:maxStderrLine+50])
			}
		}
	})
	t.Run("MCP-5 tokens that come later, and not all of them for ever", func(t *testing.T) {
		for i := range 100 {
			r.issue(fmt.Sprintf("token-%03d", i))
		}
		if got := r.clean("token-099 token-090 token-000 secret-one"); got != "[redacted] [redacted] token-000 [redacted]" {
			t.Errorf("got %q", got)
		}
	})
}
