package daemon

import (
	"io"

	"fulmen/daemon/internal/rank/shim"
	"fulmen/native"
)

// Shim holds the rank whose spec.json is in the folder (an absolute path) until
// it has ended. It is the whole of a process of its own, which the system's
// supervisor runs. What a person may have to know goes to report. An error means
// that the rank was not held: there is no record of its end, or one that says so.
func Shim(folder string, report io.Writer) error {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	return shim.Run(folder, clock, report)
}
