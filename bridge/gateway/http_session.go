package gateway

// This file defines the sessions of HTTP clients: bounded in number, bound to the token that began them, and ended when nothing
// has used them for long.

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type httpSessions struct {
	max  int
	idle time.Duration

	mu     sync.Mutex
	held   int                     // places taken: by the sessions in live, and by requests that may become one
	live   map[string]*httpSession // by id
	closed bool
}

func newHTTPSessions(most int, idle time.Duration) *httpSessions {
	return &httpSessions{max: cmp.Or(most, DefaultMaxSessions), idle: cmp.Or(idle, DefaultIdle), live: map[string]*httpSession{}}
}

// httpSession is one session, or the place for one. The set's lock guards what is below calls and posts.
type httpSession struct {
	set    *httpSessions
	client int
	calls  calls
	posts  sync.WaitGroup // requests that wait for an answer; only added to while the session is known

	session *mcp.ServerSession // nil before the handshake
	settled bool               // the request that may begin it is over
	uses    int                // requests and calls that are going on
	since   time.Time          // when uses became 0
	timer   *time.Timer        // runs while uses is 0; nil before the handshake
}

// reserve takes a place for a session that a request may begin. Where all are taken, the session that nothing has used for the
// longest time ends: its client, if there still is one, begins another with its next request.
func (t *httpSessions) reserve(client int) (*httpSession, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	if t.held >= t.max {
		var oldest *httpSession
		for _, s := range t.live {
			if s.uses == 0 && (oldest == nil || s.since.Before(oldest.since)) {
				oldest = s
			}
		}
		if oldest == nil {
			return nil, false
		}
		oldest.removeLocked()
	}
	t.held++
	s := &httpSession{set: t, client: client}
	s.posts.Add(1)
	return s, true
}

// settle says that the request is over, and gives the place back if no session has come of it.
func (s *httpSession) settle() {
	s.posts.Done()
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.settled = true
	if s.session == nil {
		s.set.held--
	}
}

// adopt notes that the handshake has made session. It is called before the client can know of it.
func (s *httpSession) adopt(session *mcp.ServerSession) {
	t := s.set
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.session != nil {
		return
	}
	if s.settled || t.closed { // the client has gone before it could know of it, or the server is going
		go session.Close()
		return
	}
	s.session = session
	t.live[session.ID()] = s
	s.since = time.Now()
	s.timer = time.AfterFunc(t.idle, s.expire)
	go func() {
		_ = session.Wait() // how it ended is of no concern
		t.mu.Lock()
		defer t.mu.Unlock()
		s.removeLocked()
	}()
}

// enter finds the session with that id if it is client's, and keeps it from idling until leave is called. answered says that the
// request waits for an answer which is not a stream.
func (t *httpSessions) enter(id string, client int, answered bool) (s *httpSession, leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok = t.live[id]
	if !ok || s.client != client {
		return nil, nil, false
	}
	s.beginLocked()
	if !answered {
		return s, s.leave, true
	}
	s.posts.Add(1)
	return s, func() {
		s.posts.Done()
		s.leave()
	}, true
}

func (s *httpSession) begin() {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.beginLocked()
}

func (s *httpSession) beginLocked() {
	s.uses++
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *httpSession) leave() {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	if s.uses--; s.uses == 0 && s.timer != nil {
		s.since = time.Now()
		s.timer.Reset(s.set.idle)
	}
}

// expire ends the session, unless a request came just in time.
func (s *httpSession) expire() {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	if s.uses == 0 {
		s.removeLocked()
	}
}

// removeLocked makes the session unknown and ends it in the background.
func (s *httpSession) removeLocked() {
	if s.forgetLocked() {
		go s.end(errSessionEnded)
	}
}

// forgetLocked makes the session unknown and frees its place. Whoever is told true has to end it.
func (s *httpSession) forgetLocked() bool {
	id := s.session.ID()
	if s.set.live[id] != s {
		return false
	}
	delete(s.set.live, id)
	s.set.held--
	s.timer.Stop()
	return true
}

// delete ends the session at its client's wish.
func (s *httpSession) delete() {
	s.set.mu.Lock()
	mine := s.forgetLocked()
	s.set.mu.Unlock()
	if mine {
		s.end(errSessionEnded)
	}
}

// end aborts the calls of a session that is no longer known, waits until its client has the answers, because the library gives
// none once a session is closing, and closes it.
func (s *httpSession) end(cause error) {
	s.calls.abort(cause)
	s.posts.Wait()
	_ = s.session.Close() // only says that it is closed already
}

// close ends all sessions and takes no more. It returns when their calls have ended, or with ctx's error when ctx has.
func (t *httpSessions) close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	var ending sync.WaitGroup
	for _, s := range t.live {
		s.forgetLocked()
		ending.Go(func() { s.end(errShutdown) })
	}
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		ending.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
