package darwin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// log writes a line for each announcement until the context ends: the time since
// the beginning, who spoke, of what, with which registry id and message.
func (m *machine) log(ctx context.Context, out io.Writer) error {
	var mu sync.Mutex
	var failed error
	began := m.clock.Boot()
	write := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			_, failed = fmt.Fprintf(out, format, args...)
		}
	}
	stop, err := m.listeners.listen(listener{every: func(a announcement) {
		write("%12s  %-22s %-34s id 0x%x message 0x%x\n", (m.clock.Boot() - began).Round(10*time.Microsecond), a.Source(), a.subject, uint64(a.id), uint32(a.detail))
	}})
	if err != nil {
		return err
	}
	for _, source := range slices.Sorted(maps.Keys(sourceNames)) {
		if source == fromThermal {
			continue // not armed by C
		}
		if err := m.listeners.armed(source); err != nil {
			write("%s: silent: %v\n", sourceNames[source], err)
		}
	}
	write("listening\n")
	<-ctx.Done()
	return errors.Join(failed, stop())
}
