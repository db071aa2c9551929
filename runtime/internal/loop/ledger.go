package loop

// This file defines the output ledger: what a run's logs and its value or failure message may cost (LOG-8..15).

import (
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// emptyLogs is the cost of a log without entries: [].
const emptyLogs = 2

// ledger charges in bytes of compact JSON. It is not safe for concurrent use.
type ledger struct {
	max  int64
	used int64 // the cost of logs
	logs []string
}

func newLedger(max int64) ledger { return ledger{max: max, used: emptyLogs, logs: []string{}} }

// entryCost is what one more entry of that text costs behind n others (LOG-8).
func entryCost(text string, n int) int64 {
	if n > 0 {
		return jsonval.StringSize(text) + 1
	}
	return jsonval.StringSize(text)
}

// admit adds an entry if it fits. If not, the ledger has overflowed and the run is over (LOG-13).
func (l *ledger) admit(text string) bool {
	cost := entryCost(text, len(l.logs))
	if l.used+cost > l.max {
		return false
	}
	l.used += cost
	l.logs = append(l.logs, text)
	return true
}

// fits reports whether a value or message of that cost may stand beside the log (LOG-10).
func (l *ledger) fits(cost int64) bool { return l.used+cost <= l.max }

// room is what is left for the value or message.
func (l *ledger) room() int64 { return l.max - l.used }

// overflow turns the ledger into that of an overflow and returns the diagnostic as far as it fits. last is the entry that
// did not, if it was one. What stays of the log is the longest prefix that leaves room for the diagnostic (LOG-12).
func (l *ledger) overflow(last string) (diagnostic string) {
	diagnostic = runtime.MessageOutput(l.max)
	if most := l.max - emptyLogs - 2; int64(len(diagnostic)) > most {
		diagnostic = diagnostic[:most] // ASCII
	}
	budget := l.max - jsonval.StringSize(diagnostic)
	if last != "" {
		l.logs = append(l.logs, last)
	}
	used := int64(emptyLogs)
	for i, text := range l.logs {
		cost := entryCost(text, i)
		if used+cost <= budget {
			used += cost
			continue
		}
		l.logs = l.logs[:i]
		if head := prefix(text, budget-used-entryCost("", i)); head != "" {
			l.logs = append(l.logs, head)
			used += entryCost(head, i)
		}
		break
	}
	l.used = used
	return diagnostic
}

// prefix returns the longest prefix of text, cut between code points, whose characters cost at most budget as JSON.
func prefix(text string, budget int64) string {
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		cost := jsonval.StringSize(text[i:i+size]) - 2
		if cost > budget {
			return strings.Clone(text[:i])
		}
		budget -= cost
		i += size
	}
	return text
}
