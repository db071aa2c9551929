package main

// This file defines the values that flags take: sizes, durations and counts, with errors that say what is accepted (CLI-4).

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sizeFlag is a number of bytes, written with a unit: 512MiB.
type sizeFlag int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

const sizeHint = "a size such as 512MiB (units B, KiB, MiB, GiB)"

func (f *sizeFlag) Set(text string) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*f = sizeFlag(n * u.bytes)
		return nil
	}
	return fmt.Errorf("expected %s", sizeHint)
}

func (f *sizeFlag) String() string {
	n := int64(*f)
	for i := len(sizeUnits) - 2; i >= 0; i-- {
		if u := sizeUnits[i]; n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.suffix)
		}
	}
	return fmt.Sprintf("%dB", n)
}

func (*sizeFlag) Type() string { return "size" }

// durationFlag is a positive duration as Go writes it: 1m30s.
type durationFlag time.Duration

const durationHint = "a duration such as 90s, 1m30s or 500ms"

func (f *durationFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("expected %s", durationHint)
	}
	*f = durationFlag(d)
	return nil
}

func (f *durationFlag) String() string {
	text := time.Duration(*f).String() // 10m0s
	if trimmed, ok := strings.CutSuffix(text, "m0s"); ok {
		text = trimmed + "m"
	}
	if trimmed, ok := strings.CutSuffix(text, "h0m"); ok {
		text = trimmed + "h"
	}
	return text
}

func (*durationFlag) Type() string { return "duration" }

// countFlag is a positive whole number.
type countFlag int

func (f *countFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("expected a whole number from 1 up")
	}
	*f = countFlag(n)
	return nil
}

func (f *countFlag) String() string { return strconv.Itoa(int(*f)) }
func (*countFlag) Type() string     { return "number" }

// lengthFlag is a length, or 0 for no limit.
type lengthFlag int

func (f *lengthFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("expected a whole number from 0 up")
	}
	*f = lengthFlag(n)
	return nil
}

func (f *lengthFlag) String() string { return strconv.Itoa(int(*f)) }
func (*lengthFlag) Type() string     { return "number" }

// seedFlag is a seed that a JSON number holds exactly.
type seedFlag uint64

const maxSeed = 1<<53 - 1

func (f *seedFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < 1 || n > maxSeed {
		return fmt.Errorf("expected a whole number from 1 to %d", uint64(maxSeed))
	}
	*f = seedFlag(n)
	return nil
}

func (f *seedFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*f), 10)
}

func (*seedFlag) Type() string { return "number" }

// choiceFlag is one word of a closed list.
type choiceFlag struct {
	value   string
	choices []string
}

func (f *choiceFlag) Set(text string) error {
	for _, c := range f.choices {
		if text == c {
			f.value = text
			return nil
		}
	}
	return fmt.Errorf("expected %s", strings.Join(f.choices, " or "))
}

func (f *choiceFlag) String() string { return f.value }
func (f *choiceFlag) Type() string   { return strings.Join(f.choices, "|") }
