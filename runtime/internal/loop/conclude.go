package loop

import (
	"context"
	"errors"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// ErrClosed is the cause with which an engine ends the contexts of its runs when it is closed.
var ErrClosed = errors.New(runtime.MessageClosed)

// abortFailure says why a run's context ended (BUDGET-7, RUN-40).
func abortFailure(ctx context.Context) *runtime.Failure {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrClosed) {
		return runtime.ClosedFailure()
	}
	return runtime.AbortFailure(cause)
}

// conclude makes a result of an outcome: the value or message is charged beside the log, and what does not fit makes it an
// overflow (LOG-10, LOG-14).
func conclude(l *ledger, end outcome) runtime.Result {
	var cost int64
	if end.failure != nil {
		failure := *end.failure
		failure.Message = jsonval.Text(clip(failure.Message, l.room())).Str()
		end.failure, cost = &failure, jsonval.StringSize(failure.Message)
	} else if end.value.Exists() {
		cost = end.value.Size(l.room())
	}
	if end.overflow || !l.fits(cost) {
		message := l.overflow(end.last)
		end = outcome{failure: &runtime.Failure{Kind: runtime.OutputLimit, Message: message}}
		cost = jsonval.StringSize(message)
	}
	return runtime.Result{Value: end.value, Logs: l.logs, Error: end.failure, Usage: runtime.Usage{OutputBytes: l.used + cost}}
}

// clip bounds a message that is certain not to fit, so that no more of it is looked at than the cap (LOG-11).
func clip(text string, room int64) string {
	if int64(len(text)) > room {
		return text[:max(room, 0)]
	}
	return text
}
