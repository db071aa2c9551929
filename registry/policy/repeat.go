package policy

// This file defines the reminder: what counts as a repetition, and when the model is told.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/registry/internal/wildcard"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// RepeatOptions configures RepeatReminder (REPEAT-1).
type RepeatOptions struct {
	// Thresholds are the consecutive counts at which a reminder is given, at least 2 each; nil is 3, 5 and 8.
	Thresholds []int
	// Include are patterns of the tools to track, with * for any run of characters; none tracks all.
	Include []string
	// Exclude are patterns of tools that a chain does not notice. It wins over Include.
	Exclude []string
	// ArgumentsPreviewChars caps the arguments that a reminder quotes, in characters; 0 is 500.
	ArgumentsPreviewChars int
}

// Origin says where a message that opens a step comes from.
type Origin uint8

// The origins of messages. Only the user's own words start the count anew (REPEAT-15).
const (
	FromUser Origin = iota + 1
	FromTool        // a tool result
	Injected        // a context, or a message of a plugin
)

// Reminder counts, for each agent, how often it has made the same call in a row, and tells its model at the thresholds. It
// never denies, delays or changes a call.
type Reminder struct {
	options RepeatOptions
	dispose []func()

	mu     sync.Mutex
	chains chains
}

const pluginName = "repeat-tool-reminder"

// RepeatReminder installs a reminder. The error names the option that is wrong.
func RepeatReminder(r *registry.Registry, o RepeatOptions) (*Reminder, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("policy: repeat reminder: %w", err)
	}
	p := &Reminder{options: o}
	p.dispose = []func(){r.OnPostExecute(p.review), r.OnScopeDisposed(p.forget)}
	return p, nil
}

func (o *RepeatOptions) check() error {
	o.Include, o.Exclude = slices.Clone(o.Include), slices.Clone(o.Exclude)
	switch {
	case o.ArgumentsPreviewChars < 0:
		return fmt.Errorf("argumentsPreviewChars must be at least 1, not %d", o.ArgumentsPreviewChars)
	case o.ArgumentsPreviewChars == 0:
		o.ArgumentsPreviewChars = 500
	}
	if o.Thresholds == nil {
		o.Thresholds = []int{3, 5, 8}
	}
	if len(o.Thresholds) == 0 {
		return errors.New("thresholds is an empty list: leave it out for the defaults")
	}
	o.Thresholds = slices.Sorted(slices.Values(o.Thresholds))
	for i, n := range o.Thresholds {
		switch {
		case n < 2:
			return fmt.Errorf("thresholds holds %d: a repetition takes at least 2 calls", n)
		case i > 0 && n == o.Thresholds[i-1]:
			return fmt.Errorf("thresholds holds %d twice", n)
		}
	}
	return nil
}

// Dispose removes the reminder and what it knows.
func (p *Reminder) Dispose() {
	for _, f := range p.dispose {
		f()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chains = chains{}
}

// BeginStep tells the reminder which messages open a step of an agent. Words of the user start its count anew. It never
// blocks.
func (p *Reminder) BeginStep(agent registry.AgentKey, messages ...Origin) {
	if slices.Contains(messages, FromUser) {
		p.forget(agent)
	}
}

func (p *Reminder) forget(agent registry.AgentKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chains.forget(agent)
}

// review is the post-execute listener. It counts before it delegates, so that the count advances whatever the listeners
// inside of it decide (REPEAT-11).
func (p *Reminder) review(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
	if x.Agent() == nil || !p.tracks(x.Name()) { // REPEAT-10, REPEAT-13
		return next()
	}
	text := normalize(x.Arguments())
	p.mu.Lock()
	count := p.chains.count(x.Agent(), key{x.Name(), x.Arguments().IsString(), text})
	p.mu.Unlock()
	decision, err := next()
	if err != nil || !slices.Contains(p.options.Thresholds, count) { // REPEAT-19
		return decision, err
	}
	return decision.PrependContexts(p.reminder(x.Name(), count, text)), nil
}

func (p *Reminder) tracks(name string) bool {
	matches := func(pattern string) bool { return MatchName(pattern, name) }
	included := len(p.options.Include) == 0 || slices.ContainsFunc(p.options.Include, matches)
	return included && !slices.ContainsFunc(p.options.Exclude, matches)
}

// key is what makes two calls the same (REPEAT-7).
type key struct {
	name string
	bare bool // the arguments are one string, compared as such
	text string
}

// normalize returns the text by which arguments are compared (REPEAT-8).
func normalize(args jsonval.Value) string {
	if args.IsString() {
		return args.Str()
	}
	return jsonval.SortKeys(args).String()
}

// MatchName reports whether the pattern, in which * stands for any run of characters, also none, and every other character
// for itself, matches the whole name (REPEAT-4).
func MatchName(pattern, name string) bool { return wildcard.Match(pattern, name) }

func (p *Reminder) reminder(tool string, count int, text string) registry.Context {
	words := shortReminder
	if count != p.options.Thresholds[0] {
		words = fmt.Sprintf(detailedReminder, tool, count, preview(text, p.options.ArgumentsPreviewChars))
	}
	return registry.Context{
		Content: []registry.Block{registry.Text(words)},
		Source: registry.PluginSource(pluginName,
			jsonval.Member{Name: "form", Value: jsonval.Text("notice")},
			jsonval.Member{Name: "summary", Value: jsonval.Text(fmt.Sprintf("%s × %d", tool, count))},
		),
	}
}

const shortReminder = "You keep making the same tool call with the same arguments. Read its last result carefully before you go on. " +
	"If the task is not finished yet, try another approach or other arguments."

const detailedReminder = `You are repeating one tool call without making progress:
- tool: %s
- consecutive_calls: %d
- arguments: %s
Do not repeat this call with these arguments. Look at its latest result, then do something else, or finish if what you know is enough.`

// preview cuts a text to its first characters and says how many it left out (REPEAT-22).
func preview(text string, limit int) string {
	seen := 0
	for i := range text {
		if seen == limit {
			left := len([]rune(text[i:]))
			return fmt.Sprintf("%s… (+%d more chars)", text[:i], left)
		}
		seen++
	}
	return text
}
