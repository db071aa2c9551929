package mcptools

// What becomes of a server's HTTP responses before the library sees them.

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxErrorBody = 64 << 10 // of a response that is no success; the library reads it whole
	// libraryDepth is below the nesting at which the library closes the whole connection.
	libraryDepth = 900
)

// incoming puts the tap into a response's body.
func (t *tripper) incoming(req *http.Request, resp *http.Response, call string) error {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case req.Method == http.MethodGet && leadsAway(req, resp):
		// The stream of notices is optional: a server that has it elsewhere has none that is followed (MCP-77).
		_ = resp.Body.Close()
		resp.StatusCode, resp.Status, resp.Body = http.StatusMethodNotAllowed, "405 Method Not Allowed", http.NoBody
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return t.refused(resp, call, kind)
	case kind == "text/event-stream":
		resp.Body = newEventTap(resp.Body, t.tap)
	case kind == "application/json" && req.Method == http.MethodPost:
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxLine+1))
		if err != nil {
			return err
		}
		if len(text) > maxLine {
			return fmt.Errorf("the answer is larger than %d MiB", maxLine>>20)
		}
		replaceBody(resp, tapMessage(t.tap, text))
	default:
		resp.Body = limited(resp.Body, maxErrorBody)
	}
	return nil
}

// leadsAway says whether a response is a redirect to another origin.
func leadsAway(req *http.Request, resp *http.Response) bool {
	to, err := resp.Location()
	return err == nil && resp.StatusCode >= 300 && resp.StatusCode <= 399 && (to.Scheme != req.URL.Scheme || to.Host != req.URL.Host)
}

// refused makes the refusal of one call an answer to that call: the library would end the session over it (MCP-55). A session that the
// server no longer knows does end, and is begun anew.
func (t *tripper) refused(resp *http.Response, call, kind string) error {
	redirect := resp.StatusCode >= 300 && resp.StatusCode <= 399
	if call == "" || redirect || resp.StatusCode == http.StatusNotFound {
		resp.Body = limited(resp.Body, maxErrorBody)
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return err
	}
	if frames, err := parseFrames(text); err != nil || len(frames) != 1 || frames[0].fault == nil || frames[0].rawID != call {
		message := "HTTP " + resp.Status
		if said := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " "); said != "" && kind != "text/html" {
			message += ": " + t.redact.excerpt(said, shownComplaint)
		}
		text = faultAnswer(call, message)
	}
	_ = resp.Body.Close()
	*resp = *answered(resp.Request, text)
	return nil
}

// answered is a response that the server might have given to a call.
func answered(req *http.Request, text []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: req,
	}
}

// faultAnswer is an error without a code of the protocol.
func faultAnswer(call, message string) []byte {
	return answer(call, `"error":{"code":0,"message":`+string(jsonval.AppendString(nil, message))+`}`)
}

func replaceBody(resp *http.Response, text []byte) {
	_ = resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

// tapMessage gives one message to the tap and returns what the library is to see of it. What is no message stays for the library to
// complain about.
func tapMessage(t *tap, text []byte) []byte {
	frames, err := parseFrames(text)
	if err != nil || len(frames) != 1 {
		return text
	}
	f := frames[0]
	switch {
	case t.incoming(&f):
		return answer(f.rawID, `"result":`+string(f.result))
	case !jsonval.Deeper(text, libraryDepth):
		return text
	case f.method != "": // a request or notice that the library would end the session for
		return nil
	}
	return answer(f.rawID, `"error":{"code":-32700,"message":"the answer nests too deep"}`)
}

func answer(rawID, member string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + rawID + `,` + member + `}`)
}
