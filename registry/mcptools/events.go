package mcptools

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// eventTap is the body of an event stream as the library sees it: each event's data has passed the tap.
type eventTap struct {
	body   io.Closer
	reader *bufio.Reader
	tap    *tap
	ready  []byte // of the current event, not yet read
	err    error  // what follows it
}

func newEventTap(body io.ReadCloser, t *tap) *eventTap {
	return &eventTap{body: body, reader: bufio.NewReaderSize(body, 16<<10), tap: t}
}

func (e *eventTap) Close() error { return e.body.Close() }

func (e *eventTap) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.ready, e.err = e.next()
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// next reads one event up to its empty line and returns it with its data replaced. An event that the stream's end cuts short is
// dropped, as the event stream format demands.
func (e *eventTap) next() ([]byte, error) {
	var event, data []byte
	hasData, size := false, 0
	for {
		line, err := e.line(maxLine - size)
		if err != nil {
			return nil, err
		}
		size += len(line)
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if hasData {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			hasData = true
			continue
		}
		event = append(append(event, line...), '\n')
	}
	if hasData {
		if len(bytes.TrimSpace(data)) > 0 {
			data = tapMessage(e.tap, data)
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			event = append(append(append(event, "data: "...), line...), '\n')
		}
	}
	return append(event, '\n'), nil
}

var errLongEvent = errors.New("the server sent an event that is too large")

// line returns the next line without its end, which may be \n or \r\n.
func (e *eventTap) line(limit int) ([]byte, error) {
	var line []byte
	for {
		piece, err := e.reader.ReadSlice('\n')
		if len(line)+len(piece) > limit {
			return nil, errLongEvent
		}
		line = append(line, piece...)
		if err == nil {
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}
