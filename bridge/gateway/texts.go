package gateway

// This file defines the whole texts of results that were cut: kept for the client that got the results, the last ones only.

import (
	"container/list"
	"crypto/rand"
	"strings"
	"sync"
)

// maxKept is how many bytes of texts are kept for one client.
const maxKept = 32 << 20

const (
	textPlain       = "text/plain"
	applicationJSON = "application/json"
)

// resultURI begins the address of a kept text.
const resultURI = "runcode://result/"

// texts forgets what has not been used for the longest time when a new text needs the space. The zero value is ready.
type texts struct {
	mu    sync.Mutex
	size  int
	byID  map[string]*list.Element
	order list.List // of *kept, the most recently used first
}

type kept struct{ id, text, mime string }

// keep stores a text and returns its address, which nobody can guess. A text that is too large for all of the space is not kept.
func (t *texts) keep(text, mime string) (uri string, ok bool) {
	if len(text) > maxKept {
		return "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = make(map[string]*list.Element)
	}
	for t.size+len(text) > maxKept {
		last := t.order.Back()
		old := t.order.Remove(last).(*kept)
		delete(t.byID, old.id)
		t.size -= len(old.text)
	}
	k := &kept{strings.ToLower(rand.Text()), text, mime}
	t.byID[k.id] = t.order.PushFront(k)
	t.size += len(text)
	return resultURI + k.id, true
}

// get returns the text at an address.
func (t *texts) get(uri string) (text, mime string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.byID[strings.TrimPrefix(uri, resultURI)]
	if !ok {
		return "", "", false
	}
	t.order.MoveToFront(e)
	k := e.Value.(*kept)
	return k.text, k.mime, true
}
