package exectools

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a pipe and from making a terminal ours.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// systems are the file systems whose files are the kernel's state: reading there tells about other processes, and some reads act.
var systems = map[int64]string{
	unix.PROC_SUPER_MAGIC:    "procfs",
	unix.SYSFS_MAGIC:         "sysfs",
	unix.DEBUGFS_MAGIC:       "debugfs",
	unix.TRACEFS_MAGIC:       "tracefs",
	unix.SECURITYFS_MAGIC:    "securityfs",
	unix.CGROUP_SUPER_MAGIC:  "cgroup",
	unix.CGROUP2_SUPER_MAGIC: "cgroup",
	unix.BPF_FS_MAGIC:        "bpf",
	unix.EFIVARFS_MAGIC:      "efivarfs",
}

// refuseSystem refuses files of the kernel. It asks about what has been opened, so that no race can exchange it.
func refuseSystem(f *os.File) error {
	var stat unix.Statfs_t
	conn, err := f.SyscallConn()
	if err == nil {
		failed := conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &stat) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		return errors.New("cannot be read: its file system is unknown")
	}
	if name, ok := systems[int64(stat.Type)]; ok {
		return errors.New("belongs to the system (" + name + ") and cannot be read")
	}
	return nil
}
