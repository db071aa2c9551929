package mcptools

// Telling the errors of a server, of the transport and of the library apart, and putting them into words.

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// rejectedCode marks an error of the library's transport, which has the type of a server's.
const rejectedCode = -32005

// serverFault is the JSON-RPC error that a server answered with, nil if err is something else.
func serverFault(err error) *jsonrpc.Error {
	if fault, ok := err.(*jsonrpc.Error); ok && fault.Code != rejectedCode {
		return fault
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return serverFault(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if fault := serverFault(inner); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// plainCause is the text of a transport's error without the names that the library puts before it and without the address.
func plainCause(err error) string {
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	text := err.Error()
	for _, prefix := range []string{"calling ", "sending "} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			if _, after, ok := strings.Cut(rest, ": "); ok {
				text = after
			}
		}
	}
	return strings.Replace(text, "rejected by transport: ", "", 1)
}

// faultText is what an error says; a code of 0 is none.
func faultText(fault *jsonrpc.Error, r *redactor) string {
	said := r.excerpt(fault.Message, maxFaultText)
	if fault.Code == 0 {
		return said
	}
	return said + " (error " + strconv.FormatInt(fault.Code, 10) + ")"
}

// maxFaultText bounds what a server's error may put into a message for the model.
const maxFaultText = 16 << 10
