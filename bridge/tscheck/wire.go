package tscheck

// This file defines the framing of messages: a header with the length, an empty line, a JSON text.

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxFrame is the longest message that is read.
const maxFrame = 16 << 20

func (s *server) send(m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	frame := make([]byte, 0, len(text)+40)
	frame = fmt.Appendf(frame, "Content-Length: %d\r\n\r\n", len(text))
	_, err = s.in.Write(append(frame, text...))
	return err
}

func (s *server) receive() (message, error) {
	length := -1
	for {
		line, err := s.out.ReadSlice('\n') // a line longer than the buffer is an error
		if err != nil {
			return message{}, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" && length >= 0 {
			break
		}
		if name, value, ok := strings.Cut(text, ":"); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxFrame {
				return message{}, fmt.Errorf("it announces a message of %.20s bytes", strings.TrimSpace(value))
			}
		}
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(s.out, frame); err != nil {
		return message{}, err
	}
	var m message
	if err := json.Unmarshal(frame, &m); err != nil {
		return message{}, fmt.Errorf("it sends no JSON: %w", err)
	}
	return m, nil
}
