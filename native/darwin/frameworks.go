package darwin

import (
	"errors"
	"fmt"

	"fulmen/native"
)

// frameworks are what the C files of this package read of IOKit and
// SystemConfiguration, one method each, hence so many. A test puts recorded values
// in their place.
type frameworks interface {
	// Thunderbolt walks the controllers, NetworkPorts the receptacles' network
	// ports alone, Places the nodes of the device tree that know the case.
	Thunderbolt() ([]entry, error)
	NetworkPorts() ([]entry, error)
	Places() ([]entry, error)
	// Services reads every service of a class, At the entry of a path.
	Services(class string, keys ...string) ([]entry, error)
	At(path string, keys ...string) ([]entry, error)
	// Store is the running configuration by key, Stored the stored one in parts;
	// Interfaces is what else is known of interfaces.
	Store() (map[string]any, error)
	Stored() (map[string]any, error)
	Interfaces() ([]any, error)
	// BridgeMembers are the members of a bridge in the kernel.
	BridgeMembers(bridge string) ([]string, error)
}

// The results of the C files, as result.h numbers them.
const (
	resultTorn     = -1
	resultTooLarge = -2
	resultMemory   = -3
	resultGone     = -4
	resultNoSymbol = -5
	resultStale    = -6
	resultExists   = -7
	resultRefused  = -8
)

// frameworkError is a call that failed, with the system's own number or one of
// the results above.
type frameworkError struct {
	call   string
	result int
}

// Error names the call and what became of it.
func (e *frameworkError) Error() string {
	words := map[int]string{
		resultTorn: "it changed during every attempt to read it", resultTooLarge: "it is larger than on any known Mac",
		resultMemory: "out of memory", resultGone: "it does not exist", resultNoSymbol: "this version of macOS does not have this function",
		resultStale: "another program changed it", resultExists: "it exists already", resultRefused: "macOS refused",
	}[e.result]
	if words == "" {
		words = fmt.Sprintf("error 0x%x", uint32(e.result))
	}
	return e.call + ": " + words
}

// Is lets callers ask for the platform's sentinels.
func (e *frameworkError) Is(target error) bool {
	switch target {
	case native.ErrNotFound:
		return e.result == resultGone
	case native.ErrStale:
		return e.result == resultStale
	case native.ErrExists:
		return e.result == resultExists
	}
	return false
}

// whyNot is the reason for facts that a call did not give.
func whyNot(err error) native.Reason {
	failed, ok := errors.AsType[*frameworkError](err)
	switch {
	case ok && failed.result == resultGone:
		return native.ReasonSourceGone.With(err.Error())
	case ok && failed.result == resultNoSymbol:
		return native.ReasonNoOS.With(err.Error())
	case ok && failed.result == resultTooLarge, errors.Is(err, errBuffer):
		return native.ReasonSourceMalformed.With(err.Error())
	}
	return native.ReasonReadFailed.With(err.Error())
}

// meters are readings of load, power and heat. They are taken only while somebody
// reads the area: none of them announces anything.
type meters interface {
	// Pages counts the kernel's pages of memory by state, with "page_size".
	Pages() (map[string]any, error)
	// Ticks are the processors' since the start: user, system, idle, nice.
	Ticks() (map[string]any, error)
	// PowerSource is what the machine runs on: "type", and "sources", maps of
	// "Type", "Current Capacity" and "Max Capacity".
	PowerSource() (map[string]any, error)
	// ThermalPressure is the system's level, 0 being none.
	ThermalPressure() (uint64, error)
	// LowPower is the announced state of low-power mode, 0 also where there is none.
	LowPower() (uint64, error)
	// PowerSettings has under powerSettingsKey those of the source in use.
	PowerSettings() (map[string]any, error)
	// Energy reads the counters of power and of the GPU's states since the last
	// reading, an array of channels; nil from the first. Sensors reads temperatures,
	// fans and power.
	Energy() ([]any, error)
	Sensors() (map[string]any, error)
	// Temperatures are the temperatures of the HID services, maps of "name" and "celsius".
	Temperatures() ([]any, error)
	// Rest closes what readings keep open between them; the next opens it again.
	Rest()
}
