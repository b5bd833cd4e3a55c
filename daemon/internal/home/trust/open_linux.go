package trust

import "golang.org/x/sys/unix"

// openFolder opens a folder to look below it; reading it is not needed.
const openFolder = unix.O_PATH
