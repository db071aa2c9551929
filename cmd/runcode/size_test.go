package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestFlagValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		value pflag.Value
		good  map[string]string // text to what String shows of it
		bad   []string
		hint  string
	}{
		{"CLI-4 sizes", new(sizeFlag),
			map[string]string{"512MiB": "512MiB", "1024KiB": "1MiB", "1GiB": "1GiB", "7B": "7B", "1 KiB": "1KiB"},
			[]string{"", "5", "5MB", "5GB", "-1MiB", "0B", "1.5GiB", "MiB", "9223372036854775807GiB"}, "512MiB"},
		{"CLI-4 durations", new(durationFlag),
			map[string]string{"60s": "1m", "1m30s": "1m30s", "500ms": "500ms", "2h": "2h"},
			[]string{"", "5", "-1s", "0s", "1 minute", "1d"}, "500ms"},
		{"CLI-4 counts", new(countFlag), map[string]string{"1": "1", "10": "10"}, []string{"", "0", "-1", "1.5", "x"}, "from 1"},
		{"CLI-1 lengths", new(lengthFlag), map[string]string{"0": "0", "400": "400"}, []string{"", "-1", "1.5", "x"}, "from 0"},
		{"CLI-4 seeds", new(seedFlag), map[string]string{"1": "1", "9007199254740991": "9007199254740991"},
			[]string{"", "0", "-1", "9007199254740992", "x"}, "9007199254740991"},
		{"CLI-4 engines", &choiceFlag{choices: []string{"wasm", "goja"}}, map[string]string{"goja": "goja"}, []string{"", "v8", "WASM"}, "wasm or goja"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for text, shown := range c.good {
				if err := c.value.Set(text); err != nil || c.value.String() != shown {
					t.Errorf("%q: %v, shown as %s", text, err, c.value)
				}
			}
			for _, text := range c.bad {
				if err := c.value.Set(text); err == nil || !strings.Contains(err.Error(), c.hint) {
					t.Errorf("%q: %v", text, err)
				}
			}
		})
	}
	t.Run("CLI-4 the defaults are those of the engine", func(t *testing.T) {
		var f engineFlags
		f.add(pflag.NewFlagSet("", pflag.ContinueOnError))
		l := f.limits()
		if l.Compute != time.Minute || l.Wall != 10*time.Minute || l.Heap != 512<<20 || l.MaxOutput != 64<<20 || f.parallel != 10 || f.engine.value != "wasm" {
			t.Errorf("%+v", l)
		}
		if f.compute.String() != "1m" || f.heap.String() != "512MiB" {
			t.Errorf("shown as %s, %s", &f.compute, &f.heap)
		}
	})
}
