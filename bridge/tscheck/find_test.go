package tscheck

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
)

// machine is a folder with compilers that tests have made up.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	if goruntime.GOOS == "windows" {
		t.Skip("the compilers of this test are shell scripts")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return machine{t, root}
}

func (m machine) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// script is a compiler that only knows its version.
func (m machine) script(name, version string) string {
	return m.write(name, "#!/bin/sh\necho 'Version "+version+"'\n")
}

// packaged is an npm installation below a folder: the package with its script, and the native program if there is one.
func (m machine) packaged(folder, version string, native bool) string {
	modules := filepath.Join(folder, "node_modules")
	script := m.write(filepath.Join(modules, "typescript/bin/tsc"), "#!/usr/bin/env nothing\n")
	m.write(filepath.Join(modules, "typescript/package.json"), `{"name":"typescript","version":"`+version+`"}`)
	if !native {
		return script
	}
	m.write(filepath.Join(modules, "@typescript", platformPackage(), "package.json"), `{"name":"@typescript/`+platformPackage()+`","version":"`+version+`"}`)
	return m.write(filepath.Join(modules, "@typescript", platformPackage(), "lib", executable), "\x7fELF")
}

func (m machine) find(s Search) *Compiler {
	m.t.Helper()
	c, err := Find(m.t.Context(), s)
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFind(t *testing.T) {
	t.Run("GATE-7 nothing", func(t *testing.T) {
		m := newMachine(t)
		if c := m.find(Search{}); c != nil {
			t.Errorf("%+v", c)
		}
		if c := m.find(Search{Folder: m.root, Getenv: env("PATH", m.root)}); c != nil {
			t.Errorf("%+v", c)
		}
	})
	t.Run("GATE-7 flag, variable, node_modules upwards, PATH, in this order", func(t *testing.T) {
		m := newMachine(t)
		flag, variable := m.script("flag/tsc", "7.1.0"), m.script("variable/tsc", "7.2.0")
		module := m.packaged("a", "7.3.0", true)
		onPath := m.script("bin/tsc", "5.9.2")
		getenv := env(Variable, variable, "PATH", filepath.Dir(onPath))
		folder := filepath.Join(m.root, "a/b/c")
		if c := m.find(Search{Path: flag, Folder: folder, Getenv: getenv}); c.Path != flag || c.Version != "7.1.0" {
			t.Errorf("%+v", c)
		}
		if c := m.find(Search{Folder: folder, Getenv: getenv}); c.Path != variable || c.Version != "7.2.0" {
			t.Errorf("%+v", c)
		}
		getenv = env("PATH", filepath.Dir(onPath))
		if c := m.find(Search{Folder: folder, Getenv: getenv}); c.Path != module || c.Version != "7.3.0" || !c.Native {
			t.Errorf("%+v", c)
		}
		if c := m.find(Search{Folder: filepath.Join(m.root, "x"), Getenv: getenv}); c.Path != onPath || c.Version != "5.9.2" || c.Native {
			t.Errorf("%+v", c)
		}
		if c := m.find(Search{Folder: filepath.Join(m.root, "x")}); c != nil {
			t.Errorf("%+v", c)
		}
	})
	t.Run("GATE-7 the nearest node_modules wins", func(t *testing.T) {
		m := newMachine(t)
		m.packaged("a", "7.0.0", true)
		near := m.packaged("a/b", "7.0.1", true)
		m.write("a/b/c/node_modules/other/index.js", "")
		if c := m.find(Search{Folder: filepath.Join(m.root, "a/b/c")}); c == nil || c.Path != near {
			t.Errorf("%+v", c)
		}
	})
	t.Run("GATE-7 only a native compiler of version 7 or later can be kept running", func(t *testing.T) {
		m := newMachine(t)
		m.packaged("old", "6.9.0", true)
		script := m.packaged("script", "5.9.3", false)
		m.packaged("new", "10.0.0", true)
		for folder, native := range map[string]bool{"old": false, "script": false, "new": true} {
			if c := m.find(Search{Folder: filepath.Join(m.root, folder)}); c == nil || c.Native != native {
				t.Errorf("%s: %+v", folder, c)
			}
		}
		if c := m.find(Search{Path: script}); c.Path != script || c.Native {
			t.Errorf("%+v", c)
		}
	})
	t.Run("GATE-7 a script stands for the native program that it would start", func(t *testing.T) {
		m := newMachine(t)
		program := m.packaged("a", "7.0.2", true)
		link := filepath.Join(m.root, "bin/tsc")
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../a/node_modules/typescript/bin/tsc", link); err != nil {
			t.Fatal(err)
		}
		for _, s := range []Search{{Path: link}, {Getenv: env("PATH", filepath.Dir(link))}, {Path: filepath.Join(m.root, "a")},
			{Path: filepath.Join(m.root, "a/node_modules")}, {Path: filepath.Join(m.root, "a/node_modules/typescript")}} {
			if c := m.find(s); c == nil || c.Path != program || !c.Native || c.Version != "7.0.2" {
				t.Errorf("%+v: %+v", s.Path, c)
			}
		}
	})
	t.Run("GATE-7 what is on the PATH and no compiler is passed over", func(t *testing.T) {
		m := newMachine(t)
		m.write("one/tsc", "#!/bin/sh\necho hello\n")
		m.write("two/tsc", "#!/bin/sh\nexit 1\n")
		m.write("three/tsc", "#!/bin/sh\necho 'Version none'\n")
		good := m.script("four/tsc", "5.0.0")
		path := strings.Join([]string{".", m.root + "/one", m.root + "/two", m.root + "/three", m.root + "/four"}, string(filepath.ListSeparator))
		if c := m.find(Search{Getenv: env("PATH", path)}); c == nil || c.Path != good {
			t.Errorf("%+v", c)
		}
	})
	t.Run("GATE-7 one that is named and does not work is an error", func(t *testing.T) {
		m := newMachine(t)
		hello := m.write("hello", "#!/bin/sh\necho hello\n")
		plain := filepath.Join(m.root, "plain")
		if err := os.WriteFile(plain, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			filepath.Join(m.root, "none"): "there is no such file; npm install typescript@7 brings one",
			hello:                         "is no TypeScript compiler that works here: its --version prints something else",
			plain:                         "permission denied",
			m.root:                        "expected an executable tsc, or a folder in which npm installed typescript",
		} {
			if c, err := Find(t.Context(), Search{Path: path}); c != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v %v", path, c, err)
			}
			if _, err := Find(t.Context(), Search{Getenv: env(Variable, path)}); err == nil || !strings.HasPrefix(err.Error(), Variable+": ") {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}
