//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mcptools

import "os"

// tryLock does nothing where no lock of whole files is at hand: two processes that renew one login at the same moment may then cost
// the user a new one.
func tryLock(*os.File) (taken bool, err error) { return true, nil }
