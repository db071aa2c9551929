package exectools

import "os"

const openFlags = 0

func refuseSystem(*os.File) error { return nil }
