package tscheck

// This file defines how a compiler is found: named by a path or a variable, in a node_modules folder, on the PATH.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"
)

// Variable is the environment variable that names a compiler.
const Variable = "RUNCODE_TSC"

// nativeMajor is the first major version whose compiler is a native program that can be talked to.
const nativeMajor = 7

// Compiler is a TypeScript compiler on this machine.
type Compiler struct {
	// Path is the program to start: absolute.
	Path string
	// Version is what it calls itself, such as "7.0.2".
	Version string
	// Native says that it is a program of the machine, and new enough to be kept running. Others are scripts that need Node.js, and are
	// started for each program.
	Native bool
}

// Search says where [Find] looks. The zero value looks nowhere.
type Search struct {
	// Path names the compiler: an executable, or a folder that npm installed it in. If it is set nothing else is looked at.
	Path string
	// Folder is where the search for node_modules folders begins; it goes on in the folders above.
	Folder string
	// Getenv reads the environment: Variable, and PATH. Nil reads nothing.
	Getenv func(string) string
}

// Find returns the compiler that a search finds first: Path, then Variable, then node_modules folders, then the PATH. It is nil when
// there is none. Only a compiler that was named, and is not there or does not work, is an error.
func Find(ctx context.Context, s Search) (*Compiler, error) {
	getenv := s.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if s.Path != "" {
		return named(ctx, s.Path)
	}
	if path := getenv(Variable); path != "" {
		c, err := named(ctx, path)
		if err != nil {
			err = fmt.Errorf("%s: %w", Variable, err)
		}
		return c, err
	}
	if s.Folder != "" {
		for folder := range upwards(s.Folder) {
			if c := installed(ctx, filepath.Join(folder, "node_modules")); c != nil {
				return c, nil
			}
		}
	}
	for _, folder := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			continue // what runs must not depend on the current folder
		}
		if path, err := exec.LookPath(filepath.Join(folder, "tsc")); err == nil {
			if c, err := inspect(ctx, path); err == nil {
				return c, nil
			}
		}
	}
	return nil, nil
}

// named returns the compiler that somebody asked for by name.
func named(ctx context.Context, path string) (*Compiler, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("no TypeScript compiler %q: %w", path, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no TypeScript compiler %q: there is no such file; npm install typescript@%d brings one", path, nativeMajor)
	case info.IsDir():
		for _, folder := range []string{abs, filepath.Join(abs, "node_modules")} {
			if c := installed(ctx, folder); c != nil {
				return c, nil
			}
		}
		for _, file := range []string{filepath.Join(abs, "lib", executable), filepath.Join(abs, "bin", "tsc")} {
			if c, err := inspect(ctx, file); err == nil {
				return c, nil
			}
		}
		return nil, fmt.Errorf("no TypeScript compiler in the folder %q: expected an executable tsc, or a folder in which npm installed typescript", path)
	}
	c, err := inspect(ctx, abs)
	if err != nil {
		return nil, fmt.Errorf("%q is no TypeScript compiler that works here: %w", path, err)
	}
	return c, nil
}

// upwards yields a folder and those above it.
func upwards(folder string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		abs, err := filepath.Abs(folder)
		for err == nil && yield(abs) && filepath.Dir(abs) != abs {
			abs = filepath.Dir(abs)
		}
	}
}

// installed returns the compiler of a node_modules folder, the native program before the script that would only start it.
func installed(ctx context.Context, modules string) *Compiler {
	for _, path := range []string{
		filepath.Join(modules, "@typescript", platformPackage(), "lib", executable),
		filepath.Join(modules, "typescript", "bin", "tsc"),
	} {
		if c, err := inspect(ctx, path); err == nil {
			return c
		}
	}
	return nil
}

// inspect says what the file at path is. The script of an npm package that has a native program stands for that one.
func inspect(ctx context.Context, path string) (*Compiler, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(found)
	if err != nil {
		return nil, err
	}
	native := isNative(real)
	if !native {
		if program, ok := behind(real); ok {
			real, native = program, true
		}
	}
	version, ok := packageVersion(real)
	if !ok {
		if version, err = askVersion(ctx, real); err != nil {
			return nil, err
		}
	}
	major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
	if err != nil {
		return nil, fmt.Errorf("its version is %q, which is none of TypeScript's", version)
	}
	return &Compiler{Path: real, Version: version, Native: native && major >= nativeMajor}, nil
}

// behind finds the native program that an npm package's script would start: the package for this platform lies in the node_modules
// folder of the script's package, or in one above.
func behind(script string) (string, bool) {
	for folder := range upwards(filepath.Dir(script)) {
		program := filepath.Join(folder, "node_modules", "@typescript", platformPackage(), "lib", executable)
		if filepath.Base(folder) == "node_modules" {
			program = filepath.Join(folder, "@typescript", platformPackage(), "lib", executable)
		}
		if found, err := exec.LookPath(program); err == nil && isNative(found) {
			return found, true
		}
	}
	return "", false
}

// packageVersion reads the version from the package that a program lies in, which saves starting it.
func packageVersion(program string) (string, bool) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(program)), "package.json"))
	if err != nil {
		return "", false
	}
	var manifest struct{ Name, Version string }
	if json.Unmarshal(text, &manifest) != nil || manifest.Version == "" {
		return "", false
	}
	return manifest.Version, manifest.Name == "typescript" || strings.HasPrefix(manifest.Name, "@typescript/typescript-")
}

// askVersion starts the program to ask what it is.
func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := command(ctx, path, "--version")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("its --version failed: %w", err)
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out[:min(len(out), 200)])), "Version ")
	if !ok {
		return "", fmt.Errorf("its --version prints something else than a version of TypeScript")
	}
	return version, nil
}

// isNative reports whether a file is a program of the machine and no script.
func isNative(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	switch string(head[:]) {
	case "\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe":
		return true
	}
	return string(head[:2]) == "MZ"
}

// executable is the file name of the native program.
var executable = map[bool]string{false: "tsc", true: "tsc.exe"}[goruntime.GOOS == "windows"]

// platformPackage is the name that npm has for the native program of this platform.
func platformPackage() string {
	system, arch := goruntime.GOOS, goruntime.GOARCH
	if system == "windows" {
		system = "win32"
	}
	switch arch {
	case "amd64":
		arch = "x64"
	case "386":
		arch = "ia32"
	}
	return "typescript-" + system + "-" + arch
}
