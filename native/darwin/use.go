package darwin

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"fulmen/native"
)

// idleClass is the service that counts since the last key or movement, in nanoseconds by
// idleKey, as ioreg shows it to every user.
const (
	idleClass = "IOHIDSystem"
	idleKey   = "HIDIdleTime"
)

// Unused is for how long nobody has used this Mac's keyboard or pointer.
func (m *machine) Unused(ctx context.Context) (time.Duration, native.Reason) {
	if err := m.usable(ctx); err != nil {
		return 0, native.ReasonReadFailed.With(err.Error())
	}
	found, err := m.frameworks.Services(idleClass, idleKey)
	if err != nil {
		return 0, whyNot(err)
	}
	for i := range found {
		if ns, is := nanoseconds(found[i].properties[idleKey]); is {
			return time.Duration(ns), ""
		}
	}
	if len(found) > 0 {
		return 0, native.ReasonSourceMalformed.With(idleKey)
	}
	return 0, native.ReasonSourceGone.With("the registry has no " + idleClass)
}

// nanoseconds is a number, or as older systems have it eight bytes.
func nanoseconds(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, v >= 0
	case []byte:
		if len(v) == 8 {
			n := binary.LittleEndian.Uint64(v)
			return int64(n), n <= math.MaxInt64
		}
	}
	return 0, false
}
