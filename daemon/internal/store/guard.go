package store

import (
	"fmt"
	"runtime/debug"
)

// panicked is what came out of bbolt as a panic.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// guard calls into bbolt, f doing nothing else, and makes an error of a panic.
// Reading a mapped file that has been cut short meanwhile is a fault of memory,
// which for the time of the call is a panic too and does not end the process.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &panicked{r}
		}
	}()
	return f()
}
