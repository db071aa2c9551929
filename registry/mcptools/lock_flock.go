//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mcptools

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file, which ends with it, and says whether it was free. Other opens of the file in this process
// are kept out as other processes are.
func tryLock(f *os.File) (taken bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
