package tscheck

// This file defines the check by a compiler that is started for it, with its texts in a folder for the time being. It works with every
// compiler that has a command line.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// maxOutput bounds what is read of a compiler's answer.
const maxOutput = 4 << 20

func once(ctx context.Context, compiler *Compiler, p *program) ([]diagnostic, error) {
	folder, err := os.MkdirTemp("", "runcode-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for name, text := range map[string]string{globalsFile: globals, sdkFile: p.sdk, programFile: p.file, configFile: config} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	cmd := command(ctx, compiler.Path, "--project", configFile, "--pretty", "false")
	cmd.Dir = folder
	out, said := &bounded{}, &beginning{}
	cmd.Stdout, cmd.Stderr = out, said
	if err = cmd.Start(); err == nil {
		limitMemory(cmd, compiler)
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	switch {
	case err == nil && len(out.text) == 0:
		return nil, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit):
		return nil, fmt.Errorf("the TypeScript compiler %s cannot be started: %w", compiler.Path, err)
	}
	found, ok := p.parse(string(out.text))
	// A compiler that has found something ends with 1 or 2, and says what.
	if !ok || exit != nil && (exit.ExitCode() < 0 || exit.ExitCode() > 2) {
		return nil, fmt.Errorf("the TypeScript compiler %s failed: %w%s", compiler.Path, senseless(err), detail(said, out.text))
	}
	return found, nil
}

// senseless stands for the error of a compiler that ended well and made no sense.
func senseless(err error) error {
	if err == nil {
		return errors.New("its output is not understood")
	}
	return err
}

func detail(said *beginning, out []byte) string {
	text := said.String()
	if text == "" {
		text = oneMessage(string(out[:min(len(out), maxMessage)]))
	}
	if text != "" {
		text = ": " + oneMessage(text)
	}
	return text
}

// printed matches the first line of a diagnostic in a file: program.ts(3,7): error TS2322: …
var printed = regexp.MustCompile(`^([^\s(][^(]*)\((\d+),(\d+)\): error TS(\d+): (.*)$`)

// parse reads what a compiler printed; further lines of a diagnostic are indented. ok is false if there is no diagnostic in it.
func (p *program) parse(out string) (found []diagnostic, ok bool) {
	var last *diagnostic
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		m := printed.FindStringSubmatch(line)
		switch {
		case m != nil:
			ok, last = true, nil
			row, _ := strconv.Atoi(m[2])
			column, _ := strconv.Atoi(m[3])
			code, _ := strconv.Atoi(m[4])
			if at, inside := p.offset(row, column); inside && m[1] == programFile {
				found = append(found, diagnostic{code: code, at: at, text: m[5]})
				last = &found[len(found)-1]
			}
		case last != nil && strings.HasPrefix(line, " "):
			last.text += "\n" + line
		default:
			last = nil
		}
	}
	return found, ok
}

// bounded keeps the first maxOutput bytes.
type bounded struct{ text []byte }

func (b *bounded) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxOutput-len(b.text))]...)
	return len(p), nil
}
